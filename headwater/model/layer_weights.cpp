#include "headwater/model/layer_weights.h"

#include <cmath>
#include <map>

namespace headwater {

LinearWeights bind_linear(const Checkpoint& checkpoint, const std::string& prefix,
                          const LinearNames& names, int outputs, int inputs, bool input_major) {
  LinearWeights linear;
  if (names.name.empty()) return linear;
  const std::string name = prefix + names.name;
  linear.weights = checkpoint.matrix(name + ".weight", outputs, inputs, input_major);
  if (names.bias) linear.bias = checkpoint.vector(name + ".bias", {outputs});
  return linear;
}

NormWeights bind_norm(const Checkpoint& checkpoint, const std::string& name,
                      Architecture::Norm kind, int size) {
  NormWeights norm;
  if (name.empty() || name.ends_with('.')) return norm;
  norm.weight = checkpoint.vector(name + ".weight", {size});
  if (kind == Architecture::Norm::rms_from_one)
    for (float& weight : norm.weight) weight += 1;
  if (kind == Architecture::Norm::layer) norm.bias = checkpoint.vector(name + ".bias", {size});
  return norm;
}

kernel::Weights outputs_of(const kernel::Weights& whole, int first, int count) {
  kernel::Weights part = whole;
  part.outputs = count;
  part.data += static_cast<size_t>(first) * static_cast<size_t>(whole.inputs) * size_of(whole.type);
  return part;
}

namespace {

LinearWeights slice(const LinearWeights& whole, int first, int count) {
  LinearWeights part = whole;
  part.weights = outputs_of(whole.weights, first, count);
  if (!whole.bias.empty())
    part.bias.assign(whole.bias.begin() + first, whole.bias.begin() + first + count);
  return part;
}

LayerWeights bind_layer(const Architecture& model, const Checkpoint& checkpoint,
                        const std::string& prefix, int l) {
  const int queries = model.heads * model.head_size, keys = model.groups * model.head_size;
  const auto linear = [&](const LinearNames& names, int outputs, int inputs) {
    return bind_linear(checkpoint, prefix, names, outputs, inputs, model.input_major);
  };
  const auto factors = [&](const std::string& name) {
    return name.empty() ? Vector() : checkpoint.vector(prefix + name, {model.width});
  };
  LayerWeights layer;
  layer.query = linear(model.query, queries, model.width);
  layer.key = linear(model.key, keys, model.width);
  layer.value = linear(model.value, keys, model.width);
  layer.packed = linear(model.packed, queries + 2 * keys, model.width);
  layer.mixed = linear(model.mixed, model.width, queries);
  layer.up = linear(model.up, model.inner, model.width);
  layer.gate = linear(model.gate, model.inner, model.width);
  layer.down = linear(model.down, model.width, model.inner);
  if (!model.packed_gate.name.empty()) {
    const LinearWeights both = linear(model.packed_gate, 2 * model.inner, model.width);
    layer.gate = slice(both, 0, model.inner);
    layer.up = slice(both, model.inner, model.inner);
  }
  if (l > 0 || !model.bare_start)
    layer.attention_norm =
        bind_norm(checkpoint, prefix + model.attention_norm, model.norm, model.width);
  layer.feed_norm = bind_norm(checkpoint, prefix + model.feed_norm, model.norm, model.width);
  layer.attention_out_norm =
      bind_norm(checkpoint, prefix + model.attention_out_norm, model.norm, model.width);
  layer.feed_out_norm =
      bind_norm(checkpoint, prefix + model.feed_out_norm, model.norm, model.width);
  if (!model.query_norm.empty()) {
    const bool all = model.norm_all_heads;
    layer.query_norm = bind_norm(checkpoint, prefix + model.query_norm, model.norm,
                                 all ? queries : model.head_size);
    layer.key_norm =
        bind_norm(checkpoint, prefix + model.key_norm, model.norm, all ? keys : model.head_size);
  }
  if (model.cross) {
    const CrossNames& cross = *model.cross;
    layer.cross.query = linear(cross.query, queries, model.width);
    layer.cross.key = linear(cross.key, keys, model.width);
    layer.cross.value = linear(cross.value, keys, model.width);
    layer.cross.mixed = linear(cross.mixed, model.width, queries);
    layer.cross.norm = bind_norm(checkpoint, prefix + cross.norm, model.norm, model.width);
  }
  layer.attention_scale = factors(model.attention_scale);
  layer.feed_scale = factors(model.feed_scale);
  if (model.scaled)
    layer.scale = static_cast<float>(1 / std::sqrt(model.scaled_by.value_or(model.head_size)));
  if (model.scaled_by_layer) layer.scale /= static_cast<float>(l + 1);
  if (!model.windows.empty()) layer.window = model.windows[static_cast<size_t>(l)];
  if (!model.unrotated.empty()) layer.rotated = !model.unrotated[static_cast<size_t>(l)];
  return layer;
}

}  // namespace

ModelBlocks::ModelBlocks(const Architecture& model, const Checkpoint& checkpoint,
                         const std::string& prefix) {
  // Everything else that depends on a layer's number.
  const bool alike = model.windows.empty() && model.unrotated.empty() && !model.scaled_by_layer &&
                     !model.bare_start;
  std::map<std::string, int> known;
  for (int l = 0; l < model.layers; ++l) {
    const std::string name = prefix + model.layer(l);
    const auto [found, fresh] = known.emplace(name, static_cast<int>(different_.size()));
    if (fresh || !alike) {
      found->second = static_cast<int>(different_.size());
      different_.push_back(bind_layer(model, checkpoint, name, l));
    }
    which_.push_back(found->second);
  }
}

}  // namespace headwater
