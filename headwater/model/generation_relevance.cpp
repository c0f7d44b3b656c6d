#include "headwater/model/generation_relevance.h"

#include <cassert>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/trace.h"

namespace headwater {

std::vector<SpanRelevance> span_relevance(const Model& model, const std::vector<int>& ids,
                                          int prompt, std::span<const Range> spans,
                                          RelevanceRule rule) {
  const int width = model.architecture().width;
  // The last token predicts nothing that was generated.
  const TextInput input{{ids.begin(), ids.end() - 1}, {}};
  const Matrix rows = model.text().sums(input, 0);
  const Trace run = trace(model, model.text().embed(rows.copy()));
  Matrix logits(1, model.architecture().text->vocabulary);
  std::vector<SpanRelevance> out;
  for (const Range& span : spans) {
    assert(span.begin < span.end && prompt + span.end <= static_cast<int>(ids.size()));
    // Nothing after the row that predicts the last token has any part in it.
    const int n = prompt + span.end - 1;
    Propagation how(rule);
    Matrix gradient(n, width);
    SpanRelevance answer;
    for (int s = span.begin; s < span.end; ++s) {
      const int row = prompt + s - 1, id = ids[static_cast<size_t>(prompt + s)];
      const MatrixView finished = MatrixView(run.finished).rows(row, 1);
      model.logits(finished, logits);
      answer.output += double{logits(0, id)};
      model.add_logit_gradient(finished, id, how.slope, gradient.row(row));
    }
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
