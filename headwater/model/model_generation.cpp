#include "headwater/model/model_generation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/model/forward.h"
#include "headwater/model/head_map.h"
#include "headwater/model/model.h"
#include "headwater/model/model_example.h"
#include "headwater/model/target.h"
#include "headwater/model/token_name.h"

namespace headwater {
namespace {

namespace fs = std::filesystem;

// "eos_token_id" is a number or a list; generation_config.json overrules config.json.
std::vector<int> read_ends(const std::string& folder) {
  std::vector<int> ends;
  for (const char* name : {"config.json", "generation_config.json"}) {
    const std::string path = (fs::path(folder) / name).string();
    std::error_code missing;
    if (!fs::exists(path, missing)) continue;
    const Config config = Config::open(path);
    if (config.has("eos_token_id")) ends = config.integers("eos_token_id");
  }
  return ends;
}

class ModelGeneration : public Generation {
 public:
  ModelGeneration(std::unique_ptr<Model> model, std::optional<Tokenizer> tokenizer, Example prompt,
                  std::vector<int> continuation, std::vector<int> ends, int room)
      : model_(std::move(model)),
        tokenizer_(std::move(tokenizer)),
        prompt_(std::move(prompt)),
        continuation_(std::move(continuation)),
        ends_(std::move(ends)),
        cache_(*model_, room),
        logits_(1, model_->architecture().text->vocabulary) {}

  const Example& prompt() const override { return prompt_; }
  const std::vector<int>& continuation() const override { return continuation_; }
  std::span<const float> logits() const override { return logits_.row(0); }
  bool ends(int id) const override { return std::ranges::find(ends_, id) != ends_.end(); }
  std::string token(int id) const override { return token_name(tokenizer_, id); }
  std::string text(std::span<const int> ids) const override {
    if (tokenizer_) return tokenizer_->decode(ids);
    return fmt::format("{}", fmt::join(ids, " "));
  }

  void read(std::span<const int> ids, Fuse fuse, const Visit& visit) override {
    const int first = cache_.count, count = static_cast<int>(ids.size());
    if (count > cache_.capacity - first)
      fail("{}: reads token {}, expected at most {}, the room that was asked for; ask for more",
           model_->name(), first + count, cache_.capacity);
    Forward forward(*model_, model_->embed(TextInput{{ids.begin(), ids.end()}, {}}, first), cache_);
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
            "{}: gives a logit that is no number after token {}, expected numbers; check that the "
            "weights are whole",
            model_->name(), first + count - 1);
  }

 private:
  std::unique_ptr<Model> model_;
  std::optional<Tokenizer> tokenizer_;
  Example prompt_;
  std::vector<int> continuation_;
  std::vector<int> ends_;
  Cache cache_;
  Matrix logits_;
};

std::optional<Tokenizer> find_tokenizer(const std::string& folder) {
  const fs::path path = fs::path(folder) / "tokenizer.json";
  std::error_code missing;
  if (!fs::exists(path, missing)) return {};
  return Tokenizer::open(path.string());
}

// Prompt and continuation as one text, cut where the prompt ends.
void tokenize(const Tokenizer& tokenizer, const GenerationInput& input, Example& prompt,
              std::vector<int>& continuation) {
  const Encoding encoding = tokenizer.encode(input.prompt + input.continuation.value_or(""));
  size_t count = encoding.size();
  // A tokenizer that ends every text with a token of its own would end this one before it grew.
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

std::unique_ptr<Generation> open_generation(const std::string& folder,
                                            const GenerationInput& input) {
  std::unique_ptr<Model> model = Model::open(folder);
  if (!model->has_language_head())
    fail(
        "{}: is a {} model without a head that predicts the next word, expected a causal language "
        "model; use another",
        folder, model->architecture().family);
  std::optional<Tokenizer> tokenizer = find_tokenizer(folder);
  Example prompt = model_example(*model);
  std::vector<int> continuation;
  if (!input.ids.empty()) {
    prompt.ids = input.ids;
    for (const int id : input.ids) prompt.tokens.push_back(token_name(tokenizer, id));
  } else if (!tokenizer) {
    fail("{}: has no tokenizer.json, expected one for a prompt; give --ids", folder);
  } else {
    tokenize(*tokenizer, input, prompt, continuation);
  }
  if (prompt.ids.empty())
    fail("{}: the prompt has no tokens, expected at least one; give a longer --prompt", folder);
  if (input.continuation && continuation.empty())
    fail("{}: the continuation has no tokens, expected at least one; give a longer one", folder);
  if (!input.name.empty()) prompt.name = input.name;
  prompt.padded = static_cast<int>(prompt.ids.size());
  const int more = continuation.empty() ? input.count : static_cast<int>(continuation.size());
  const std::optional<int> most = model->architecture().positions;
  const int used = prompt.padded;
  if (most && more > *most - used)
    fail(
        "{}: the prompt has {} tokens and {} are to follow, expected at most {} in all, the "
        "positions of the model; {}",
        folder, used, more, *most,
        used < *most && continuation.empty()
            ? fmt::format("ask for --count {} or fewer", *most - used)
        : continuation.empty() ? std::string("give a shorter prompt")
                               : std::string("give shorter texts"));
  std::vector<int> ends = read_ends(folder);
  for (const std::string& stop : input.stops)
    ends.push_back(word_number(*model, model->architecture().text->vocabulary, tokenizer, stop));
  return std::make_unique<ModelGeneration>(std::move(model), std::move(tokenizer),
                                           std::move(prompt), std::move(continuation),
                                           std::move(ends), used + more);
}

}  // namespace headwater
