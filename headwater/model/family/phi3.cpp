// Phi-3 (Abdin et al. 2024): Llama, with queries, keys and values packed into one matrix, and the
// gate with the rest.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {

Architecture phi3(const Config& config) {
  Architecture model = llama_layout(config, 4096, 1.0);
  config.pass_over({"original_max_position_embeddings", "resid_pdrop", "embd_pdrop"});
  // Without it, transformers assumes a value that the file does not state.
  if (model.rope->kind == "longrope" && !config.has("original_max_position_embeddings"))
    fail("{}: has no 'original_max_position_embeddings', expected one beside longrope; add it",
         config.name());
  model.epsilon = config.number_or("rms_norm_eps", 1e-5);
  model.query = model.key = model.value = {};
  model.packed = {"self_attn.qkv_proj", false};
  model.up = model.gate = {};
  model.packed_gate = {"mlp.gate_up_proj", false};
  const int window = config.integer_or("sliding_window", 0);
  windows_by_type(config, model.layers, window);  // refuses other kinds of layers
  if (window > 0) model.windows.assign(static_cast<size_t>(model.layers), window);
  return model;
}

}  // namespace headwater::family
