#include "headwater/result/add_prediction.h"

namespace headwater {
namespace {

// The token whose output is explained, if there is just one.
const Logit* asked(const Attribution& result) {
  if (result.relevance) return &result.relevance->target.logit;
  return result.gradient ? &result.gradient->target.logit : nullptr;
}

}  // namespace

void add_prediction(Result& result, Differentiable& model) {
  if (auto* attribution = std::get_if<Attribution>(&result)) {
    // The prediction at a token other than the explained one would mislead.
    const Logit* logit = asked(*attribution);
    attribution->prediction =
        logit && logit->row >= 0 ? model.prediction_at(logit->row) : model.prediction();
    if (logit && attribution->prediction && attribution->prediction->best.row != logit->row)
      attribution->prediction.reset();
  }
  if (auto* comparison = std::get_if<Comparison>(&result))
    for (Attribution& panel : comparison->panels) {
      if (!panel.prediction) panel.prediction = model.prediction();
      if (comparison->by == "model") break;  // the other is of another model
    }
  if (auto* metrics = std::get_if<Metrics>(&result)) metrics->prediction = model.prediction();
  if (auto* info = std::get_if<Info>(&result)) info->prediction = model.prediction();
}

}  // namespace headwater
