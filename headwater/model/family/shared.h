// What several families have in common.
#pragma once
#include <string>

#include "headwater/model/architecture.h"

namespace headwater::family {

/// "layers.{}." with the number of the layer for the braces.
std::function<std::string(int)> numbered(std::string pattern);

/// The activation that `key` names, "gelu" where it is missing. Throws Error for one not known.
kernel::Activation activation(const Config& config, std::string_view key,
                              std::string_view otherwise = "gelu");

/// hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, layer_norm_eps and
/// hidden_act: the words of BERT, which most encoders use.
void encoder_sizes(const Config& config, Architecture& model);

/// Blocks, names and word embeddings of BERT, as BERT, RoBERTa and ELECTRA have them.
Architecture bert_layout(const Config& config, const std::string& prefix);

/// Blocks and names of Llama, as Llama, Mistral and Qwen have them. `packed` biases differ.
Architecture llama_layout(const Config& config);

/// Blocks and names of ViT, as ViT, DeiT and DINOv2 have them.
Architecture vit_layout(const Config& config, const std::string& prefix);

}  // namespace headwater::family
