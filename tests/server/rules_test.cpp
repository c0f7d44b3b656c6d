#include "server/rules.h"

#include <gtest/gtest.h>

namespace headwater::server {
namespace {

const std::string token = "0123456789abcdef0123456789abcdef";

Heading good() {
  return {
      "POST", "/ask", {"127.0.0.1:8020"}, {"http://127.0.0.1:8020"}, {token}, {"application/json"}};
}

int status(const Heading& heading) {
  const auto refusal = Rules(8020, token).refuse(heading);
  return refusal ? refusal->status : 200;
}

TEST(Rules, TakeWhatThePageSends) {
  EXPECT_EQ(status(good()), 200);
  Heading heading = good();
  heading.place = "/menu";
  EXPECT_EQ(status(heading), 200);
  heading.types = {"application/json; charset=utf-8"};
  EXPECT_EQ(status(heading), 200);
}

TEST(Rules, GiveThePageToAnyoneOnThisMachine) {
  EXPECT_EQ(status({"GET", "/", {"127.0.0.1:8020"}, {}, {}, {}}), 200);
}

TEST(Rules, RefuseForeignHosts) {
  for (const std::vector<std::string>& hosts : {std::vector<std::string>{},
                                                {"evil.example"},
                                                {"evil.example:8020"},
                                                {"127.0.0.1"},
                                                {"127.0.0.1:8021"},
                                                {"localhost:8020"},
                                                {"127.0.0.1:8020.evil.example"},
                                                {"127.0.0.1:8020", "127.0.0.1:8020"},
                                                {""}}) {
    Heading heading = good();
    heading.hosts = hosts;
    EXPECT_EQ(status(heading), 403);
    EXPECT_EQ(status({"GET", "/", hosts, {}, {}, {}}), 403);
  }
}

TEST(Rules, RefuseForeignOrigins) {
  for (const std::vector<std::string>& origins :
       {std::vector<std::string>{},
        {"null"},
        {"http://evil.example"},
        {"https://127.0.0.1:8020"},
        {"http://127.0.0.1"},
        {"http://localhost:8020"},
        {"http://127.0.0.1:8020/"},
        {"http://127.0.0.1:8020", "http://127.0.0.1:8020"}}) {
    Heading heading = good();
    heading.origins = origins;
    EXPECT_EQ(status(heading), 403);
  }
}

TEST(Rules, RefuseAnyOtherToken) {
  for (const std::vector<std::string>& tokens : {std::vector<std::string>{},
                                                 {""},
                                                 {token.substr(1)},
                                                 {token + "0"},
                                                 {"0123456789abcdef0123456789abcdee"},
                                                 {token, token}}) {
    Heading heading = good();
    heading.tokens = tokens;
    EXPECT_EQ(status(heading), 401);
  }
}

TEST(Rules, RefuseWhatAFormCanSend) {
  for (const std::vector<std::string>& types : {std::vector<std::string>{},
                                                {"text/plain"},
                                                {"multipart/form-data"},
                                                {"application/jsonp"},
                                                {"application/x-www-form-urlencoded"},
                                                {"application/json", "text/plain"}}) {
    Heading heading = good();
    heading.types = types;
    EXPECT_EQ(status(heading), 415);
  }
}

TEST(Rules, KnowNoOtherPlaces) {
  for (const char* place :
       {"/etc/passwd", "/../../etc/passwd", "/%2e%2e/", "//", "/?", "/index.html", "/ask/",
        "/ask?x", "http://127.0.0.1:8020/", "*", "", "/favicon.ico"}) {
    Heading heading = good();
    heading.place = place;
    EXPECT_EQ(status(heading), 404) << place;
  }
}

TEST(Rules, KnowNoOtherMethods) {
  EXPECT_EQ(status({"POST", "/", {"127.0.0.1:8020"}, {}, {}, {}}), 405);
  for (const char* method : {"GET", "PUT", "OPTIONS", "HEAD", "DELETE", "post"}) {
    Heading heading = good();
    heading.method = method;
    EXPECT_EQ(status(heading), 405) << method;
  }
}

TEST(Rules, MakeATokenThatIsNewEachTime) {
  const std::string one = new_token();
  EXPECT_EQ(one.size(), 32u);
  EXPECT_EQ(one.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(one, new_token());
}

}  // namespace
}  // namespace headwater::server
