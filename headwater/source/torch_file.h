// What torch.save writes: the tensors of a model, in pytorch_model.bin.
#pragma once
#include <string>

#include "headwater/source/arrays.h"

namespace headwater {

/// The tensors of a state dict, or of the one under "state_dict", by name. Reads both of torch's
/// formats: zip, and the one before version 1.6. Numbers stay mapped, at any address, except for
/// tensors that are not stored row by row, which are copied: at most as many bytes as the file has.
/// Throws Error, which names the file; nothing in a file can make it run code.
Arrays read_torch(const std::string& path);

}  // namespace headwater
