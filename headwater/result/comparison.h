// Several results side by side.
#pragma once
#include <string>
#include <vector>

#include "headwater/result/attribution.h"

namespace headwater {

struct Comparison {
  std::string by;  // "layer", "evolution", "discard", "fuse", "head", "method", "model"
  std::vector<Attribution> panels;  // each with a label
  Matrix agreement;                 // mean Spearman rank correlation between the rows of two panels
};

}  // namespace headwater
