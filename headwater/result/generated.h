// A text that a model wrote, and the tokens of its prompt or source that each of its tokens comes
// from.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/result/attribution.h"

namespace headwater {

struct GenerateOptions {
  int count = 20;          // the most tokens; with a continuation: all of it
  double temperature = 0;  // 0: always the best token
  int top_k = 0;           // sample from the k best tokens; 0: from all
  double top_p = 1;        // sample from the smallest set with this total probability
  uint64_t seed = 0;
  bool ignore_end = false;    // continue after the model's end token
  bool own_position = false;  // attribute a token at its own position
  bool attribute = true;      // false: only the text
  /// Relevance in place of rollout, by this rule: frozen or attnlrp.
  std::optional<RelevanceRule> relevance = {};
  std::optional<Slice> span = {};      // with relevance: these generated tokens as one target
  WordScore score = WordScore::logit;  // with relevance: what of each token is explained
};

/// Parses "j:i", a range of generated tokens. Throws Error (usage).
Slice parse_span(std::string_view text);

/// How sure the model was of a token that it generated: by softmax, at temperature 1.
struct WordChoice {
  double probability = 0;
  std::string second;  // the most likely other token
  double second_probability = 0;
};

/// The other half of a text that a model wrote from a source: what comes from the text itself.
struct TargetHalf {
  std::vector<std::string> tokens;  // what the target starts with, then the generated tokens
  std::vector<int> ids;             // of these tokens, if headwater's own model wrote them
  Matrix values;                    // n x tokens: how much of generated token s comes from each
  Matrix encoder;                   // the rollout of the source, source x source
};

struct Generated {
  Options options;
  GenerateOptions how;
  Description prompt;                // or the source, if there is a `target`
  std::optional<TargetHalf> target;  // of a model with an encoder and a decoder
  Range layers;                      // options.layers, resolved
  std::vector<std::string> tokens;   // the generated tokens
  std::vector<int> ids;              // their ids
  std::string text;                  // their text
  bool ended = false;                // by the model's end token
  std::vector<WordChoice> choices;   // of each token; empty for a continuation
  std::vector<Matrix> values;        // values[s](j, l) is M[s, j, l]; empty if not requested
  /// With relevance in place of M: relevance(s, j) of token j, counted from the first of the
  /// prompt, for generated token s; 0 from the token itself on. A span has a single row.
  Matrix relevance;
  Range span;                   // the generated tokens of that row; empty if each has its own
  std::vector<double> outputs;  // the score that each row explains, or the sum of the span's
  std::vector<double> biases;   // the part of it that biases take
  std::optional<int> shown;     // the one token to show in pictures; none: all
  bool shown_by_layer = false;  // with `shown`: every layer, not only the last
  /// The tokens of each word of prompt and generated text, if merged to words (generated_words.h).
  std::vector<Range> pieces, generated_pieces;
  std::vector<std::string> notes;
  Timing timing;
};

/// A target's own part as an Attribution: a row for each generated token, a column for each token
/// of the target. Requires a target.
Attribution over_target(const Generated& generated);
/// M of one layer (-1: the last) as an Attribution: a row for each generated token, a column for
/// each prompt token.
Attribution at_layer(const Generated& generated, int layer = -1);
/// M of one generated token: a matrix with one row for each layer, or only the last one if `last`.
Attribution of_token(const Generated& generated, int token, bool last = false);
/// The relevance, over the tokens of the prompt and those that were generated: of all generated
/// tokens, of one of them, or of the span.
Attribution relevance_of(const Generated& generated, std::optional<int> token = {});

}  // namespace headwater
