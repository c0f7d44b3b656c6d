#include "headwater/output/write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "headwater/core/error.h"
#include "made.h"

namespace headwater {
namespace {

namespace fs = std::filesystem;

class Write : public testing::Test {
 protected:
  Write() : folder_(testing::TempDir() + "write-" + std::to_string(getpid())) {
    fs::create_directories(folder_);
  }
  ~Write() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  std::string read(const std::string& name) const {
    std::ifstream file(at(name), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  const std::string folder_;
};

const char* const endings[] = {".json", ".npy", ".npz", ".png", ".svg", ".pdf", ".html"};

TEST_F(Write, PicksTheFormatByTheEnding) {
  const std::pair<const char*, const char*> begins[] = {
      {"x.json", "{\n"},  {"x.npy", "\x93NUMPY"},        {"x.npz", "PK\3\4"}, {"x.png", "\x89PNG"},
      {"x.svg", "<?xml"}, {"x.html", "<!doctype html>"}, {"x.pdf", "%PDF"},   {"X.PNG", "\x89PNG"}};
  for (const auto& [name, begin] : begins) {
    write(made(3), at(name));
    EXPECT_TRUE(read(name).starts_with(begin)) << name;
  }
}

TEST_F(Write, GivesTheSameBytesEachTime) {
  for (const char* ending : endings) {
    Attribution hostile = made(static_cast<int>(hostile_tokens().size()));
    hostile.source.tokens = hostile_tokens();
    const std::vector<Result> results = results_of(std::move(hostile));
    write(results, at(std::string("a") + ending));
    write(made(2), at(std::string("between") + ending));
    write(results, at(std::string("b") + ending));
    EXPECT_EQ(read(std::string("a") + ending), read(std::string("b") + ending)) << ending;
  }
}

TEST_F(Write, PutsNoTokenIntoTheMarkupOfAnSvg) {
  write(made_row({"<script>alert(1)</script>", "]]>&\""}, {0.5f, 0.5f}), at("x.svg"));
  EXPECT_EQ(read("x.svg").find("<script"), std::string::npos);
}

TEST_F(Write, NumbersThePicturesOfSeveralResults) {
  write(results_of(made(2), made(3)), at("x.png"));
  EXPECT_FALSE(fs::exists(at("x.png")));
  EXPECT_TRUE(fs::exists(at("x-0.png")));
  EXPECT_TRUE(fs::exists(at("x-1.png")));
}

TEST_F(Write, MakesAListOfABatchEvenOfOne) {
  WriteOptions options;
  options.list = true;
  write(results_of(made(2)), at("x.json"), options);
  EXPECT_TRUE(read("x.json").starts_with("[\n"));
  write(results_of(made(2)), at("x.svg"), options);
  EXPECT_TRUE(fs::exists(at("x-0.svg")));
}

TEST_F(Write, LeavesAnOldFileAloneWhenItFails) {
  for (const char* ending : {".npy", ".png", ".svg", ".pdf"}) {
    const std::string name = std::string("x") + ending;
    std::ofstream(at(name)) << "old";
    EXPECT_THROW(write(Metrics(), at(name)), Error) << ending;
    EXPECT_EQ(read(name), "old") << ending;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 4)
      << "nothing is left behind";
}

std::string usage(const std::string& path) {
  std::string messages;
  for (const bool before : {true, false}) {
    try {
      if (before)
        check_writable(path);
      else
        write(made(1), path);
      messages += "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::usage) << error.what();
      messages = error.what();
    }
  }
  return messages;
}

TEST_F(Write, NamesTheEndingsOfItsFormats) {
  EXPECT_NE(usage(at("x.xlsx")).find(".json, .npy, .npz, .png, .svg, .pdf"), std::string::npos);
  EXPECT_NE(usage(at("x")).find("has no ending"), std::string::npos);
}

TEST_F(Write, NamesOnlyTheEndingsThatAResultCanHave) {
  const auto sentence = [&](const auto& work) -> std::string {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string of_numbers = "expected one of .json, .npz, .html; choose one";
  for (const std::string& text : {sentence([&] { write(Metrics(), at("x.xlsx")); }),
                                  sentence([&] { write(Info(), at("x.xlsx")); }), sentence([&] {
                                    check_writable(at("x.xlsx"), ".json .npz .html");
                                  })})
    EXPECT_TRUE(text.ends_with(of_numbers)) << text;
  const std::string text = sentence([&] { write(Evaluation(), at("x.xlsx")); });
  EXPECT_TRUE(text.ends_with(".json, .npz, .png, .svg, .pdf, .html; choose one")) << text;
}

TEST_F(Write, ChecksThePlaceWithoutTouchingIt) {
  check_writable("-");
  check_writable(at("new.json"));
  EXPECT_FALSE(fs::exists(at("new.json")));
  EXPECT_THROW(check_writable(at("no/such/folder/x.json")), Error);
  fs::create_directory(at("folder.json"));
  EXPECT_THROW(check_writable(at("folder.json")), Error);
}

// Runs a function while file descriptor 1 is redirected to `path`.
template <class Function>
void with_standard_output(const std::string& path, Function function) {
  std::fflush(stdout);
  const int before = dup(1), file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(file, 1);
  close(file);
  try {
    function();
  } catch (...) {
    std::clearerr(stdout);
    dup2(before, 1);
    close(before);
    throw;
  }
  dup2(before, 1);
  close(before);
}

TEST_F(Write, PutsJsonOnStandardOutput) {
  with_standard_output(at("out"), [] { write(made(2), "-"); });
  EXPECT_TRUE(read("out").starts_with("{\n \"headwater\"")) << read("out");
  EXPECT_TRUE(read("out").ends_with("}\n"));
}

TEST_F(Write, SaysThatStandardOutputIsFull) {
  EXPECT_THROW(with_standard_output("/dev/full", [] { write(made(2), "-"); }), Error);
  EXPECT_THROW(with_standard_output("/dev/full", [] { write(made(300), "-"); }), Error);
}

}  // namespace
}  // namespace headwater
