// What is known about a source before anything is computed.
#pragma once
#include <string>

#include "headwater/source/description.h"

namespace headwater {

struct Info {
  Description source;
  std::string reading;  // how the arrays were read
  bool causal = false;  // the lowest layer has nothing above the diagonal
  std::string kernel;   // the instruction set in use
  int threads = 1;
};

}  // namespace headwater
