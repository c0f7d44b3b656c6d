#include "headwater/layer/resolve.h"

#include "headwater/core/fail.h"

namespace headwater {

void check(const Options& options) {
  if (!(options.residual >= 0 && options.residual < 1))
    fail_usage("`residual` {}: expected a number from 0 up to but not including 1; for example 0.5",
               options.residual);
  if (!(options.discard >= 0 && options.discard < 1))
    fail_usage("`discard` {}: expected a number from 0 up to but not including 1; for example 0.1",
               options.discard);
  if (options.row.kind != Row::Kind::list) return;
  if (options.row.each.empty())
    fail_usage("`row`: is an empty list, expected the numbers of rows; for example 3,4");
  for (const Row& one : options.row.each)
    if (one.kind == Row::Kind::all || one.kind == Row::Kind::mean || one.kind == Row::Kind::list)
      fail_usage(
          "`row` {}: is not one row of a list, expected numbers, cls, last or mask; ask for "
          "it alone",
          one.kind == Row::Kind::mean  ? "mean"
          : one.kind == Row::Kind::all ? "all"
                                       : "list");
}

void check_one_token(const Row& row) {
  if (row.kind == Row::Kind::mean)
    fail_usage("`row` mean: is not a token, expected one output token; leave it out");
  if (row.kind == Row::Kind::list)
    fail_usage("`row`: names several tokens, expected one output token; choose one");
}

int resolve_index(int index, int count, std::string_view what, std::string_view source) {
  const int place = index < 0 ? index + count : index;
  if (place < 0 || place >= count)
    fail("{}: has no {} {}, expected 0{}; choose another", source, what, index,
         count == 1 ? ", the only one" : fmt::format(" to {} (or -1 for the last)", count - 1));
  return place;
}

Range resolve(const Slice& slice, int count, std::string_view source, std::string_view what) {
  const int end = slice.end.value_or(count);
  const Range range{slice.begin < 0 ? slice.begin + count : slice.begin,
                    end < 0 ? end + count : end};
  if (range.begin < 0 || range.end > count || range.begin >= range.end)
    fail(
        "{}: has no {} {}:{}, expected a range within 0:{} with at least one in it; choose another",
        source, what, slice.begin, end, count);
  return range;
}

}  // namespace headwater
