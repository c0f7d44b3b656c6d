// How the engine describes a model family: sizes, rules, and the names of its tensors. One block
// serves all families; a family is a file in family/ that fills this in from config.json.
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
  int size = 0;        // numbers in a word's row; differs from the width if there is a `project`
  int vocabulary = 0;  // rows of the table `words`
  std::string words;
  float scale = 1;             // of the words' rows
  std::string positions;       // "": none (rotary)
  int first_position = 0;      // rows of the table before that of the first token
  std::optional<int> padding;  // RoBERTa: this id has its own position and is not counted
  std::string types;           // "": none
  int type_count = 0;
  std::string norm;             // "": none
  LinearNames project;          // from size to width
  bool projects_words = false;  // before anything is added to them, not at the end
};

/// How an image becomes rows: its own tokens first, then patches row by row.
struct ImageEmbedding {
  int side = 0;                     // of the images that the position table is for, in pixels
  int patch = 0;                    // side of a patch
  LinearNames project;              // a convolution [width, 3, patch, patch]
  std::vector<std::string> prefix;  // tensors of tokens with a row in the position table: CLS, ...
  std::string registers;            // tensor of tokens without one: "" or [1, count, width]
  int register_count = 0;
  std::string positions;  // [1, prefix + patches, width]
  bool flat = false;      // positions are [prefix + patches, width], tokens of the prefix [width]
  std::string norm;       // of all rows; "": none
  /// How to resize the position table for an image of another size.
  enum class Resize { none, bicubic, bicubic_antialias } resize = Resize::none;
};

/// A bias of scores by distance, in buckets that widen with the distance (T5, MPNet).
struct DistanceNames {
  std::string table;       // [buckets, heads]; "": none
  int buckets = 32;        // half of them for keys after the query
  int furthest = 128;      // from this distance on, all share a bucket
  bool back_only = false;  // all buckets are for keys up to the query
};

/// A decoder's attention to the rows of an encoder, between its own attention and the feed-forward
/// part.
struct CrossNames {
  LinearNames query, key, value, mixed;
  std::string norm;  // before it or after it, as that of the block's own attention
};

/// A bias of scores by distance, query and key: products with keys and queries of buckets of
/// distances (DeBERTa).
struct PlaceNames {
  std::string table;  // [2 span, width], a row for each bucket
  std::string norm;   // of these rows; "": none
  int span = 0;
  /// Distances from span / 2 on share buckets, which widen up to this distance; 0: none do.
  int furthest = 0;
  LinearNames keys, queries;  // of the rows, in each block; "": none
};

/// A convolution over neighbouring tokens, which is added to the first block's output before
/// another norm (DeBERTa).
struct ConvolutionNames {
  std::string name;
  int size = 0;    // neighbours, with the token itself in the middle
  int groups = 1;  // of columns, which do not mix
  kernel::Activation activation = kernel::Activation::tanh;
  std::string norm;
};

/// What follows the last block and gives logits: out(norm(activation(dense(x)))), where every part
/// except `out` is optional. Names are complete, except for those of the body.
struct ClassifierNames {
  enum class Kind {
    classes,        // of the whole input
    token_classes,  // of each token
    answers,        // where an answer starts and ends
    masked_words,   // at each token
    next_words,     // after each token
    similarity,     // to another input
  };
  /// Which rows of the last hidden states it reads.
  enum class Rows {
    first,
    last,               // that is not padding
    each,               // on its own
    first_two,          // each with its own `out`; the two are averaged
    first_and_patches,  // the first and the mean of the patches, side by side
    mean,
    patches,  // their mean
  };
  std::string task;  // the end of the class name in config.json's architectures
  Kind kind = Kind::classes;
  Rows rows = Rows::first;
  LinearNames dense;
  bool dense_in_body = false;  // its name starts with the body's prefix
  bool to_word_size = false;   // it leads to the size of a word's row, as one with a norm does
  kernel::Activation activation = kernel::Activation::none;
  std::string norm;
  std::string out;         // NAME.weight, and NAME.bias if there is one
  std::string second_out;  // for first_two
  bool tied = false;       // if `out` has no weight, it is the table of words
  std::string out_bias;    // another name for the bias
  float cap = 0;           // a logit x becomes cap * tanh(x / cap); 0: it stays as it is
  float scale = 1;         // of the logits
};

struct Architecture {
  std::string family;
  std::vector<std::string> prefixes;  // possible prefixes of all tensor names
  std::string probe;                  // the tensor that shows which one it is

  bool encoder_of_two = false;      // the model has a decoder too, which is not run
  std::optional<CrossNames> cross;  // if this is that decoder
  std::optional<int> start_id;      // what it starts with, if config.json does not say
  int layers = 0;
  int width = 0;
  int heads = 0;
  int groups = 0;  // of keys and values
  int head_size = 0;
  int inner = 0;                 // width of the feed-forward part
  std::optional<int> positions;  // the most tokens in an input, at least 1; none: no limit

  /// rms_from_one: 1 + weight.
  enum class Norm { layer, layer_without_bias, rms, rms_from_one } norm = Norm::layer;
  double epsilon = 1e-12;
  bool norm_first = false;  // before each half of a block (GPT-2, Llama), not after it (BERT)
  bool parallel = false;    // both halves read the block's input, each by its own norm

  bool causal = false;
  std::vector<int> windows;      // of each layer, 0: none; empty: none anywhere
  bool scaled = true;            // scores are divided by sqrt(head_size), or by that of
  std::optional<int> scaled_by;  //   this number
  bool scaled_by_layer = false;  // and by layer + 1
  float cap = 0;                 // a score s becomes cap * tanh(s / cap); 0: it stays as it is
  DistanceNames distance_bias;
  std::optional<PlaceNames> places;
  std::optional<ConvolutionNames> convolution;
  std::optional<Rope> rope;
  std::optional<Rope> window_rope;  // of layers with a window, if theirs differs
  std::vector<bool> unrotated;      // layers that do not use it; empty: all do
  kernel::Activation activation = kernel::Activation::gelu;

  /// The prefix of the names of layer l: "encoder.layer.3.".
  std::function<std::string(int)> layer;
  LinearNames query, key, value;     // separate, or
  LinearNames packed;                // all three in one
  bool interleaved = false;          // packed head by head: query, key, value of one, then the next
  std::string query_norm, key_norm;  // for each head, or
  bool norm_all_heads = false;       //   for all heads of a row at once; "": none
  LinearNames mixed;                 // from the heads back to the width
  LinearNames up, gate, down;        // down(activation(up)), or down(activation(gate) * up)
  LinearNames packed_gate;           // gate and up in one
  bool input_major = false;          // weights are stored as [inputs, outputs]
  std::string attention_norm, feed_norm;          // if norm_first, "": none
  bool bare_start = false;                        // the first block has no attention_norm
  std::string attention_out_norm, feed_out_norm;  // of what a half adds; "": none
  std::string attention_scale, feed_scale;        // a factor for each column; "": none

  std::optional<TextEmbedding> text;
  std::optional<ImageEmbedding> image;
  std::string final_norm;  // after the last block; "": none

  std::vector<ClassifierNames> classifiers;  // all that the family knows
  std::string saved_as;                      // the class in config.json, or ""
  std::optional<int> padding_id;             // the token that pads batches
  std::vector<std::string> labels;           // of the classes, from config.json
  bool several_labels = false;               // of which several can be true at once
  bool regression = false;                   // outputs are numbers, not classes
  std::vector<std::string> notes;            // what was ignored, as sentences for results
};

/// Which part to run of a model of texts and images (CLIP), or of an encoder (text) and a decoder.
/// Other models have only one.
enum class Side { text, image, decoder };

/// Reads the config of any family in families.cpp. Entries that it does not know are named in the
/// notes. Throws Error, which names the entry, for an unknown family or kind of block, and for a
/// model class that is code in the folder, unless `ignore_code`.
Architecture describe(const Config& config, bool ignore_code = false, Side side = Side::text);

/// The known families, by the model_type of their config.
std::vector<std::string_view> families();

}  // namespace headwater
