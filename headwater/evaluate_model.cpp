#include "headwater/evaluate_model.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/method/evaluate/evaluate.h"
#include "headwater/method/evaluate/examples.h"
#include "headwater/method/evaluate/truth.h"
#include "headwater/model/blank.h"
#include "headwater/model/classifier.h"
#include "headwater/model/find_model.h"
#include "headwater/model/model_batch.h"
#include "headwater/model/target.h"
#include "headwater/model/tokenizer/tokenizer.h"

namespace headwater {
namespace {

using Kind = LabelledInput::Kind;

// The id of the answer's first token, tokenized together with the prompt.
std::string first_answer_token(const Tokenizer& tokenizer, const LabelledInput& example,
                               const Description& prompt) {
  const Encoding encoding = tokenizer.encode(example.text + example.answer);
  size_t at = 0;
  while (at < encoding.size() &&
         (encoding.sequences[at] < 0 || encoding.offsets[at].end <= example.text.size()))
    ++at;
  const bool same =
      at < encoding.size() && at <= prompt.ids.size() &&
      std::equal(encoding.ids.begin(), encoding.ids.begin() + static_cast<std::ptrdiff_t>(at),
                 prompt.ids.begin());
  if (!same)
    fail(
        "the answer starts inside a token of the prompt, expected it to start a token; start "
        "it with a space");
  return std::to_string(encoding.ids[at]);
}

// The last token of the text itself: a tokenizer may add one after it.
int last_given(const Description& described) {
  const std::vector<bool> given = given_tokens(described);
  for (size_t t = given.size(); t-- > 0;)
    if (given[t]) return static_cast<int>(t);
  return static_cast<int>(given.size()) - 1;
}

// Finds what is wrong with an example before the model runs.
void check_fit(const Model& model, const LabelledInput& input) {
  const Classifier& classifier = model.classifier();
  const bool sees = model.architecture().image.has_value();
  if (sees != (input.kind == Kind::image))
    fail("has no {}, expected one for {}, a model of {}; use another model",
         sees ? "\"image\"" : "\"text\" or \"prompt\"", model.name(), sees ? "images" : "text");
  if (input.kind == Kind::prompt && classifier.kind() != Classifier::Kind::next_words)
    fail("has a \"prompt\", expected \"text\" for {}, which predicts no next word; rename it",
         model.name());
  if (!input.label.empty()) check_class(model, classifier, input.label);
}

class Examples {
 public:
  Examples(std::shared_ptr<const Model> model, std::string name, std::string file,
           const ModelEvaluation& what)
      : model_(std::move(model)),
        name_(std::move(name)),
        file_(std::move(file)),
        what_(what),
        inputs_(read_examples(file_, what.limit)) {
    for (const LabelledInput& input : inputs_)
      on_line(input, [&] {
        check_fit(*model_, input);
        questions_.push_back(question(input, open(input)->description()));
      });
  }

  Evaluation evaluate() {
    const bool blanks = !model_->architecture().text || find_blank_token(*model_).has_value();
    const bool without = !blanks && what_.against == Against::automatic && !what_.faithfulness;
    EvaluateOptions how;
    how.blank_out = what_.against != Against::gradient && !without;
    how.gradient = what_.against != Against::blank_out;
    how.faithfulness = what_.faithfulness;
    how.methods = what_.methods;
    Evaluator evaluator(what_.options, how);
    for (size_t k = 0; k < inputs_.size(); ++k) {
      on_line(inputs_[k], [&] { evaluator.add(*open(inputs_[k]), questions_[k]); });
      if (what_.progress)
        what_.progress(static_cast<int64_t>(k) + 1, static_cast<int64_t>(inputs_.size()));
    }
    Evaluation result = evaluator.result(file_);
    for (const std::string& note : model_->architecture().notes) result.notes.push_back(note);
    if (without)
      result.notes.push_back(
          "no blank-out: the vocabulary has neither a mask token nor an unknown token");
    return result;
  }

 private:
  // Adds the line number to an error about an example.
  template <class Work>
  void on_line(const LabelledInput& input, Work work) const {
    try {
      work();
    } catch (const Error& error) {
      fail("{}: line {}: {}", file_, input.line, error.what());
    }
  }

  std::unique_ptr<Source> open(const LabelledInput& example) const {
    ModelInput input;
    input.advise_truncate = false;  // an example is evaluated whole
    (example.kind == Kind::image ? input.images : input.texts).push_back(example.text);
    return ModelBatch(model_, input, name_).item(0);
  }

  Question question(const LabelledInput& input, const Description& described) const {
    Question out;
    out.line = input.line;
    if (!input.label.empty()) out.target = input.label;
    if (input.kind == Kind::prompt) {
      out.target_row = last_given(described);
      if (!input.answer.empty())
        out.target = first_answer_token(*model_->tokenizer(), input, described);
    }
    if (what_.filter.any()) out.counted = kept(what_.filter, described.tokens);
    if (!input.truth.empty()) out.truth = true_tokens(described, input.truth);
    if (input.box) out.truth = true_patches(described, *input.box);
    return out;
  }

  std::shared_ptr<const Model> model_;
  std::string name_, file_;
  const ModelEvaluation& what_;
  std::vector<LabelledInput> inputs_;
  std::vector<Question> questions_;
};

// The examples that ship with the model.
std::string own_examples(const std::string& name, const Model& model) {
  const auto path = std::filesystem::path(model.folder()) / "examples.jsonl";
  std::error_code missing;
  if (!std::filesystem::exists(path, missing))
    fail_usage(
        "{}: no `examples` were given and it has none of its own, expected a file of them; give a "
        ".jsonl or .txt of examples",
        name);
  return path.string();
}

}  // namespace

Against parse_against(std::string_view text) {
  if (text == "blank-out") return Against::blank_out;
  if (text == "gradient") return Against::gradient;
  if (text == "both") return Against::both;
  constexpr std::array<std::string_view, 3> known = {"blank-out", "gradient", "both"};
  fail_usage("unknown against '{}'{}", text, suggestion(text, known));
}

Evaluation evaluate(const std::string& name, const ModelEvaluation& what) {
  if (what.limit && *what.limit < 1)
    fail_usage("`limit` {}: expected 1 or more examples; choose another", *what.limit);
  std::shared_ptr<const Model> model = open_model(name, what.ignore_code);
  std::string file = what.examples.empty() ? own_examples(name, *model) : what.examples;
  return Examples(std::move(model), name, std::move(file), what).evaluate();
}

}  // namespace headwater
