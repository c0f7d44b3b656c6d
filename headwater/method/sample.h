// Picks one token from logits.
#pragma once
#include <cstdint>
#include <span>

namespace headwater {

/// Random numbers that are the same on every machine: SplitMix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  /// In [0, 1).
  double next();

 private:
  uint64_t state_;
};

/// The index of the largest logit; the lowest index among equals.
int best(std::span<const float> logits);

/// The probability softmax(logit) of a token, and the most likely other one with its own; -1 and 0
/// if there is no other.
struct Standing {
  double probability = 0;
  int second = -1;
  double second_probability = 0;
};
Standing standing_of(std::span<const float> logits, int id);

/// Samples with probability softmax(logit / temperature) from the `top_k` best (0: all), and among
/// those from the smallest set with a total probability of at least `top_p`. temperature > 0.
int draw(std::span<const float> logits, double temperature, int top_k, double top_p,
         Random& random);

}  // namespace headwater
