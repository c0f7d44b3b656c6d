#include "headwater/output/page/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <random>

#include "headwater/output/page/base64.h"
#include "headwater/output/page/bundle.h"
#include "headwater/output/page/contents.h"
#include "headwater/output/page/gzip.h"
#include "headwater/output/page/pack.h"
#include "headwater/output/page/scripts.h"
#include "headwater/output/page/token_document.h"
#include "made.h"

namespace headwater {
namespace {

std::string page_of(const std::vector<Result>& results, const WriteOptions& options = {}) {
  std::string text;
  write_page({results.begin(), results.end()}, options,
             [&](std::string_view bytes) { text += bytes; });
  return text;
}

int times(std::string_view text, std::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

template <class Kind>
Kind field(const Document& document, std::string_view name) {
  return std::get<Kind>(document.find(name)->value);
}

std::string from_base64(const std::string& text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    if ((count += 6) < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 255);
  }
  return out;
}

std::string gunzip(const std::string& bytes, size_t size) {
  std::string out(size + 1, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

// What the page computes, in double.
std::vector<double> unpacked(const Document& packed, bool with_signs) {
  const auto rows = static_cast<size_t>(field<int64_t>(packed, "rows")),
             columns = static_cast<size_t>(field<int64_t>(packed, "columns"));
  const auto coding = field<std::string>(packed, "coding");
  const auto steps = static_cast<double>(field<int64_t>(packed, "steps"));
  const size_t plane = rows * columns, bytes = coding == "f32" ? 4 : coding == "root8" ? 1 : 2;
  std::string data = gunzip(from_base64(field<std::string>(packed, "data")), plane * bytes);
  EXPECT_EQ(data.size(), plane * bytes);
  if (field<bool>(packed, "difference"))
    for (size_t start = 0; start < data.size(); start += plane)
      for (size_t k = columns; k < plane; ++k)
        data[start + k] = static_cast<char>(data[start + k] + data[start + k - columns]);
  const std::string scales = gunzip(from_base64(field<std::string>(packed, "scale")), 4 * rows);
  std::vector<double> out;
  for (size_t k = 0; k < plane; ++k) {
    uint32_t bits = 0;
    for (size_t b = 0; b < bytes; ++b)
      bits = bits << 8 | static_cast<unsigned char>(data[b * plane + k]);
    float scale = 0, number = 0;
    std::memcpy(&scale, scales.data() + 4 * (k / columns), 4);
    std::memcpy(&number, &bits, 4);
    if (coding == "f32") {
      out.push_back(number);
    } else if (coding == "f16") {
      const int exponent = static_cast<int>(bits >> 10 & 31);
      const double fraction = (bits & 1023) / 1024.0;
      const double size =
          exponent ? std::ldexp(1 + fraction, exponent - 15) : std::ldexp(fraction, -14);
      out.push_back((bits & 0x8000 ? -1 : 1) * size * static_cast<double>(scale));
    } else {
      const double root = (with_signs ? bits >> 1 : bits) / steps;
      out.push_back((with_signs && bits & 1 ? -1 : 1) * root * root * static_cast<double>(scale));
    }
  }
  return out;
}

Matrix random_matrix(int rows, int columns, bool with_signs) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  Matrix out(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      out(i, j) = std::exp(3 * normal(random)) * static_cast<float>(i + 1);
      if (with_signs && j % 3 == 0) out(i, j) = -out(i, j);
    }
  if (rows > 2) std::ranges::fill(out.row(2), 0.0f);
  return out;
}

TEST(PagePack, Base64HasItsPadding) {
  for (const auto& [text, coded] : std::vector<std::pair<std::string, std::string>>{
           {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}})
    EXPECT_EQ(base64_of(text), coded);
}

TEST(PagePack, GzipGivesTheBytesBack) {
  for (const size_t size : {0, 1, 70'000, 300'000}) {
    std::string bytes;
    for (size_t k = 0; k < size; ++k) bytes += static_cast<char>(k * k % 251);
    EXPECT_EQ(gunzip(gzip_of(bytes), size), bytes);
  }
}

TEST(PagePack, EveryCodingKeepsItsWord) {
  for (const bool with_signs : {false, true})
    for (const auto& [rows, columns] : {std::pair(5, 40), std::pair(500, 450)})
      for (const Coding coding : {Coding::f32, Coding::f16, Coding::root8}) {
        const Matrix matrix = random_matrix(rows, columns, with_signs);
        const Document document = packed(matrix, coding, with_signs);
        const std::vector<double> found = unpacked(document, with_signs);
        const auto steps = static_cast<double>(field<int64_t>(document, "steps"));
        for (int i = 0; i < rows; ++i) {
          double most = 0;
          for (const float x : matrix.row(i)) most = std::max(most, std::abs(double(x)));
          for (int j = 0; j < columns; ++j) {
            const double want = matrix(i, j), got = found[static_cast<size_t>(i * columns + j)];
            const double slack = steps > 0               ? 1.001 * most / steps
                                 : coding == Coding::f32 ? 0
                                                         : std::abs(want) / 2047 + most / 33e6;
            ASSERT_NEAR(got, want, slack) << field<std::string>(document, "coding") << ' ' << i;
          }
        }
      }
}

TEST(PagePack, RowsThatLookAlikeAreStoredAsDifferences) {
  Matrix matrix(200, 300);
  std::mt19937 random(1);
  for (float& x : matrix.row(0)) x = static_cast<float>(random() % 1000);
  for (int i = 1; i < 200; ++i) std::ranges::copy(matrix.row(0), matrix.row(i).begin());
  const Document document = packed(matrix, Coding::f16, false);
  EXPECT_TRUE(field<bool>(document, "difference"));
  EXPECT_LT(field<std::string>(document, "data").size(), 2000u);
  EXPECT_EQ(unpacked(document, false)[300], unpacked(document, false)[0]);
}

TEST(PageTokens, AreTheTextByteForByte) {
  Description source;
  source.tokens = {"[CLS]", "The", "k", "##eys", "\xF0\x9F", "\x98\x80", "[SEP]", "Two", "[SEP]"};
  source.texts = {"The  keys \xF0\x9F\x98\x80", " Two"};
  source.places = {{-1, 0, 0},  {0, 0, 3},  {0, 5, 6}, {0, 6, 9}, {0, 10, 12},
                   {0, 12, 14}, {-1, 0, 0}, {1, 1, 4}, {-1, 0, 0}};
  const Document document = token_document(source);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(field<Texts>(document, "text"),
            (Texts{"", "The", "k", "eys", "\xF0\x9F\x98\x80", "", "", "Two", ""}));
  EXPECT_EQ(field<Texts>(document, "before"), (Texts{"", "", "  ", "", " ", "", "", "\n ", ""}));
  EXPECT_EQ(field<std::vector<int>>(document, "special"), (std::vector<int>{0, 6, 8}));
}

TEST(PageTokens, WithoutATextAreWordsAgain) {
  const Document document = token_document(std::vector<std::string>{"[CLS]", "key", "##s", "."});
  using Texts = std::vector<std::string>;
  EXPECT_EQ(field<Texts>(document, "text"), (Texts{"", "key", "s", "."}));
  EXPECT_EQ(field<Texts>(document, "before")[2], "");
}

TEST(Page, TokensNeverEndTheirElement) {
  Attribution result = made(static_cast<int>(hostile_tokens().size()));
  result.source.tokens = hostile_tokens();
  result.source.tokens[0] = "</script><!--<script>";
  result.source.name = "</script>&";
  result.notes = {"</script>"};
  WriteOptions options;
  options.command = "headwater '</script>'";
  const std::string page = page_of(results_of(std::move(result)), options);
  EXPECT_EQ(times(page, "<script"), 5);  // data, loader, core, result, text
  EXPECT_EQ(times(page, "</script"), 5);
  EXPECT_EQ(times(page, "<!--"), 0);
}

TEST(Page, AllowsWhatItHoldsAndNothingElse) {
  const std::string page = page_of(results_of(made(3)));
  const auto allows = [&](const char* name) {
    const BuiltFile file = built_file(name);
    EXPECT_EQ(file.hash.size(), 44u);
    return times(page, "'sha256-" + file.hash + "'");
  };
  for (const char* name : {"core.js", "result.js", "text.js", "loader.js", "style.css"})
    EXPECT_EQ(allows(name), 1) << name;
  for (const char* name : {"layers.css", "tables.css", "patches.js", "picture.js", "layers.js",
                           "compare.js", "tables.js", "server.js"})
    EXPECT_EQ(allows(name), 0) << name;
  EXPECT_NE(page.find("default-src 'none'"), page.npos);
  EXPECT_EQ(page.find("unsafe"), page.npos);
  EXPECT_EQ(page.find("http://"), page.npos);
  EXPECT_EQ(page.find("https://"), page.npos);
}

TEST(Page, HoldsTheScriptsThatItsResultsNeed) {
  using Names = std::vector<std::string>;
  const auto scripts = [](const auto& result) { return page_scripts({page_contents(result, {})}); };
  EXPECT_EQ(scripts(made(3)), (Names{"core.js", "result.js", "text.js"}));
  Attribution by_layer = made(3);
  by_layer.by_layer = {0};
  EXPECT_EQ(scripts(by_layer), (Names{"core.js", "result.js", "text.js", "layers.js"}));
  Attribution with_cut = made(3);
  with_cut.cut.emplace();
  EXPECT_EQ(scripts(with_cut), (Names{"core.js", "result.js", "text.js", "layers.js", "arcs.js"}));
  EXPECT_EQ(scripts(made_comparison(3, 2)),
            (Names{"core.js", "result.js", "text.js", "compare.js"}));
  EXPECT_EQ(scripts(Metrics{}), (Names{"core.js", "tables.js"}));
  Attribution both = made(3);
  both.source.tokens = {"<image 0: 0,0>", "<image 0: 0,1>", "what"};
  EXPECT_EQ(scripts(both), (Names{"core.js", "result.js", "text.js", "patches.js"}));
  Attribution seen = made(5);
  seen.source.patches.emplace().image = Image(1, 1);
  EXPECT_EQ(scripts(seen), (Names{"core.js", "result.js", "picture.js"}));
}

TEST(Page, TitleIsEscaped) {
  Attribution result = made(2);
  result.gradient.emplace();
  result.gradient->target.logit.name = "<b>&";
  const std::string page = page_of(results_of(std::move(result)));
  EXPECT_NE(page.find("of '&lt;b>&amp;'</title>"), page.npos);
}

TEST(Page, HoldsEveryResultOfABatch) {
  const std::string page = page_of(results_of(made(3), made(4), made_comparison(3, 2)));
  EXPECT_EQ(times(page, "\"kind\": \"attribution\""), 4);
  EXPECT_EQ(times(page, "\"kind\": \"comparison\""), 1);
}

TEST(Page, SaysWhetherValuesHaveSigns) {
  EXPECT_NE(page_of(results_of(made(3))).find("\"signed\": false"), std::string::npos);
  Attribution result = made(3);
  result.values[0](0, 0) = -1;
  EXPECT_NE(page_of(results_of(std::move(result))).find("\"signed\": true"), std::string::npos);
}

TEST(Page, SaysHowExactItsNumbersAre) {
  const Document small = page_contents(made(3), {}), large = page_contents(made(1300), {});
  using Notes = std::vector<std::string>;
  EXPECT_TRUE(field<Notes>(small, "notes").empty());
  const auto steps = field<int64_t>(field<std::vector<Document>>(large, "values")[0], "steps");
  EXPECT_EQ(field<Notes>(large, "notes").back(),
            fmt::format("Numbers on this page are within {:.1f} % of the largest of their row; "
                        ".json and .npz hold them in full.",
                        100.0 / static_cast<double>(steps)));
}

TEST(Page, SaysWhyItCannotRecomputeAResult) {
  const auto why = [](auto change) {
    Attribution result = made(3);
    result.maps.emplace_back(3, 3);
    change(result);
    const Document page = page_contents(result, {});
    const Field* fixed = page.find("fixed");
    return fixed ? std::get<std::string>(fixed->value) : "";
  };
  EXPECT_EQ(why([](Attribution&) {}), "");
  EXPECT_EQ(why([](Attribution& one) { one.maps.clear(), one.method = "flow"; }), "");
  EXPECT_EQ(why([](Attribution& one) { one.method = "flow"; }), "the page cannot recompute flow");
  EXPECT_EQ(why([](Attribution& one) { one.options.discard = 0.1; }),
            "the page cannot recompute discard");
  EXPECT_EQ(why([](Attribution& one) { one.options.preset = Preset::metrics; }),
            "the page cannot recompute metrics");
  EXPECT_EQ(why([](Attribution& one) { one.options.empty = Empty::zero; }),
            "the page cannot recompute empty zero");
}

TEST(Page, SaysHowItsCommandCouldHaveLayers) {
  const auto says = [](const std::string& command, bool has_maps = false) {
    Attribution result = made(3);
    if (has_maps) result.maps.emplace_back(3, 3);
    WriteOptions options;
    options.command = command;
    return page_of(results_of(std::move(result)), options).find("--embed-layers adds") !=
           std::string::npos;
  };
  EXPECT_TRUE(says("headwater rollout x.npz -o x.html"));
  EXPECT_TRUE(says("headwater flow x.npz -o x.html"));
  EXPECT_FALSE(says("headwater rollout x.npz --embed-layers -o x.html", true));
  EXPECT_FALSE(says("headwater raw x.npz -o x.html"));
  EXPECT_FALSE(says(""));  // Python's results have no command
}

}  // namespace
}  // namespace headwater
