#include "headwater/model/pack.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headwater/core/error.h"
#include "headwater/model/classifier.h"
#include "headwater/model/forward.h"
#include "headwater/model/head_map.h"
#include "headwater/model/segments.h"
#include "headwater/model/target.h"
#include "headwater/model/trace.h"

namespace headwater {
namespace {

bool all_finite(MatrixView rows) {
  for (int t = 0; t < rows.rows(); ++t)
    if (!std::ranges::all_of(rows.row(t), [](float x) { return std::isfinite(x); })) return false;
  return true;
}

}  // namespace

Pack::Pack(std::shared_ptr<const Model> model, std::vector<PackedText> texts, Spare spare)
    : model_(std::move(model)),
      texts_(std::move(texts)),
      spare_(std::move(spare)),
      maps_(texts_.size()) {
  for (const PackedText& one : texts_) lengths_.push_back(static_cast<int>(one.text.ids.size()));
}

Matrix Pack::stacked(const std::function<Matrix(const TextInput&)>& of) const {
  Matrix out;
  const Segments inputs(lengths_);
  for (int k = 0; k < inputs.count(); ++k) {
    const Matrix one = of(texts_[static_cast<size_t>(k)].text);
    if (k == 0) out = Matrix(inputs.rows(), one.columns());
    std::copy_n(one.data(), one.size(), out.row(inputs.first(k)).data());
  }
  return out;
}

std::span<const Matrix> Pack::maps(size_t k, const Fuse& fuse, Range range) {
  if (!asked_) {
    asked_ = {fuse, range};
    run_maps();
  }
  if (*asked_ != Asked{fuse, range}) return {};
  return maps_[k];
}

void Pack::run_maps() {
  const Architecture& shape = model_->architecture();
  const Segments inputs(lengths_);
  Forward forward(*model_, stacked([&](const TextInput& text) { return model_->embed(text); }),
                  lengths_);
  std::vector<kernel::HeadMap> fused(texts_.size());
  while (forward.next() < asked_->range.end) {
    const int layer = forward.next();
    for (size_t k = 0; k < texts_.size() && layer >= asked_->range.begin; ++k) {
      Matrix& map = maps_[k].emplace_back(lengths_[k], lengths_[k]);
      fused[k] = head_map(asked_->fuse, shape.heads, layer, model_->name(), map);
    }
    forward.step_each(fused);
  }
  // A number that is not finite stays in its row up to the top. Run alone, such a text fails with
  // the layer and the token.
  for (int k = 0; k < inputs.count(); ++k)
    if (!all_finite(forward.hidden().rows(inputs.first(k), inputs.length(k))))
      let_go(static_cast<size_t>(k));
  if (asked_->range.end == shape.layers) hidden_ = forward.take_hidden();
}

MatrixView Pack::hidden(size_t k) const {
  int first = 0;
  for (size_t before = 0; before < k; ++before) first += lengths_[before];
  return MatrixView(hidden_).rows(first, lengths_[k]);
}

std::optional<RelevanceAnswer> Pack::relevance(size_t k, const RelevanceRequest& request) {
  if (!request_) {
    request_ = request;
    answers_.resize(texts_.size());
    const bool only_tokens = !request.by_layer && !request.heads && !request.edges;
    if (only_tokens && !request.row && request.rule != RelevanceRule::integrated) run_relevance();
  }
  if (*request_ != request) return {};
  return std::exchange(answers_[k], {});
}

// As ModelSource::relevance and pass_relevance do for one text.
void Pack::run_relevance() {
  const Architecture& shape = model_->architecture();
  const Segments inputs(lengths_);
  const Matrix rows = stacked([&](const TextInput& text) { return model_->text().sums(text, 0); });
  std::optional<Trace> run;
  try {
    run = trace(*model_, model_->text().embed(rows.copy()), lengths_, std::move(*spare_));
  } catch (const Error&) {
    return;  // run alone, each text finds out whether it is the one
  }
  Propagation how(request_->rule);
  how.lengths = lengths_;
  how.each.assign(texts_.size(), 0.0);
  Matrix gradient(inputs.rows(), shape.width);
  for (int at = 0; at < inputs.count(); ++at) {
    const auto k = static_cast<size_t>(at);
    const MatrixView finished = MatrixView(run->finished).rows(inputs.first(at), inputs.length(at));
    try {
      RelevanceAnswer answer;
      answer.target =
          choose_target(*model_, model_->classifier(), texts_[k].description, *request_, finished);
      answer.output = output_of(answer.target);
      Propagation own(request_->rule);
      add_target(model_->classifier(), finished, answer.target, own,
                 MatrixSpan(gradient).rows(inputs.first(at), inputs.length(at)));
      how.each[k] = own.biases;
      answers_[k] = std::move(answer);
    } catch (const Error&) {
      // No such target in this text. Its rows stay zero.
    }
  }
  model_->finish_backward(run->hidden, how, gradient);
  pass_back(*model_, *run, how, gradient);
  std::vector<float> products(static_cast<size_t>(inputs.rows()));
  put_products(rows, model_->text().backward(rows, how, gradient), products);
  for (int at = 0; at < inputs.count(); ++at) {
    std::optional<RelevanceAnswer>& answer = answers_[static_cast<size_t>(at)];
    if (!answer) continue;
    const auto begin = products.begin() + inputs.first(at);
    answer->input.assign(begin, begin + inputs.length(at));
    for (const float value : answer->input) answer->sum += double{value};
    answer->rest = how.each[static_cast<size_t>(at)];
    if (!std::isfinite(answer->sum)) answer.reset();
  }
  hidden_ = std::move(run->hidden);
  *spare_ = std::move(run->states);
}

}  // namespace headwater
