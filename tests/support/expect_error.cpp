#include "tests/support/expect_error.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "headwater/core/stopwatch.h"
#include "headwater/open.h"

namespace headwater::test {
namespace {

constexpr double longest_seconds = 1;
constexpr long most_kilobytes = 256 << 10;

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

void expect_error(Error::Kind kind, const std::vector<std::string>& parts,
                  const std::function<void()>& work) {
  const long before = peak_kilobytes();
  const Stopwatch watch;
  try {
    work();
    ADD_FAILURE() << "no error, expected one with '" << (parts.empty() ? "" : parts[0]) << "'";
  } catch (const Error& error) {
    const std::string sentence = error.what();
    EXPECT_EQ(error.kind(), kind) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    if (kind == Error::Kind::work) {
      EXPECT_NE(sentence.find("expected"), std::string::npos) << sentence;
      EXPECT_NE(sentence.find("; "), std::string::npos) << sentence;
    }
    for (const std::string& part : parts)
      EXPECT_NE(sentence.find(part), std::string::npos)
          << "'" << part << "' is not in: " << sentence;
  } catch (const std::exception& other) {
    ADD_FAILURE() << "not an Error: " << other.what();
  }
  EXPECT_LT(watch.seconds(), longest_seconds) << (parts.empty() ? "" : parts[0]);
  EXPECT_LT(peak_kilobytes() - before, most_kilobytes) << (parts.empty() ? "" : parts[0]);
}

void read_through(const std::string& path, const ReadOptions& options) {
  const std::unique_ptr<Batch> batch = open_batch(path, {.read = options});
  for (int k = 0; k < batch->size(); ++k) {
    const std::unique_ptr<Source> source = batch->item(k);
    source->layers(Fuse::mean, {0, source->description().layers}, Direction::up,
                   [](int, MatrixSpan) {});
  }
}

void expect_bad_file(const std::string& path, std::vector<std::string> parts,
                     const ReadOptions& options) {
  parts.insert(parts.begin(), path);
  expect_error(Error::Kind::work, parts, [&] { read_through(path, options); });
}

}  // namespace headwater::test
