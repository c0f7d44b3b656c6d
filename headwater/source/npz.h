// NumPy's .npz: a zip file with a .npy array a member.
#pragma once
#include <string>

#include "headwater/source/arrays.h"

namespace headwater {

/// One array a layer, in the natural order of the numbers in their names; `attention_mask` and
/// `tokens` apart. Stored arrays stay mapped, deflated ones are inflated as they are read.
Arrays read_npz(const std::string& path);

}  // namespace headwater
