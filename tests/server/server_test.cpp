// The server as its clients see it: bytes on a socket.
#include "server/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "headwater/core/error.h"

namespace headwater::server {
namespace {

using std::chrono::milliseconds;

// Says what it was asked; "slow" takes until somebody gives up.
class Parrot : public Answerer {
 public:
  std::string menu() override { return "{\"models\": []}"; }
  std::string answer(const Question& question, Listener& listener) override {
    const int others = at_work++;
    if (others > 0) overlapped = true;
    struct Leave {
      std::atomic<int>& count;
      ~Leave() { --count; }
    } leave{at_work};
    if (*question.text == "bad") throw Error("parrot: was told to fail, expected nothing else");
    if (*question.text == "slow") wait(listener);
    for (int k = 0; *question.text == "long" && k < 30; ++k) {
      listener.progress("step", k, 30);
      std::this_thread::sleep_for(milliseconds(10));
    }
    return fmt::format("{{\"said\": \"{}\"}}", *question.text);
  }
  std::atomic<int> at_work = 0, given_up = 0;
  std::atomic<bool> overlapped = false;

 private:
  [[noreturn]] void wait(Listener& listener) {
    try {
      for (int k = 0;; ++k) {
        listener.progress("step", k, 1'000'000);
        std::this_thread::sleep_for(milliseconds(1));
      }
    } catch (const Cancelled&) {
      ++given_up;
      throw;
    }
  }
};

// A connection that fails, rather than waits for ever, if the server says nothing.
class Client {
 public:
  explicit Client(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { leave(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void leave() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  Client& say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;  // the server has closed it, which rest() will show
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return *this;
  }
  /// Everything until the server closes; "(nothing)" if it does not.
  std::string rest() {
    std::string all;
    char bytes[4096];
    for (;;) {
      const ssize_t count = recv(socket_, bytes, sizeof bytes, 0);
      if (count < 0) return errno == ECONNRESET ? all : all + "(nothing)";
      if (count == 0) return all;
      all.append(bytes, static_cast<size_t>(count));
    }
  }
  /// Until `part` came.
  bool hears(std::string_view part) {
    char bytes[4096];
    while (heard_.find(part) == std::string::npos) {
      const ssize_t count = recv(socket_, bytes, sizeof bytes, 0);
      if (count <= 0) return false;
      heard_.append(bytes, static_cast<size_t>(count));
    }
    return true;
  }

 private:
  int socket_;
  bool connected_ = false;
  std::string heard_;
};

class ServerTest : public testing::Test {
 protected:
  void start(const Limits& limits = {}) {
    server_ = std::make_unique<Server>(parrot_, ServerOptions{.port = 0, .limits = limits});
    thread_ = std::thread([this] { server_->run(); });
    const std::string url = server_->url();
    token_ = url.substr(url.find("token=") + 6);
  }
  void TearDown() override {
    if (!server_) return;
    server_->stop();
    thread_.join();
    server_.reset();
    EXPECT_EQ(parrot_.at_work, 0);
  }
  int port() const { return server_->port(); }
  std::string host() const { return fmt::format("127.0.0.1:{}", port()); }

  std::string page_request() const {
    return fmt::format("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", host());
  }
  std::string heading(size_t length, const std::string& more = "") const {
    return fmt::format(
        "POST /ask HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nX-Headwater-Token: {1}\r\n"
        "Content-Type: application/json\r\nContent-Length: {2}\r\n{3}\r\n",
        host(), token_, length, more);
  }
  std::string question(const std::string& text) const {
    const std::string body = fmt::format(R"({{"model": "m", "text": "{}"}})", text);
    return heading(body.size()) + body;
  }
  std::string answer(const std::string& request) const {
    return Client(port()).say(request).rest();
  }
  std::string replaced(std::string request, const std::string& part, const std::string& by) const {
    const size_t at = request.find(part);
    EXPECT_NE(at, std::string::npos);
    return request.replace(at, part.size(), by);
  }
  void wait_until(const std::atomic<int>& count, int wanted) {
    for (int k = 0; k < 2000 && count != wanted; ++k) std::this_thread::sleep_for(milliseconds(10));
    ASSERT_EQ(count, wanted);
  }

  Parrot parrot_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::string token_;
};

bool has_status(const std::string& answer, int status) {
  return answer.starts_with(fmt::format("HTTP/1.1 {} ", status));
}

TEST_F(ServerTest, ServesThePageWithItsPolicy) {
  start();
  const std::string page = answer(page_request());
  EXPECT_TRUE(has_status(page, 200));
  EXPECT_NE(page.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_NE(page.find("X-Content-Type-Options: nosniff\r\n"), std::string::npos);
  EXPECT_NE(page.find("Cache-Control: no-store\r\n"), std::string::npos);
  EXPECT_NE(page.find("<!doctype html>"), std::string::npos);
  EXPECT_EQ(page.find(token_), std::string::npos);
  EXPECT_EQ(page.find("Access-Control"), std::string::npos);
  EXPECT_EQ(page.find("Set-Cookie"), std::string::npos);
}

TEST_F(ServerTest, AnswersInLines) {
  start();
  const std::string text = answer(question("long"));
  EXPECT_TRUE(has_status(text, 200));
  const size_t progress = text.find("{\"progress\": [\"step\", "), said = text.find("\"said\"");
  EXPECT_NE(progress, std::string::npos);
  EXPECT_LT(progress, said);
  EXPECT_NE(text.find("{\"page\": {\"said\": \"long\"}}\n"), std::string::npos);
  EXPECT_NE(answer(replaced(question("quick"), "/ask", "/menu")).find("{\"models\": []}\n"),
            std::string::npos);
}

TEST_F(ServerTest, SaysWhatWentWrong) {
  start();
  EXPECT_NE(answer(question("bad"))
                .find("{\"error\": \"parrot: was told to fail, expected nothing "
                      "else\"}"),
            std::string::npos);
  EXPECT_NE(answer(heading(2) + "[]").find("\"error\""), std::string::npos);
}

TEST_F(ServerTest, RefusesForeignHosts) {
  start();
  EXPECT_TRUE(has_status(answer(replaced(page_request(), host(), "evil.example")), 403));
  EXPECT_TRUE(has_status(
      answer(replaced(question("quick"), "Host: " + host(), "Host: evil.example")), 403));
  EXPECT_TRUE(has_status(
      answer(replaced(page_request(), "Host:", fmt::format("Host: {}\r\nHost:", host()))), 403));
  EXPECT_TRUE(has_status(answer("GET / HTTP/1.0\r\n\r\n"), 403));
}

TEST_F(ServerTest, RefusesForeignOrigins) {
  start();
  const std::string own = "Origin: http://" + host() + "\r\n";
  for (const char* other : {"Origin: http://evil.example\r\n", "Origin: null\r\n", ""})
    EXPECT_TRUE(has_status(answer(replaced(question("quick"), own, other)), 403)) << other;
}

TEST_F(ServerTest, RefusesRequestsWithoutItsToken) {
  start();
  const std::string own = "X-Headwater-Token: " + token_ + "\r\n";
  for (const char* other : {"", "X-Headwater-Token: 0123456789abcdef0123456789abcdef\r\n"})
    EXPECT_TRUE(has_status(answer(replaced(question("quick"), own, other)), 401)) << other;
}

TEST_F(ServerTest, RefusesFormsOfOtherPages) {
  start();
  EXPECT_TRUE(
      has_status(answer(replaced(question("quick"), "application/json", "text/plain")), 415));
  EXPECT_TRUE(has_status(answer(replaced(question("quick"), "POST", "OPTIONS")), 405));
}

TEST_F(ServerTest, HasNoFiles) {
  start();
  for (const char* place : {"/etc/passwd", "/../../etc/passwd", "/%2e%2e/%2e%2e/", "/favicon.ico"})
    EXPECT_TRUE(
        has_status(answer(replaced(page_request(), "GET /", fmt::format("GET {}", place))), 404))
        << place;
}

TEST_F(ServerTest, RefusesLargeRequests) {
  start({.heading = 1000, .body = 2000});
  EXPECT_TRUE(has_status(answer(heading(3000)), 413));  // before any of it is sent
  EXPECT_TRUE(
      has_status(answer(replaced(heading(0), "Content-Length: 0", "Transfer-Encoding: chunked") +
                        "bb8\r\n" + std::string(3000, ' ') + "\r\n0\r\n\r\n"),
                 413));
  EXPECT_TRUE(has_status(answer(heading(10, "X: " + std::string(2000, 'x') + "\r\n")), 431));
  EXPECT_TRUE(has_status(answer(question("quick")), 200));
}

TEST_F(ServerTest, RefusesWhatIsNotHttp) {
  start();
  EXPECT_TRUE(has_status(answer("\x16\x03\x01\x02 hello\r\n\r\n"), 400));
  EXPECT_TRUE(has_status(
      answer(replaced(question("quick"), "Content-Length: ", "Content-Length: -")), 400));
}

TEST_F(ServerTest, ClosesSlowConnections) {
  start({.to_ask = milliseconds(100), .to_send = milliseconds(100)});
  EXPECT_EQ(Client(port()).rest(), "");
  EXPECT_EQ(Client(port()).say("GET / HTTP/1.1\r\nHost:").rest(), "");
  EXPECT_EQ(Client(port()).say(heading(100) + "{\"model").rest(), "");
}

TEST_F(ServerTest, AnswersAmongTwoHundredConnections) {
  start();
  std::vector<std::unique_ptr<Client>> idle;
  for (int k = 0; k < 200; ++k) {
    idle.push_back(std::make_unique<Client>(port()));
    ASSERT_TRUE(idle.back()->connected());
    if (k % 3 == 1) idle.back()->say("GET / HT");
    if (k % 3 == 2) idle.back()->say(heading(100) + "{");
  }
  EXPECT_TRUE(has_status(answer(page_request()), 200));
  EXPECT_NE(answer(question("quick")).find("\"said\""), std::string::npos);
}

TEST_F(ServerTest, GivesUpWhatNobodyWaitsFor) {
  start();
  Client client(port());
  EXPECT_TRUE(client.say(question("slow")).hears("\"progress\""));
  client.leave();
  wait_until(parrot_.given_up, 1);
  EXPECT_NE(answer(question("quick")).find("\"said\""), std::string::npos);
}

TEST_F(ServerTest, ComputesOneAnswerAtATime) {
  start();
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int k = 0; k < 8; ++k)
    clients.emplace_back([&] {
      if (answer(question("long")).find("\"said\"") != std::string::npos) ++answered;
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 8);
  EXPECT_FALSE(parrot_.overlapped);
}

TEST_F(ServerTest, StopsInTheMiddleOfAnAnswer) {
  start();
  Client client(port());
  EXPECT_TRUE(client.say(question("slow")).hears("\"progress\""));
  TearDown();
  EXPECT_EQ(parrot_.given_up, 1);
  server_.reset();
}

TEST_F(ServerTest, SaysThatItsPortIsTaken) {
  start();
  try {
    Server second(parrot_, {.port = port()});
    FAIL() << "it listens twice";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("choose another with `port`"), std::string::npos);
  }
  EXPECT_NE(Server(parrot_, {.port = port(), .or_any_port = true}).port(), port());
}

}  // namespace
}  // namespace headwater::server
