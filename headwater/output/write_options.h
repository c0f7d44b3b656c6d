// What is said about how results are shown and written.
#pragma once
#include "headwater/result/filter.h"

namespace headwater {

struct WriteOptions {
  Filter filter;        // tokens left out of what is shown
  bool timing = false;  // add the seconds
  bool list = false;    // the results are those of a whole batch: written as several even if one
};

}  // namespace headwater
