#include "cli/options/source.h"

#include <numeric>

#include "cli/numbers.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"
#include "headwater/layer/options.h"
#include "headwater/layer/resolve.h"
#include "headwater/open.h"
#include "headwater/source/json.h"

namespace headwater::cli {

void declare_source(OptionList& options, Takes what, std::string& name, const char* shipped) {
  const std::string model =
      std::string(
          "a model directory as transformers saves it, or the name of a model that ships or is in "
          "the Hugging Face cache ('headwater models' lists them): ") +
      shipped;
  options.group("Source");
  Option& source = options.text(
      "SOURCE", "PATH",
      what == Takes::models
          ? "A" + model.substr(1)
          : "A file of attention (.npy, .npz, .safetensors or .json; see docs/formats.md), " +
                model,
      name);
  source.names_models = true;
  source.required = what == Takes::models ? "a model directory or the name of a model"
                                          : "a file of attention or a model";
}

void declare_ignore_code(OptionList& options, bool& ignore) {
  options.flag("--ignore-code",
               "Run a model whose folder brings code of its own, without that code", ignore);
}

void SourceOptions::declare(OptionList& options, Takes what) {
  declare_source(options, what, name);
  declare_input(options);
  options.group("Source");
  options.add("--item", "K|all",
              "Which item of a batch: a number from 0, -1 for the last, or 'all'",
              [this](const std::string& text) {
                all_items = text == "all";
                if (!all_items) item = parse_integer("--item", text);
              });
  if (what == Takes::anything) declare_reading(options);
}

void SourceOptions::declare_input(OptionList& options) {
  options.group("Input of a model");
  options.add("--text", "TEXT", "The text that the model reads; '-' is standard input",
              [this](const std::string& text) { input_.texts = {text}; });
  options.add(
      "--prompt", "TEXT",
      "The start of a text, for a model that predicts the next word; as --text, but without "
      "a token that the tokenizer adds at the end",
      [this](const std::string& text) { input_.prompts = {text}; });
  options.text("--text-pair", "TEXT", "A second text; the model's tokenizer joins it to --text",
               input_.pair);
  options.text("--text-file", "FILE",
               "A file of texts, one per line, each an item of a batch; '-' is standard input",
               text_file_);
  options.add("--ids", "101,2023,...", "Token ids in place of a text; nothing is added to them",
              [this](const std::string& text) { input_.ids = parse_integers("--ids", text); });
  options.add("--image", "FILE", "The image that a vision model sees: PNG or JPEG",
              [this](const std::string& text) { input_.images = {text}; });
  options.flag("--truncate", "Cut a text that is too long for the model", input_.truncate);
  declare_ignore_code(options, input_.ignore_code);
}

void SourceOptions::declare_other(OptionList& options) {
  options.group("Target");
  options.text("--against-text", "TEXT",
               "Ask about the similarity to this text instead of a logit: a model of "
               "sentence-transformers, or CLIP",
               input_.against_text);
  options.text("--against-image", "FILE", "The same for an image: CLIP", input_.against_image);
}

void SourceOptions::declare_reading(OptionList& options) {
  options.text("--axes", "LBHnn",
               "What the axes are, as letters: L layers, B batch, H heads, n rows, n columns",
               axes_);
  options.text("--tokens", "FILE",
               "Tokens for a source that has none: one per line, or a JSON list in a .json",
               tokens_file_);
  options.choice("--sums", "any|checked",
                 "'any' accepts rows that do not sum to 1 (default: checked)", {"any", "checked"},
                 sums_);
  options.choice("--nan", "identity|error",
                 "'identity' replaces a head's bad row (NaN, infinite or negative) by the row of "
                 "the identity matrix (default: error)",
                 {"identity", "error"}, nan_);
}

bool SourceOptions::any_given() const {
  return !name.empty() || !input_.empty() || input_.truncate || input_.ignore_code || text_file_ ||
         tokens_file_ || item || all_items || !axes_.empty() || !sums_.empty() || !nan_.empty();
}

std::unique_ptr<Batch> SourceOptions::open(const std::string& other) {
  for (auto* texts : {&input_.texts, &input_.prompts})
    for (std::string& text : *texts)
      text = text_or_standard_input(text, texts == &input_.texts ? "--text" : "--prompt");
  OpenOptions how{.input = input_, .read = {}};
  how.read.axes = axes_;
  how.read.any_sums = sums_ == "any";
  how.read.nan_identity = nan_ == "identity";
  if (tokens_file_) how.read.tokens = read_tokens(*tokens_file_);
  if (text_file_) {
    if (!how.input.texts.empty())
      fail_usage(
          "--text-file: was given together with --text, expected one of them; leave one out");
    if (text_file_ == "-" && lines_.empty()) lines_ = texts_of("-");
    how.input.texts = text_file_ == "-" ? lines_ : read_texts(*text_file_);
  }
  return open_batch(other, how);
}

std::vector<Result> SourceOptions::each_item(Batch& batch,
                                             const std::function<Result(Source&)>& method) const {
  if (batch.size() == 0)
    fail("{}: is a model, expected something to run it on; give --text \"...\" or --image FILE",
         name);
  if (!item && !all_items && batch.size() > 1)
    fail("{}: holds a batch of {}, expected one item; choose it with --item K or take --item all",
         name, batch.size());
  std::vector<int> chosen = {resolve_index(item.value_or(0), batch.size(), "item", name)};
  if (all_items) {
    chosen.resize(static_cast<size_t>(batch.size()));
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  std::vector<Result> results;
  for (std::unique_ptr<Source>& one : batch.together(chosen)) {
    WatchedSource source(std::move(one), progress_bars());
    results.push_back(method(source));
  }
  return results;
}

}  // namespace headwater::cli
