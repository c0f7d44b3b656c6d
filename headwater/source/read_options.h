// How a file of attention, or a caller's arrays, are read.
#pragma once
#include <string>
#include <vector>

namespace headwater {

/// The defaults follow the formats.
struct ReadOptions {
  std::string axes = {};  // letters L B H n n in the order of the axes; "": by their number
  std::vector<std::string> tokens = {};  // replace the file's, if not empty
  bool any_sums = false;                 // accept rows that do not sum to 1
  bool nan_identity = false;             // turn a head's invalid row into an identity row
};

}  // namespace headwater
