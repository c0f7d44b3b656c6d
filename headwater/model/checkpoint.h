// The weights in a model directory, from all files that hold them.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/kernel/network.h"
#include "headwater/source/arrays.h"

namespace headwater {

/// Mapped, not read: numbers come from the disk on first use and keep their stored type. All
/// functions throw Error naming the tensor, what was found and what was expected.
class Checkpoint {
 public:
  static Checkpoint open(const std::string& folder);

  /// Wrappers of models put a prefix before all names: module. (DataParallel), model. (Lightning),
  /// auto_model. (sentence-transformers). Finds the one with which some tensor of `names` exists;
  /// from then on it is added to all names.
  void unwrap(const std::vector<std::string>& names);
  /// That prefix, or "".
  const std::string& outer() const { return outer_; }

  bool has(const std::string& name) const { return find(name) != nullptr; }
  /// A linear map of shape [outputs, inputs], or [inputs, outputs] if input_major.
  kernel::Weights matrix(const std::string& name, int outputs, int inputs,
                         bool input_major = false) const;
  /// A tensor of any shape that flattens to [outputs, inputs], such as a convolution.
  kernel::Weights flattened(const std::string& name, const std::vector<int64_t>& shape) const;
  /// All numbers of a small tensor as floats. `shape` must be its shape.
  Vector vector(const std::string& name, const std::vector<int64_t>& shape) const;
  /// Its shape. The tensor must exist.
  const std::vector<int64_t>& shape(const std::string& name) const;

  /// The names of tensors that none of the three functions above gave out so far.
  std::vector<std::string> unused() const;
  /// The count over all tensors, including unused ones.
  uint64_t parameters() const;
  /// The number types in use, each once: "f32", "f16 f32".
  std::string types() const;
  const std::string& name() const { return folder_; }
  /// Which files were chosen, if there was a choice, as sentences for results.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  const Tensor* find(const std::string& name) const;
  const Tensor& at(const std::string& name, const std::vector<int64_t>& shape) const;
  void take(Arrays file, const std::vector<std::string>& wanted);
  void refuse_quantised(const std::string& name) const;

  std::string folder_, outer_;
  std::vector<std::string> notes_;
  std::vector<Arrays> files_;
  std::map<std::string, const Tensor*, std::less<>> tensors_;
  mutable std::set<const Tensor*> used_;
};

/// Row `row` of stored weights ([outputs, inputs]) as floats: one word of an embedding table.
void copy_row(const kernel::Weights& weights, int row, std::span<float> out);

}  // namespace headwater
