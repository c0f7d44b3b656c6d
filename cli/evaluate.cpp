#include "headwater/method/evaluate.h"

#include <filesystem>

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/open.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"
#include "headwater/method/truth.h"
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

class Examples {
 public:
  Examples(const Arguments& arguments, std::string folder)
      : arguments_(arguments),
        folder_(std::move(folder)),
        inputs_(read_examples(arguments.examples, arguments.limit)) {
    const auto path = std::filesystem::path(folder_) / "tokenizer.json";
    for (const LabelledInput& input : inputs_)
      if (input.kind == Kind::prompt && !tokenizer_)
        tokenizer_.emplace(Tokenizer::open(path.string()));
  }

  Evaluation evaluate() {
    EvaluateOptions what = arguments_.evaluate;
    what.faithfulness = arguments_.faithfulness;
    Evaluator evaluator(arguments_.options, what);
    ProgressBar bar("example");
    for (size_t first = 0; first < inputs_.size(); first += together) {
      const size_t end = std::min(first + together, inputs_.size());
      const std::unique_ptr<Batch> batch = open(first, end);
      for (size_t k = first; k < end; ++k) {
        named(k, [&] {
          const std::unique_ptr<Source> source = batch->item(static_cast<int>(k - first));
          evaluator.add(*source, question(inputs_[k], source->example()));
        });
        bar.show(static_cast<int64_t>(k) + 1, static_cast<int64_t>(inputs_.size()));
      }
    }
    return evaluator.result(arguments_.examples);
  }

 private:
  // What goes wrong with an example is told with its line.
  template <class Work>
  void named(size_t k, Work work) const {
    try {
      work();
    } catch (const Error& error) {
      fail("{}: line {}: {}", arguments_.examples, inputs_[k].line, error.what());
    }
  }

  std::unique_ptr<Batch> open(size_t first, size_t end) const {
    ModelInput input;
    input.name = arguments_.source;
    for (size_t k = first; k < end; ++k)
      (inputs_[k].kind == Kind::image ? input.images : input.texts).push_back(inputs_[k].text);
    try {
      return open_model(folder_, input);
    } catch (const Error&) {
      if (end - first == 1) throw;
    }
    // One of them is at fault: alone it says so under its own line.
    for (size_t k = first; k < end; ++k) named(k, [&] { open(k, k + 1); });
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
};

}  // namespace

void run_evaluate(const Arguments& arguments) {
  if (arguments.examples.empty())
    fail_usage(
        "evaluate: no --examples were given, expected a file of them; for example headwater "
        "evaluate {} --examples sentences.jsonl",
        arguments.source);
  check_outputs(arguments);
  const std::optional<std::string> folder = model_folder(arguments.source);
  if (!folder)
    fail("{}: is no model directory, expected a model to evaluate; check the name",
         arguments.source);
  std::vector<Result> results;
  results.emplace_back(Examples(arguments, *folder).evaluate());
  deliver(results, arguments);
}

}  // namespace headwater::cli
