// The options that every method takes. C++, the command line and results use the same words.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headwater/core/range.h"
#include "headwater/source/fuse.h"

namespace headwater {

/// Options that belong together: options_of(preset) has their values. Results record the name.
/// `metrics` also reverses the product.
enum class Preset {
  paper,     // Abnar and Zuidema 2020: mean, residual 0.5, no discard
  tutorial,  // the widely copied class: discard 0.1 after the residual, an emptied row stays zero
  vit_explain,  // discard 0.9 before the residual, rows divided by their own sums
  metrics,      // first layer unchanged, product in the order A_0 A_1 ... A_(L-1)
};
enum class Order { residual_first, discard_first };
/// What a row that sums to 0 becomes: a row of the identity, or zeros.
enum class Empty { identity, zero };
/// Whether every step divides rows by their sums, or only a step that changed them.
enum class Divide { always, changed };

/// Layers j:i as in a Python slice, before their number is known; negative: from the end.
struct Slice {
  int begin = 0;
  std::optional<int> end;  // none: to the last layer
  bool operator==(const Slice&) const = default;
};

/// The output tokens to return.
struct Row {
  enum class Kind { all, index, cls, last, mask, mean, list, word };
  Kind kind = Kind::all;
  int index = 0;               // for Kind::index; -1 is the last
  std::vector<Row> each = {};  // for Kind::list: the rows in order, neither all nor mean
  std::string text = {};       // for Kind::word: "keys", or "keys#2" for the second

  static const Row all, cls, last, mask, mean;
  static Row at(int index) { return {Kind::index, index}; }
  static Row list(std::vector<Row> each) { return {Kind::list, 0, std::move(each)}; }
  static Row word(std::string text) { return {Kind::word, 0, {}, std::move(text)}; }
  bool operator==(const Row&) const = default;
};
inline const Row Row::all = {Row::Kind::all, 0};
inline const Row Row::cls = {Row::Kind::cls, 0};
inline const Row Row::last = {Row::Kind::last, 0};
inline const Row Row::mask = {Row::Kind::mask, 0};
inline const Row Row::mean = {Row::Kind::mean, 0};

struct Options {
  Preset preset = Preset::paper;
  Fuse fuse = Fuse::mean;
  double residual = 0.5;  // in [0, 1)
  double discard = 0;     // in [0, 1)
  Order order = Order::residual_first;
  Empty empty = Empty::identity;
  Divide divide = Divide::always;
  Slice layers = {};
  Row row = {};
};

/// All options of a preset.
Options options_of(Preset preset);

// These parse the words of the command line. Each throws Error (usage) with the nearest word.
Preset parse_preset(std::string_view text);
Order parse_order(std::string_view text);
Empty parse_empty(std::string_view text);
Divide parse_divide(std::string_view text);
Slice parse_slice(std::string_view text);
/// A number, one of all, cls, last, mask and mean, else a word of the text; several with commas
/// between them.
Row parse_row(std::string_view text);

std::string to_string(Preset preset);
std::string to_string(Order order);
std::string to_string(Empty empty);
std::string to_string(Divide divide);

}  // namespace headwater
