#include "headwater/model/target.h"

#include <fmt/ranges.h>

#include <charconv>
#include <limits>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/model/probability.h"
#include "headwater/model/tokenizer/tokenizer.h"
#include "headwater/source/mask.h"

namespace headwater {
namespace {

std::optional<int> number_in(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return {};
  return value;
}

int checked(const Model& model, int outputs, int id, const char* what) {
  if (id < 0 || id >= outputs)
    fail("{}: has no {} {}, expected 0 to {}; choose one of them", model.name(), what, id,
         outputs - 1);
  return id;
}

int class_of(const Model& model, const OutputHead& head, const std::string& text) {
  const std::vector<std::string>& labels = model.architecture().labels;
  for (size_t k = 0; k < labels.size(); ++k)
    if (labels[k] == text) return checked(model, head.outputs(), static_cast<int>(k), "class");
  if (const auto number = number_in(text)) return checked(model, head.outputs(), *number, "class");
  const std::vector<std::string_view> names(labels.begin(), labels.end());
  if (names.empty())
    fail("{}: has no names for its {} classes, expected a number instead of '{}'; give 0 to {}",
         model.name(), head.outputs(), text, head.outputs() - 1);
  fail("{}: has no class '{}'{}", model.name(), text, suggestion(text, names));
}

// The logits that a target may name.
class Choice {
 public:
  Choice(const Model& model, const OutputHead& head, const Description& described,
         std::optional<int> row, MatrixView finished)
      : model_(model), head_(head), n_(finished.rows()) {
    switch (head.kind()) {
      case OutputHead::Kind::classes:
      case OutputHead::Kind::similarity:
        first_ = head.row(described.ids, n_);
        logits_ = head.logits(head.by_row() ? finished.rows(first_, 1) : finished);
        break;
      case OutputHead::Kind::masked_words:
        first_ = row ? *row : place_of_mask(described);
        logits_ = head.logits(finished.rows(first_, 1));
        break;
      case OutputHead::Kind::next_words:
        first_ = row.value_or(n_ - 1);
        logits_ = head.logits(finished.rows(first_, 1));
        break;
      case OutputHead::Kind::token_classes:
      case OutputHead::Kind::answers:
        first_ = row.value_or(0);
        logits_ = head.logits(row ? finished.rows(first_, 1) : finished);
        break;
    }
  }

  /// The logit that `text` names. If `other` is given, a different one from the same row.
  Logit find(const std::string& text, const Logit* other) const {
    if (text == "best") return largest(other, {});
    switch (head_.kind()) {
      case OutputHead::Kind::classes:
      case OutputHead::Kind::token_classes:
        return largest(other, class_of(model_, head_, text));
      case OutputHead::Kind::answers:
        return answer_of(text, other);
      case OutputHead::Kind::similarity:
        fail("{}: compares two inputs, expected no `target` such as '{}'; leave it out",
             model_.name(), text);
      case OutputHead::Kind::masked_words:
      case OutputHead::Kind::next_words:
        return largest(other, word_number(model_, head_.outputs(), text));
    }
    return {};
  }

 private:
  // The largest of all logits, or of those with this id.
  Logit largest(const Logit* other, std::optional<int> id) const {
    const bool one_row = other && head_.kind() == OutputHead::Kind::token_classes;
    int best_row = -1, best = -1;
    for (int r = 0; r < logits_.rows(); ++r) {
      if (one_row && first_ + r != other->row) continue;
      for (int k = id.value_or(0); k < (id ? *id + 1 : head_.outputs()); ++k) {
        if (other && !id && k == other->id && first_ + r == other->row) continue;
        if (best >= 0 && logits_(r, k) <= logits_(best_row, best)) continue;
        best_row = r;
        best = k;
      }
    }
    if (best < 0)
      fail("{}: has one class, expected two for `against`; leave it out", model_.name());
    return logit(best_row, best);
  }

  Logit logit(int r, int id) const {
    return {logit_name(model_, head_, first_ + r, id), id, first_ + r, double{logits_(r, id)},
            probability(r, id)};
  }

  // NaN if not all logits that compete are known: the starts of answers, with one row asked for.
  double probability(int r, int id) const {
    if (head_.kind() != OutputHead::Kind::answers)
      return class_probability(
          {logits_.row(r).begin(), logits_.row(r).end()}, static_cast<size_t>(id),
          head_.kind() == OutputHead::Kind::classes && model_.architecture().several_labels);
    if (logits_.rows() < n_) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> beside;
    for (int t = 0; t < n_; ++t) beside.push_back(double{logits_(t, id)});
    return softmax_at(beside, static_cast<size_t>(r));
  }

  Logit answer_of(const std::string& text, const Logit* other) const {
    const size_t colon = text.find(':');
    const std::string end = text.substr(0, colon);
    if (end != "start" && end != "end")
      fail(
          "{}: predicts starts and ends of answers, expected start:K or end:K instead of '{}'; for "
          "example start:3",
          model_.name(), text);
    const int id = end == "start" ? 0 : 1;
    if (colon == std::string::npos) return largest(other, id);
    const std::optional<int> row = number_in(std::string_view(text).substr(colon + 1));
    if (!row || *row < -n_ || *row >= n_)
      fail("{}: has {} tokens, expected the number of one in '{}'; give 0 to {}", model_.name(), n_,
           text, n_ - 1);
    const int place = *row < 0 ? *row + n_ : *row;
    if (place - first_ < 0 || place - first_ >= logits_.rows())
      fail_usage("`row`: was given together with '{}', expected one of them; leave `row` out",
                 text);
    return logit(place - first_, id);
  }

  int place_of_mask(const Description& described) const {
    std::vector<int> places;
    for (int t = 0; t < n_; ++t)
      if (is_mask_token(described.tokens[static_cast<size_t>(t)])) places.push_back(t);
    if (places.size() == 1) return places[0];
    fail("{}: has {} mask tokens in this input, expected one, to predict a word there; {}",
         model_.name(), places.size(),
         places.empty() ? "put one into the text, or give `row`"
                        : fmt::format("give `row` {}", fmt::join(places, " or ")));
  }

  const Model& model_;
  const OutputHead& head_;
  int n_;
  int first_ = 0;  // the token of the first row of logits
  Matrix logits_;
};

}  // namespace

std::string logit_name(const Model& model, const OutputHead& head, int row, int id) {
  const std::vector<std::string>& labels = model.architecture().labels;
  switch (head.kind()) {
    case OutputHead::Kind::answers:
      return fmt::format("{}:{}", id == 0 ? "start" : "end", row);
    case OutputHead::Kind::masked_words:
    case OutputHead::Kind::next_words:
      return model.token_name(id);
    case OutputHead::Kind::similarity:
      return head.label();
    case OutputHead::Kind::classes:
    case OutputHead::Kind::token_classes:
      break;
  }
  if (labels.size() == static_cast<size_t>(head.outputs())) return labels[static_cast<size_t>(id)];
  return std::to_string(id);
}

int word_number(const Model& model, int words, const std::string& text) {
  const Tokenizer* tokenizer = model.tokenizer();
  const bool marked = text.starts_with("token:");
  const std::string word = marked ? text.substr(6) : text;
  if (const auto number = number_in(word); number && !marked)
    return checked(model, words, *number, "word");
  if (!tokenizer)
    fail("{}: has no tokenizer, expected one for the word '{}'; give the word's id", model.name(),
         word);
  // As spelt within a text, at its start, and in the vocabulary.
  std::vector<std::string> pieces;
  for (const std::string& written : {" " + word, word}) {
    const Encoding encoding = tokenizer->encode(written, {}, false);
    // A special token here stands for unknown words, unless it was asked for by name.
    if (encoding.ids.size() == 1 &&
        (!tokenizer->is_special(encoding.ids[0]) || encoding.tokens[0] == word))
      return checked(model, words, encoding.ids[0], "word");
    pieces = encoding.tokens;
  }
  if (const auto id = tokenizer->id_of(word)) return checked(model, words, *id, "word");
  fail(
      "{}: has no single token for '{}', which it splits into {}, expected a word of its "
      "vocabulary; give one of these pieces, or another word",
      model.name(), word,
      pieces.empty() ? "no tokens" : fmt::format("'{}'", fmt::join(pieces, "' '")));
}

void check_class(const Model& model, const OutputHead& head, const std::string& text) {
  if (text != "best" &&
      (head.kind() == OutputHead::Kind::classes || head.kind() == OutputHead::Kind::token_classes))
    class_of(model, head, text);
}

Target choose_target(const Model& model, const OutputHead& head, const Description& described,
                     const TargetRequest& request, MatrixView finished) {
  const Choice choice(model, head, described, request.row, finished);
  Target target{choice.find(request.target, nullptr), {}};
  if (request.against.empty()) return target;
  target.against = choice.find(request.against, &target.logit);
  if (target.against->id == target.logit.id && target.against->row == target.logit.row)
    fail("{}: `against` {} is the target itself, expected another output; choose another",
         model.name(), request.against);
  return target;
}

}  // namespace headwater
