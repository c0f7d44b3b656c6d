// A bar on the terminal when work takes more than a second.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headwater/core/stopwatch.h"
#include "headwater/source/differentiable.h"

namespace headwater::cli {

/// Passes everything on to `source` and counts the layers on the way. Shows nothing if standard
/// error is not a terminal, and clears its line when a pass ends.
class ProgressSource : public Source, public Differentiable {
 public:
  explicit ProgressSource(std::unique_ptr<Source> source);
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
  std::vector<std::string> notes() const override { return source_->notes(); }

 private:
  std::unique_ptr<Source> source_;
};

/// The same bar for a method that counts by itself: `done` of `total`, in units of `what`.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  void show(int64_t done, int64_t total);

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  Stopwatch watch_;
  double last_ = 0;
};

}  // namespace headwater::cli
