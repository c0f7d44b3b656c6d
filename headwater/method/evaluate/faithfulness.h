// Faithfulness: what becomes of a model's output when it does not see what a method calls
// important.
//
// C are the tokens that count, in the order of a method's values, largest first, equal ones in the
// order of the text; top(s) are the first ceil(s |C|) of them, and p(x) is the target's
// probability. Removing a token is blanking it out (Differentiable::outcome): positions stay.
//
//   comprehensiveness  mean over s = 1, 5, 10, 20, 50 % of p(x) - p(x without top(s)); higher is
//                      better: what was called important was needed
//   sufficiency        mean over the same s of p(x) - p(x with nothing of C but top(s)); lower is
//                      better: what was called important is enough
//   area               the area under the positive perturbation curve: p(x without top(s)) over
//                      s = 0, 10, ..., 100 %, by the trapezoidal rule, in [0, 1]; lower is better
//
// The first two are those of ERASER (DeYoung et al., 2020), with tokens blanked rather than taken
// out and the mean over the five shares; the curve is that of Samek et al. (2017), whose AOPC over
// the ten steps is the mean of p(x) - p(x without top(s)).
#pragma once
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace headwater {

struct Faithfulness {
  double comprehensiveness = 0, sufficiency = 0, area = 0;
  std::vector<double> curve;  // at 0, 10, ..., 100 %
};

/// The target's probability with some tokens blanked out; each set is asked for once.
class Probabilities {
 public:
  explicit Probabilities(std::function<double(std::span<const int>)> ask) : ask_(std::move(ask)) {}
  /// `blanked` is in ascending order.
  double without(const std::vector<int>& blanked);

 private:
  std::function<double(std::span<const int>)> ask_;
  std::map<std::vector<int>, double> known_;
};

/// `values` are of all tokens, `counted` those of C, at least one, in ascending order.
Faithfulness faithfulness(std::span<const float> values, const std::vector<int>& counted,
                          Probabilities& probabilities);

}  // namespace headwater
