// From a question and what it is about to a result.
#pragma once
#include "headwater/result/result.h"
#include "headwater/source/generation.h"
#include "headwater/source/source.h"
#include "headwater/source/watched_source.h"
#include "server/answerer.h"

namespace headwater::server {

/// Reports every pass over a source.
Watch watch_for(Listener& listener);

/// What the question asks of `source`; of `source` and `other` if it compares two models. Throws
/// Error and Cancelled.
Result compute(const Question& question, Source& source, Source* other, Listener& listener);

/// The same for a text that a model writes.
Result compute(const Question& question, Generation& generation);

}  // namespace headwater::server
