#include "headwater/layer/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater {
namespace {

template <class Value>
using Word = std::pair<std::string_view, Value>;

constexpr std::array<Word<Preset>, 4> presets = {{{"paper", Preset::paper},
                                                  {"tutorial", Preset::tutorial},
                                                  {"vit-explain", Preset::vit_explain},
                                                  {"metrics", Preset::metrics}}};
constexpr std::array<Word<Order>, 2> orders = {
    {{"residual-first", Order::residual_first}, {"discard-first", Order::discard_first}}};
constexpr std::array<Word<Empty>, 2> empties = {
    {{"identity", Empty::identity}, {"zero", Empty::zero}}};
constexpr std::array<Word<Divide>, 2> divides = {
    {{"always", Divide::always}, {"changed", Divide::changed}}};
constexpr std::array<Word<Row::Kind>, 5> row_words = {{{"all", Row::Kind::all},
                                                       {"cls", Row::Kind::cls},
                                                       {"last", Row::Kind::last},
                                                       {"mask", Row::Kind::mask},
                                                       {"mean", Row::Kind::mean}}};

template <class Value, size_t count>
Value parse(std::string_view option, std::string_view text,
            const std::array<Word<Value>, count>& words) {
  std::array<std::string_view, count> names;
  for (size_t k = 0; k < count; ++k) {
    if (words[k].first == text) return words[k].second;
    names[k] = words[k].first;
  }
  fail_usage("unknown {} '{}'{}", option, text, suggestion(text, names));
}

template <class Value, size_t count>
std::string word_of(Value value, const std::array<Word<Value>, count>& words) {
  for (const auto& [word, known] : words)
    if (known == value) return std::string(word);
  return "";
}

std::optional<int> parse_integer(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return {};
  return value;
}

}  // namespace

Options options_of(Preset preset) {
  Options options;
  options.preset = preset;
  if (preset == Preset::tutorial) {
    options.discard = 0.1;
    options.empty = Empty::zero;
    options.divide = Divide::changed;
  }
  if (preset == Preset::vit_explain) {
    options.discard = 0.9;
    options.order = Order::discard_first;
  }
  return options;
}

Preset parse_preset(std::string_view text) { return parse("preset", text, presets); }
Order parse_order(std::string_view text) { return parse("order", text, orders); }
Empty parse_empty(std::string_view text) { return parse("empty", text, empties); }
Divide parse_divide(std::string_view text) { return parse("divide", text, divides); }

Slice parse_slice(std::string_view text) {
  const size_t colon = text.find(':');
  const auto bad = [&] {
    fail_usage("`layers` '{}': expected a range j:i of layer numbers; for example 0:6, 3: or :-1",
               text);
  };
  if (colon == std::string_view::npos) bad();
  const std::string_view begin = text.substr(0, colon), end = text.substr(colon + 1);
  Slice slice;
  if (!begin.empty()) {
    const auto value = parse_integer(begin);
    if (!value) bad();
    slice.begin = *value;
  }
  if (!end.empty()) {
    slice.end = parse_integer(end);
    if (!slice.end) bad();
  }
  return slice;
}

Row parse_row(std::string_view text) {
  if (const auto index = parse_integer(text)) return Row::at(*index);
  for (const auto& [name, kind] : row_words)
    if (name == text) return {kind, 0};
  std::vector<Row> each;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end == text.size() && each.empty()) break;
    const std::string_view one = text.substr(begin, end - begin);
    if (one.empty()) {
      if (text.size() > 1 && text.find_first_not_of("0123456789-+,") == text.npos)
        fail_usage("`row` '{}': expected numbers with a comma between them; for example 3,4", text);
      return Row::word(std::string(text));  // a comma of the text
    }
    each.push_back(parse_row(one));
    begin = end + 1;
  }
  if (!each.empty()) return Row::list(std::move(each));
  if (text.empty()) fail_usage("`row` '': expected a number, cls, last, mask, mean, all or a word");
  return Row::word(std::string(text));
}

std::string to_string(Preset preset) { return word_of(preset, presets); }
std::string to_string(Order order) { return word_of(order, orders); }
std::string to_string(Empty empty) { return word_of(empty, empties); }
std::string to_string(Divide divide) { return word_of(divide, divides); }

}  // namespace headwater
