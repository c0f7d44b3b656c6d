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

#include "headwater/model/forward.h"
#include "headwater/model/layer_state.h"
#include "headwater/model/model.h"
#include "headwater/model/segments.h"
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

  /// Which maps of a text: those of the layers of `range`. With `rows_of_top`, only chosen rows of
  /// the highest layer, which then need not run beyond its queries and keys.
  struct Maps {
    Fuse fuse;
    Range range;
    bool rows_of_top = false;
    bool operator==(const Maps&) const = default;
  };
  /// Runs the texts when it is first asked. False if the pack ran for other maps, or if something
  /// is wrong with text k: it must then run on its own. Throws Error if the head does not exist.
  bool has_maps(size_t k, const Maps& asked);
  /// After has_maps() without rows_of_top, or for a lower layer: the map of text k, n x n.
  MatrixView map(size_t k, int layer) const;
  /// After has_maps() with rows_of_top: rows first ... of the highest layer's map.
  void put_top_rows(size_t k, const Fuse& fuse, int first, MatrixSpan rows) const;

  /// The relevance of text k; none if the pack cannot say, as above. It can if the request is the
  /// same for all texts, and asks for nothing but the tokens.
  std::optional<RelevanceAnswer> relevance(size_t k, const RelevanceRequest& request);

  /// Rows of the output of the last layer for text k, after has_maps() up to that layer or
  /// relevance(). No rows if the pack cannot say.
  MatrixView hidden(size_t k, Range rows);

  /// Frees the maps of text k.
  void let_go(size_t k) { maps_[k].clear(); }

 private:
  void run_maps();
  void finish();
  /// The rows that decide the predictions, among those of all texts; none if all may be needed.
  std::vector<int> deciding() const;
  Range rows_of(size_t k) const;
  /// The rows of text k among those of all.
  MatrixView part(MatrixView rows, size_t k) const;
  void run_relevance();
  /// The results of `of` for each text, one below the other.
  Matrix stacked(const std::function<Matrix(const TextInput&)>& of) const;

  std::shared_ptr<const Model> model_;
  std::vector<PackedText> texts_;
  Spare spare_;
  Segments inputs_;
  Matrix hidden_;                            // of all texts, after the last layer
  std::vector<int> ran_;                     // these rows of it alone; none: all of them
  std::optional<Maps> asked_;                // which maps ran
  std::optional<Forward> forward_;           // what is left to run
  std::optional<RelevanceRequest> request_;  // for which relevance
  std::vector<std::vector<Matrix>> maps_;    // of each text, by layer
  std::vector<bool> good_;                   // texts whose numbers are all finite
  std::vector<std::optional<RelevanceAnswer>> answers_;
};

}  // namespace headwater
