// Which tokens of an example are known to matter.
#pragma once
#include <vector>

#include "headwater/method/evaluate/examples.h"
#include "headwater/source/source.h"

namespace headwater {

/// For each token whether it shares a byte with one of the spans of the first text. Throws Error if
/// a span shares none with any token.
std::vector<bool> true_tokens(const Description& example, const std::vector<TextSpan>& spans);

/// For each token whether it is a patch whose middle lies in the box, in pixels of the original
/// image. Throws Error if none does, or if the example is no image.
std::vector<bool> true_patches(const Description& example, const ImageBox& box);

/// For each token whether the text or the image itself gave it: no special token that was added.
std::vector<bool> given_tokens(const Description& example);

}  // namespace headwater
