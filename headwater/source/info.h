// What is known of a source before anything is computed.
#pragma once
#include <string>

#include "headwater/source/source.h"

namespace headwater {

struct Info {
  Example source;
  std::string reading;  // how the arrays were read
  bool causal = false;  // the lowest layer has nothing above the diagonal
  std::string kernel;   // the instruction set in use
  int threads = 1;
};

/// Looks at one item of `batch`; reads its lowest layer. Throws Error as Source does.
Info info(const Batch& batch, Source& item);

}  // namespace headwater
