#include "headwater/source/json.h"

#include <simdjson.h>

#include <cstring>

#include "headwater/core/fail.h"
#include "headwater/core/parse_json.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;

// Flattens nested lists of numbers; all lists on one level must have the same length.
class NestedLists {
 public:
  NestedLists(std::string what, bool booleans) : what_(std::move(what)), booleans_(booleans) {}

  Tensor read(const dom::element& root, const std::string& name) {
    measure(root);
    if (shape_.empty())
      fail("{}: is {}, expected a list; check the file", what_,
           root.is_null() ? "null" : "something else");
    walk(root, 0);
    Tensor tensor;
    tensor.name = name;
    tensor.type = DType::f64;
    tensor.shape = shape_;
    tensor.own.resize(numbers_.size() * sizeof(double));
    std::memcpy(tensor.own.data(), numbers_.data(), tensor.own.size());
    tensor.bytes = tensor.own;
    return tensor;
  }

 private:
  void measure(dom::element element) {
    dom::array list;
    while (!element.get(list)) {
      shape_.push_back(static_cast<int64_t>(list.size()));
      if (shape_.size() > 8)
        fail("{}: lists are nested deeper than 8, expected 2 to 5 levels; check the file", what_);
      if (list.size() == 0)
        fail("{}: has an empty list on level {}, expected numbers; check the file", what_,
             shape_.size());
      element = *list.begin();
    }
  }
  void walk(const dom::element& element, size_t level) {
    dom::array list;
    if (element.get(list)) {
      double number;
      bool truth;
      if (booleans_ && level == shape_.size() && !element.get(truth)) {
        numbers_.push_back(truth ? 1 : 0);
        return;
      }
      if (level != shape_.size() || element.get(number))
        fail("{}: has {} where {} was expected, on level {}; check the file", what_,
             element.is_null() ? "null" : "something else",
             level == shape_.size() ? "a number" : "a list", level);
      numbers_.push_back(number);
      return;
    }
    if (level == shape_.size())
      fail("{}: has a list where a number was expected, on level {}; check the file", what_, level);
    // dom::array::size() saturates at 2^24 - 1, so count the entries.
    int64_t count = 0;
    for (const dom::element inner : list) {
      walk(inner, level + 1);
      ++count;
    }
    if (count != shape_[level])
      fail(
          "{}: is ragged: a list on level {} has {} entries, expected {} like the first; check the "
          "file",
          what_, level + 1, count, shape_[level]);
  }

  std::string what_;
  bool booleans_;  // true and false count as 1 and 0
  std::vector<int64_t> shape_;
  std::vector<double> numbers_;
};

Tokens tokens_of(const dom::element& root, const std::string& what) {
  Tokens tokens;
  dom::array list;
  if (root.get(list)) fail("{}: is not a list, expected a list of strings; check the file", what);
  int lists = 0;
  size_t length = 0;
  for (const dom::element entry : list) {
    std::string_view word;
    dom::array inner;
    if (!entry.get(word) && lists == 0) {
      tokens.words.emplace_back(word);
      continue;
    }
    if (entry.get(inner) || (lists == 0 && !tokens.words.empty()))
      fail("{}: has an entry that is not a string, expected strings only; check the file", what);
    for (const dom::element one : inner) {
      if (one.get(word))
        fail("{}: has an entry that is not a string, expected strings only; check the file", what);
      tokens.words.emplace_back(word);
    }
    if (lists++ == 0) length = tokens.words.size();
    if (tokens.words.size() != length * static_cast<size_t>(lists))
      fail("{}: has lists of different lengths, expected {} tokens in each; check the file", what,
           length);
  }
  if (lists > 0) tokens.lists = lists;
  return tokens;
}

dom::element parse(dom::parser& parser, std::string_view text, const std::string& what) {
  dom::element root;
  if (const auto error = parse_json(parser, text, root))
    fail("{}: is not JSON ({}), expected a JSON document; check the file", what,
         simdjson::error_message(error));
  return root;
}

}  // namespace

Arrays read_json(const std::string& path) {
  const MappedFile file(path);
  constexpr size_t largest = size_t{1} << 30;  // a parsed document takes several times its text
  if (file.bytes().size() > largest)
    fail("{}: is {} bytes long, expected at most 1 GiB of JSON; save it as .npz or .safetensors",
         path, file.bytes().size());
  dom::parser parser;
  dom::object object;
  if (parse(parser, as_text(file.bytes()), path).get(object))
    fail(
        "{}: is not a JSON object, expected {{\"tokens\": [...], \"attentions\": [...]}}; check "
        "the file",
        path);
  Arrays arrays;
  arrays.format = "json";
  arrays.name = path;
  for (const auto& [key, value] : object) {
    const std::string what = fmt::format("{}: \"{}\"", path, key);
    const bool twice = (key == "attentions" && !arrays.layers.empty()) ||
                       (key == "tokens" && arrays.tokens) ||
                       (key == "attention_mask" && arrays.mask);
    if (twice) fail("{}: is given twice, expected once; check the file", what);
    if (key == "attentions")
      arrays.layers.push_back(NestedLists(what, false).read(value, "attentions"));
    if (key == "attention_mask")
      arrays.mask = NestedLists(what, true).read(value, "attention_mask");
    if (key == "tokens") arrays.tokens = tokens_of(value, what);
  }
  if (arrays.layers.empty())
    fail(
        "{}: has no \"attentions\", expected {{\"tokens\": [...], \"attentions\": [...]}}; check "
        "the file",
        path);
  return arrays;
}

Tokens parse_tokens(std::string_view json, const std::string& what) {
  dom::parser parser;
  return tokens_of(parse(parser, json, what), what);
}

std::vector<std::string> read_tokens(const std::string& path) {
  const MappedFile file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  if (path.ends_with(".json")) {
    Tokens tokens = parse_tokens(text, path);
    if (tokens.lists != 1)
      fail("{}: has {} lists, expected one list of tokens; keep one", path, tokens.lists);
    if (tokens.words.empty())
      fail("{}: has no tokens, expected a list of strings; check the file", path);
    return tokens.words;
  }
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    words.emplace_back(line);
    at = end + 1;
  }
  return words;
}

}  // namespace headwater
