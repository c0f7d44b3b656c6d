// Several texts that a model runs together.
//
// The weights are read once for all of them, and a matrix product of hundreds of rows is several
// times as fast for each row as one of twenty. Each text gets the same bytes as on its own.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "headwater/model/layer_state.h"
#include "headwater/model/model.h"
#include "headwater/source/description.h"
#include "headwater/source/fuse.h"
#include "headwater/source/relevance.h"

namespace headwater {

/// A text of a pack. The description is for errors and for the place of a target.
struct PackedText {
  Description description;
  TextInput text;
};

/// Runs when it is first asked. For one thread at a time, as a batch is.
class Pack {
 public:
  /// A pack holds about this many tokens.
  static constexpr size_t tokens = 512;
  /// Whether a text of n tokens may be in a pack. Longer ones keep every core busy by themselves;
  /// a single row takes another way through the kernels.
  static bool takes(size_t n) { return n > 1 && n <= tokens; }

  /// What the packs of one batch pass on to each other: the memory of a kept forward pass.
  using Spare = std::shared_ptr<std::vector<LayerState>>;

  Pack(std::shared_ptr<const Model> model, std::vector<PackedText> texts,
       Spare spare = std::make_shared<std::vector<LayerState>>());

  /// The maps of text k in layers range.begin ... range.end - 1, n x n each. Empty if the pack ran
  /// with another `fuse` or `range`, or if something is wrong with text k: it must then run on its
  /// own. Throws Error if the head of `fuse` does not exist.
  std::span<const Matrix> maps(size_t k, const Fuse& fuse, Range range);

  /// The relevance of text k; none if the pack cannot say, as above. It can if the request is the
  /// same for all texts, and asks for nothing but the tokens.
  std::optional<RelevanceAnswer> relevance(size_t k, const RelevanceRequest& request);

  /// The output of the last layer for text k, after maps() of all layers or relevance().
  MatrixView hidden(size_t k) const;

  /// Frees the maps of text k.
  void let_go(size_t k) { maps_[k].clear(); }

 private:
  struct Asked {
    Fuse fuse;
    Range range;
    bool operator==(const Asked&) const = default;
  };
  void run_maps();
  void run_relevance();
  /// The results of `of` for each text, one below the other.
  Matrix stacked(const std::function<Matrix(const TextInput&)>& of) const;

  std::shared_ptr<const Model> model_;
  std::vector<PackedText> texts_;
  Spare spare_;
  std::vector<int> lengths_;
  Matrix hidden_;                            // of all texts, after the last layer that ran
  std::optional<Asked> asked_;               // for which maps
  std::optional<RelevanceRequest> request_;  // for which relevance
  std::vector<std::vector<Matrix>> maps_;    // of each text, by layer
  std::vector<std::optional<RelevanceAnswer>> answers_;
};

}  // namespace headwater
