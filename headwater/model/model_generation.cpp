#include "headwater/model/model_generation.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/core/parallel.h"
#include "headwater/model/forward.h"
#include "headwater/model/generation_relevance.h"
#include "headwater/model/generation_start.h"
#include "headwater/model/head_map.h"
#include "headwater/model/model.h"
#include "headwater/model/tokenizer/tokenizer.h"
#include "headwater/model/trace.h"

namespace headwater {
namespace {

// The encoder before a decoder.
struct SourceHalf {
  SourceHalf(std::shared_ptr<const Model> model, Description what)
      : encoder(std::move(model)), source(std::move(what)) {}
  std::shared_ptr<const Model> encoder;
  Description source;
  std::optional<CrossMemory> memory;  // once it was run
};

// The decoder in the folder of an encoder.
std::shared_ptr<const Model> open_decoder(const Model& encoder, bool ignore_code) {
  const std::vector<std::string> tensors = encoder.checkpoint().unused();
  if (std::ranges::none_of(
          tensors, [](const std::string& name) { return name.find("decoder.") != name.npos; }))
    fail(
        "{}: has the weights of an encoder only, expected those of a decoder too, which writes; "
        "use the whole model",
        encoder.name());
  return Model::open(encoder.folder(), ignore_code, Side::decoder, encoder.name());
}

class ModelGeneration : public Generation {
 public:
  ModelGeneration(std::shared_ptr<const Model> model, GenerationStart start,
                  std::optional<SourceHalf> half)
      : model_(std::move(model)),
        prompt_(std::move(start.prompt)),
        continuation_(std::move(start.continuation)),
        ends_(std::move(start.ends)),
        notes_(model_->architecture().notes),
        half_(std::move(half)),
        logits_(1, model_->architecture().text->vocabulary) {
    for (std::string& note : start.notes) notes_.push_back(std::move(note));
  }

  const Description& prompt() const override { return prompt_; }
  const Description* source() const override { return half_ ? &half_->source : nullptr; }
  const std::vector<int>& continuation() const override { return continuation_; }
  std::span<const float> logits() const override { return logits_.row(0); }
  bool ends(int id) const override { return std::ranges::find(ends_, id) != ends_.end(); }
  std::string token(int id) const override { return model_->token_name(id); }
  std::vector<std::string> notes() const override { return notes_; }
  std::string text(std::span<const int> ids) const override {
    if (const Tokenizer* tokenizer = model_->tokenizer()) return tokenizer->decode(ids);
    return fmt::format("{}", fmt::join(ids, " "));
  }

  void reserve(int more) override {
    const std::optional<int> most = model_->architecture().positions;
    const int used = prompt_.padded;
    if (most && more > *most - used)
      fail(
          "{}: the prompt has {} tokens and {} more were asked for, expected at most {} in all, "
          "the positions of the model; {}",
          model_->name(), used, more, *most,
          used < *most && continuation_.empty()
              ? fmt::format("set `count` to {} or less", *most - used)
          : continuation_.empty() ? std::string("give a shorter prompt")
                                  : std::string("give shorter texts"));
    cache_.emplace(*model_, used + more);
  }

  void read_source(Fuse fuse, const Visit& visit) override {
    const Model& encoder = *half_->encoder;
    const int n = static_cast<int>(half_->source.ids.size());
    const int layers = encoder.architecture().layers, heads = encoder.architecture().heads;
    Matrix map = visit ? Matrix(n, n) : Matrix(), encoded(n, encoder.architecture().width);
    run_checked(encoder, encoder.embed(TextInput{half_->source.ids, {}}), layers,
                [&](Forward& forward) {
                  const int layer = forward.next();
                  forward.step(visit ? head_map(fuse, heads, layer, encoder.name(), map)
                                     : kernel::HeadMap());
                  if (visit) visit(layer, map);
                  if (layer + 1 == layers) encoder.finish(forward.hidden(), encoded);
                });
    half_->memory.emplace(*model_, encoded);
  }

  void read(std::span<const int> ids, Fuse fuse, const Visit& visit, const Visit& across) override {
    if (!half_) {
      const Reading one{this, ids, visit, across};
      return read_packed({&one, 1}, fuse);
    }
    assert(cache_ && half_->memory);
    const int first = cache_->count, count = static_cast<int>(ids.size());
    Matrix embedded = next_rows(ids);
    Forward forward(*model_, std::move(embedded), *cache_, *half_->memory);
    Matrix map = visit ? Matrix(count, first + count) : Matrix();
    Matrix cross = across ? Matrix(count, half_->memory->keys[0].rows()) : Matrix();
    for (int layer = 0; layer < model_->architecture().layers; ++layer) {
      forward.step_across(fused(fuse, layer, map), fused(fuse, layer, cross));
      if (visit) visit(layer, map);
      if (cross.rows() > 0) across(layer, cross);
    }
    Matrix last(1, model_->architecture().width);
    model_->finish(forward.hidden().rows(count - 1, 1), last);
    model_->logits(last, logits_);
    check_logits();
  }

  void read_together(std::span<const Reading> all, Fuse fuse) override {
    for (const Reading& one : all) {
      const auto* other = dynamic_cast<const ModelGeneration*>(one.text);
      if (half_ || !other || other->model_ != model_) return Generation::read_together(all, fuse);
    }
    read_packed(all, fuse);
  }

  std::vector<SpanRelevance> relevance(std::span<const int> generated, std::span<const Range> spans,
                                       RelevanceRule rule, WordScore score) override {
    if (half_)
      fail_usage(
          "{}: is a model with an encoder, for which relevance of generated text is not "
          "implemented, expected rollout; leave `method` out",
          model_->name());
    std::vector<int> ids = prompt_.ids;
    ids.insert(ids.end(), generated.begin(), generated.end());
    return span_relevance(*model_, ids, static_cast<int>(prompt_.ids.size()), spans, rule, score);
  }

 private:
  // The rows of the next tokens. Throws Error if there is no room for them.
  Matrix next_rows(std::span<const int> ids) const {
    assert(cache_);
    const int first = cache_->count, count = static_cast<int>(ids.size());
    if (count > cache_->capacity - first)
      fail("{}: reads token {}, expected at most {}, the room that was reserved; reserve more",
           model_->name(), first + count, cache_->capacity);
    return model_->embed(TextInput{{ids.begin(), ids.end()}, {}}, first);
  }

  kernel::HeadMap fused(const Fuse& fuse, int layer, Matrix& out) const {
    if (out.rows() == 0) return {};
    return head_map(fuse, model_->architecture().heads, layer, model_->name(), out);
  }

  // Texts of this model, which has no encoder.
  void read_packed(std::span<const Reading> all, const Fuse& fuse) {
    const int width = model_->architecture().width;
    std::vector<ModelGeneration*> texts;
    std::vector<Cache*> caches;
    std::vector<int> lengths;
    std::vector<Matrix> parts, maps;
    int rows = 0;
    for (const Reading& one : all) {
      texts.push_back(static_cast<ModelGeneration*>(one.text));
      parts.push_back(texts.back()->next_rows(one.ids));
      caches.push_back(&*texts.back()->cache_);
      lengths.push_back(parts.back().rows());
      maps.push_back(one.visit ? Matrix(lengths.back(), caches.back()->count + lengths.back())
                               : Matrix());
      rows += lengths.back();
    }
    Matrix embedded = all.size() == 1 ? std::move(parts[0]) : stacked(parts, rows);
    Forward forward(*model_, std::move(embedded), lengths, caches);
    std::vector<kernel::HeadMap> wanted(all.size());
    for (int layer = 0; layer < model_->architecture().layers; ++layer) {
      for (size_t k = 0; k < all.size(); ++k) wanted[k] = fused(fuse, layer, maps[k]);
      forward.step_each(wanted);
      parallel_if_many(static_cast<int>(all.size()), [&](int at) {
        const auto k = static_cast<size_t>(at);
        if (all[k].visit) all[k].visit(layer, maps[k]);
      });
    }
    Matrix last(static_cast<int>(all.size()), width);
    for (int k = 0, end = 0; k < last.rows(); ++k) {
      end += lengths[static_cast<size_t>(k)];
      std::ranges::copy(forward.hidden().row(end - 1), last.row(k).begin());
    }
    model_->finish(last, last);
    Matrix logits(last.rows(), logits_.columns());
    model_->logits(last, logits);
    for (int k = 0; k < last.rows(); ++k) {
      ModelGeneration& text = *texts[static_cast<size_t>(k)];
      std::ranges::copy(logits.row(k), text.logits_.row(0).begin());
      text.check_logits();
    }
  }

  static Matrix stacked(std::span<const Matrix> parts, int rows) {
    Matrix out(rows, parts[0].columns());
    float* to = out.data();
    for (const Matrix& part : parts) to = std::copy_n(part.data(), part.size(), to);
    return out;
  }

  void check_logits() const {
    for (const float logit : logits_.row(0))
      if (!std::isfinite(logit))
        fail(
            "{}: gives a logit that is not a number after token {}, expected numbers; check that "
            "the weights are intact",
            model_->name(), cache_->count - 1);
  }

  std::shared_ptr<const Model> model_;
  Description prompt_;
  std::vector<int> continuation_;
  std::vector<int> ends_;
  std::vector<std::string> notes_;
  std::optional<SourceHalf> half_;
  std::optional<Cache> cache_;
  Matrix logits_;
};

}  // namespace

std::unique_ptr<Generation> start_generation(std::shared_ptr<const Model> model,
                                             const GenerationInput& input,
                                             const std::string& name) {
  std::optional<SourceHalf> half;
  if (model->architecture().encoder_of_two) {
    std::shared_ptr<const Model> decoder = open_decoder(*model, input.ignore_code);
    half.emplace(std::move(model), source_of(*decoder, input));
    half->source.name = name;
    model = std::move(decoder);
  } else if (input.text) {
    fail(
        "{}: is a {} model, which continues a prompt and reads no source, expected a `prompt`; "
        "give one in place of `text`",
        model->name(), model->architecture().family);
  }
  if (!model->has_language_head())
    fail(
        "{}: is a {} model that cannot predict the next word, expected a causal language "
        "model; use another",
        model->name(), model->architecture().family);
  GenerationStart start = start_of(*model, input);
  start.prompt.name = name;
  return std::make_unique<ModelGeneration>(std::move(model), std::move(start), std::move(half));
}

}  // namespace headwater
