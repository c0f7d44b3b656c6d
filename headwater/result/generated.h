// A text that a model wrote, and the prompt tokens that each of its tokens comes from.
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

struct Generated {
  Options options;
  GenerateOptions how;
  Description prompt;
  Range layers;                     // options.layers, resolved
  std::vector<std::string> tokens;  // the generated tokens
  std::vector<int> ids;             // their ids
  std::string text;                 // their text
  bool ended = false;               // by the model's end token
  std::vector<WordChoice> choices;  // of each token; empty for a continuation
  std::vector<Matrix> values;       // values[s](j, l) is M[s, j, l]; empty if not requested
  /// With relevance in place of M: relevance(s, j) of token j, counted from the first of the prompt
  /// on, for generated token s; 0 from the token itself on. A span has a single row.
  Matrix relevance;
  Range span;                   // the generated tokens of that row; empty if each has its own
  std::vector<double> outputs;  // the score that each row explains, or the sum of the span's
  std::vector<double> biases;   // what biases take of it
  std::optional<int> shown;     // the one token to show in pictures; none: all
  bool shown_by_layer = false;  // with `shown`: every layer, not only the last
  std::vector<std::string> notes;
  Timing timing;
};

/// M of one layer (-1: the last) as an Attribution: a row for each generated token, a column for
/// each prompt token.
Attribution at_layer(const Generated& generated, int layer = -1);
/// M of one generated token: a matrix with one row for each layer, or only the last one if `last`.
Attribution of_token(const Generated& generated, int token, bool last = false);
/// The relevance, over the tokens of the prompt and those that were generated: of all generated
/// tokens, of one of them, or of the span.
Attribution relevance_of(const Generated& generated, std::optional<int> token = {});

}  // namespace headwater
