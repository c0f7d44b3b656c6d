// Integrated gradients: the derivative along the straight line from a baseline to the input.
#include "headwater/core/fail.h"
#include "headwater/model/blank.h"
#include "headwater/model/model_source.h"
#include "headwater/model/target.h"
#include "headwater/model/trace.h"

namespace headwater {
namespace {

// The target's logit, or the difference of two, in another run.
double value_of(const OutputHead& head, const Trace& run, const Target& target) {
  const auto value = [&](const Logit& logit) {
    const MatrixView finished = run.finished;
    return double{head.logits(head.by_row() ? finished.rows(logit.row, 1) : finished)(0, logit.id)};
  };
  return value(target.logit) - (target.against ? value(*target.against) : 0);
}

// Whether a token belongs to the text itself; unknown for ids.
bool is_given(const Description& described, int token) {
  const auto t = static_cast<size_t>(token);
  return t >= described.places.size() || described.places[t].text >= 0;
}

}  // namespace

// The mean of the gradients at the middles of the steps, times the difference from the baseline.
void ModelSource::integrate(const RelevanceRequest& request, MatrixView rows, const Baseline& from,
                            RelevanceAnswer& answer) const {
  const int n = rows.rows(), columns = rows.columns();
  Matrix total(n, columns), between(n, columns);
  const auto at = [&](double share) {
    for (int t = 0; t < n; ++t)
      for (int d = 0; d < columns; ++d)
        between(t, d) =
            static_cast<float>(from.rows(t, d) + share * (double{rows(t, d)} - from.rows(t, d)));
    return trace(model_, enter(between.copy()));
  };
  for (int step = 0; step < request.steps; ++step) {
    const Trace run = at((step + 0.5) / request.steps);
    Propagation how(request.rule);
    Matrix gradient(n, model_.architecture().width);
    add_target(head(), run.finished, answer.target, how, gradient);
    model_.finish_backward(run.hidden, how, gradient);
    pass_back(model_, run, how, gradient);
    const Matrix down = leave(between, how, gradient);
    for (size_t k = 0; k < total.size(); ++k)
      total.data()[k] += down.data()[k] / static_cast<float>(request.steps);
  }
  for (int t = 0; t < n; ++t)
    for (int d = 0; d < columns; ++d) between(t, d) = rows(t, d) - from.rows(t, d);
  answer.input.resize(static_cast<size_t>(n));
  put_products(between, total, answer.input);
  answer.rest = value_of(head(), at(0), answer.target);
  answer.baseline = from.name;
}

ModelSource::Baseline ModelSource::baseline(const std::string& asked) const {
  const auto* text = std::get_if<TextInput>(&input_);
  const auto masks = [&] { return text && model_.tokenizer() && find_mask_token(model_); };
  const std::string name = !asked.empty() ? asked : masks() ? "mask" : "zero";
  Baseline out{name, input_rows()};
  if (const auto* pixels = std::get_if<Pixels>(&input_)) {
    if (name != "zero")
      fail("{}: is a model of images, expected the `baseline` zero, the mean colour; leave it out",
           model_.name());
    std::vector<int> patches;
    for (int t = model_.image_prefix(); t < out.rows.rows(); ++t) patches.push_back(t);
    out.rows = model_.image().sums(blanked(model_, *pixels, patches));
    return out;
  }
  if (!text) {
    if (name != "zero")
      fail("{}: was given rows of its own, expected the `baseline` zero; give a text for others",
           model_.name());
    out.rows = Matrix(out.rows.rows(), out.rows.columns());
    return out;
  }
  std::optional<int> id;
  if (name == "mask") {
    id = find_mask_token(model_);
    if (!id)
      fail(
          "{}: has no mask token, expected one for the `baseline` mask of integrated gradients; "
          "give `baseline` zero or a word",
          model_.name());
    out.name = model_.token_name(*id);
  } else if (name != "zero") {
    id = word_number(model_, model_.architecture().text->vocabulary, name);
    out.name = model_.token_name(*id);
  }
  // Tokens that the tokenizer added stay as they are, and so do all positions.
  TextInput other = *text;
  for (size_t t = 0; t < other.ids.size(); ++t)
    if (id && is_given(description_, static_cast<int>(t))) other.ids[t] = *id;
  const TextEmbedder& embedder = model_.text();
  const Matrix own = embedder.summands(model_.tokens(*text));
  const Matrix instead = embedder.summands(
      id ? model_.tokens(other) : Matrix(out.rows.rows(), model_.architecture().text->size));
  for (int t = 0; t < out.rows.rows(); ++t) {
    if (!is_given(description_, t)) continue;
    for (int d = 0; d < out.rows.columns(); ++d) out.rows(t, d) += instead(t, d) - own(t, d);
  }
  return out;
}

}  // namespace headwater
