// What a model family is to the engine: sizes, rules, and the names of its tensors. One block
// serves all families; a family is a file in family/ that fills this from config.json.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headwater/kernel/network.h"
#include "headwater/model/config.h"
#include "headwater/model/rope.h"

namespace headwater {

/// A linear map: tensors NAME.weight and, with bias, NAME.bias.
struct LinearNames {
  std::string name;  // "": the model has none
  bool bias = true;
};

/// How the words of a text become rows.
struct TextEmbedding {
  int size = 0;        // numbers of a word; differs from the width where `project` is there
  int vocabulary = 0;  // rows of the table `words`
  std::string words;
  std::string positions;       // "": none (rotary)
  int first_position = 0;      // rows of the table before that of the first token
  std::optional<int> padding;  // RoBERTa: this id has its own position and does not count
  std::string types;           // "": none
  int type_count = 0;
  std::string norm;     // "": none
  LinearNames project;  // from size to width
};

/// How an image becomes rows: tokens of its own first, then patches row by row.
struct ImageEmbedding {
  int side = 0;                     // of the images that the position table was made for, in pixels
  int patch = 0;                    // side of a patch
  LinearNames project;              // a convolution [width, 3, patch, patch]
  std::vector<std::string> prefix;  // tensors of tokens with a row in the position table: CLS, ...
  std::string registers;            // tensor of tokens without: "" or [1, count, width]
  int register_count = 0;
  std::string positions;  // [1, prefix + patches, width]
  /// What happens to the position table for an image of another size.
  enum class Resize { none, bicubic, bicubic_antialias } resize = Resize::none;
};

/// What stands on the last block and gives logits: out(norm(activation(dense(x)))), of which any
/// part but `out` may be missing. Names are whole but for those of the body.
struct ClassifierNames {
  enum class Kind {
    classes,        // of the whole input
    token_classes,  // of each token
    answers,        // where an answer starts and ends
    masked_words,   // at each token
    next_words,     // after each token
  };
  /// Which rows of the last hidden states it looks at.
  enum class Rows {
    first,
    last,               // that is no padding
    each,               // on its own
    first_two,          // each with its own `out`, of which the mean is taken
    first_and_patches,  // the first and the mean of the patches, side by side
  };
  std::string task;  // how the class in config.json's architectures ends
  Kind kind = Kind::classes;
  Rows rows = Rows::first;
  LinearNames dense;
  bool dense_in_body = false;  // the body's prefix stands before its name
  kernel::Activation activation = kernel::Activation::none;
  std::string norm;
  std::string out;         // NAME.weight, and NAME.bias where there is one
  std::string second_out;  // of first_two
  bool tied = false;       // without a weight of its own `out` is the table of words
  std::string out_bias;    // another name for the bias
};

struct Architecture {
  std::string family;
  std::vector<std::string> prefixes;  // what may stand before all names of tensors
  std::string probe;                  // the tensor that shows which of them does

  int layers = 0;
  int width = 0;
  int heads = 0;
  int groups = 0;  // of keys and values
  int head_size = 0;
  int inner = 0;                 // of the feed-forward part
  std::optional<int> positions;  // the most tokens an input may have, at least 1; none: no limit

  enum class Norm { layer, rms } norm = Norm::layer;
  double epsilon = 1e-12;
  bool norm_first = false;  // before each half of a block (GPT-2, Llama), not after (BERT)

  bool causal = false;
  std::vector<int> windows;      // of each layer, 0: none; empty: none anywhere
  bool scaled = true;            // scores divided by sqrt(head_size)
  bool scaled_by_layer = false;  // and by layer + 1
  std::optional<Rope> rope;
  kernel::Activation activation = kernel::Activation::gelu;

  /// What stands before the names of layer l, "encoder.layer.3.".
  std::function<std::string(int)> layer;
  LinearNames query, key, value;     // or
  LinearNames packed;                // all three, one after the other
  std::string query_norm, key_norm;  // "": none; else over each head
  LinearNames mixed;                 // from the heads back to the width
  LinearNames up, gate, down;        // down(activation(up)), or down(activation(gate) * up)
  LinearNames packed_gate;           // gate and up, one after the other
  bool input_major = false;          // weights are stored [inputs, outputs]
  std::string attention_norm, feed_norm;
  std::string attention_scale, feed_scale;  // a factor for each number of the width; "": none

  std::optional<TextEmbedding> text;
  std::optional<ImageEmbedding> image;
  std::string final_norm;  // after the last block; "": none

  std::vector<ClassifierNames> classifiers;  // that the family knows
  std::string saved_as;                      // the class in config.json, or ""
  std::optional<int> padding_id;             // the token that fills up batches
  std::vector<std::string> labels;           // of a classifier, by config.json
};

/// Reads the config of any family in families.cpp. Throws Error naming what is not known.
Architecture describe(const Config& config);

/// The families that there are, by the model_type of their config.
std::vector<std::string_view> families();

}  // namespace headwater
