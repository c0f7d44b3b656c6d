// How a file of attention, or a caller's arrays, are read.
#pragma once
#include <string>
#include <vector>

namespace headwater {

/// The defaults take what the formats say.
struct ReadOptions {
  std::string axes = {};  // letters L B H n n in the order of the arrays' axes; "": by their number
  std::vector<std::string> tokens = {};  // in place of the file's, if not empty
  bool any_sums = false;                 // take rows that do not sum to 1
  bool nan_identity = false;             // a head's bad row becomes the identity's
};

}  // namespace headwater
