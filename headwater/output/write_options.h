// How results are shown and written.
#pragma once
#include <string>
#include <vector>

#include "headwater/result/filter.h"

namespace headwater {

struct WriteOptions {
  Filter filter;                    // tokens to leave out
  bool timing = false;              // add the seconds
  bool list = false;                // a whole batch: write a list even for one result
  std::string command;              // what a page offers to copy: the line that makes this result
  std::vector<std::string> abouts;  // what a page says about each result; may be empty
};

}  // namespace headwater
