#include "headwater/model/layer_state.h"

#include "headwater/model/projection.h"
#include "headwater/model/some_rows.h"

namespace headwater {
namespace {

// Calls put(matrix, columns) for what the architecture needs.
template <class Put>
void for_each_part(const Architecture& model, LayerState& state, const Put& put) {
  if (!model.query_norm.empty()) put(state.before, projected_columns(model));
  put(state.projected, projected_columns(model));
  put(state.mixed, model.heads * model.head_size);
  put(state.middle, model.width);
  put(state.up, model.inner);
  if (!model.gate.name.empty() || !model.packed_gate.name.empty()) put(state.gate, model.inner);
  if (!model.attention_out_norm.empty()) put(state.attended, model.width);
  if (!model.feed_out_norm.empty()) put(state.added, model.width);
}

constexpr Matrix LayerState::*after_attention[] = {&LayerState::middle, &LayerState::up,
                                                   &LayerState::gate, &LayerState::attended,
                                                   &LayerState::added};

}  // namespace

void LayerState::fit(const Architecture& model, int n) {
  for_each_part(model, *this, [&](Matrix& part, int columns) { part.reuse(n, columns); });
}

LayerState LayerState::some_rows(const std::vector<int>& rows) const {
  LayerState some;
  for (Matrix LayerState::*part : after_attention) some.*part = chosen(this->*part, rows);
  return some;
}

void LayerState::put_back(const LayerState& some, const std::vector<int>& rows) {
  for (Matrix LayerState::*part : after_attention)
    headwater::put_back(some.*part, rows, this->*part);
}

void keep(MatrixView values, MatrixSpan part) {
  if (part.rows() > 0) copy(values, part);
}

size_t LayerState::row_bytes(const Architecture& model) {
  LayerState none;
  size_t floats = 0;
  for_each_part(model, none, [&](Matrix&, int columns) { floats += static_cast<size_t>(columns); });
  return floats * sizeof(float);
}

}  // namespace headwater
