#include "headwater/method/evaluate/examples.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/nearest.h"
#include "headwater/core/parse_json.h"
#include "headwater/core/utf8.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;
using Kind = LabelledInput::Kind;

constexpr std::string_view keys[] = {"text", "prompt", "image", "answer", "label", "truth", "box"};

std::string read_text(const dom::element& value, const std::string& what) {
  std::string_view text;
  if (value.get(text)) fail("{}: is not a string, expected one; put it in quotes", what);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos || text.find('\0') != text.npos)
    fail("{}: is empty or binary, expected text; remove the line", what);
  return std::string(text);
}

std::string read_label(const dom::element& value, const std::string& what) {
  int64_t number = 0;
  if (!value.get(number)) return std::to_string(number);
  return read_text(value, what);
}

std::vector<TextSpan> read_spans(const dom::element& value, size_t length,
                                 const std::string& what) {
  std::vector<TextSpan> spans;
  dom::array list;
  if (value.get(list))
    fail("{}: is not a list, expected [[begin, end], ...]; check the line", what);
  for (const dom::element entry : list) {
    std::vector<uint64_t> ends;
    dom::array pair;
    if (!entry.get(pair))
      for (const dom::element one : pair) {
        uint64_t number = 0;
        if (one.get(number)) number = length + 1;
        ends.push_back(number);
      }
    if (ends.size() != 2 || ends[0] >= ends[1] || ends[1] > length)
      fail(
          "{}: has an entry that is not a span of the text, expected [begin, end] in bytes from 0 "
          "to {}; check the line",
          what, length);
    spans.push_back({ends[0], ends[1]});
  }
  if (spans.empty()) fail("{}: is empty, expected at least one span; leave it out", what);
  return spans;
}

ImageBox read_box(const dom::element& value, const std::string& what) {
  std::vector<double> numbers;
  dom::array list;
  if (!value.get(list))
    for (const dom::element one : list) {
      double number = 0;
      if (one.get(number)) break;
      numbers.push_back(number);
    }
  if (numbers.size() != 4 || !(numbers[2] > 0) || !(numbers[3] > 0))
    fail("{}: is not a box, expected [x, y, width, height] in pixels; check the line", what);
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

void check_keys(const LabelledInput& input, const std::set<std::string_view>& seen,
                const std::string& where) {
  const int kinds =
      static_cast<int>(seen.contains("text")) + seen.contains("prompt") + seen.contains("image");
  if (kinds != 1)
    fail("{}: has {} of \"text\", \"prompt\" and \"image\", expected one; check the line", where,
         kinds == 0 ? "none" : "several");
  const auto only = [&](std::string_view key, bool fits, const char* whom) {
    if (seen.contains(key) && !fits)
      fail("{}: has \"{}\", expected it only with {}; leave it out", where, key, whom);
  };
  only("answer", input.kind == Kind::prompt, "\"prompt\"");
  only("box", input.kind == Kind::image, "\"image\"");
  only("truth", input.kind != Kind::image, "\"text\" or \"prompt\"");
  only("label", input.kind != Kind::prompt, "\"text\" or \"image\"");
}

class LineReader {
 public:
  explicit LineReader(const std::string& path)
      : folder_(std::filesystem::path(path).parent_path()) {}

  LabelledInput read(std::string_view line, const std::string& where) {
    dom::object object;
    dom::element root;
    if (const auto error = parse_json(parser_, line, root))
      fail("{}: is not JSON ({}), expected one object a line; check it", where,
           simdjson::error_message(error));
    if (root.get(object)) fail("{}: is not a JSON object, expected one; check it", where);
    LabelledInput input;
    std::set<std::string_view> seen;
    dom::element truth;
    for (const auto& [key, value] : object) {
      const std::string what = fmt::format("{}: \"{}\"", where, key);
      if (std::ranges::find(keys, key) == std::end(keys))
        fail("{}: is unknown{}", what, suggestion(key, keys));
      if (!seen.insert(*std::ranges::find(keys, key)).second)
        fail("{}: is given twice, expected once; check the line", what);
      if (key == "text" || key == "prompt" || key == "image") {
        input.kind = key == "text" ? Kind::text : key == "prompt" ? Kind::prompt : Kind::image;
        input.text = read_text(value, what);
      }
      if (key == "answer") input.answer = read_text(value, what);
      if (key == "label") input.label = read_label(value, what);
      if (key == "truth") truth = value;
      if (key == "box") input.box = read_box(value, what);
    }
    check_keys(input, seen, where);
    if (seen.contains("truth"))
      input.truth = read_spans(truth, input.text.size(), where + ": \"truth\"");
    if (input.kind == Kind::image) input.text = (folder_ / input.text).string();
    return input;
  }

 private:
  std::filesystem::path folder_;
  dom::parser parser_;
};

}  // namespace

std::vector<LabelledInput> read_examples(const std::string& path, std::optional<int> limit) {
  const bool json = path.ends_with(".jsonl");
  if (!json && !path.ends_with(".txt"))
    fail_usage("{}: expected a .jsonl or a .txt of examples; rename it", path);
  const MappedFile file(path);
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()),
                               file.bytes().size());
  LineReader reader(path);
  std::vector<LabelledInput> inputs;
  // Some editors start a file with a byte order mark.
  for (size_t at = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < bytes.size();) {
    if (limit && static_cast<int>(inputs.size()) >= *limit) break;
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    std::string_view line = bytes.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const int number = static_cast<int>(inputs.size()) + 1;
    const std::string where = fmt::format("{}: line {}", path, number);
    if (line.find_first_not_of(" \t") == std::string_view::npos)
      fail("{} is empty, expected an example on each line; remove it", where);
    if (valid_utf8(line) != line || line.find('\0') != std::string_view::npos)
      fail("{} is not UTF-8, expected text; check that the file is text", where);
    LabelledInput input;
    if (json)
      input = reader.read(line, where);
    else
      input.text = std::string(line);
    input.line = number;
    inputs.push_back(std::move(input));
    at = end + 1;
  }
  if (inputs.empty()) fail("{}: has no lines, expected an example; add one", path);
  return inputs;
}

}  // namespace headwater
