// Any result, made from the bytes: the page's data is JSON with the same tokens, nothing in it can
// end its element, and the plain outputs are JSON and text.
#include <fuzzer/FuzzedDataProvider.h>
#include <simdjson.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "headwater/core/error.h"
#include "headwater/output/json.h"
#include "headwater/output/page/page.h"

namespace {

using namespace headwater;

std::string any_text(FuzzedDataProvider& from) {
  static constexpr const char* known[] = {
      "</script>",    "<!--",         "-->", "&lt;",        "\xE2\x80\xA8", "\xE2\x80\xAE", "[CLS]",
      "\xEF\xBF\xBE", "\xED\xA0\x80", "##a", "\xC4\xA0the", "\"\\",         "\x1b[31m",     "\n"};
  if (from.ConsumeBool())
    return known[from.ConsumeIntegralInRange<size_t>(0, std::size(known) - 1)];
  return from.ConsumeRandomLengthString(40);
}

std::vector<std::string> any_texts(FuzzedDataProvider& from, int count) {
  std::vector<std::string> out;
  for (int k = 0; k < count; ++k) out.push_back(any_text(from));
  return out;
}

float any_value(FuzzedDataProvider& from, bool with_sign) {
  const auto value = from.ConsumeFloatingPointInRange<float>(-1e30f, 1e30f);
  return with_sign ? value : std::abs(value);
}

Matrix any_matrix(FuzzedDataProvider& from, int rows, int columns, bool with_signs) {
  Matrix out(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (float& value : out.row(i)) value = any_value(from, with_signs);
  return out;
}

Description any_source(FuzzedDataProvider& from, int n) {
  Description out;
  out.kind = from.ConsumeBool() ? "file" : "model";
  out.name = any_text(from);
  out.tokens = any_texts(from, n);
  out.layers = from.ConsumeIntegralInRange(1, 4);
  out.heads.assign(static_cast<size_t>(out.layers), 2);
  out.padded = n;
  if (from.ConsumeBool()) {
    out.texts = any_texts(from, from.ConsumeIntegralInRange(1, 2));
    for (int k = 0; k < n; ++k) {
      const size_t begin = from.ConsumeIntegralInRange<size_t>(0, 50);
      out.places.push_back({from.ConsumeIntegralInRange(-1, 2), begin,
                            begin + from.ConsumeIntegralInRange<size_t>(0, 9)});
    }
  }
  return out;
}

Attribution any_attribution(FuzzedDataProvider& from, int n) {
  Attribution out;
  static constexpr const char* methods[] = {"rollout", "average", "raw", "flow"};
  out.method = methods[from.ConsumeIntegralInRange(0, 3)];
  out.source = any_source(from, n);
  out.layers = {0, out.source.layers};
  out.mean_row = from.ConsumeBool();
  const int rows = out.mean_row ? 1 : from.ConsumeIntegralInRange(1, n);
  if (!out.mean_row)
    for (int k = 0; k < rows; ++k) out.rows.push_back(from.ConsumeIntegralInRange(0, n - 1));
  out.has_signs = from.ConsumeBool();
  out.values.push_back(any_matrix(from, rows, n, out.has_signs));
  if (from.ConsumeBool())
    for (int l = 0; l < out.source.layers; ++l) out.maps.push_back(any_matrix(from, n, n, false));
  out.notes = any_texts(from, from.ConsumeIntegralInRange(0, 2));
  out.label = any_text(from);
  return out;
}

size_t count_of(const std::string& page, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = page.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

void check(ResultView result, const WriteOptions& options, bool whole) {
  simdjson::dom::parser parser;
  simdjson::dom::element data;
  const std::string text = page_data({result}, options);
  if (parser.parse(text).get(data) != simdjson::SUCCESS) std::abort();
  if (!whole) return;
  const std::string same = simdjson::minify(data);
  std::string page;
  write_page({result}, options, [&](std::string_view part) { page += part; });
  // Elements of its own and no other, whatever the tokens are: the data, then packed scripts, then
  // what unpacks them.
  constexpr std::string_view start = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find("<script") + start.size(), end = page.find('<', begin);
  if (page.compare(begin - start.size(), start.size(), start) != 0 ||
      page.compare(end, 9, "</script>") != 0)
    std::abort();
  const size_t packed = count_of(page, "<script type=\"text/plain\">");
  if (packed < 1 || count_of(page, "<script>") != 1 || count_of(page, "<script") != packed + 2)
    std::abort();
  if (parser.parse(page.substr(begin, end - begin)).get(data) != simdjson::SUCCESS ||
      simdjson::minify(data) != same)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider from(data, size);
  WriteOptions options;
  options.command = any_text(from);
  options.title = from.ConsumeBool() ? any_text(from) : "";
  options.filter.special = from.ConsumeBool();
  options.filter.punctuation = from.ConsumeBool();
  options.filter.renormalise = from.ConsumeBool();
  options.timing = from.ConsumeBool();
  const int n = from.ConsumeIntegralInRange(1, 12);
  const bool whole = size % 16 == 0;  // packing the page's script takes longer than all the rest
  try {
    if (from.ConsumeBool()) {
      check(any_attribution(from, n), options, whole);
    } else {
      Comparison both;
      both.by = "method";
      for (int k = 0; k < 2; ++k) both.panels.push_back(any_attribution(from, n));
      both.agreement = any_matrix(from, 2, 2, true);
      check(both, options, whole);
    }
  } catch (const Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
