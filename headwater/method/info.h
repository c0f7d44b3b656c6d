// What is known about a source before anything is computed.
#pragma once
#include "headwater/result/info.h"
#include "headwater/source/source.h"

namespace headwater {

/// One item of `batch`. Reads its lowest layer if nothing else says whether attention is causal.
/// Throws Error as Source does.
Info info(const Batch& batch, Source& item);

/// The batch alone, without an input: for example a model that has no text yet.
Info info(const Batch& batch);

}  // namespace headwater
