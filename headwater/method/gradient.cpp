#include "headwater/method/gradient.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/core/stopwatch.h"
#include "headwater/kernel/maps.h"
#include "headwater/method/assemble.h"
#include "headwater/source/differentiable.h"

namespace headwater {
namespace {

// Rejects options that the rule would silently ignore.
Options options_for(GradientRule rule, const Options& options) {
  if (options.preset == Preset::metrics)
    fail_usage(
        "`preset` metrics: is not supported by gradient rules, expected another preset; leave it "
        "out");
  if (rule == GradientRule::gradient_rollout) return options;
  const Options usual;
  if (options.preset != usual.preset || options.residual != usual.residual ||
      options.discard != usual.discard || options.order != usual.order ||
      options.empty != usual.empty || options.divide != usual.divide)
    fail_usage(
        "`rule` {}: uses no residual, discard or division, expected none of their options; leave "
        "them out or use `rule` gradient-rollout",
        to_string(rule));
  Options bare = options;
  bare.residual = 0;
  bare.divide = Divide::changed;
  return bare;
}

// The requested rows of the identity, or their mean.
Matrix first_rows(const Attribution& result, int n) {
  const int count = result.mean_row ? 1 : static_cast<int>(result.rows.size());
  Matrix rows(count, n);
  for (int r = 0; r < count; ++r) {
    if (result.mean_row)
      std::ranges::fill(rows.row(r), 1 / static_cast<float>(n));
    else
      rows(r, result.rows[static_cast<size_t>(r)]) = 1;
  }
  return rows;
}

// Accumulates the layers from the top down, each new one on the right of the product.
class Fold {
 public:
  Fold(GradientRule rule, const Options& options, Range range, Attribution& result, int n)
      : rule_(rule), options_(options), result_(result), layers_(range.size()) {
    total_ = rule == GradientRule::gradient ? Matrix() : first_rows(result, n);
    next_ = Matrix(total_.rows(), total_.columns());
  }

  void take(MatrixSpan map) {
    switch (rule_) {
      case GradientRule::gradient: {
        const Matrix rows = take_rows(map, result_);
        if (total_.rows() == 0) total_ = Matrix(rows.rows(), rows.columns());
        for (size_t k = 0; k < total_.size(); ++k)
          total_.data()[k] += rows.data()[k] / static_cast<float>(layers_);
        return;
      }
      case GradientRule::gradient_rollout:
        empty_ += prepare_layer(map, options_);
        multiply(map);
        std::swap(total_, next_);
        return;
      case GradientRule::chefer:
        multiply(map);
        for (size_t k = 0; k < total_.size(); ++k) total_.data()[k] += next_.data()[k];
        return;
    }
  }

  Matrix& total() { return total_; }
  long empty() const { return empty_; }

 private:
  void multiply(MatrixView map) {
    // The first product is identity times map, so copying the map is enough.
    if (first_ && total_.rows() == map.rows() && !result_.mean_row) {
      for (int i = 0; i < map.rows(); ++i) std::ranges::copy(map.row(i), next_.row(i).begin());
    } else if (total_.rows() == 1) {
      kernel::multiply(total_.row(0), map, next_.row(0));
    } else {
      kernel::multiply(total_, map, next_);
    }
    first_ = false;
  }

  GradientRule rule_;
  const Options& options_;
  const Attribution& result_;
  int layers_;
  bool first_ = true;
  long empty_ = 0;
  Matrix total_, next_;
};

}  // namespace

Attribution gradient(Source& source, const Options& options, const GradientOptions& what) {
  const Stopwatch whole;
  const Options used = options_for(what.rule, options);
  const Layers layers(source, used);
  Attribution result = new_result("gradient", layers, used);
  result.gradient = GradientRecord();
  result.gradient->rule = what.rule;
  GradientRequest request{{what.target, what.against, {}}, used.fuse, layers.range()};
  if (options.row.kind != Row::Kind::all && result.rows.size() == 1) request.row = result.rows[0];
  Fold fold(what.rule, used, layers.range(), result, layers.n());
  double folding = 0;
  GradientAnswer answer = differentiable(source).gradients(request, [&](int, MatrixSpan map) {
    const Stopwatch one;
    fold.take(map);
    folding += one.seconds();
  });
  const int decides = answer.target.logit.row;
  if (what.only_target_row && options.row.kind == Row::Kind::all) result.rows = {decides};
  result.values.push_back(result.rows.size() == 1 && fold.total().rows() > 1
                              ? take_rows(fold.total(), result)
                              : std::move(fold.total()));
  result.gradient->target = std::move(answer.target);
  result.gradient->input = std::move(answer.input);
  result.notes = source.notes();
  if (fold.empty() > 0) result.notes.push_back(empty_rows_note(fold.empty(), used.empty));
  result.timing.method = folding;
  result.timing.reading = std::max(0.0, whole.seconds() - folding);
  return result;
}

}  // namespace headwater
