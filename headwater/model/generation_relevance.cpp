#include "headwater/model/generation_relevance.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/trace.h"

namespace headwater {
namespace {

// The logarithm of the probability of word `id`. `gradient` gets its derivative by each logit.
double put_log_probability_gradient(std::span<const float> logits, int id,
                                    std::span<float> gradient) {
  const double top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - top);
  for (size_t v = 0; v < logits.size(); ++v)
    gradient[v] = static_cast<float>(-std::exp(logits[v] - top) / sum);
  const size_t word = static_cast<size_t>(id);
  // 1 - p, without the cancellation where p is close to 1.
  double others = 0;
  for (size_t v = 0; v < logits.size(); ++v)
    if (v != word) others += std::exp(logits[v] - top);
  gradient[word] = static_cast<float>(others / sum);
  return logits[word] - top - std::log(sum);
}

double product(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) sum += double{a[k]} * b[k];
  return sum;
}

}  // namespace

std::vector<SpanRelevance> span_relevance(const Model& model, const std::vector<int>& ids,
                                          int prompt, std::span<const Range> spans,
                                          RelevanceRule rule, WordScore score) {
  const int width = model.architecture().width;
  // The last token predicts nothing that was generated.
  const TextInput input{{ids.begin(), ids.end() - 1}, {}};
  const Matrix rows = model.text().sums(input, 0);
  const Trace run = trace(model, model.text().embed(rows.copy()));
  Matrix logits(1, model.architecture().text->vocabulary), weights(1, logits.columns());
  std::vector<SpanRelevance> out;
  for (const Range& span : spans) {
    assert(span.begin < span.end && prompt + span.end <= static_cast<int>(ids.size()));
    // No row after the one that predicts the last token contributes.
    const int n = prompt + span.end - 1;
    Propagation how(rule);
    Matrix gradient(n, width);
    SpanRelevance answer;
    for (int s = span.begin; s < span.end; ++s) {
      const int row = prompt + s - 1, id = ids[static_cast<size_t>(prompt + s)];
      const MatrixView finished = MatrixView(run.finished).rows(row, 1);
      model.logits(finished, logits);
      if (score == WordScore::logit) {
        answer.output += double{logits(0, id)};
        model.add_logit_gradient(finished, id, how.slope, gradient.row(row));
        continue;
      }
      answer.output += put_log_probability_gradient(logits.row(0), id, weights.row(0));
      answer.explained += product(logits.row(0), weights.row(0));
      model.add_logit_gradients(finished, weights, how.slope, MatrixSpan(gradient).rows(row, 1));
    }
    if (score == WordScore::logit) answer.explained = answer.output;
    model.finish_backward(MatrixView(run.hidden).rows(0, n), how, gradient);
    pass_back(model, run, how, gradient);
    const MatrixView some = MatrixView(rows).rows(0, n);
    answer.input.resize(static_cast<size_t>(n));
    put_products(some, model.text().backward(some, how, gradient), answer.input);
    answer.rest = how.biases;
    for (const float value : answer.input)
      if (!std::isfinite(value))
        fail(
            "{}: the relevance for generated token {} is {}, expected numbers; check that the "
            "weights are intact",
            model.name(), span.begin, value);
    out.push_back(std::move(answer));
  }
  return out;
}

}  // namespace headwater
