// Finds tensors inside a model's blocks that nothing computes with.
#pragma once
#include <string>

#include "headwater/model/architecture.h"
#include "headwater/model/checkpoint.h"

namespace headwater {

/// Call it once the blocks are bound. Throws Error naming a tensor inside a block that was not
/// used: a bias that config.json does not mention, a norm of another family, a layer too many.
/// Buffers, which hold no weights, may stay unused.
void refuse_unused(const Architecture& model, const Checkpoint& checkpoint,
                   const std::string& prefix);

}  // namespace headwater
