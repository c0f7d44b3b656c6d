// One token out of logits.
#pragma once
#include <cstdint>
#include <span>

namespace headwater {

/// Numbers that are the same on every machine: SplitMix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  /// From 0 up to, but not, 1.
  double next();

 private:
  uint64_t state_;
};

/// The index of the largest logit; the lower one of equals.
int best(std::span<const float> logits);

/// Drawn with probability softmax(logit / temperature) among the `top_k` best (0: all), and of
/// those among the fewest best that have a share of at least `top_p`. temperature > 0.
int draw(std::span<const float> logits, double temperature, int top_k, double top_p,
         Random& random);

}  // namespace headwater
