#include "headwater/method/evaluate.h"

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/open.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"
#include "headwater/method/truth.h"
#include "headwater/model/blank.h"
#include "headwater/model/head.h"
#include "headwater/model/target.h"
#include "headwater/model/tokenizer/tokenizer.h"
#include "headwater/source/examples.h"

namespace headwater::cli {
namespace {

using Kind = LabelledInput::Kind;

// Examples whose inputs are held at once.
constexpr size_t together = 64;

// The id of the token that follows the prompt where the answer does.
std::string first_answer_token(const Tokenizer& tokenizer, const LabelledInput& example,
                               const Example& prompt) {
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
        "the answer begins inside a token of the prompt, expected one that begins a token; begin "
        "it with a space");
  return std::to_string(encoding.ids[at]);
}

// The last token of the text itself: a tokenizer may put one of its own behind it.
int last_given(const Example& example) {
  const std::vector<bool> given = given_tokens(example);
  for (size_t t = given.size(); t-- > 0;)
    if (given[t]) return static_cast<int>(t);
  return static_cast<int>(given.size()) - 1;
}

// What can be known to be wrong with an example before the model is run.
void check_fit(const Model& model, const Head& head, const LabelledInput& input) {
  const bool sees = model.architecture().image.has_value();
  if (sees != (input.kind == Kind::image))
    fail("has no {}, expected one for {}, a model of {}; take another model",
         sees ? "\"image\"" : "\"text\" or \"prompt\"", model.name(), sees ? "images" : "text");
  if (input.kind == Kind::prompt && head.kind() != Head::Kind::next_words)
    fail("has a \"prompt\", expected \"text\" for {}, which predicts no next word; rename it",
         model.name());
  if (!input.label.empty()) check_class(model, head, input.label);
}

class Examples {
 public:
  /// Reads the examples, and tokenizes and checks all of them: what is wrong with the last one
  /// shows before the work on the first.
  Examples(const Arguments& arguments, std::string folder)
      : arguments_(arguments),
        folder_(std::move(folder)),
        inputs_(read_examples(arguments.examples, arguments.limit)) {
    const std::unique_ptr<Model> model = Model::open(folder_);
    const Head head(*model);
    for (const LabelledInput& input : inputs_)
      named(input, [&] { check_fit(*model, head, input); });
    const auto path = std::filesystem::path(folder_) / "tokenizer.json";
    if (std::ranges::any_of(inputs_, [](const auto& one) { return one.kind == Kind::prompt; }))
      tokenizer_.emplace(Tokenizer::open(path.string()));
    in_parts([&](Batch& batch, size_t k, int item) {
      questions_.push_back(question(inputs_[k], batch.item(item)->example()));
    });
    blanks_ = !model->architecture().text || find_blank_token(*model).has_value();
  }

  Evaluation evaluate() {
    EvaluateOptions what = arguments_.evaluate;
    what.faithfulness = arguments_.faithfulness;
    const bool without = !blanks_ && !arguments_.against && !what.faithfulness;
    if (without) what.blank_out = false;
    Evaluator evaluator(arguments_.options, what);
    ProgressBar bar("example");
    in_parts([&](Batch& batch, size_t k, int item) {
      const std::unique_ptr<Source> source = batch.item(item);
      evaluator.add(*source, questions_[k]);
      bar.show(static_cast<int64_t>(k) + 1, static_cast<int64_t>(inputs_.size()));
    });
    Evaluation result = evaluator.result(arguments_.examples);
    if (without)
      result.notes.push_back(
          "no blank-out: the vocabulary has neither a mask token nor an unknown token");
    return result;
  }

 private:
  // What goes wrong with an example is told with its line.
  template <class Work>
  void named(const LabelledInput& input, Work work) const {
    try {
      work();
    } catch (const Error& error) {
      fail("{}: line {}: {}", arguments_.examples, input.line, error.what());
    }
  }

  // Calls work(batch, k, item) for every example k, an item of that batch.
  template <class Work>
  void in_parts(Work work) {
    for (size_t first = 0; first < inputs_.size(); first += together) {
      const size_t end = std::min(first + together, inputs_.size());
      const std::unique_ptr<Batch> batch = open(first, end);
      for (size_t k = first; k < end; ++k)
        named(inputs_[k], [&] { work(*batch, k, static_cast<int>(k - first)); });
    }
  }

  std::unique_ptr<Batch> open(size_t first, size_t end) const {
    ModelInput input;
    input.name = arguments_.source;
    input.advice = "shorten it";
    for (size_t k = first; k < end; ++k)
      (inputs_[k].kind == Kind::image ? input.images : input.texts).push_back(inputs_[k].text);
    try {
      return open_model(folder_, input);
    } catch (const Error& error) {
      if (end - first == 1)
        fail("{}: line {}: {}", arguments_.examples, inputs_[first].line, error.what());
    }
    // One of them is at fault: alone it says so under its own line.
    for (size_t k = first; k < end; ++k) open(k, k + 1);
    return open_model(folder_, input);
  }

  Question question(const LabelledInput& input, const Example& example) const {
    Question out;
    out.line = input.line;
    if (!input.label.empty()) out.target = input.label;
    if (input.kind == Kind::prompt) {
      out.target_row = last_given(example);
      if (!input.answer.empty()) out.target = first_answer_token(*tokenizer_, input, example);
    }
    if (arguments_.filter.any()) out.counted = kept(arguments_.filter, example.tokens);
    if (!input.truth.empty()) out.truth = true_tokens(example, input.truth);
    if (input.box) out.truth = true_patches(example, *input.box);
    return out;
  }

  const Arguments& arguments_;
  std::string folder_;
  std::vector<LabelledInput> inputs_;
  std::optional<Tokenizer> tokenizer_;
  std::vector<Question> questions_;
  bool blanks_ = true;  // the model can be given less to see
};

// Those that came with a model.
std::string own_examples(const std::string& name, const std::string& folder) {
  const auto path = std::filesystem::path(folder) / "examples.jsonl";
  std::error_code missing;
  if (!std::filesystem::exists(path, missing))
    fail_usage(
        "evaluate: no --examples were given and {} has none of its own, expected a file of them; "
        "for example headwater evaluate {} --examples sentences.jsonl",
        name, name);
  return path.string();
}

}  // namespace

void run_evaluate(const Arguments& arguments) {
  for (const std::string& path : arguments.outputs)
    if (path.ends_with(".npy"))
      fail_usage("{}: evaluate gives several arrays, expected another ending; use .npz", path);
  check_outputs(arguments);
  const std::string folder = needed_model(arguments.source);
  Arguments found = arguments;
  if (found.examples.empty()) found.examples = own_examples(arguments.source, folder);
  std::vector<Result> results;
  results.emplace_back(Examples(found, folder).evaluate());
  deliver(results, arguments);
}

}  // namespace headwater::cli
