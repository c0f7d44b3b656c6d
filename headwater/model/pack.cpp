#include "headwater/model/pack.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headwater/core/error.h"
#include "headwater/model/classifier.h"
#include "headwater/model/forward.h"
#include "headwater/model/head_map.h"
#include "headwater/model/map_rows.h"
#include "headwater/model/predict.h"
#include "headwater/model/target.h"
#include "headwater/model/trace.h"

namespace headwater {
namespace {

bool all_finite(MatrixView rows) {
  for (int t = 0; t < rows.rows(); ++t)
    if (!std::ranges::all_of(rows.row(t), [](float x) { return std::isfinite(x); })) return false;
  return true;
}

std::vector<int> lengths_of(const std::vector<PackedText>& texts) {
  std::vector<int> out;
  for (const PackedText& one : texts) out.push_back(static_cast<int>(one.text.ids.size()));
  return out;
}

}  // namespace

Pack::Pack(std::shared_ptr<const Model> model, std::vector<PackedText> texts, Spare spare)
    : model_(std::move(model)),
      texts_(std::move(texts)),
      spare_(std::move(spare)),
      inputs_(lengths_of(texts_)),
      maps_(texts_.size()) {}

Matrix Pack::stacked(const std::function<Matrix(const TextInput&)>& of) const {
  Matrix out;
  for (int k = 0; k < inputs_.count(); ++k) {
    const Matrix one = of(texts_[static_cast<size_t>(k)].text);
    if (k == 0) out = Matrix(inputs_.rows(), one.columns());
    std::copy_n(one.data(), one.size(), out.row(inputs_.first(k)).data());
  }
  return out;
}

bool Pack::has_maps(size_t k, const Maps& asked) {
  if (!asked_) {
    asked_ = asked;
    run_maps();
  }
  return *asked_ == asked && good_[k];
}

void Pack::run_maps() {
  const Range range = asked_->range;
  const int whole = asked_->rows_of_top ? range.end - 1 : range.end;
  Forward& forward =
      forward_.emplace(*model_, stacked([&](const TextInput& text) { return model_->embed(text); }),
                       inputs_.lengths());
  std::vector<kernel::HeadMap> fused(texts_.size());
  while (forward.next() < whole) {
    const int layer = forward.next();
    for (size_t k = 0; k < texts_.size() && layer >= range.begin; ++k) {
      Matrix& map = maps_[k].emplace_back(rows_of(k).size(), rows_of(k).size());
      fused[k] = head_map(asked_->fuse, model_->architecture().heads, layer, model_->name(), map);
    }
    forward.step_each(fused);
  }
  if (asked_->rows_of_top) forward.project();
  // A number that is not finite stays in its row up to the top. Run alone, such a text fails with
  // the layer and the token.
  for (size_t k = 0; k < texts_.size(); ++k) {
    const bool sees = !asked_->rows_of_top || (all_finite(part(forward.queries(), k)) &&
                                               all_finite(part(forward.keys(), k)));
    good_.push_back(sees && all_finite(part(forward.hidden(), k)));
  }
  if (forward.next() == model_->architecture().layers) finish();
}

void Pack::finish() {
  if (forward_->next() < model_->architecture().layers) forward_->step_each({});
  hidden_ = forward_->take_hidden();
  if (!asked_->rows_of_top) forward_.reset();  // the queries and keys of other texts are in it
}

Range Pack::rows_of(size_t k) const {
  const int first = inputs_.first(static_cast<int>(k));
  return {first, first + inputs_.length(static_cast<int>(k))};
}

MatrixView Pack::part(MatrixView rows, size_t k) const {
  return rows.rows(rows_of(k).begin, rows_of(k).size());
}

MatrixView Pack::map(size_t k, int layer) const {
  return maps_[k][static_cast<size_t>(layer - asked_->range.begin)];
}

void Pack::put_top_rows(size_t k, const Fuse& fuse, int first, MatrixSpan rows) const {
  put_map_rows(*model_, asked_->range.end - 1, part(forward_->queries(), k),
               part(forward_->keys(), k), fuse, first, rows);
}

MatrixView Pack::hidden(size_t k, Range rows) {
  if (hidden_.rows() == 0) {
    if (!forward_ || asked_->range.end < model_->architecture().layers) return {};
    finish();
  }
  const int first = rows_of(k).begin + rows.begin;
  for (int row = first; row < first + rows.size() && !ran_.empty(); ++row)
    if (!std::ranges::binary_search(ran_, row)) return {};
  const MatrixView found = MatrixView(hidden_).rows(first, rows.size());
  return all_finite(found) ? found : MatrixView();
}

std::vector<int> Pack::deciding() const {
  std::vector<int> out;
  for (size_t k = 0; k < texts_.size(); ++k) {
    const std::optional<Range> rows = deciding_rows(*model_, texts_[k].description);
    if (!rows) return {};
    for (int row = rows->begin; row < rows->end; ++row) out.push_back(rows_of(k).begin + row);
  }
  if (static_cast<int>(out.size()) == inputs_.rows()) out.clear();
  return out;
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
  const Matrix rows = stacked([&](const TextInput& text) { return model_->text().sums(text, 0); });
  std::optional<Trace> run;
  ran_ = deciding();
  try {
    run = trace(*model_, model_->text().embed(rows.copy()), inputs_.lengths(), std::move(*spare_),
                ran_);
  } catch (const Error&) {
    return;  // run alone, each text finds out whether it is the one
  }
  Propagation how(request_->rule);
  how.lengths = inputs_.lengths();
  how.each.assign(texts_.size(), 0.0);
  Matrix gradient(inputs_.rows(), shape.width);
  for (int at = 0; at < inputs_.count(); ++at) {
    const auto k = static_cast<size_t>(at);
    const MatrixView finished =
        MatrixView(run->finished).rows(inputs_.first(at), inputs_.length(at));
    try {
      RelevanceAnswer answer;
      answer.target =
          choose_target(*model_, model_->classifier(), texts_[k].description, *request_, finished);
      answer.output = output_of(answer.target);
      Propagation own(request_->rule);
      add_target(model_->classifier(), finished, answer.target, own,
                 MatrixSpan(gradient).rows(inputs_.first(at), inputs_.length(at)));
      how.each[k] = own.biases;
      answers_[k] = std::move(answer);
    } catch (const Error&) {
      // No such target in this text. Its rows stay zero.
    }
  }
  model_->finish_backward(run->hidden, how, gradient);
  pass_back(*model_, *run, how, gradient);
  std::vector<float> products(static_cast<size_t>(inputs_.rows()));
  put_products(rows, model_->text().backward(rows, how, gradient), products);
  for (int at = 0; at < inputs_.count(); ++at) {
    std::optional<RelevanceAnswer>& answer = answers_[static_cast<size_t>(at)];
    if (!answer) continue;
    const auto begin = products.begin() + inputs_.first(at);
    answer->input.assign(begin, begin + inputs_.length(at));
    for (const float value : answer->input) answer->sum += double{value};
    answer->rest = how.each[static_cast<size_t>(at)];
    if (!std::isfinite(answer->sum)) answer.reset();
  }
  hidden_ = std::move(run->hidden);
  *spare_ = std::move(run->states);
}

}  // namespace headwater
