#include "headwater/model/model_generation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/model/forward.h"
#include "headwater/model/generation_relevance.h"
#include "headwater/model/head_map.h"
#include "headwater/model/model.h"
#include "headwater/model/model_description.h"
#include "headwater/model/target.h"
#include "headwater/model/tokenizer/tokenizer.h"

namespace headwater {
namespace {

namespace fs = std::filesystem;

// "eos_token_id" is a number or a list; generation_config.json overrides config.json.
std::vector<int> read_ends(const Model& model) {
  const char* key = "eos_token_id";
  const std::string path = (fs::path(model.name()) / "generation_config.json").string();
  std::error_code missing;
  if (fs::exists(path, missing))
    if (const Config config = Config::open(path); config.has(key)) return config.integers(key);
  if (model.config().has(key)) return model.config().integers(key);
  return {};
}

class ModelGeneration : public Generation {
 public:
  ModelGeneration(std::shared_ptr<const Model> model, Description prompt,
                  std::vector<int> continuation, std::vector<int> ends)
      : model_(std::move(model)),
        prompt_(std::move(prompt)),
        continuation_(std::move(continuation)),
        ends_(std::move(ends)),
        logits_(1, model_->architecture().text->vocabulary) {}

  const Description& prompt() const override { return prompt_; }
  const std::vector<int>& continuation() const override { return continuation_; }
  std::span<const float> logits() const override { return logits_.row(0); }
  bool ends(int id) const override { return std::ranges::find(ends_, id) != ends_.end(); }
  std::string token(int id) const override { return model_->token_name(id); }
  std::vector<std::string> notes() const override { return model_->architecture().notes; }
  std::string text(std::span<const int> ids) const override {
    if (const Tokenizer* tokenizer = model_->tokenizer()) return tokenizer->decode(ids);
    return fmt::format("{}", fmt::join(ids, " "));
  }

  void reserve(int more) override {
    const std::optional<int> most = model_->architecture().positions;
    const int used = prompt_.padded;
    if (most && more > *most - used)
      fail(
          "{}: the prompt has {} tokens and {} are to follow, expected at most {} in all, the "
          "positions of the model; {}",
          model_->name(), used, more, *most,
          used < *most && continuation_.empty()
              ? fmt::format("set `count` to {} or less", *most - used)
          : continuation_.empty() ? std::string("give a shorter prompt")
                                  : std::string("give shorter texts"));
    cache_.emplace(*model_, used + more);
  }

  void read(std::span<const int> ids, Fuse fuse, const Visit& visit) override {
    assert(cache_);
    const int first = cache_->count, count = static_cast<int>(ids.size());
    if (count > cache_->capacity - first)
      fail("{}: reads token {}, expected at most {}, the room that was reserved; reserve more",
           model_->name(), first + count, cache_->capacity);
    Forward forward(*model_, model_->embed(TextInput{{ids.begin(), ids.end()}, {}}, first),
                    *cache_);
    const int heads = model_->architecture().heads;
    Matrix map = visit ? Matrix(count, first + count) : Matrix();
    for (int layer = 0; layer < model_->architecture().layers; ++layer) {
      forward.step(visit ? head_map(fuse, heads, layer, model_->name(), map) : kernel::HeadMap());
      if (visit) visit(layer, map);
    }
    Matrix last(1, model_->architecture().width);
    model_->finish(forward.hidden().rows(count - 1, 1), last);
    model_->logits(last, logits_);
    for (const float logit : logits_.row(0))
      if (!std::isfinite(logit))
        fail(
            "{}: gives a logit that is not a number after token {}, expected numbers; check that "
            "the weights are intact",
            model_->name(), first + count - 1);
  }

  std::vector<SpanRelevance> relevance(std::span<const int> generated, std::span<const Range> spans,
                                       RelevanceRule rule, WordScore score) override {
    std::vector<int> ids = prompt_.ids;
    ids.insert(ids.end(), generated.begin(), generated.end());
    return span_relevance(*model_, ids, static_cast<int>(prompt_.ids.size()), spans, rule, score);
  }

 private:
  std::shared_ptr<const Model> model_;
  Description prompt_;
  std::vector<int> continuation_;
  std::vector<int> ends_;
  std::optional<Cache> cache_;
  Matrix logits_;
};

// Tokenizes prompt and continuation as one text, and cuts it where the prompt ends.
void tokenize(const Tokenizer& tokenizer, const GenerationInput& input, Description& prompt,
              std::vector<int>& continuation) {
  const Encoding encoding = tokenizer.encode(input.prompt + input.continuation.value_or(""));
  prompt.texts = {input.prompt};
  size_t count = encoding.size();
  // Drops a token that the tokenizer adds at the end of every text: it would end this one at once.
  while (count > 1 && encoding.sequences[count - 1] < 0) --count;
  for (size_t t = 0; t < count; ++t) {
    const bool own = encoding.sequences[t] < 0;
    if (!own && encoding.offsets[t].end > input.prompt.size()) {
      continuation.assign(encoding.ids.begin() + static_cast<std::ptrdiff_t>(t),
                          encoding.ids.begin() + static_cast<std::ptrdiff_t>(count));
      return;
    }
    prompt.tokens.push_back(encoding.tokens[t]);
    prompt.ids.push_back(encoding.ids[t]);
    prompt.places.push_back(
        {encoding.sequences[t], encoding.offsets[t].begin, encoding.offsets[t].end});
  }
}

}  // namespace

std::unique_ptr<Generation> start_generation(std::shared_ptr<const Model> model,
                                             const GenerationInput& input,
                                             const std::string& name) {
  const std::string& folder = model->name();
  if (!model->has_language_head())
    fail(
        "{}: is a {} model that cannot predict the next word, expected a causal language "
        "model; use another",
        folder, model->architecture().family);
  Description prompt = model_description(*model);
  std::vector<int> continuation;
  if (!input.ids.empty()) {
    prompt.ids = input.ids;
    for (const int id : input.ids) prompt.tokens.push_back(model->token_name(id));
  } else if (!model->tokenizer()) {
    fail("{}: has no tokenizer, expected one for a prompt; give `ids`", folder);
  } else {
    tokenize(*model->tokenizer(), input, prompt, continuation);
  }
  if (prompt.ids.empty())
    fail("{}: the prompt has no tokens, expected at least one; give a longer `prompt`", folder);
  if (input.continuation && continuation.empty())
    fail("{}: the continuation has no tokens, expected at least one; give a longer one", folder);
  prompt.name = name;
  prompt.padded = static_cast<int>(prompt.ids.size());
  std::vector<int> ends = read_ends(*model);
  for (const std::string& stop : input.stops)
    ends.push_back(word_number(*model, model->architecture().text->vocabulary, stop));
  return std::make_unique<ModelGeneration>(std::move(model), std::move(prompt),
                                           std::move(continuation), std::move(ends));
}

}  // namespace headwater
