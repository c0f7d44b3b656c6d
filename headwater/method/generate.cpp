#include "headwater/method/generate.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "headwater/core/fail.h"
#include "headwater/core/parallel.h"
#include "headwater/core/stopwatch.h"
#include "headwater/layer/layers.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/conserved.h"
#include "headwater/method/sample.h"
#include "headwater/method/target_tracker.h"
#include "headwater/method/tracker.h"

namespace headwater {
namespace {

void check_ranges(const GenerateOptions& how) {
  if (how.count < 1 || how.count > 1'000'000)
    fail_usage("`count` {}: expected 1 to 1000000 tokens; choose another", how.count);
  if (!(how.temperature >= 0 && how.temperature <= 100))
    fail_usage("`temperature` {}: expected 0 to 100; 0 always takes the best token",
               how.temperature);
  if (how.top_k < 0) fail_usage("`top_k` {}: expected 0 or more; 0 takes all", how.top_k);
  if (!(how.top_p > 0 && how.top_p <= 1))
    fail_usage("`top_p` {}: expected more than 0 and at most 1; choose another", how.top_p);
  if (how.temperature == 0 && (how.top_k > 0 || how.top_p != 1 || how.seed != 0))
    fail_usage(
        "`{}`: has no effect at temperature 0, where the best token is always taken, expected "
        "`temperature` as well; add `temperature` 1",
        how.top_k > 0   ? "top_k"
        : how.seed != 0 ? "seed"
                        : "top_p");
}

// Options that choose tokens, for a text whose tokens are known.
void refuse_choosing(const GenerateOptions& how) {
  if (how.temperature > 0 || how.ignore_end)
    fail_usage(
        "`{}`: chooses tokens, and a continuation has them already, expected one of the two; leave "
        "one out",
        how.ignore_end ? "ignore_end" : "temperature");
}

// What follows the attention of a text that grows: a prompt and its continuation, or the target of
// a source.
class Follower {
 public:
  Follower(Generation& generation, const Options& options, int most, Generated& result)
      : result_(result), prompt_(static_cast<int>(generation.prompt().ids.size())) {
    const Description& prompt = generation.prompt();
    if (const Description* source = generation.source()) {
      both_.emplace(prompt.layers, static_cast<int>(source->ids.size()), prompt_ + most, options);
      result.layers = {0, prompt.layers};
    } else {
      one_.emplace(prompt.layers, prompt_, prompt_ + most, options, prompt.name);
      result.layers = one_->range();
    }
  }

  Visit encode() {
    return [this](int, MatrixSpan map) { both_->encode(map); };
  }
  Visit push() {
    if (both_) return [this](int layer, MatrixSpan rows) { both_->push(layer, rows); };
    return [this](int layer, MatrixSpan rows) { one_->push(layer, rows); };
  }
  Visit push_across() {
    return [this](int layer, MatrixSpan rows) { both_->push_across(layer, rows); };
  }

  // Collects M from the rows that belong to the generated tokens.
  void finish() const {
    const int first = prompt_ - (result_.how.own_position ? 0 : 1);
    const int count = static_cast<int>(result_.ids.size()), layers = result_.layers.size();
    for (int s = 0; s < count; ++s) {
      Matrix values(static_cast<int>(result_.prompt.ids.size()), layers);
      for (int l = 0; l < layers; ++l) {
        const std::span<const float> row = rolled(result_.layers.begin + l).row(first + s);
        for (int j = 0; j < values.rows(); ++j) values(j, l) = row[static_cast<size_t>(j)];
      }
      result_.values.push_back(std::move(values));
    }
    if (const int empty = one_ ? one_->empty_rows() : both_->empty_rows(); empty > 0)
      result_.notes.push_back(empty_rows_note(empty, result_.options.empty));
    if (!both_) return;
    TargetHalf& target = *result_.target;
    target.encoder = both_->encoder().copy();
    const MatrixView all = both_->target(layers - 1);
    target.values = Matrix(count, static_cast<int>(target.tokens.size()));
    for (int s = 0; s < count; ++s)
      std::copy_n(all.row(first + s).data(), target.values.columns(), target.values.row(s).data());
  }

 private:
  MatrixView rolled(int layer) const { return one_ ? one_->rolled(layer) : both_->source(layer); }

  Generated& result_;
  int prompt_;
  std::optional<Tracker> one_;
  std::optional<TargetTracker> both_;
};

void check_relevance(const Options& options, const GenerateOptions& how) {
  const Options usual;
  if (how.span && !how.relevance)
    fail_usage("`span`: was given without relevance, expected both; add `method` relevance");
  if (how.score != WordScore::logit && !how.relevance)
    fail_usage("`score`: was given without relevance, expected both; add `method` relevance");
  if (!how.relevance) return;
  if (how.relevance == RelevanceRule::integrated)
    fail_usage(
        "`rule` integrated: is not part of generate, expected frozen or attnlrp; choose one");
  if (how.own_position)
    fail_usage("`position` own: a token cannot explain itself, expected predicting; leave it out");
  if (options.preset != usual.preset || options.fuse != usual.fuse ||
      options.residual != usual.residual || options.discard != usual.discard ||
      options.order != usual.order || options.empty != usual.empty ||
      options.divide != usual.divide || options.layers != usual.layers)
    fail_usage(
        "`method` relevance: follows the whole model and prepares no attention, expected none of "
        "the options for attention (fuse, residual, layers, ...); leave them out");
}

void follow_relevance(Generation& generation, Generated& result) {
  const int m = static_cast<int>(result.prompt.ids.size());
  const int count = static_cast<int>(result.ids.size());
  std::vector<Range> spans;
  if (result.how.span) {
    result.span = resolve(*result.how.span, count, result.prompt.name, "generated tokens");
    spans.push_back(result.span);
  } else {
    for (int s = 0; s < count; ++s) spans.push_back({s, s + 1});
  }
  result.layers = {0, result.prompt.layers};
  result.relevance = Matrix(static_cast<int>(spans.size()), m + count);
  const std::vector<SpanRelevance> found =
      generation.relevance(result.ids, spans, *result.how.relevance, result.how.score);
  for (size_t k = 0; k < found.size(); ++k) {
    std::ranges::copy(found[k].input, result.relevance.row(static_cast<int>(k)).begin());
    result.outputs.push_back(found[k].output);
    result.biases.push_back(found[k].rest);
    if (result.how.relevance != RelevanceRule::frozen) continue;
    if (const auto note = note_lost(found[k].input, found[k].rest, found[k].explained))
      result.notes.push_back(fmt::format("generated token {}: {}", spans[k].begin, *note));
  }
}

// A text while it is written. The caller reads the tokens, so that several texts can be read
// together.
class Writer {
 public:
  Writer(Generation& generation, const Options& options, const GenerateOptions& how)
      : generation_(generation), most_(count_of(generation, how)), random_(how.seed) {
    check_ranges(how);
    check_relevance(options, how);
    const Description* source = generation.source();
    result_.how = how;
    result_.options = options;
    result_.prompt = source ? *source : generation.prompt();
    if (how.attribute && !how.relevance) {
      follower_.emplace(generation, options, most_, result_);
      push_ = follower_->push();
      if (source) across_ = follower_->push_across();
    }
    generation.reserve(most_);
    if (source) generation.read_source(options.fuse, follower_ ? follower_->encode() : Visit());
    result_.ids.reserve(static_cast<size_t>(most_));
    next_ = generation.prompt().ids;
  }
  Writer(const Writer&) = delete;  // the result is borrowed
  Writer& operator=(const Writer&) = delete;

  static int count_of(const Generation& generation, const GenerateOptions& how) {
    const size_t known = generation.continuation().size();
    if (known == 0) return how.count;
    refuse_choosing(how);
    return static_cast<int>(known);
  }

  /// What it reads next; no ids if it is complete.
  Reading next() const { return {&generation_, next_, push_, across_}; }
  bool complete() const { return next_.empty(); }

  /// Continues once next() has been read.
  void go_on() {
    next_ = {};
    if (last_) return;
    // The last token predicts nothing more, so it is read only if its own position is attributed.
    const bool own = result_.how.own_position;
    const std::vector<int>& known = generation_.continuation();
    if (!known.empty()) {
      result_.ids = known;
      last_ = true;
      next_ = std::span(result_.ids).first(known.size() - (own ? 0 : 1));
      return;
    }
    choose();
    if (!last_ || own) next_ = std::span(result_.ids).last(1);
  }

  Generated result() {
    result_.text = generation_.text(result_.ids);
    for (const int id : result_.ids) result_.tokens.push_back(generation_.token(id));
    result_.notes = generation_.notes();
    if (generation_.source()) {
      const Description& prompt = generation_.prompt();
      result_.target = TargetHalf{prompt.tokens, prompt.ids, {}, {}};
      for (const int id : result_.ids) result_.target->ids.push_back(id);
      for (const std::string& token : result_.tokens) result_.target->tokens.push_back(token);
    }
    if (follower_) follower_->finish();
    if (result_.how.attribute && result_.how.relevance) follow_relevance(generation_, result_);
    result_.timing.method = whole_.seconds();
    return std::move(result_);
  }

 private:
  void choose() {
    const GenerateOptions& how = result_.how;
    const std::span<const float> logits = generation_.logits();
    const int id = how.temperature > 0
                       ? draw(logits, how.temperature, how.top_k, how.top_p, random_)
                       : best(logits);
    result_.ids.push_back(id);
    const Standing standing = standing_of(logits, id);
    result_.choices.push_back({standing.probability,
                               standing.second < 0 ? "" : generation_.token(standing.second),
                               standing.second_probability});
    result_.ended = generation_.ends(id) && !how.ignore_end;
    last_ = result_.ended || static_cast<int>(result_.ids.size()) == most_;
  }

  Stopwatch whole_;
  Generation& generation_;
  int most_;  // tokens that it will have
  Random random_;
  Generated result_;
  std::optional<Follower> follower_;
  Visit push_, across_;
  std::span<const int> next_;
  bool last_ = false;  // no more tokens are chosen
};

// The most tokens of all texts written at once, prompts included: their keys and values are in
// memory.
constexpr int positions_at_once = 2048;
// Sharing the weights among more texts gains nothing.
constexpr size_t texts_at_once = 64;

}  // namespace

Generated generate(Generation& generation, const Options& options, const GenerateOptions& how) {
  Writer writer(generation, options, how);
  while (!writer.complete()) {
    const Reading next = writer.next();
    generation.read(next.ids, options.fuse, next.visit, next.across);
    writer.go_on();
  }
  return writer.result();
}

std::vector<Generated> generate(int count, const OpenText& open, const Options& options,
                                const GenerateOptions& how) {
  struct Text {
    size_t place;
    int positions;
    std::unique_ptr<Generation> generation;
    std::unique_ptr<Writer> writer;
  };
  check_ranges(how);
  std::vector<Generated> out(static_cast<size_t>(count));
  std::vector<Text> texts;  // that are being written
  int opened = 0, positions = 0;
  std::unique_ptr<Generation> next;  // waits for room
  for (;;) {
    while (texts.size() < texts_at_once && opened < count) {
      if (!next) next = open(opened);
      const int own = static_cast<int>(next->prompt().ids.size()) + Writer::count_of(*next, how);
      if (!texts.empty() && own > positions_at_once - positions) break;
      auto writer = std::make_unique<Writer>(*next, options, how);
      texts.push_back(
          {static_cast<size_t>(opened), own, std::exchange(next, nullptr), std::move(writer)});
      positions += own;
      ++opened;
    }
    if (texts.empty()) return out;
    std::vector<Reading> readings;
    for (const Text& text : texts) readings.push_back(text.writer->next());
    texts.front().generation->read_together(readings, options.fuse);
    parallel_if_many(static_cast<int>(texts.size()),
                     [&](int k) { texts[static_cast<size_t>(k)].writer->go_on(); });
    for (Text& text : texts) {
      if (!text.writer->complete()) continue;
      out[text.place] = text.writer->result();
      positions -= text.positions;
      text.writer.reset();
    }
    std::erase_if(texts, [](const Text& text) { return !text.writer; });
  }
}

}  // namespace headwater
