#include "headwater/output/terminal/relevance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "headwater/output/caption.h"
#include "headwater/output/terminal/isolate.h"
#include "headwater/output/terminal/shown_row.h"
#include "headwater/output/terminal/table.h"
#include "headwater/result/token_text.h"
#include "headwater/result/top.h"

namespace headwater {
namespace {

constexpr int named_tokens = 3;  // tokens for each layer
constexpr int named_edges = 8;   // of the layer

std::string by_layer(const Attribution& result, const std::vector<std::string>& labels) {
  std::vector<std::vector<std::string>> lines = {{"depth", "most relevant tokens"}};
  for (size_t k = 0; k < result.values.size(); ++k) {
    const std::span<const float> row = MatrixView(result.values[k]).row(0);
    std::vector<std::string> words;
    for (const int j : top(row, named_tokens))
      words.push_back(fmt::format("{} {:.3f}", isolated(labels[static_cast<size_t>(j)]),
                                  row[static_cast<size_t>(j)]));
    lines.push_back({layer_name(result, k), fmt::format("{}", fmt::join(words, ", "))});
  }
  return "\n" + table(lines, {false, false});
}

std::string by_head(const Matrix& heads) {
  std::vector<std::vector<std::string>> lines = {{"layer"}};
  for (int h = 0; h < heads.columns(); ++h) lines[0].push_back(fmt::format("head {}", h));
  for (int l = 0; l < heads.rows(); ++l) {
    lines.push_back({std::to_string(l)});
    for (const float share : heads.row(l)) lines.back().push_back(fmt::format("{:.3f}", share));
  }
  return "\n" + table(lines, std::vector<bool>(lines[0].size(), true));
}

// By size, whatever their sign.
std::string edges(const RelevanceRecord& record, const std::vector<std::string>& labels) {
  const Matrix& all = record.edges;
  Vector sizes;
  for (size_t k = 0; k < all.size(); ++k) sizes.push_back(std::abs(all.data()[k]));
  std::vector<std::vector<std::string>> lines = {{"output token", "input token", "relevance"}};
  const auto name = [&](int token) {
    return fmt::format("{} {}", token, isolated(labels[static_cast<size_t>(token)]));
  };
  for (const int k : top(sizes, named_edges))
    lines.push_back({name(k / all.columns()), name(k % all.columns()),
                     number_text(all.data()[static_cast<size_t>(k)])});
  return fmt::format("\nlargest edges of layer {}\n", *record.layer) +
         table(lines, {false, false, true});
}

}  // namespace

std::string relevance_tables(const Attribution& result) {
  const std::vector<std::string> labels = token_labels(result.source.tokens, 24);
  std::string out;
  if (!result.by_layer.empty()) out += by_layer(result, labels);
  if (result.relevance->heads.rows() > 0) out += by_head(result.relevance->heads);
  if (result.relevance->layer) out += edges(*result.relevance, labels);
  return out;
}

}  // namespace headwater
