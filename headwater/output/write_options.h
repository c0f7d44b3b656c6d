// How results are shown and written.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "headwater/output/colour.h"
#include "headwater/result/filter.h"

namespace headwater {

struct WriteOptions {
  Filter filter;                      // tokens to leave out
  bool timing = false;                // add the seconds
  bool list = false;                  // a whole batch: write a list even for one result
  std::string command;                // what a page offers to copy: the line that makes this result
  std::vector<std::string> abouts;    // what a page says about each result; may be empty
  std::vector<std::string> commands;  // what makes each result of a page, if not one command all
  std::string title = {};             // of a picture or page; "": what it shows
  Ramp colours = Ramp::viridis;       // of the cells of a picture without signs
  /// Called with a picture's path and what it could not show, in a sentence.
  std::function<void(const std::string& path, const std::string& warning)> warn = {};
};

}  // namespace headwater
