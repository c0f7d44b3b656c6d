// Says what headwater makes of config.json files, for the Python tests: headwater_config FILE ...
// prints a line for each: "ok" with its notes, or the sentence that refuses it.
#include <fmt/format.h>

#include <cstdio>

#include "headwater/core/error.h"
#include "headwater/model/architecture.h"

int main(int count, char** words) {
  for (int k = 1; k < count; ++k) {
    std::string line = "ok";
    try {
      for (const std::string& note : headwater::describe(headwater::Config::open(words[k])).notes)
        line += "; " + note;
    } catch (const headwater::Error& error) {
      line = error.what();
    }
    std::puts(line.c_str());
  }
}
