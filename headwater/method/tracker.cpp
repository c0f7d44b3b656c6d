#include "headwater/method/tracker.h"

#include <algorithm>
#include <cassert>

#include "headwater/core/fail.h"
#include "headwater/kernel/maps.h"
#include "headwater/layer/layers.h"
#include "headwater/layer/resolve.h"

namespace headwater {

Tracker::Tracker(int layers, int prompt, int positions, const Options& options,
                 const std::string& name)
    : options_(options), range_(resolve(options.layers, layers, name)), prompt_(prompt) {
  check(options);
  if (options.discard > 0)
    fail_usage(
        "`discard` {}: needs the full matrix, which generation never builds, "
        "expected 0; leave it out, and use a preset without it",
        options.discard);
  if (options.preset == Preset::metrics)
    fail_usage(
        "`preset` metrics: multiplies the layers in reverse order, expected another "
        "preset for generation; leave it out");
  counts_.assign(static_cast<size_t>(range_.size()), 0);
  for (int l = 0; l < range_.size(); ++l) rolled_.emplace_back(positions, prompt);
}

void Tracker::push(int layer, MatrixSpan rows) {
  if (layer < range_.begin || layer >= range_.end) return;
  const size_t place = static_cast<size_t>(layer - range_.begin);
  const int first = counts_[place];
  assert(rows.columns() == first + rows.rows());
  counts_[place] += rows.rows();
  empty_ += prepare_rows(rows, first, options_);
  const MatrixSpan out = MatrixSpan(rolled_[place]).rows(first, rows.rows());
  if (place == 0) {
    // Later positions take only what they attend to from the prompt.
    for (int r = 0; r < rows.rows(); ++r)
      std::copy_n(rows.row(r).data(), std::min(prompt_, rows.columns()), out.row(r).data());
    return;
  }
  const MatrixView below = MatrixView(rolled_[place - 1]).rows(0, rows.columns());
  if (rows.rows() == 1)
    kernel::multiply(rows.row(0), below, out.row(0));
  else
    kernel::multiply(rows, below, out);
}

MatrixView Tracker::rolled(int layer) const {
  const size_t place = static_cast<size_t>(layer - range_.begin);
  return MatrixView(rolled_[place]).rows(0, counts_[place]);
}

}  // namespace headwater
