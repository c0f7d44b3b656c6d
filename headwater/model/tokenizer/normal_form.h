// Unicode's normal forms, with the origin of each character.
#pragma once
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/aligned_text.h"

namespace headwater {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The characters of `text`, valid UTF-8, in that form of Unicode 9; later characters stay as they
/// are. Linear in the text, except for runs of combining marks, which are sorted.
std::vector<Change> normalise(std::string_view text, NormalForm form);

}  // namespace headwater
