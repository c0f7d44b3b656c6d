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

/// The heads that encoders of text have in common: ForTokenClassification and ForQuestionAnswering.
std::vector<ClassifierNames> encoder_heads();

/// ForSequenceClassification: out(activation(dense(first row))). A dense name that begins with a
/// dot is one of the body.
ClassifierNames sequence_head(const std::string& dense, kernel::Activation activation,
                              const std::string& out);

/// ForMaskedLM: out(norm(activation(dense(row)))), out tied to the words where it has no weight.
ClassifierNames masked_head(const std::string& dense, kernel::Activation activation,
                            const std::string& norm, const std::string& out,
                            const std::string& out_bias);

/// The heads of causal models: `language` is the task of the one over words.
std::vector<ClassifierNames> decoder_heads(const std::string& language,
                                           const std::string& token_out, bool tied);

/// Blocks, names and word embeddings of BERT, as BERT, RoBERTa and ELECTRA have them.
Architecture bert_layout(const Config& config, const std::string& prefix);

/// Blocks and names of Llama, as Llama, Mistral and Qwen have them. `packed` biases differ.
Architecture llama_layout(const Config& config);

/// Blocks and names of ViT, as ViT, DeiT and DINOv2 have them.
Architecture vit_layout(const Config& config, const std::string& prefix);

}  // namespace headwater::family
