#include "headwater/model/unused.h"

#include <algorithm>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// Masks, positions and frequencies that PyTorch modules of some versions save with their weights.
constexpr std::string_view buffers[] = {
    ".rotary_emb.inv_freq",
    ".attn.bias",
    ".attn.masked_bias",
    ".attention.bias",
    ".attention.masked_bias",
    ".position_ids",
    ".rotary_emb.cos_cached",
    ".rotary_emb.sin_cached",
    // T5 has it but never computes with it.
    ".EncDecAttention.relative_attention_bias.weight",
};

bool is_buffer(std::string_view name) {
  return std::ranges::any_of(buffers, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

void refuse_unused(const Architecture& model, const Checkpoint& checkpoint,
                   const std::string& prefix) {
  // "encoder.layer." of "encoder.layer.0.": what the names of all blocks start with.
  const std::string first = model.layer(0);
  const std::string blocks = prefix + first.substr(0, first.find_first_of("0123456789"));
  for (const std::string& name : checkpoint.unused()) {
    if (!name.starts_with(blocks) || is_buffer(name)) continue;
    const bool known = [&] {
      for (int l = 0; l < model.layers; ++l)
        if (name.starts_with(prefix + model.layer(l))) return true;
      return false;
    }();
    if (!known)
      fail(
          "{}: has a tensor '{}', expected no more than {} layers, as in config.json; check that "
          "weights and config.json belong together",
          checkpoint.name(), name, model.layers);
    fail(
        "{}: has a tensor '{}' that a block of a {} model with this config.json does not use, "
        "expected only tensors that it computes with; check that weights and config.json belong "
        "together",
        checkpoint.name(), name, model.family);
  }
}

}  // namespace headwater
