// How results are shown and written.
#pragma once
#include "headwater/result/filter.h"

namespace headwater {

struct WriteOptions {
  Filter filter;        // tokens to leave out
  bool timing = false;  // add the seconds
  bool list = false;    // a whole batch: write a list even for one result
};

}  // namespace headwater
