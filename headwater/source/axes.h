// Which axis of an array is which: layers, batch, heads, rows, columns.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headwater/source/arrays.h"

namespace headwater {

/// Where the numbers of one layer are in an array, in numbers from its start.
struct LayerPlace {
  int array = 0;  // index into Arrays::layers
  uint64_t offset = 0;
  uint64_t item = 0, head = 0, row = 0, column = 0;  // steps along each axis
  int heads = 1;
};

/// All layers of a file, in order, with the lengths that they share.
struct Stack {
  std::vector<LayerPlace> layers;
  int items = 1;
  int n = 0;            // tokens, including padding
  std::string axes;     // as read, for example "L H n n"
  bool single = false;  // one array holds all layers
};

/// Reads the shapes of `arrays`. `axes` names the axes by the letters L B H n n. "" goes by their
/// number: a single array is [n,n], [L,n,n], [L,H,n,n] or [L,B,H,n,n]; one of several is [n,n],
/// [H,n,n] or [B,H,n,n]. Throws Error for invalid letters (usage) and for arrays that are not
/// attention: wrong number of axes, not square, different n or batch, not a float type, or no
/// arrays at all.
Stack read_axes(const Arrays& arrays, const std::string& axes);

}  // namespace headwater
