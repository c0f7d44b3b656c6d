// A file of examples: inputs for a model, and what is known about them.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "headwater/source/patch_grid.h"

namespace headwater {

/// Begin and end (half open) in bytes of a text.
using TextSpan = std::array<size_t, 2>;

/// One line of the file.
struct LabelledInput {
  enum class Kind { text, prompt, image };
  Kind kind = Kind::text;
  int line = 1;
  std::string text;             // or the prompt, or the path of the image
  std::string answer;           // for a prompt: the text that follows it
  std::string label;            // the class by name or number; "": the model's own choice
  std::vector<TextSpan> truth;  // the parts of the text or prompt that matter
  std::optional<ImageBox> box;  // the part of the image that matters, in pixels
};

/// A .txt has one text a line. A .jsonl has one object a line, in one of these forms:
///   {"text": "...", "label": "plural" or 1, "truth": [[begin, end], ...]}
///   {"prompt": "...", "answer": "...", "truth": [[begin, end], ...]}
///   {"image": "path from the file's folder", "label": ..., "box": [x, y, width, height]}
/// label, truth and box are optional. Reads at most the first `limit` lines. Ignores a byte order
/// mark at the start of the file and \r at the end of a line. Throws Error, which names the line,
/// for anything that is empty, not UTF-8, not JSON or in another form.
std::vector<LabelledInput> read_examples(const std::string& path, std::optional<int> limit = {});

}  // namespace headwater
