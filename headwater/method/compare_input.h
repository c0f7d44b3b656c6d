// Several inputs side by side, for minimal pairs: texts that differ in few words, or images.
#pragma once
#include <vector>

#include "headwater/result/comparison.h"

namespace headwater {

/// Rollouts of one method and options, each of another input, position by position: token by token,
/// or word by word (words.h) where only the numbers of words are the same. Where they differ, all
/// panels have the name of both: "keys/key". Throws Error if there are fewer than two, or if they
/// have other numbers of words or other rows.
Comparison compare_input(std::vector<Attribution> results);

}  // namespace headwater
