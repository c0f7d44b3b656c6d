#include "headwater/method/generate.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "headwater/core/fail.h"
#include "headwater/core/stopwatch.h"
#include "headwater/layer/layers.h"
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
        "`{}`: has no effect without `temperature`, where the best token is always taken, expected "
        "both; add `temperature` 1",
        how.top_k > 0   ? "top_k"
        : how.seed != 0 ? "seed"
                        : "top_p");
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
    fail_usage("`position` own: a token is no cause of itself, expected predicting; leave it out");
  if (options.preset != usual.preset || options.fuse != usual.fuse ||
      options.residual != usual.residual || options.discard != usual.discard ||
      options.order != usual.order || options.empty != usual.empty ||
      options.divide != usual.divide || options.layers != usual.layers)
    fail_usage(
        "`method` relevance: follows the whole model and prepares no attention, expected none of "
        "fuse, residual, layers and the like; leave them out");
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

}  // namespace

Generated generate(Generation& generation, const Options& options, const GenerateOptions& how) {
  const Stopwatch whole;
  check_ranges(how);
  check_relevance(options, how);
  const Description& prompt = generation.prompt();
  const std::vector<int>& known = generation.continuation();
  const int most = known.empty() ? how.count : static_cast<int>(known.size());
  Generated result;
  result.how = how;
  result.options = options;
  const Description* source = generation.source();
  result.prompt = source ? *source : prompt;
  std::optional<Follower> follower;
  Visit push, across;
  if (how.attribute && !how.relevance) {
    follower.emplace(generation, options, most, result);
    push = follower->push();
    if (source) across = follower->push_across();
  }
  generation.reserve(most);
  if (source) generation.read_source(options.fuse, follower ? follower->encode() : Visit());
  generation.read(prompt.ids, options.fuse, push, across);
  Random random(how.seed);
  if (!known.empty()) {
    // The last token predicts nothing more, so it is read only if its own position is attributed.
    result.ids = known;
    const size_t read = known.size() - (how.own_position ? 0 : 1);
    if (read > 0) generation.read(std::span(known).first(read), options.fuse, push, across);
  } else {
    while (static_cast<int>(result.ids.size()) < most) {
      const int id = how.temperature > 0
                         ? draw(generation.logits(), how.temperature, how.top_k, how.top_p, random)
                         : best(generation.logits());
      result.ids.push_back(id);
      const Standing standing = standing_of(generation.logits(), id);
      result.choices.push_back({standing.probability,
                                standing.second < 0 ? "" : generation.token(standing.second),
                                standing.second_probability});
      result.ended = generation.ends(id) && !how.ignore_end;
      const bool last = result.ended || static_cast<int>(result.ids.size()) == most;
      if (!last || how.own_position) generation.read({&id, 1}, options.fuse, push, across);
      if (last) break;
    }
  }
  result.text = generation.text(result.ids);
  for (const int id : result.ids) result.tokens.push_back(generation.token(id));
  result.notes = generation.notes();
  if (source) {
    result.target = TargetHalf{prompt.tokens, prompt.ids, {}, {}};
    for (const int id : result.ids) result.target->ids.push_back(id);
    for (const std::string& token : result.tokens) result.target->tokens.push_back(token);
  }
  if (follower) follower->finish();
  if (how.attribute && how.relevance) follow_relevance(generation, result);
  result.timing.method = whole.seconds();
  return result;
}

}  // namespace headwater
