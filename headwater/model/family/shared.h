// What several families share.
#pragma once
#include <optional>
#include <string>

#include "headwater/model/architecture.h"

namespace headwater::family {

/// "layers.{}." with the number of the layer in place of the braces.
std::function<std::string(int)> numbered(std::string pattern);

/// The activation that `key` names, or `otherwise` if it is missing. Throws Error for an unknown
/// one.
kernel::Activation activation(const Config& config, std::string_view key,
                              std::string_view otherwise = "gelu");

/// The same for a name that `key` gives with something else around it.
kernel::Activation activation_named(const Config& config, std::string_view key,
                                    std::string_view name);

/// Reads hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, layer_norm_eps and
/// hidden_act: BERT's names, which most encoders use.
void encoder_sizes(const Config& config, Architecture& model);

/// The classifiers of all text encoders: ForTokenClassification and ForQuestionAnswering.
std::vector<ClassifierNames> encoder_heads();

/// ForSequenceClassification: out(activation(dense(first row))). A `dense` that starts with a dot
/// belongs to the body.
ClassifierNames sequence_head(const std::string& dense, kernel::Activation activation,
                              const std::string& out);

/// ForMaskedLM: out(norm(activation(dense(row)))); `out` is tied to the words if it has no weight,
/// unless config.json says otherwise.
ClassifierNames masked_head(const Config& config, const std::string& dense,
                            kernel::Activation activation, const std::string& norm,
                            const std::string& out, const std::string& out_bias);

/// The classifiers of RoBERTa, which MPNet shares.
std::vector<ClassifierNames> roberta_heads(const Config& config);

/// The classifiers of causal models; `language` is the task of the one over words.
std::vector<ClassifierNames> decoder_heads(const std::string& language,
                                           const std::string& token_out, bool tied);

/// Blocks, names and word embeddings of BERT, which RoBERTa and ELECTRA share.
Architecture bert_layout(const Config& config, const std::string& prefix);

/// Blocks and names of Llama, which Mistral, Qwen and others share. `positions` is the default if
/// config.json has none; `rotated` is the `share` of read_rope.
Architecture llama_layout(const Config& config, int positions = 2048,
                          std::optional<double> rotated = {});

/// Blocks and names of ViT, which DeiT and DINOv2 share.
Architecture vit_layout(const Config& config, const std::string& prefix);

}  // namespace headwater::family
