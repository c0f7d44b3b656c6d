#include "headwater/output/npz.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "headwater/core/error.h"
#include "headwater/output/npy.h"
#include "headwater/output/zip.h"
#include "headwater/source/npy.h"
#include "headwater/source/zip.h"
#include "made.h"

namespace headwater {
namespace {

std::vector<Document> documents_of(const std::vector<Result>& results) {
  std::vector<Document> out;
  for (const Result& result : results) out.push_back(document_of(result, {}));
  return out;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// What our own reader says about an array; it is tested with files that NumPy wrote.
struct Read {
  NpyHeader header;
  std::string data;

  explicit Read(std::span<const std::byte> bytes) : header(read_npy_header(bytes, "test")) {
    const auto rest = bytes.subspan(header.size);
    data.assign(reinterpret_cast<const char*>(rest.data()), rest.size());
  }
  template <class Number>
  std::vector<Number> numbers() const {
    std::vector<Number> out(data.size() / sizeof(Number));
    std::memcpy(out.data(), data.data(), out.size() * sizeof(Number));
    return out;
  }
};

std::string npy(const std::vector<Result>& results, bool list = false) {
  std::string out;
  write_npy(documents_of(results), list, "x.npy", [&](std::string_view bytes) { out += bytes; });
  return out;
}

std::vector<int64_t> shape(const std::vector<Result>& results, bool list = false) {
  return Read(bytes_of(npy(results, list))).header.shape;
}

TEST(Npy, HasTheShapeOfTheResult) {
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shape(results_of(made(3))), (Shape{3, 3}));
  EXPECT_EQ(shape(results_of(made_row({"a", "b"}, {0, 1}))), (Shape{2}));
  EXPECT_EQ(shape(results_of(made_by_layer(3, 4, false))), (Shape{4, 3, 3}));
  EXPECT_EQ(shape(results_of(made_by_layer(3, 4, true))), (Shape{4, 3}));
  EXPECT_EQ(shape(results_of(made_comparison(3, 2))), (Shape{2, 3, 3}));
  EXPECT_EQ(shape(results_of(made(3), made(3)), true), (Shape{2, 3, 3}));
  EXPECT_EQ(shape(results_of(made(3)), true), (Shape{1, 3, 3}));
}

TEST(Npy, HoldsTheValuesAfterAHeaderOf64Bytes) {
  const std::string bytes = npy(results_of(made_row({"a", "b"}, {0.25f, 0.75f})));
  const Read read(bytes_of(bytes));
  EXPECT_EQ(read.header.size % 64, 0u);
  EXPECT_EQ(read.header.type, DType::f32);
  EXPECT_EQ(read.numbers<float>(), (std::vector<float>{0.25f, 0.75f}));
}

std::string message(const std::vector<Result>& results) {
  try {
    npy(results, results.size() > 1);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Npy, SaysWhatToUseWhereOneArrayCannotHoldIt) {
  EXPECT_NE(message(results_of(made(2), made(3))).find("use .npz"), std::string::npos);
  EXPECT_NE(message(results_of(Metrics())).find("metrics has no array of values"),
            std::string::npos);
  EXPECT_NE(message(results_of(Info())).find("use .json"), std::string::npos);
  EXPECT_NE(message({}).find("use .json"), std::string::npos);
}

std::map<std::string, std::string> npz(const std::vector<Result>& results, bool list = false) {
  std::string out;
  write_npz(documents_of(results), list, "x.npz", [&](std::string_view bytes) { out += bytes; });
  std::map<std::string, std::string> members;
  for (const ZipMember& member : read_zip(bytes_of(out), "x.npz"))
    members[member.name] =
        std::string(reinterpret_cast<const char*>(member.bytes.data()), member.bytes.size());
  return members;
}

TEST(Npz, HoldsEveryFieldAsAnArray) {
  const auto members = npz(results_of(made(3)));
  for (const char* name :
       {"headwater", "method", "options", "source", "tokens", "rows", "values", "notes"})
    EXPECT_TRUE(members.contains(std::string(name) + ".npy")) << name;
  const Read values(bytes_of(members.at("values.npy")));
  EXPECT_EQ(values.header.shape, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(values.numbers<float>()[0], 0.5f);
  EXPECT_EQ(Read(bytes_of(members.at("rows.npy"))).numbers<int64_t>(),
            (std::vector<int64_t>{0, 1, 2}));
  const Read notes(bytes_of(members.at("notes.npy")));
  EXPECT_EQ(notes.header.shape, (std::vector<int64_t>{0}));
}

TEST(Npz, HoldsTextsAsUnicode) {
  Attribution result = made_row({"a", "\u4f60\U0001F600"}, {0, 1});
  const auto members = npz(results_of(std::move(result)));
  const Read tokens(bytes_of(members.at("tokens.npy")));
  EXPECT_EQ(tokens.header.characters, 2);
  EXPECT_EQ(tokens.numbers<char32_t>(), (std::vector<char32_t>{U'a', 0, U'\u4f60', U'\U0001F600'}));
}

TEST(Npz, NamesPanelsMetricsAndItems) {
  const auto panels = npz(results_of(made_comparison(2, 2)));
  EXPECT_TRUE(panels.contains("by.npy"));
  EXPECT_TRUE(panels.contains("agreement.npy"));
  EXPECT_TRUE(panels.contains("0/values.npy"));
  EXPECT_TRUE(panels.contains("1/label.npy"));
  const auto metrics = npz(results_of(Metrics()));
  EXPECT_EQ(Read(bytes_of(metrics.at("metrics/seq_length.npy"))).numbers<int64_t>(),
            std::vector<int64_t>{0});
  EXPECT_TRUE(Read(bytes_of(metrics.at("metrics/mean_attention.npy"))).header.shape.empty());
  const auto items = npz(results_of(made(2), made(3)), true);
  EXPECT_TRUE(items.contains("0/values.npy"));
  EXPECT_TRUE(items.contains("1/tokens.npy"));
}

TEST(Npz, RefusesTokensThatWouldFillTheDisk) {
  std::vector<std::string> tokens(2000, "a");
  tokens[0] = std::string(1'000'000, 'a');
  EXPECT_THROW(npz(results_of(made_row(tokens, std::vector<float>(2000, 0)))), Error);
}

TEST(Zip, IsTheSameEachTimeAndReadableInItsWideForm) {
  for (const uint64_t wide_from : {uint64_t{0xFFFFFFFF}, uint64_t{40}, uint64_t{0}}) {
    std::string once, twice;
    for (std::string* out : {&once, &twice}) {
      ZipWriter zip([&](std::string_view bytes) { *out += bytes; }, wide_from);
      zip.add("small", [](const Sink& sink) { sink("a"); });
      zip.add("large", [](const Sink& sink) { sink(std::string(100, 'b')); });
      zip.add("empty", [](const Sink&) {});
      zip.finish();
    }
    EXPECT_EQ(once, twice);
    const std::vector<ZipMember> members = read_zip(bytes_of(once), "test");
    ASSERT_EQ(members.size(), 3u) << wide_from;
    EXPECT_EQ(members[0].name, "small");
    EXPECT_EQ(members[1].size, 100u);
    EXPECT_EQ(static_cast<char>(members[1].bytes[99]), 'b');
    EXPECT_EQ(members[2].size, 0u);
  }
}

}  // namespace
}  // namespace headwater
