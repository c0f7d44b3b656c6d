#include "headwater/method/target_tracker.h"

#include <algorithm>
#include <cassert>

#include "headwater/core/fail.h"
#include "headwater/kernel/maps.h"
#include "headwater/layer/layers.h"
#include "headwater/layer/resolve.h"

namespace headwater {
namespace {

void check_stacks(const Options& options) {
  check(options);
  const char* option = options.discard > 0                  ? "discard"
                       : options.preset == Preset::metrics  ? "preset"
                       : options.layers != Options().layers ? "layers"
                                                            : nullptr;
  if (option)
    fail_usage(
        "`{}`: works on one stack of layers, but this model has an encoder and a decoder, "
        "expected neither `discard`, `layers` nor preset metrics; leave it out",
        option);
}

}  // namespace

TargetTracker::TargetTracker(int layers, int source, int positions, const Options& options)
    : options_(options), across_(options), counts_(static_cast<size_t>(layers)) {
  check_stacks(options);
  // The source has no diagonal, so no residual is added to it, and an empty row stays zero.
  across_.residual = 0;
  across_.empty = Empty::zero;
  for (int l = 0; l < layers; ++l) {
    target_.emplace_back(positions, positions);
    source_.emplace_back(positions, source);
  }
}

void TargetTracker::encode(MatrixSpan map) {
  empty_ += prepare_layer(map, options_);
  Matrix next(map.rows(), map.columns());
  if (encoder_.rows() == 0)
    for (int t = 0; t < map.rows(); ++t) std::ranges::copy(map.row(t), next.row(t).begin());
  else
    kernel::multiply(map, encoder_, next);
  encoder_ = std::move(next);
}

void TargetTracker::push(int layer, MatrixSpan rows) {
  const auto place = static_cast<size_t>(layer);
  const int first = counts_[place], all = rows.columns();
  assert(all == first + rows.rows() && all <= target_[place].rows());
  empty_ += prepare_rows(rows, first, options_);
  if (layer == 0) {
    for (int r = 0; r < rows.rows(); ++r)
      std::ranges::copy(rows.row(r), target_[0].row(first + r).begin());
    return;
  }
  const auto take = [&](std::vector<Matrix>& what) {
    const MatrixView below = MatrixView(what[place - 1]).rows(0, all);
    if (rows.rows() == 1)
      kernel::multiply(rows.row(0), below, what[place].row(first));
    else
      kernel::multiply(rows, below, MatrixSpan(what[place]).rows(first, rows.rows()));
  };
  take(target_);
  take(source_);
}

void TargetTracker::push_across(int layer, MatrixSpan rows) {
  const auto place = static_cast<size_t>(layer);
  const int first = counts_[place];
  counts_[place] += rows.rows();
  prepare_rows(rows, 0, across_);
  Matrix read(rows.rows(), rows.columns());
  kernel::multiply(rows, encoder_, read);
  const auto residual = static_cast<float>(options_.residual);
  for (int r = 0; r < rows.rows(); ++r) {
    for (float& share : target_[place].row(first + r)) share *= residual;
    const std::span<float> source = source_[place].row(first + r);
    for (size_t j = 0; j < source.size(); ++j)
      source[j] = residual * source[j] + (1 - residual) * read.row(r)[j];
  }
}

MatrixView TargetTracker::target(int layer) const {
  const auto place = static_cast<size_t>(layer);
  return MatrixView(target_[place]).rows(0, counts_[place]);
}

MatrixView TargetTracker::source(int layer) const {
  const auto place = static_cast<size_t>(layer);
  return MatrixView(source_[place]).rows(0, counts_[place]);
}

}  // namespace headwater
