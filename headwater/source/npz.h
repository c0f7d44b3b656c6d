// NumPy's .npz: a zip file whose members are .npy arrays.
#pragma once
#include <string>

#include "headwater/source/arrays.h"

namespace headwater {

/// One array a layer, in the natural order of their names, except `attention_mask` and `tokens`.
/// Stored arrays stay mapped; deflated ones are inflated as they are read.
Arrays read_npz(const std::string& path);

}  // namespace headwater
