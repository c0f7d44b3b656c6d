#include "tests/flow/kinds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

namespace headwater::test {
namespace {

enum class Head { sink, neighbour, diffuse, content };

class Maker {
 public:
  Maker(const std::string& kind, int n, int layers, unsigned seed)
      : n_(n),
        layers_(layers),
        causal_(kind.starts_with("causal")),
        strong_(kind.ends_with("-sink")),
        bare_(kind.ends_with("-bare")),
        heads_(kind.ends_with("-1") ? 1 : 12),
        kind_(kind),
        random_(seed * 7919 + static_cast<unsigned>(n * 17 + layers)),
        salience_(static_cast<size_t>(n)) {
    for (double& x : salience_) x = normal();
  }

  Matrix layer(int l) {
    sum_.assign(static_cast<size_t>(n_) * static_cast<size_t>(n_), 0);
    if (kind_ == "uniform")
      std::ranges::fill(sum_, 1.0 / n_);
    else if (kind_ == "permuted")
      permuted();
    else if (kind_.starts_with("softmax"))
      for (int h = 0; h < heads_; ++h) scores([&](int, int) { return 3 * normal(); }, 1.0 / heads_);
    else
      for (int h = 0; h < heads_; ++h) head(static_cast<double>(l + 1) / layers_);
    Matrix out(n_, n_);
    const double kept = bare_ ? 0 : 0.5;
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j)
        out(i, j) = static_cast<float>((1 - kept) * sum_[place(i, j)] + (i == j ? kept : 0));
    return out;
  }

 private:
  double normal() { return normal_(random_); }
  double uniform() { return uniform_(random_); }
  size_t place(int i, int j) const {
    return static_cast<size_t>(i) * static_cast<size_t>(n_) + static_cast<size_t>(j);
  }

  template <class Score>
  void scores(const Score& score, double weight) {
    std::vector<double> row(static_cast<size_t>(n_));
    for (int i = 0; i < n_; ++i) {
      const int seen = causal_ ? i + 1 : n_;
      double total = 0;
      for (int j = 0; j < seen; ++j) total += row[static_cast<size_t>(j)] = std::exp(score(i, j));
      for (int j = 0; j < seen; ++j)
        sum_[place(i, j)] += weight * row[static_cast<size_t>(j)] / total;
    }
  }

  void permuted() {
    std::vector<int> target(static_cast<size_t>(n_));
    std::iota(target.begin(), target.end(), 0);
    std::ranges::shuffle(target, random_);
    scores([&](int, int) { return 2 * normal(); }, 0.05);
    for (int i = 0; i < n_; ++i) sum_[place(i, target[static_cast<size_t>(i)])] += 0.95;
  }

  Head choose(double depth) {
    const double r = uniform();
    if (strong_ && r < 0.25 + 0.55 * std::min(1.0, 2 * depth)) return Head::sink;
    if (strong_)
      return r < 0.9 ? static_cast<Head>(1 + static_cast<int>(2.999 * uniform())) : Head::content;
    const double sinks = causal_ ? 0.45 * (0.5 + depth) : 0.2 + 0.25 * depth;
    const double more = causal_ ? 0.15 : 0;
    if (r < sinks) return Head::sink;
    if (r < 0.5 + more) return Head::neighbour;
    return r < 0.65 + 2 * more / 3 ? Head::diffuse : Head::content;
  }

  void head(double depth) {
    const Head type = choose(depth);
    const int offset = causal_ || uniform() < 0.5 ? -1 : 1;
    const double sharp = 2 + 3 * uniform();
    const double sink = sharp + (strong_ ? std::log(n_) - 1 : 0);
    const bool last = uniform() < 0.6;
    std::vector<double> key(static_cast<size_t>(n_)), query(key.size());
    for (size_t j = 0; j < key.size(); ++j) {
      key[j] = normal() + salience_[j];
      query[j] = normal();
    }
    scores(
        [&](int i, int j) {
          const double x = 0.7 * normal();
          switch (type) {
            case Head::sink:
              if (causal_) return j == 0 ? x + sink + 2 + 0.3 * normal() : x;
              if (j == (last ? n_ - 1 : 0)) return x + sink + 1;
              if (j == (last ? 0 : n_ - 1)) return x + sink - 1;
              return last && j == n_ / 2 ? x + sink : x;
            case Head::neighbour:
              return std::max(x - 4, x + sharp + 2 - 1.5 * std::abs(j - i - offset));
            case Head::diffuse:
              return 0.5 * x;
            default:
              return x + (1.2 + 0.8 * query[static_cast<size_t>(i)]) * key[static_cast<size_t>(j)] -
                     0.01 * std::abs(i - j);
          }
        },
        1.0 / heads_);
  }

  int n_, layers_;
  bool causal_, strong_, bare_;
  int heads_;
  std::string kind_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_{0, 1};
  std::uniform_real_distribution<double> uniform_{0, 1};
  std::vector<double> salience_, sum_;
};

}  // namespace

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> all = {"bert",    "bert-sink",   "bert-1",     "bert-bare",
                                               "softmax", "softmax-1",   "uniform",    "permuted",
                                               "causal",  "causal-sink", "causal-bare"};
  return all;
}

std::vector<Matrix> stack_of(const std::string& kind, int n, int layers, unsigned seed) {
  Maker maker(kind, n, layers, seed);
  std::vector<Matrix> stack;
  for (int l = 0; l < layers; ++l) stack.push_back(maker.layer(l));
  return stack;
}

}  // namespace headwater::test
