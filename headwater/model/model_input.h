// The inputs of a model.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

/// Texts, or prompts, or ids, or images. Each is one item of a batch.
struct ModelInput {
  std::vector<std::string> texts = {};
  std::optional<std::string> pair = {};  // a second text; needs exactly one first text
  std::vector<int> ids = {};             // tokens by number; nothing is added to them
  std::vector<std::string> images = {};  // PNG or JPEG files
  /// At most one of them, to compare the input with: the similarity of the two is then the model's
  /// output.
  std::optional<std::string> against_text = {}, against_image = {};
  bool truncate = false;        // cut a text that is too long for the model
  bool ignore_code = false;     // run a model although its folder has code of its own
  bool advise_truncate = true;  // messages about a long text may suggest `truncate`
  /// Texts for a causal language model to continue, without a token that the tokenizer adds at the
  /// end.
  std::vector<std::string> prompts = {};

  bool empty() const {
    return texts.empty() && prompts.empty() && !pair && ids.empty() && images.empty();
  }
};

/// The lines of a file of texts, one text each. Throws Error, which names the line, if one is empty
/// or not UTF-8.
std::vector<std::string> read_texts(const std::string& path);
/// The same for bytes that were read elsewhere; `name` names them in messages.
std::vector<std::string> split_texts(std::string_view bytes, const std::string& name);

}  // namespace headwater
