#include "headwater/model/predict.h"

#include <algorithm>

#include "headwater/core/error.h"
#include "headwater/model/classifier.h"
#include "headwater/model/probability.h"
#include "headwater/model/target.h"
#include "headwater/source/mask.h"

namespace headwater {
namespace {

using PredictionKind = Classifier::Kind;

// Null if the model has no classifier that can be used; `gradient` says why.
const Classifier* usable_classifier(const Model& model) {
  try {
    return &model.classifier();
  } catch (const Error&) {
    return nullptr;
  }
}

const char* kind_name(PredictionKind kind) {
  switch (kind) {
    case PredictionKind::classes:
      return "class";
    case PredictionKind::token_classes:
      return "class of a token";
    case PredictionKind::answers:
      return "answer's start";
    case PredictionKind::masked_words:
      return "masked word";
    case PredictionKind::next_words:
      return "next word";
    case PredictionKind::similarity:
      return "similarity";
  }
  return "";
}

// The place of the largest logit, other than `but`.
size_t largest_but(const std::vector<double>& logits, size_t but) {
  size_t best = but == 0 ? 1 : 0;
  for (size_t k = best + 1; k < logits.size(); ++k)
    if (k != but && logits[k] > logits[best]) best = k;
  return best;
}

}  // namespace

std::optional<Range> deciding_rows(const Model& model, const Description& described) {
  const Classifier* classifier = usable_classifier(model);
  const int n = static_cast<int>(described.tokens.size());
  if (!classifier || n == 0) return {};
  switch (classifier->kind()) {
    case PredictionKind::classes: {
      const int row = classifier->row(described.ids, n);
      return classifier->by_row() ? Range{row, row + 1} : Range{0, n};
    }
    case PredictionKind::next_words:
      return Range{n - 1, n};
    case PredictionKind::masked_words: {
      if (std::ranges::count_if(described.tokens, is_mask_token) != 1) return {};
      const auto mask = std::ranges::find_if(described.tokens, is_mask_token);
      const int row = static_cast<int>(mask - described.tokens.begin());
      return Range{row, row + 1};
    }
    case PredictionKind::token_classes:
    case PredictionKind::answers:
    case PredictionKind::similarity:
      break;
  }
  return Range{0, n};
}

bool is_for_each_token(const Model& model) {
  const Classifier* classifier = usable_classifier(model);
  if (!classifier) return false;
  const PredictionKind kind = classifier->kind();
  return kind == PredictionKind::token_classes || kind == PredictionKind::masked_words ||
         kind == PredictionKind::next_words;
}

void describe_head(const Model& model, ModelFacts& facts) {
  const Classifier* classifier = usable_classifier(model);
  if (!classifier) return;
  facts.outputs = classifier->outputs();
  switch (classifier->kind()) {
    case PredictionKind::classes:
      facts.head = "classes of the input";
      break;
    case PredictionKind::token_classes:
      facts.head = "classes of each token";
      break;
    case PredictionKind::answers:
      facts.head = "start and end of an answer";
      return;
    case PredictionKind::masked_words:
      facts.head = "masked words";
      return;
    case PredictionKind::next_words:
      facts.head = "next words";
      return;
    case PredictionKind::similarity:
      return;
  }
  const std::vector<std::string>& labels = model.architecture().labels;
  if (labels.size() == static_cast<size_t>(facts.outputs)) facts.classes = labels;
}

Prediction predict(const Model& model, Range rows, MatrixView finished) {
  const Classifier& classifier = model.classifier();
  const Matrix logits = classifier.logits(finished);
  const bool answers = classifier.kind() == PredictionKind::answers;
  // Of tokens that have classes, the one with the largest logit.
  int row = 0;
  if (classifier.kind() == PredictionKind::token_classes)
    for (int r = 1; r < logits.rows(); ++r)
      if (std::ranges::max(logits.row(r)) > std::ranges::max(logits.row(row))) row = r;
  std::vector<double> beside;
  if (answers)
    for (int t = 0; t < logits.rows(); ++t) beside.push_back(double{logits(t, 0)});
  else
    beside.assign(logits.row(row).begin(), logits.row(row).end());
  const auto logit = [&](size_t k) {
    const int place = rows.begin + (answers ? static_cast<int>(k) : row);
    const int id = answers ? 0 : static_cast<int>(k);
    return Logit{logit_name(model, classifier, place, id), id, place, beside[k]};
  };
  const size_t best = largest_but(beside, beside.size());
  Prediction out{kind_name(classifier.kind()), logit(best), {}, {}, 0};
  if (beside.size() == 1 || model.architecture().regression) return out;
  const bool several =
      classifier.kind() == PredictionKind::classes && model.architecture().several_labels;
  const size_t second = largest_but(beside, best);
  out.probability = class_probability(beside, best, several);
  out.second = logit(second);
  out.second_probability = class_probability(beside, second, several);
  return out;
}

}  // namespace headwater
