// A source that reports how far a pass over it is.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/source/differentiable.h"

namespace headwater {

/// Called with how much of a pass is done, out of `total`. An exception ends the pass.
using Count = std::function<void(int64_t done, int64_t total)>;
/// Called when a pass begins, with what it counts: "layer" or "row". The pass ends when the
/// returned function is destroyed.
using Watch = std::function<Count(const char* what)>;

/// Passes everything on to `source`.
class WatchedSource : public Source, public Differentiable {
 public:
  WatchedSource(std::unique_ptr<Source> source, Watch watch);
  const Description& description() const override { return source_->description(); }
  void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) override;
  void rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) override;
  Differentiable* differentiable() override {
    return source_->differentiable() != nullptr ? this : nullptr;
  }
  GradientAnswer gradients(const GradientRequest& request, const Visit& visit) override;
  RelevanceAnswer relevance(const RelevanceRequest& request) override {
    return source_->differentiable()->relevance(request);
  }
  Outcome outcome(const Logit& logit, std::span<const int> blanked) override {
    return source_->differentiable()->outcome(logit, blanked);
  }
  std::optional<Prediction> prediction() override {
    return source_->differentiable()->prediction();
  }
  std::optional<Prediction> prediction_at(int row) override {
    return source_->differentiable()->prediction_at(row);
  }
  bool one_of_two() const override { return source_->differentiable()->one_of_two(); }
  std::vector<std::string> notes() const override { return source_->notes(); }

 private:
  std::unique_ptr<Source> source_;
  Watch watch_;
};

}  // namespace headwater
