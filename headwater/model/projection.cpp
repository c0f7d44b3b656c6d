#include "headwater/model/projection.h"

#include <algorithm>

#include "headwater/model/norm.h"

namespace headwater {
namespace {

// `Rows` is a view or a span.
template <class Rows>
Rows columns(Rows x, int first, int count) {
  return {x.data() + first, x.rows(), count, x.stride()};
}

int query_columns(const Architecture& model) { return model.heads * model.head_size; }
int key_columns(const Architecture& model) { return model.groups * model.head_size; }

// The heads of row t, one row each.
template <class Rows>
Rows heads_of(const Architecture& model, Rows rows, int t) {
  return {rows.row(t).data(), rows.columns() / model.head_size, model.head_size};
}

// From columns by head (query, key, value of each) to columns by kind (all queries, all keys, all
// values), or back.
void sort_columns(const Architecture& model, MatrixSpan rows, bool back) {
  const auto size = static_cast<size_t>(model.head_size), heads = static_cast<size_t>(model.heads);
  Vector sorted(static_cast<size_t>(rows.columns()));
  for (int t = 0; t < rows.rows(); ++t) {
    const std::span<float> row = rows.row(t);
    for (size_t h = 0; h < heads; ++h)
      for (size_t kind = 0; kind < 3; ++kind) {
        const size_t by_head = (3 * h + kind) * size, by_kind = (kind * heads + h) * size;
        std::ranges::copy(row.subspan(back ? by_kind : by_head, size),
                          sorted.begin() + static_cast<std::ptrdiff_t>(back ? by_head : by_kind));
      }
    std::ranges::copy(sorted, row.begin());
  }
}

void apply(const LinearWeights& map, MatrixView x, MatrixSpan out) {
  kernel::linear(x, map.weights, {map.bias, {}, {}}, out);
}

}  // namespace

int projected_columns(const Architecture& model) {
  return query_columns(model) + 2 * key_columns(model);
}

MatrixSpan queries_of(const Architecture& model, MatrixSpan projected) {
  return columns(projected, 0, query_columns(model));
}

MatrixSpan keys_of(const Architecture& model, MatrixSpan projected) {
  return columns(projected, query_columns(model), key_columns(model));
}

MatrixSpan values_of(const Architecture& model, MatrixSpan projected) {
  return columns(projected, query_columns(model) + key_columns(model), key_columns(model));
}

MatrixView queries_of(const Architecture& model, MatrixView projected) {
  return columns(projected, 0, query_columns(model));
}

MatrixView keys_of(const Architecture& model, MatrixView projected) {
  return columns(projected, query_columns(model), key_columns(model));
}

MatrixView values_of(const Architecture& model, MatrixView projected) {
  return columns(projected, query_columns(model) + key_columns(model), key_columns(model));
}

void project_scores(const Architecture& model, const LayerWeights& layer, MatrixView x,
                    MatrixSpan projected) {
  if (layer.packed.weights.outputs > 0) {
    apply(layer.packed, x, projected);
    if (model.interleaved) sort_columns(model, projected, false);
    return;
  }
  apply(layer.query, x, queries_of(model, projected));
  apply(layer.key, x, keys_of(model, projected));
}

void project_values(const Architecture& model, const LayerWeights& layer, MatrixView x,
                    MatrixSpan projected) {
  if (layer.packed.weights.outputs == 0) apply(layer.value, x, values_of(model, projected));
}

void place(const Architecture& model, const LayerWeights& layer,
           const std::optional<Angles>& angles, MatrixSpan projected) {
  const MatrixSpan queries = queries_of(model, projected), keys = keys_of(model, projected);
  if (!layer.query_norm.weight.empty() && model.norm_all_heads) {
    apply_norm(model, layer.query_norm, queries, queries);
    apply_norm(model, layer.key_norm, keys, keys);
  } else if (!layer.query_norm.weight.empty()) {
    for (int t = 0; t < projected.rows(); ++t) {
      const MatrixSpan query = heads_of(model, queries, t), key = heads_of(model, keys, t);
      apply_norm(model, layer.query_norm, query, query);
      apply_norm(model, layer.key_norm, key, key);
    }
  }
  if (!angles || !layer.rotated) return;
  kernel::rotate(queries, model.heads, angles->cosine, angles->sine);
  kernel::rotate(keys, model.groups, angles->cosine, angles->sine);
}

kernel::Attention attention_of(const Architecture& model, const LayerWeights& layer,
                               MatrixView projected) {
  kernel::Attention attention;
  attention.queries = queries_of(model, projected);
  attention.keys = keys_of(model, projected);
  attention.values = values_of(model, projected);
  attention.heads = model.heads;
  attention.groups = model.groups;
  attention.scale = layer.scale;
  attention.sight = {model.causal, layer.window, 0};
  attention.cap = model.cap;
  return attention;
}

void project_backward(const Architecture& model, const LayerWeights& layer, Propagation& how,
                      MatrixSpan projected, kernel::Into into, MatrixSpan gradient) {
  const auto linear = [&](const LinearWeights& map, MatrixView from, kernel::Into where) {
    how.absorb(from, map.bias);
    kernel::linear(from, kernel::transposed(map.weights), {{}, {}, where}, gradient);
  };
  if (layer.packed.weights.outputs > 0) {
    if (how.attention.scores == 0)
      for (int t = 0; t < projected.rows(); ++t)
        std::ranges::fill(projected.row(t).first(projected.row(t).size() -
                                                 static_cast<size_t>(key_columns(model))),
                          0.0f);
    if (model.interleaved) sort_columns(model, projected, true);
    return linear(layer.packed, projected, into);
  }
  if (how.attention.scores == 0) return linear(layer.value, values_of(model, projected), into);
  linear(layer.query, queries_of(model, projected), into);
  linear(layer.key, keys_of(model, projected), kernel::Into::add);
  linear(layer.value, values_of(model, projected), kernel::Into::add);
}

void place_backward(const Architecture& model, const LayerWeights& layer,
                    const std::optional<Angles>& angles, Propagation& how, MatrixView before,
                    MatrixSpan gradient) {
  if (how.attention.scores == 0) return;
  const MatrixSpan queries = queries_of(model, gradient), keys = keys_of(model, gradient);
  if (angles && layer.rotated) {
    Matrix back = angles->sine.copy();
    for (size_t k = 0; k < back.size(); ++k) back.data()[k] = -back.data()[k];
    kernel::rotate(queries, model.heads, angles->cosine, back);
    kernel::rotate(keys, model.groups, angles->cosine, back);
  }
  if (layer.query_norm.weight.empty()) return;
  if (model.norm_all_heads) {
    apply_norm_backward(model, layer.query_norm, queries_of(model, before), how, queries,
                        kernel::Into::store, queries);
    apply_norm_backward(model, layer.key_norm, keys_of(model, before), how, keys,
                        kernel::Into::store, keys);
    return;
  }
  for (int t = 0; t < gradient.rows(); ++t) {
    const MatrixSpan query = heads_of(model, queries, t), key = heads_of(model, keys, t);
    apply_norm_backward(model, layer.query_norm, heads_of(model, queries_of(model, before), t), how,
                        query, kernel::Into::store, query);
    apply_norm_backward(model, layer.key_norm, heads_of(model, keys_of(model, before), t), how, key,
                        kernel::Into::store, key);
  }
}

}  // namespace headwater
