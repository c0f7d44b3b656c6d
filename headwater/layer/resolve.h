// Checks options, and finds the layers and indices that they name in one source.
#pragma once
#include <string_view>

#include "headwater/core/range.h"
#include "headwater/layer/options.h"

namespace headwater {

/// Throws Error (usage) if residual or discard is not in [0, 1), or if a list of rows is empty or
/// contains all or mean.
void check(const Options& options);

/// For methods that ask about one output token. Throws Error (usage) if `row` is the mean or a
/// list.
void check_one_token(const Row& row);

/// The layers of `slice`, out of `count`. Throws Error if one does not exist or the slice is empty:
/// it is never clamped.
Range resolve(const Slice& slice, int count, std::string_view source,
              std::string_view what = "layers");

/// Index `index` out of `count`; a negative one counts from the end. Throws Error if it does not
/// exist; `what` says what it counts.
int resolve_index(int index, int count, std::string_view what, std::string_view source);

}  // namespace headwater
