#include "headwater/model/blank.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/tokenizer.h"

namespace headwater {

namespace {

std::optional<int> find_first(const Model& model, std::initializer_list<const char*> names) {
  const Tokenizer* tokenizer = model.tokenizer();
  if (!tokenizer)
    fail("{}: has no tokenizer, expected one to know the mask token; save the tokenizer too",
         model.name());
  for (const char* name : names)
    if (const auto id = tokenizer->id_of(name);
        id && *id < model.architecture().text->vocabulary && !tokenizer->is_assumed(*id))
      return id;
  return {};
}

}  // namespace

std::optional<int> find_mask_token(const Model& model) {
  return find_first(model, {"[MASK]", "<mask>"});
}

std::optional<int> find_blank_token(const Model& model) {
  return find_first(model, {"[MASK]", "<mask>", "[UNK]", "<unk>"});
}

int blank_token(const Model& model) {
  if (const std::optional<int> id = find_blank_token(model)) return *id;
  fail(
      "{}: has neither a mask token nor an unknown token in its vocabulary, expected one to blank "
      "words out with; use `against` gradient without `faithfulness`",
      model.name());
}

TextInput blanked(const TextInput& input, int blank, std::span<const int> tokens) {
  TextInput out = input;
  for (const int token : tokens) out.ids.at(static_cast<size_t>(token)) = blank;
  return out;
}

Pixels blanked(const Model& model, const Pixels& pixels, std::span<const int> tokens) {
  Pixels out = pixels;
  const int patch = model.architecture().image->patch, columns = pixels.width / patch;
  const int rows = pixels.height / patch;
  for (const int token : tokens) {
    const int place = token - model.image_prefix();
    if (place < 0 || place >= rows * columns)
      fail("{}: token {} is not a patch of the image, expected one to blank out; choose another",
           model.name(), token);
    const int left = place % columns * patch, top = place / columns * patch;
    for (int colour = 0; colour < 3; ++colour)
      for (int y = top; y < top + patch; ++y)
        std::fill_n(
            out.values.begin() + (std::ptrdiff_t{colour} * pixels.height + y) * pixels.width + left,
            patch, 0.0f);
  }
  return out;
}

}  // namespace headwater
