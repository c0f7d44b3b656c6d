// A text that grows while somebody watches.
#pragma once
#include <memory>

#include "headwater/source/generation.h"
#include "server/answerer.h"

namespace headwater::server {

/// Passes everything on to `generation`, and tells the listener the text so far.
std::unique_ptr<Generation> watched(std::unique_ptr<Generation> generation, Listener& listener,
                                    int count);

}  // namespace headwater::server
