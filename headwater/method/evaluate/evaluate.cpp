#include "headwater/method/evaluate/evaluate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/core/stopwatch.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/evaluate/layered_rows.h"
#include "headwater/method/evaluate/truth.h"
#include "headwater/method/spearman.h"
#include "headwater/result/find_rows.h"

namespace headwater {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Spread spread_of(const std::vector<double>& samples) {
  double sum = 0, squares = 0;
  int count = 0;
  for (const double x : samples)
    if (!std::isnan(x)) {
      sum += x;
      ++count;
    }
  if (count == 0) return {none, none, 0};
  const double mean = sum / count;
  for (const double x : samples)
    if (!std::isnan(x)) squares += (x - mean) * (x - mean);
  return {mean, std::sqrt(squares / count), count};
}

Vector at(std::span<const float> values, const std::vector<int>& places) {
  Vector out;
  for (const int j : places) out.push_back(values[static_cast<size_t>(j)]);
  return out;
}

// The share of true tokens among the `count` tokens of D with the largest values. Tokens that tie
// for the last place count in part.
double share_on_top(std::span<const float> values, const std::vector<int>& given,
                    const std::vector<bool>& truth, size_t count) {
  std::vector<int> order = given;
  const auto value = [&](int j) { return values[static_cast<size_t>(j)]; };
  std::ranges::sort(order, std::ranges::greater(), value);
  const float last = value(order[count - 1]);
  double sure = 0, tied = 0, sure_right = 0, tied_right = 0;
  for (const int j : order) {
    if (value(j) < last) break;
    const bool ties = value(j) == last;
    (ties ? tied : sure) += 1;
    (ties ? tied_right : sure_right) += truth[static_cast<size_t>(j)];
  }
  const double places = static_cast<double>(count);
  return (sure_right + tied_right * (places - sure) / tied) / places;
}

double share_of(const std::vector<int>& given, const std::vector<bool>& truth) {
  int right = 0;
  for (const int j : given) right += truth[static_cast<size_t>(j)];
  return static_cast<double>(right) / static_cast<double>(given.size());
}

// The tokens of C.
std::vector<int> counted_tokens(const Description& described, const Question& question, int row) {
  std::vector<int> out;
  for (int j = 0; j < static_cast<int>(described.tokens.size()); ++j) {
    const size_t k = static_cast<size_t>(j);
    const bool seen = !(described.causal.value_or(false) && j > row);
    const bool place = !described.patches || j >= described.patches->prefix;
    if (seen && place && (question.counted.empty() || question.counted[k])) out.push_back(j);
  }
  if (out.empty()) fail("{}: no token counts, expected at least one; filter less", described.name);
  return out;
}

// The tokens of D. Throws Error if none of them is a true one.
std::vector<int> given_of(const Description& described, const std::vector<int>& counted,
                          const std::vector<bool>& truth) {
  const std::vector<bool> own = given_tokens(described);
  std::vector<int> given;
  for (const int j : counted)
    if (own[static_cast<size_t>(j)]) given.push_back(j);
  if (given.empty() || share_of(given, truth) == 0)
    fail("{}: none of the true tokens counts, expected at least one; filter less", described.name);
  return given;
}

FaithfulnessSpread spread_of(const std::string& method, const std::vector<Faithfulness>& samples) {
  const auto spread = [&](double Faithfulness::*field) {
    std::vector<double> numbers;
    for (const Faithfulness& one : samples) numbers.push_back(one.*field);
    return spread_of(numbers);
  };
  FaithfulnessSpread out{method, spread(&Faithfulness::comprehensiveness),
                         spread(&Faithfulness::sufficiency), spread(&Faithfulness::area),
                         std::vector<double>(samples[0].curve.size(), 0.0)};
  for (const Faithfulness& one : samples)
    for (size_t k = 0; k < one.curve.size(); ++k)
      out.curve[k] += one.curve[k] / static_cast<double>(samples.size());
  return out;
}

}  // namespace

void check_method(const std::string& name) {
  const std::vector<std::string> known = layered_methods();
  if (std::ranges::find(known, name) != known.end()) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  fail_usage("`method`: there is no '{}'{}", name, suggestion(name, names));
}

struct Evaluator::NamedValues {
  std::string name;
  std::vector<std::span<const float>> by_layer;
};

// All methods, then the references, which have a single layer.
std::vector<Evaluator::NamedValues> Evaluator::all_values(const std::vector<LayeredRow>& rows,
                                                          const ExampleRecord& record) {
  std::vector<NamedValues> out;
  for (const LayeredRow& row : rows)
    out.push_back({row.method, {row.by_layer.begin(), row.by_layer.end()}});
  out.push_back({"input-gradient", {record.gradient}});
  if (!record.blank_out.empty()) out.push_back({"blank-out", {record.blank_out}});
  return out;
}

Evaluator::Evaluator(const Options& options, const EvaluateOptions& what)
    : options_(options), what_(what) {
  if (options.preset == Preset::metrics)
    fail_usage(
        "`preset` metrics: is not supported by gradient rules, expected another preset; leave it "
        "out");
  check_one_token(options.row);
  so_far_.options = options;
  so_far_.what = what;
  for (const std::string& name : what.methods) check_method(name);
  for (const std::string& name : layered_methods())
    if (what.methods.empty() || std::ranges::find(what.methods, name) != what.methods.end())
      so_far_.methods.push_back(name);
}

void Evaluator::add(Source& source, const Question& question) {
  const Stopwatch whole;
  const Description& described = source.description();
  const Range range = resolve(options_.layers, described.layers, described.name);
  std::optional<int> asked;
  if (options_.row.kind != Row::Kind::all)
    asked = find_one_row(options_.row, described.tokens, described.name);
  const TargetRequest target{question.target, "",
                             question.target_row ? question.target_row : asked};
  GradientMaps maps = gradient_maps(source, {target, options_.fuse, range});

  ExampleRecord record;
  record.line = question.line;
  record.tokens = described.tokens;
  record.target = maps.answer.target.logit;
  if (std::ranges::any_of(so_far_.methods, follows_whole_model))
    one_of_two_ = one_of_two_ || differentiable(source).one_of_two();
  record.row = asked.value_or(record.target.row);
  record.gradient = std::move(maps.answer.input.norm);
  const std::vector<int> counted = counted_tokens(described, question, record.row);
  record.counted.assign(described.tokens.size(), false);
  for (const int j : counted) record.counted[static_cast<size_t>(j)] = true;
  const std::vector<LayeredRow> rows =
      layered_rows(source, options_, record.row, so_far_.methods, target, maps);

  Probabilities probabilities([&](const Probabilities::Sets& sets) {
    std::vector<double> out;
    for (const Outcome& one : differentiable(source).outcomes(record.target, sets))
      out.push_back(one.probability);
    return out;
  });
  Probabilities::Sets singles = {{}};
  for (const int j : counted) singles.push_back({j});
  if (what_.blank_out) probabilities.learn(singles);
  if (what_.blank_out || what_.faithfulness) record.probability = probabilities.without({});
  if (what_.blank_out) {
    record.blank_out.assign(described.tokens.size(), 0.0f);
    for (const int j : counted)
      record.blank_out[static_cast<size_t>(j)] =
          static_cast<float>(*record.probability - probabilities.without({j}));
  }
  const std::vector<NamedValues> values = all_values(rows, record);
  // Everything that can fail comes first, so a failed example leaves no trace.
  std::vector<int> given;
  if (!question.truth.empty()) given = given_of(described, counted, question.truth);
  std::vector<Faithfulness> curves;
  if (what_.faithfulness)
    for (const NamedValues& one : values)
      curves.push_back(faithfulness(one.by_layer.back(), counted, probabilities));

  if (so_far_.examples.empty()) {
    so_far_.source = described;
    so_far_.layers = range;
    for (const NamedValues& one : values) all_methods_.push_back(one.name);
  }
  correlate(rows, counted, record);
  if (!given.empty()) point(values, given, question.truth);
  faithfulness_.resize(curves.size());
  for (size_t m = 0; m < curves.size(); ++m) faithfulness_[m].push_back(std::move(curves[m]));
  so_far_.examples.push_back(std::move(record));
  so_far_.timing.method += whole.seconds();
}

void Evaluator::correlate(const std::vector<LayeredRow>& rows, const std::vector<int>& counted,
                          ExampleRecord& record) {
  std::vector<std::span<const float>> references;
  if (what_.blank_out) references.emplace_back(record.blank_out);
  if (what_.gradient) references.emplace_back(record.gradient);
  correlations_.resize(references.size());
  for (size_t r = 0; r < references.size(); ++r) {
    const Vector importance = at(references[r], counted);
    auto& found = record.correlation.emplace_back(rows.size());
    correlations_[r].resize(rows.size());
    for (size_t m = 0; m < rows.size(); ++m) {
      correlations_[r][m].resize(rows[m].by_layer.size());
      for (size_t l = 0; l < rows[m].by_layer.size(); ++l) {
        found[m].push_back(spearman(at(rows[m].by_layer[l], counted), importance));
        correlations_[r][m][l].push_back(found[m].back());
      }
    }
  }
}

void Evaluator::point(const std::vector<NamedValues>& values, const std::vector<int>& given,
                      const std::vector<bool>& truth) {
  size_t count = 0;
  for (const int j : given) count += truth[static_cast<size_t>(j)];
  most_true_ = std::max(most_true_, count);
  chances_.push_back(share_of(given, truth));
  hits_.resize(values.size());
  found_.resize(values.size());
  for (size_t m = 0; m < values.size(); ++m) {
    const auto& layers = values[m].by_layer;
    hits_[m].resize(layers.size());
    found_[m].resize(layers.size());
    for (size_t l = 0; l < layers.size(); ++l) {
      hits_[m][l].push_back(share_on_top(layers[l], given, truth, 1));
      found_[m][l].push_back(share_on_top(layers[l], given, truth, count));
    }
  }
}

std::vector<MethodSpread> Evaluator::spreads_of(const Samples& samples) const {
  std::vector<MethodSpread> out;
  for (size_t m = 0; m < samples.size(); ++m) {
    out.push_back({all_methods_[m], {}});
    for (const auto& layer : samples[m]) out.back().layers.push_back(spread_of(layer));
  }
  return out;
}

Evaluation Evaluator::result(std::string file) const {
  Evaluation out = so_far_;
  out.file = std::move(file);
  add_correlations(out);
  if (!chances_.empty()) {
    out.truth = TruthTable{spreads_of(hits_), spread_of(chances_), {}};
    if (most_true_ > 1) out.truth->found = spreads_of(found_);
    if (chances_.size() < out.examples.size())
      out.notes.push_back(fmt::format("the truth is known for {} of {} examples", chances_.size(),
                                      out.examples.size()));
  }
  if (one_of_two_)
    out.notes.push_back(
        "with two classes, relevance and gradient x input explain the difference between the two "
        "logits, which alone determines the probability");
  for (size_t m = 0; m < faithfulness_.size(); ++m)
    out.faithfulness.push_back(spread_of(all_methods_[m], faithfulness_[m]));
  return out;
}

void Evaluator::add_correlations(Evaluation& out) const {
  std::vector<std::string> references;
  if (what_.blank_out) references.emplace_back("blank-out");
  if (what_.gradient) references.emplace_back("gradient");
  for (size_t r = 0; r < correlations_.size(); ++r) {
    CorrelationTable table{references[r], {}};
    int most = 0;
    for (size_t m = 0; m < correlations_[r].size(); ++m) {
      MethodSpread& method = table.methods.emplace_back(MethodSpread{out.methods[m], {}});
      for (const auto& samples : correlations_[r][m]) {
        method.layers.push_back(spread_of(samples));
        most = std::max(most, static_cast<int>(samples.size()) - method.layers.back().count);
      }
    }
    if (most > 0)
      out.notes.push_back(
          fmt::format("against {}: up to {} of {} examples have constant values, so no "
                      "correlation, and are left out (see count)",
                      references[r], most, out.examples.size()));
    out.correlations.push_back(std::move(table));
  }
}

}  // namespace headwater
