#include "headwater/model/classifier.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/norm.h"
#include "headwater/model/soft_cap.h"

namespace headwater {
namespace {

const ClassifierNames& find_names(const Model& model) {
  const Architecture& shape = model.architecture();
  const auto found = std::ranges::find_if(shape.classifiers, [&](const ClassifierNames& head) {
    return shape.saved_as.ends_with(head.task);
  });
  if (found != shape.classifiers.end()) return *found;
  const bool bare = shape.saved_as.empty() || shape.saved_as.ends_with("Model");
  fail(
      "{}: {}, expected a classifier that gives logits{}; use weights that were saved with one "
      "(or, "
      "of a model for similarity, give what to compare with: `against_text` or `against_image`)",
      model.name(),
      shape.saved_as.empty() ? "config.json names no class under architectures"
                             : fmt::format("was saved from {}", shape.saved_as),
      bare ? ", of classes or of words" : " and that headwater knows");
}

// The sizes of `out` come from its tensor: config.json may omit the number of classes.
LinearWeights bind_out(const Model& model, const ClassifierNames& head, const std::string& name,
                       int inputs) {
  const Checkpoint& checkpoint = model.checkpoint();
  LinearWeights out;
  if (checkpoint.has(name + ".weight")) {
    const std::vector<int64_t>& shape = checkpoint.shape(name + ".weight");
    const int64_t outputs = shape.size() == 2 && shape[0] <= Config::most ? shape[0] : 0;
    out.weights = checkpoint.matrix(name + ".weight", static_cast<int>(outputs), inputs);
  } else if (head.tied && model.words().inputs == inputs) {
    out.weights = model.words();
  } else {
    fail(
        "{}: has no tensor '{}.weight', expected the classifier of {}; check that weights and "
        "config.json belong together",
        model.name(), name, model.architecture().saved_as);
  }
  // Its own weight takes precedence: it is the table of words only if the two are shared.
  for (const std::string& bias : {name + ".bias", head.out_bias})
    if (out.bias.empty() && !bias.empty() && checkpoint.has(bias))
      out.bias = checkpoint.vector(bias, {out.weights.outputs});
  if (out.weights.outputs == 0 ||
      (head.kind == ClassifierNames::Kind::answers && out.weights.outputs != 2))
    fail("{}: '{}.weight' has {} outputs, expected {}; check the weights", model.name(), name,
         out.weights.outputs, head.kind == ClassifierNames::Kind::answers ? "2" : "at least one");
  return out;
}

// The mean of the rows from `first` on.
void put_mean(MatrixView rows, int first, std::span<float> out) {
  for (size_t d = 0; d < out.size(); ++d) {
    double sum = 0;
    for (int t = first; t < rows.rows(); ++t) sum += double{rows.row(t)[d]};
    out[d] = static_cast<float>(sum / (rows.rows() - first));
  }
}

Matrix copy_of(MatrixView x) {
  Matrix out(x.rows(), x.columns());
  copy(x, out);
  return out;
}

}  // namespace

Classifier::Classifier(const Model& model) : model_(model), names_(find_names(model)) {
  const Architecture& shape = model.architecture();
  const Checkpoint& checkpoint = model.checkpoint();
  int inputs = shape.width;
  if (names_.rows == ClassifierNames::Rows::first_and_patches) inputs *= 2;
  if (!names_.dense.name.empty()) {
    const std::string prefix = names_.dense_in_body ? model.prefix() : "";
    // Classifiers over words return to the size of a word; those over classes keep the width.
    const bool to_words = names_.to_word_size || !names_.norm.empty();
    const int outputs = to_words ? shape.text->size : shape.width;
    dense_ = bind_linear(checkpoint, prefix, names_.dense, outputs, inputs);
    inputs = outputs;
  }
  if (!names_.norm.empty()) norm_ = bind_norm(checkpoint, names_.norm, shape.norm, inputs);
  out_ = bind_out(model, names_, names_.out, inputs);
  if (names_.second_out.empty()) return;
  second_ = bind_out(model, names_, names_.second_out, inputs);
  if (second_.weights.outputs != out_.weights.outputs)
    fail("{}: '{}.weight' has {} outputs, expected {} as in '{}.weight'; check the weights",
         model.name(), names_.second_out, second_.weights.outputs, out_.weights.outputs,
         names_.out);
}

bool Classifier::by_row() const {
  using Rows = ClassifierNames::Rows;
  return names_.rows == Rows::first || names_.rows == Rows::last || names_.rows == Rows::each;
}

int Classifier::row(const std::vector<int>& ids, int n) const {
  if (names_.rows != ClassifierNames::Rows::last) return 0;
  const std::optional<int>& padding = model_.architecture().padding_id;
  if (!padding || ids.empty()) return n - 1;
  for (int t = n - 1; t > 0; --t)
    if (ids[static_cast<size_t>(t)] != *padding) return t;
  return 0;
}

Classifier::Steps Classifier::steps(MatrixView finished) const {
  const Architecture& shape = model_.architecture();
  Steps steps;
  if (names_.rows == ClassifierNames::Rows::first_and_patches) {
    steps.seen = Matrix(1, 2 * shape.width);
    std::ranges::copy(finished.row(0), steps.seen.row(0).begin());
    put_mean(finished, first_of_mean(),
             steps.seen.row(0).subspan(static_cast<size_t>(shape.width)));
  } else if (names_.rows == ClassifierNames::Rows::mean ||
             names_.rows == ClassifierNames::Rows::patches) {
    steps.seen = Matrix(1, shape.width);
    put_mean(finished, first_of_mean(), steps.seen.row(0));
  } else {
    steps.seen = copy_of(by_row() ? finished : finished.rows(0, 2));
  }
  const int rows = steps.seen.rows();
  if (dense_.weights.outputs > 0) {
    steps.dense = Matrix(rows, dense_.weights.outputs);
    steps.activated = Matrix(rows, dense_.weights.outputs);
    kernel::linear(steps.seen, dense_.weights, {dense_.bias, {}, {}}, steps.dense);
    kernel::linear(steps.seen, dense_.weights, {dense_.bias, names_.activation, {}},
                   steps.activated);
  }
  const Matrix& before = dense_.weights.outputs > 0 ? steps.activated : steps.seen;
  steps.features = before.copy();
  if (!norm_.weight.empty()) apply_norm(shape, norm_, before, steps.features);
  return steps;
}

Matrix Classifier::logits(MatrixView finished) const {
  const Steps to = steps(finished);
  if (second_.weights.outputs == 0) {
    Matrix out(to.features.rows(), outputs());
    kernel::linear(to.features, out_.weights, {out_.bias, {}, {}}, out);
    cap_logits(names_.cap, out);
    return out;
  }
  Matrix one(1, outputs()), other(1, outputs());
  const MatrixView features = to.features;
  kernel::linear(features.rows(0, 1), out_.weights, {out_.bias, {}, {}}, one);
  kernel::linear(features.rows(1, 1), second_.weights, {second_.bias, {}, {}}, other);
  for (int id = 0; id < outputs(); ++id) one(0, id) = (one(0, id) + other(0, id)) / 2;
  return one;
}

void Classifier::backward(MatrixView finished, int id, float weight, Propagation& how,
                          MatrixSpan gradient) const {
  const Architecture& shape = model_.architecture();
  const Steps to = steps(finished);
  Matrix down(to.features.rows(), to.features.columns());
  copy_row(out_.weights, id, down.row(0));
  if (names_.cap != 0) weight *= cap_slope_at(to.features, id, how.slope);
  if (second_.weights.outputs > 0) {
    copy_row(second_.weights, id, down.row(1));
    weight /= 2;
  }
  for (size_t k = 0; k < down.size(); ++k) down.data()[k] *= weight;
  for (const LinearWeights* last : {&out_, &second_})
    if (!last->bias.empty()) how.biases += double{weight} * last->bias[static_cast<size_t>(id)];
  if (!norm_.weight.empty())
    apply_norm_backward(shape, norm_, to.activated, how, down, kernel::Into::store, down);
  if (dense_.weights.outputs > 0) {
    kernel::activation_backward(to.dense, names_.activation, how.slope, down);
    how.absorb(down, dense_.bias);
    Matrix wide(down.rows(), dense_.weights.inputs);
    kernel::linear(down, kernel::transposed(dense_.weights), {}, wide);
    down = std::move(wide);
  }
  spread(down, gradient);
}

// The first row that counts for a mean of rows.
int Classifier::first_of_mean() const {
  return names_.rows == ClassifierNames::Rows::mean ? 0 : model_.image_prefix();
}

// From the gradient of the rows that the classifier sees to that of all rows.
void Classifier::spread(MatrixView seen, MatrixSpan gradient) const {
  using Rows = ClassifierNames::Rows;
  const int width = gradient.columns();
  const bool mean = names_.rows == Rows::mean || names_.rows == Rows::patches;
  const bool both = names_.rows == Rows::first_and_patches;
  if (!mean)
    for (int t = 0; t < seen.rows(); ++t)
      for (int d = 0; d < width; ++d) gradient(t, d) += seen(t, d);
  if (!mean && !both) return;
  const int first = first_of_mean(), from = both ? width : 0;
  const auto count = static_cast<float>(gradient.rows() - first);
  for (int t = first; t < gradient.rows(); ++t)
    for (int d = 0; d < width; ++d) gradient(t, d) += seen(0, from + d) / count;
}

// The slope of the cap at logit `id`, which is that of the first row.
float Classifier::cap_slope_at(MatrixView features, int id, kernel::Slope slope) const {
  Vector row(static_cast<size_t>(features.columns()));
  copy_row(out_.weights, id, row);
  double logit = out_.bias.empty() ? 0 : double{out_.bias[static_cast<size_t>(id)]};
  for (size_t d = 0; d < row.size(); ++d) logit += double{row[d]} * features.row(0)[d];
  return static_cast<float>(cap_slope(names_.cap, logit, slope));
}

}  // namespace headwater
