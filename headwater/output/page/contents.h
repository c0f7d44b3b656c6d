// What a page holds of a result. viewer/source/contract.ts describes the same for the other side.
#pragma once
#include "headwater/output/document.h"

namespace headwater {

/// One result as the page reads it. Unlike document_of(), matrices are packed, and tokens come with
/// their text.
Document page_contents(ResultView result, const WriteOptions& options);

}  // namespace headwater
