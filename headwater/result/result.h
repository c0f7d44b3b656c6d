// The results that methods make and outputs write.
#pragma once
#include <concepts>
#include <variant>

#include "headwater/result/attribution.h"
#include "headwater/result/comparison.h"
#include "headwater/result/evaluation.h"
#include "headwater/result/generated.h"
#include "headwater/result/info.h"
#include "headwater/result/metrics.h"

namespace headwater {

/// Owns one result of any kind.
using Result = std::variant<Attribution, Comparison, Metrics, Info, Generated, Evaluation>;

/// Borrows one result of any kind: an Attribution, a Comparison, ..., or a Result. Pass it by value
/// and never store it: it is valid only as long as the result.
class ResultView {
 public:
  template <class Kind>
  requires std::constructible_from <
      std::variant<const Attribution*, const Comparison*, const Metrics*, const Info*,
                   const Generated*, const Evaluation*>,
  const Kind* > ResultView(const Kind& result) : result_(&result) {}
  // A template, so that no conversion to Result is tried, which Clang 14 cannot compile.
  template <std::same_as<Result> Owner>
  ResultView(const Owner& result) {
    std::visit([this](const auto& one) { result_ = &one; }, result);
  }

  /// Calls take(result) with the result in its own type.
  template <class Take>
  auto visit(Take take) const {
    return std::visit([&](const auto* one) { return take(*one); }, result_);
  }

 private:
  std::variant<const Attribution*, const Comparison*, const Metrics*, const Info*, const Generated*,
               const Evaluation*>
      result_;
};

}  // namespace headwater
