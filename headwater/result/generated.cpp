#include "headwater/result/generated.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/layer/resolve.h"

namespace headwater {
namespace {

Attribution without_values(const Generated& generated) {
  Attribution result;
  result.method = "generate";
  result.options = generated.options;
  result.layers = generated.layers;
  result.source = generated.prompt;
  result.outputs = generated.tokens;
  result.notes = generated.notes;
  result.timing = generated.timing;
  return result;
}

Matrix column_of(const Matrix& values, int layer) {
  Matrix row(1, values.rows());
  for (int j = 0; j < values.rows(); ++j) row(0, j) = values(j, layer);
  return row;
}

}  // namespace

Slice parse_span(std::string_view text) {
  try {
    return parse_slice(text);
  } catch (const Error&) {
    fail_usage("`span` '{}': expected a range j:i of generated tokens; for example 0:6, 3: or :-1",
               text);
  }
}

Attribution relevance_of(const Generated& generated, std::optional<int> token) {
  Attribution result = without_values(generated);
  result.has_signs = true;
  result.layers = {0, generated.prompt.layers};
  for (const std::string& one : generated.tokens) result.source.tokens.push_back(one);
  const Matrix& all = generated.relevance;
  if (generated.span.size() > 0) {
    std::string whole;
    for (int s = generated.span.begin; s < generated.span.end; ++s)
      whole += generated.tokens[static_cast<size_t>(s)];
    result.outputs = {whole};
    result.rows = {0};
    result.values.push_back(all.copy());
    return result;
  }
  if (!token) {
    for (int s = 0; s < all.rows(); ++s) result.rows.push_back(s);
    result.values.push_back(all.copy());
    return result;
  }
  const int s = resolve_index(*token, all.rows(), "generated token", generated.prompt.name);
  result.rows = {s};
  Matrix row(1, all.columns());
  std::ranges::copy(all.row(s), row.row(0).begin());
  result.values.push_back(std::move(row));
  return result;
}

Attribution over_target(const Generated& generated) {
  Attribution result = without_values(generated);
  result.source.tokens = generated.target->tokens;
  result.source.ids = generated.target->ids;
  result.source.places.clear();
  result.source.texts.clear();
  for (int s = 0; s < generated.target->values.rows(); ++s) result.rows.push_back(s);
  result.values.push_back(generated.target->values.copy());
  return result;
}

Attribution at_layer(const Generated& generated, int layer) {
  const int l = resolve_index(layer, generated.layers.size(), "layer", generated.prompt.name);
  Attribution result = without_values(generated);
  const int count = static_cast<int>(generated.values.size());
  Matrix values(count, static_cast<int>(generated.prompt.tokens.size()));
  for (int s = 0; s < count; ++s) {
    std::ranges::copy(column_of(generated.values[static_cast<size_t>(s)], l).row(0),
                      values.row(s).begin());
    result.rows.push_back(s);
  }
  result.layers.end = result.layers.begin + l + 1;
  result.values.push_back(std::move(values));
  return result;
}

Attribution of_token(const Generated& generated, int token, bool last) {
  const int s = resolve_index(token, static_cast<int>(generated.values.size()), "generated token",
                              generated.prompt.name);
  Attribution result = without_values(generated);
  result.rows = {s};
  const Matrix& values = generated.values[static_cast<size_t>(s)];
  for (int l = last ? values.columns() - 1 : 0; l < values.columns(); ++l) {
    result.values.push_back(column_of(values, l));
    if (!last) result.by_layer.push_back(generated.layers.begin + l);
  }
  return result;
}

}  // namespace headwater
