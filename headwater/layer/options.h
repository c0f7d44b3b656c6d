// The one record of options that every method takes: the same words in C++, on the command line and
// in results.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/core/range.h"
#include "headwater/source/fuse.h"

namespace headwater {

/// Where the numbers come from that an option does not say.
enum class Preset {
  paper,     // Abnar and Zuidema 2020: mean, residual 0.5, no discard
  tutorial,  // the class in circulation: discard 0.1 after the residual, an emptied row stays zero
  vit_explain,  // discard 0.9 before the residual, rows divided by their own sums
  metrics,      // first layer as it is, product in the order A_0 A_1 ... A_(L-1)
};
enum class Order { residual_first, discard_first };
/// What a row becomes that has nothing to divide by: the identity's row, or zeros.
enum class Empty { identity, zero };
/// Whether rows are divided by their sums in every step, or only in a step that changed them.
enum class Divide { always, changed };

/// Layers j:i as Python slices them, before it is known how many there are: negative counts from
/// the end.
struct Slice {
  int begin = 0;
  std::optional<int> end;  // none: to the last layer
  bool operator==(const Slice&) const = default;
};

/// Which output tokens are asked for.
struct Row {
  enum class Kind { all, index, cls, last, mask, mean };
  Kind kind = Kind::all;
  int index = 0;  // of Kind::index; -1 is the last

  static const Row all, cls, last, mask, mean;
  static constexpr Row at(int index) { return {Kind::index, index}; }
  bool operator==(const Row&) const = default;
};
inline constexpr Row Row::all = {Row::Kind::all, 0};
inline constexpr Row Row::cls = {Row::Kind::cls, 0};
inline constexpr Row Row::last = {Row::Kind::last, 0};
inline constexpr Row Row::mask = {Row::Kind::mask, 0};
inline constexpr Row Row::mean = {Row::Kind::mean, 0};

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

/// Throws Error (usage) if residual or discard is not in [0, 1).
void check(const Options& options);

/// The layers that `slice` names out of `count`. Throws Error if one is not there or none is named:
/// nothing is clamped.
Range resolve(const Slice& slice, int count, std::string_view source);

/// The rows that `row` names; empty for Kind::mean, which is no row of its own. Throws Error if it
/// names none.
std::vector<int> resolve(const Row& row, const std::vector<std::string>& tokens,
                         std::string_view source);

/// Layer or head or item `index` out of `count`, counted from the end if negative. Throws Error
/// naming `what`.
int resolve_index(int index, int count, std::string_view what, std::string_view source);

// Words to values, as a command line has them; each throws Error (usage) with the nearest known
// word.
Preset parse_preset(std::string_view text);
Order parse_order(std::string_view text);
Empty parse_empty(std::string_view text);
Divide parse_divide(std::string_view text);
Slice parse_slice(std::string_view text);
Row parse_row(std::string_view text);

std::string to_string(Preset preset);
std::string to_string(Order order);
std::string to_string(Empty empty);
std::string to_string(Divide divide);

}  // namespace headwater
