// Which tokens of an example are known to matter.
#pragma once
#include <vector>

#include "headwater/method/evaluate/examples.h"
#include "headwater/source/source.h"

namespace headwater {

/// Whether each token shares a byte with one of the spans of the first text. Throws Error if a span
/// shares no byte with any token.
std::vector<bool> true_tokens(const Description& described, const std::vector<TextSpan>& spans);

/// Whether each token is a patch whose centre is in the box, given in pixels of the original image.
/// Throws Error if none is, or if the example is not an image.
std::vector<bool> true_patches(const Description& described, const ImageBox& box);

/// Whether each token belongs to the text or image itself, and is not an added special token.
std::vector<bool> given_tokens(const Description& described);

}  // namespace headwater
