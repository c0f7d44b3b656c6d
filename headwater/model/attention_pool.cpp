#include "headwater/model/attention_pool.h"

#include <algorithm>
#include <cmath>

#include "headwater/model/norm.h"

namespace headwater {
namespace {

MatrixView column_block(const Matrix& from, int first, int rows, int count) {
  return {from.data() + first, rows, count, from.columns()};
}

}  // namespace

AttentionPool::AttentionPool(const Model& model, const std::string& prefix) : model_(model) {
  const Checkpoint& checkpoint = model.checkpoint();
  const Architecture& shape = model.architecture();
  const int width = shape.width;
  probe_ = Matrix(1, width);
  std::ranges::copy(checkpoint.vector(prefix + "probe", {1, 1, width}), probe_.data());
  packed_.weights = checkpoint.matrix(prefix + "attention.in_proj_weight", 3 * width, width);
  packed_.bias = checkpoint.vector(prefix + "attention.in_proj_bias", {3 * width});
  mixed_ = bind_linear(checkpoint, prefix, {"attention.out_proj"}, width, width);
  norm_ = bind_norm(checkpoint, prefix + "layernorm", shape.norm, width);
  up_ = bind_linear(checkpoint, prefix, {"mlp.fc1"}, shape.inner, width);
  down_ = bind_linear(checkpoint, prefix, {"mlp.fc2"}, width, shape.inner);
}

kernel::Attention AttentionPool::attention(const Steps& to, int n) const {
  const Architecture& shape = model_.architecture();
  kernel::Attention out;
  out.queries = to.queries;
  out.keys = column_block(to.projected, shape.width, n, shape.width);
  out.values = column_block(to.projected, 2 * shape.width, n, shape.width);
  out.heads = out.groups = shape.heads;
  out.scale = static_cast<float>(1 / std::sqrt(shape.head_size));
  return out;
}

AttentionPool::Steps AttentionPool::steps(MatrixView finished) const {
  const Architecture& shape = model_.architecture();
  const int n = finished.rows(), width = shape.width;
  Steps to;
  to.projected = Matrix(n, 3 * width);
  kernel::linear(finished, packed_.weights, {packed_.bias, {}, {}}, to.projected);
  Matrix asked(1, 3 * width);
  kernel::linear(probe_, packed_.weights, {packed_.bias, {}, {}}, asked);
  // The derivative needs as many queries as keys; only the first is used.
  to.queries = Matrix(n, width);
  std::copy_n(asked.data(), width, to.queries.data());
  kernel::Attention one = attention(to, n);
  one.queries = one.queries.rows(0, 1);
  Matrix mixed(1, width);
  kernel::attention(one, mixed, {});
  to.seen = Matrix(1, width);
  kernel::linear(mixed, mixed_.weights, {mixed_.bias, {}, {}}, to.seen);
  to.normed = Matrix(1, width);
  apply_norm(shape, norm_, to.seen, to.normed);
  to.inner = Matrix(1, shape.inner);
  kernel::linear(to.normed, up_.weights, {up_.bias, {}, {}}, to.inner);
  return to;
}

Matrix AttentionPool::apply(MatrixView finished) const {
  const Architecture& shape = model_.architecture();
  const Steps to = steps(finished);
  Matrix active(1, shape.inner), out = to.seen.copy();
  kernel::linear(to.normed, up_.weights, {up_.bias, shape.activation, {}}, active);
  kernel::linear(active, down_.weights, {down_.bias, {}, kernel::Into::add}, out);
  return out;
}

void AttentionPool::backward(MatrixView finished, MatrixView down, Propagation& how,
                             MatrixSpan gradient) const {
  const Architecture& shape = model_.architecture();
  const int n = finished.rows(), width = shape.width;
  const Steps to = steps(finished);
  Matrix inner(1, shape.inner), wide(1, width), seen(1, width);
  how.absorb(down, down_.bias);
  kernel::linear(down, kernel::transposed(down_.weights), {}, inner);
  kernel::activation_backward(to.inner, shape.activation, how.slope, inner);
  how.absorb(inner, up_.bias);
  kernel::linear(inner, kernel::transposed(up_.weights), {}, wide);
  std::ranges::copy(down.row(0), seen.data());
  apply_norm_backward(shape, norm_, to.seen, how, wide, kernel::Into::add, seen);
  how.absorb(seen, mixed_.bias);
  Matrix heads(n, width), columns(n, 3 * width), queries(n, width);
  kernel::linear(seen, kernel::transposed(mixed_.weights), {}, MatrixSpan(heads).rows(0, 1));
  const auto block = [&](int first) {
    return MatrixSpan(columns.data() + first, n, width, columns.columns());
  };
  kernel::attention_backward(attention(to, n), heads, how.attention,
                             {queries, block(width), block(2 * width)}, {});
  // The query is the model's own, so its gradient goes nowhere.
  how.absorb(columns, packed_.bias);
  kernel::linear(columns, kernel::transposed(packed_.weights), {{}, {}, kernel::Into::add},
                 gradient);
}

}  // namespace headwater
