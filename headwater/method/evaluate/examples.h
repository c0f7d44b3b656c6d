// A file of examples: inputs for a model, and what is known about them.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "headwater/source/patch_grid.h"

namespace headwater {

/// Begin and end, half open, in bytes of a text.
using TextSpan = std::array<size_t, 2>;

/// One line of the file.
struct LabelledInput {
  enum class Kind { text, prompt, image };
  Kind kind = Kind::text;
  int line = 1;
  std::string text;             // or the prompt, or the path of the image
  std::string answer;           // of a prompt: what follows it
  std::string label;            // the class by name or number; "": the model's own choice
  std::vector<TextSpan> truth;  // what matters in the text or prompt
  std::optional<ImageBox> box;  // the same in pixels of the image
};

/// A .txt has a text a line; a .jsonl has an object a line, one of
///   {"text": "...", "label": "plural" or 1, "truth": [[begin, end], ...]}
///   {"prompt": "...", "answer": "...", "truth": [[begin, end], ...]}
///   {"image": "path from the file's folder", "label": ..., "box": [x, y, width, height]}
/// in which label, truth and box may be left out. Reads the first `limit` lines at most. A byte
/// order mark before the first and \r at the end of a line are no part of it. Throws Error, which
/// names the line, for what is empty, no UTF-8, no JSON, or not one of these.
std::vector<LabelledInput> read_examples(const std::string& path, std::optional<int> limit = {});

}  // namespace headwater
