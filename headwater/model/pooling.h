// How a model turns an input into one vector, to compare it with others.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/model/attention_pool.h"
#include "headwater/model/layer_weights.h"
#include "headwater/model/model.h"

namespace headwater {

/// A weighted sum of the rows of the last hidden states and, if there is one, a linear map of it;
/// or attention to them.
struct Pooling {
  enum class Rows {
    first,
    last,
    mean,
    mean_by_root,   // the sum over the root of their number
    weighted_mean,  // rows count the more the later they are
    end,            // the first row with the end token
  } rows = Rows::first;
  int end_token = -1;                              // for end; -1: the row with the largest id
  LinearWeights project;                           // no outputs: none
  std::shared_ptr<const AttentionPool> attention;  // in place of all of these
  /// Texts are padded with this token up to a length, as in training; 0: they are not.
  int padding = 0, padded_to = 0;
  /// Steps that sentence-transformers takes first and headwater does not: cut texts to this many
  /// tokens (0: it does not), convert them to lower case, and put the prompt before them.
  int longest = 0;
  bool lowers = false;
  std::string prompt;

  /// One for each of n rows.
  Vector weights(const std::vector<int>& ids, int n) const;
};

/// The pooling of the model's folder: from modules.json of sentence-transformers, or that of CLIP
/// or SigLIP. Throws Error if there is none, or if it is not implemented.
Pooling read_pooling(const Model& model);

/// A sentence-transformers folder without a config.json keeps its model in the folder of its first
/// module: returns that, or `folder` itself.
std::string first_module(const std::string& folder);

}  // namespace headwater
