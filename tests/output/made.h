// Results made by hand, for tests of what writes them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "headwater/output/write.h"

namespace headwater {

/// n tokens "t0", "t1", ..., all rows; row i gives 2 / (n + 1) to token i and 1 / (n + 1) to all
/// others (rounded to float).
inline Attribution made(int n) {
  Attribution out;
  out.method = "rollout";
  out.layers = {0, 2};
  out.source.kind = "file";
  out.source.name = "made.npz";
  out.source.layers = 2;
  out.source.heads = {4, 4};
  out.source.padded = n;
  Matrix values(n, n);
  for (int i = 0; i < n; ++i) {
    out.source.tokens.push_back("t" + std::to_string(i));
    out.rows.push_back(i);
    for (int j = 0; j < n; ++j) values(i, j) = (i == j ? 2.0f : 1.0f) / static_cast<float>(n + 1);
  }
  out.values.push_back(std::move(values));
  return out;
}

/// One row, output token 0.
inline Attribution made_row(const std::vector<std::string>& tokens,
                            const std::vector<float>& values) {
  Attribution out = made(1);
  out.source.tokens = tokens;
  out.values[0] = Matrix(1, static_cast<int>(tokens.size()));
  for (size_t j = 0; j < tokens.size(); ++j) out.values[0](0, static_cast<int>(j)) = values[j];
  return out;
}

/// The first row, or all rows, of made(n) up to each of `layers` layers.
inline Attribution made_by_layer(int n, int layers, bool one_row) {
  Attribution out = made(n);
  out.values.clear();
  for (int k = 0; k < layers; ++k) {
    out.by_layer.push_back(k);
    Matrix values(one_row ? 1 : n, n);
    for (int i = 0; i < values.rows(); ++i)
      for (int j = 0; j < n; ++j) values(i, j) = static_cast<float>(1 + (i + j + k) % 3) / 8;
    out.values.push_back(std::move(values));
  }
  if (one_row) out.rows = {0};
  return out;
}

inline Comparison made_comparison(int n, int panels) {
  Comparison out;
  out.by = "discard";
  out.agreement = Matrix(panels, panels);
  for (int k = 0; k < panels; ++k) {
    out.panels.push_back(made(n));
    out.panels.back().label = "discard 0." + std::to_string(k);
    for (int other = 0; other < panels; ++other) out.agreement(k, other) = k == other ? 1.0f : 0.5f;
  }
  return out;
}

template <class... Results>
std::vector<Result> results_of(Results... results) {
  std::vector<Result> out;
  (out.emplace_back(std::move(results)), ...);
  return out;
}

/// Tokens that have broken programs: markup, escapes, invalid UTF-8, other scripts, nothing, too
/// much.
inline std::vector<std::string> hostile_tokens() {
  return {"<b>&\"'</b>",
          "\x1b[31mred\x1b[0m",
          "\xff\xfe\x80",
          "\xed\xa0\x80",
          std::string("a\0b", 3),
          "\u4f60\u597d",
          "\u0645\u0631\u062d\u0628\u0627",
          "\U0001F600",
          "",
          "\u202Eesrever",
          "\n",
          "\r\n\t",
          std::string(5000, 'w'),
          "\\\"",
          "]]>",
          "%s%n",
          "\u0301\u0301\u0301",
          "\x7f\xc2\x9b"};
}

}  // namespace headwater
