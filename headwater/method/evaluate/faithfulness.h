// Faithfulness: how a model's output changes when it cannot see what a method calls important.
//
// Sort the tokens C that count by a method's values, largest first, ties in text order. top(s) is
// the first ceil(s |C|) of them, and p(x) is the target's probability. Removing a token means
// blanking it out (Differentiable::outcome), so positions stay the same.
//
//   comprehensiveness  mean over s = 1, 5, 10, 20, 50 % of p(x) - p(x without top(s)); higher is
//                      better: what the method calls important was needed
//   sufficiency        mean over the same s of p(x) - p(x with only top(s) of C); lower is better:
//                      what the method calls important is enough
//   area               area under the positive perturbation curve: p(x without top(s)) over
//                      s = 0, 10, ..., 100 %, by the trapezoidal rule, in [0, 1]; lower is better
//
// The first two follow ERASER (DeYoung et al., 2020), except that tokens are blanked out, not
// deleted, and the five shares are averaged. The curve is that of Samek et al. (2017), whose AOPC
// over the ten steps is the mean of p(x) - p(x without top(s)).
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

/// The target's probability with some tokens blanked out. Asks for each set only once.
class Probabilities {
 public:
  using Sets = std::vector<std::vector<int>>;
  /// `ask` gives the probability of each set.
  explicit Probabilities(std::function<std::vector<double>(const Sets& sets)> ask)
      : ask_(std::move(ask)) {}
  /// Asks for all of them at once, which is faster than one by one. Each must be ascending.
  void learn(const Sets& sets);
  /// `blanked` must be ascending.
  double without(const std::vector<int>& blanked);

 private:
  std::function<std::vector<double>(const Sets& sets)> ask_;
  std::map<std::vector<int>, double> known_;
};

/// `values` covers all tokens. `counted` is C: at least one token, ascending.
Faithfulness faithfulness(std::span<const float> values, const std::vector<int>& counted,
                          Probabilities& probabilities);

}  // namespace headwater
