#include "headwater/output/caption.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "headwater/result/left_out.h"
#include "headwater/result/row_to_show.h"
#include "headwater/result/token_text.h"

namespace headwater {
namespace {

std::string heads_of(const Attribution& result) {
  const Fuse& fuse = result.options.fuse;
  if (fuse.kind == Fuse::Kind::head) return fmt::format("head {}", fuse.head);
  const auto [least, most] =
      std::minmax_element(result.source.heads.begin(), result.source.heads.end());
  if (least == result.source.heads.end()) return to_string(fuse) + " of heads";
  if (*most == 1) return "one head";
  if (*least == *most) return fmt::format("{} of {} heads", to_string(fuse), *most);
  return fmt::format("{} of {} to {} heads", to_string(fuse), *least, *most);
}

std::string layers_of(const Attribution& result) {
  if (result.layers.size() == 1) return fmt::format("layer {}", result.layers.begin);
  return fmt::format("layers {}:{}", result.layers.begin, result.layers.end);
}

std::string left_out_of(const Attribution& result, const Filter& filter) {
  const std::vector<bool> shown = kept(filter, result.source.tokens);
  const Matrix& last = values_to_show(result);
  double mass = 0;
  for (int r = 0; r < last.rows(); ++r) mass += mass_left_out(last.row(r), shown) / last.rows();
  std::vector<std::string_view> what;
  if (filter.special) what.push_back("special tokens");
  if (filter.punctuation) what.push_back("punctuation");
  if (filter.common) what.push_back("common words");
  if (!filter.words.empty()) what.push_back("listed tokens");
  return fmt::format("without {} ({:.0f} % of the mass{})", fmt::join(what, ", "), 100 * mass,
                     filter.renormalise ? ", the rest renormalised" : "");
}

// The name of a file or folder in a picture, which readers elsewhere see without its path.
std::string name_without_folders(const std::string& name) {
  const std::filesystem::path path(name);
  if (!path.is_absolute()) return name;
  const std::filesystem::path last = path.has_filename() ? path : path.parent_path();
  return last.has_filename() ? last.filename().string() : name;
}

bool is_word(const Prediction& prediction) {
  return prediction.what.starts_with("next word") || prediction.what.starts_with("masked word") ||
         prediction.what.starts_with("word");
}

// A word is spelt as the tokens are, a class as it is.
std::string name_of(const Logit& logit, const std::optional<Prediction>& prediction,
                    const Description& source) {
  if (prediction && is_word(*prediction)) return token_labels_after(source.tokens, {logit.name})[0];
  return token_labels({logit.name})[0];
}

std::string name_of(const Logit& logit, const Attribution& result) {
  return name_of(logit, result.prediction, result.source);
}

// "similarity to 'A dog'" has quotes of its own.
std::string quoted_name(const Logit& logit, const Attribution& result) {
  if (logit.name.starts_with("similarity to '")) return shortened(harmless(logit.name), 64);
  return fmt::format("'{}'", name_of(logit, result));
}

std::string target_text(const Target& target, const Attribution& result) {
  std::string text = quoted_name(target.logit, result);
  if (target.against) text += " against " + quoted_name(*target.against, result);
  return text;
}

std::string relevance_title(const RelevanceRecord& record, const Attribution& result) {
  const char* rule = "Relevance";
  if (record.rule == RelevanceRule::attnlrp) rule = "Relevance (AttnLRP)";
  if (record.rule == RelevanceRule::integrated) rule = "Integrated gradients";
  return fmt::format("{} for {}", rule, target_text(record.target, result));
}

// What the logit consists of: "logit 3.25 = tokens 3.1 + biases 0.15". A function of the output in
// place of a logit need not be their sum.
std::string sum_text(const RelevanceRecord& record) {
  const char* what = record.target.against ? "difference of logits" : "logit";
  if (record.target.logit.id < 0) what = "output";
  const double gone = record.output - record.sum - record.rest;
  const double size = std::abs(record.output) + std::abs(record.sum) + std::abs(record.rest);
  const double rounding = record.target.logit.id < 0 ? 1e-3 : 0.02;  // half precision loses some
  if (record.rule == RelevanceRule::frozen && std::abs(gone) > rounding * size)
    return fmt::format("{} {:.4g}, not the sum: tokens {:.4g}, biases {:.4g}", what, record.output,
                       record.sum, record.rest);
  if (record.rule == RelevanceRule::frozen)
    return fmt::format("{} {:.4g} = tokens {:.4g} + biases {:.4g}", what, record.output, record.sum,
                       record.rest);
  if (record.rule == RelevanceRule::attnlrp)
    return fmt::format("{} {:.4g}, tokens sum to {:.4g}", what, record.output, record.sum);
  return fmt::format("{} {:.4g}, at the baseline {:.4g}, tokens sum to {:.4g}", what, record.output,
                     record.rest, record.sum);
}

// Whether several generated tokens are one target, which is then no token of the text.
bool is_span(const Attribution& result) {
  if (!result.has_signs || result.outputs.empty()) return false;
  const std::vector<std::string>& tokens = result.source.tokens;
  return !std::equal(result.outputs.begin(), result.outputs.end(),
                     tokens.end() - static_cast<std::ptrdiff_t>(result.outputs.size()));
}

std::string gradient_title(const GradientRecord& record, const Attribution& result) {
  const char* rule = "Gradient x attention";
  if (record.rule == GradientRule::gradient_rollout) rule = "Gradient rollout";
  if (record.rule == GradientRule::chefer) rule = "Gradient relevance (Chefer)";
  return fmt::format("{} of {}", rule, target_text(record.target, result));
}

}  // namespace

std::string title_of(const Attribution& result) {
  std::string title = result.method;
  if (result.method == "rollout") title = "Attention rollout";
  if (result.method == "average") title = "Average attention";
  if (result.method == "raw") title = "Raw attention";
  if (result.method == "flow") title = "Attention flow";
  if (result.method == "generate")
    title = result.has_signs ? "Relevance for generated tokens" : "Rollout of generated tokens";
  if (result.gradient) title = gradient_title(*result.gradient, result);
  if (result.relevance) title = relevance_title(*result.relevance, result);
  return result.by_layer.empty() ? title : title + " by layer";
}

std::string title_of(const Comparison& result) {
  if (result.by == "layer") return "One layer's attention and rollout";
  if (result.by == "evolution") return "Rollout up to each layer";
  if (result.by == "discard") return "Rollout by discard";
  if (result.by == "fuse") return "Rollout by head fusion";
  if (result.by == "method") return "Methods compared";
  if (result.by == "head") return "Attention of each head";
  if (result.by == "input") return "Inputs compared";
  return "Comparison by " + result.by;
}

std::string source_text(const std::string& name) {
  return shortened(harmless(name_without_folders(name)), 48);
}

std::string prediction_text(const Prediction& prediction, const Description& source) {
  // The start of an answer is a token of the input, whose number alone says little.
  const bool of_tokens = prediction.what == "answer's start";
  const auto token = [&](const Logit& logit) {
    return token_labels(source.tokens).at(static_cast<size_t>(logit.row));
  };
  const auto name = [&](const Logit& logit) {
    if (of_tokens) return token(logit);
    return name_of(logit, prediction, source);
  };
  const auto one = [&](const Logit& logit, double probability) {
    const double percent = 100 * probability;
    return fmt::format("{}'{}' ({} %)", of_tokens ? fmt::format("{} ", logit.row) : "", name(logit),
                       percent < 0.01 ? "< 0.01" : fmt::format("{:.3g}", percent));
  };
  if (!prediction.probability)
    return fmt::format("output '{}' {:.4g}", name(prediction.best), prediction.best.value);
  std::string text = prediction.what;
  if (const size_t a = text.find("a token"); a != text.npos)
    text.replace(a, text.npos,
                 fmt::format("token {} '{}'", prediction.best.row, token(prediction.best)));
  text += " " + one(prediction.best, *prediction.probability);
  if (prediction.second)
    text += fmt::format(", then {}", one(*prediction.second, prediction.second_probability));
  return text;
}

std::vector<std::string> details_of(const Attribution& result, const Filter& filter) {
  std::vector<std::string> out;
  out.push_back(source_text(result.source.name));
  if (result.source.items > 1)
    out.push_back(fmt::format("item {} of {}", result.source.item, result.source.items));
  out.push_back(fmt::format("{} {}token{}", result.source.tokens.size(),
                            result.outputs.empty() || result.has_signs ? "" : "prompt ",
                            result.source.tokens.size() == 1 ? "" : "s"));
  out.push_back(layers_of(result));
  if (result.has_signs) {
    if (result.relevance) out.push_back(sum_text(*result.relevance));
    if (result.prediction) out.push_back(prediction_text(*result.prediction, result.source));
    if (filter.any()) out.push_back(left_out_of(result, filter));
    return out;
  }
  out.push_back(heads_of(result));
  const Options& options = result.options;
  const bool prepared = !result.gradient || result.gradient->rule == GradientRule::gradient_rollout;
  if (result.method != "raw" && prepared) {
    out.push_back(fmt::format("residual {}", options.residual));
    if (options.discard > 0) out.push_back(fmt::format("discard {}", options.discard));
    if (options.discard > 0 && options.order == Order::discard_first)
      out.push_back("discard first");
    if (options.preset != Preset::paper) out.push_back("preset " + to_string(options.preset));
  }
  if (result.prediction) out.push_back(prediction_text(*result.prediction, result.source));
  if (filter.any()) out.push_back(left_out_of(result, filter));
  return out;
}

std::vector<std::string> relevance_details(const Generated& result) {
  std::vector<std::string> out = {"rule " + to_string(*result.how.relevance)};
  const bool spans = result.span.size() > 0;
  const bool logits = result.how.score == WordScore::logit;
  if (spans)
    out.push_back(fmt::format("generated tokens {}:{} as one", result.span.begin, result.span.end));
  if (!spans && !result.shown) {
    if (!logits) out.emplace_back("log-probabilities");
    return out;
  }
  const int s = spans ? 0 : *result.shown;
  const size_t k = static_cast<size_t>(s);
  const std::span<const float> values = result.relevance.row(s);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const std::string what = fmt::format(
      "{}{} {:.4g}", spans ? "sum of " : "",
      logits ? (spans ? "logits" : "logit") : (spans ? "log-probabilities" : "log-probability"),
      result.outputs[k]);
  out.push_back(logits && result.how.relevance == RelevanceRule::frozen
                    ? fmt::format("{} = tokens {:.4g} + biases {:.4g}", what, sum, result.biases[k])
                    : fmt::format("{}, tokens sum to {:.4g}", what, sum));
  return out;
}

std::vector<std::string> details_of(const Comparison& result, const Filter& filter) {
  std::vector<std::string> out;
  for (size_t k = 0; k < result.panels.size(); ++k) {
    std::vector<std::string> details = details_of(result.panels[k], {});
    if (k == 0)
      out = std::move(details);
    else
      std::erase_if(out, [&](const std::string& one) {
        return std::find(details.begin(), details.end(), one) == details.end();
      });
  }
  if (filter.any() && !result.panels.empty())
    out.push_back(left_out_of(result.panels.back(), filter));
  std::vector<std::string> with_first;
  for (int k = 1; k < result.agreement.columns(); ++k)
    with_first.push_back(fmt::format("{:.2f}", result.agreement(0, k)));
  if (!with_first.empty() && result.by != "head")
    out.push_back(fmt::format("rank agreement with the first: {}", fmt::join(with_first, ", ")));
  return out;
}

std::string sign_text(const Attribution& result) {
  if (!result.has_signs) return "";
  if (!result.relevance) return "red speaks for the token, blue against it";
  const Target& target = result.relevance->target;
  if (target.against)
    return fmt::format("red speaks for {}, blue for {}", quoted_name(target.logit, result),
                       quoted_name(*target.against, result));
  return fmt::format("red speaks for {}, blue against it", quoted_name(target.logit, result));
}

std::string layer_name(const Attribution& result, size_t k) {
  if (result.by_layer[k] < 0) return "input";
  return fmt::format("{} layer {}", result.has_signs ? "after" : "up to", result.by_layer[k]);
}

std::string row_name(const Attribution& result, int r) {
  if (result.mean_row) return "mean over the output tokens";
  const size_t i = static_cast<size_t>(result.rows.at(static_cast<size_t>(r)));
  if (is_span(result)) return fmt::format("generated '{}'", output_labels(result).at(i));
  return fmt::format("{} token {} '{}'", result.outputs.empty() ? "output" : "generated", i,
                     output_labels(result).at(i));
}

std::vector<std::string> output_labels(const Attribution& result, int longest) {
  if (result.outputs.empty()) return token_labels(result.source.tokens, longest);
  if (!result.has_signs) return token_labels_after(result.source.tokens, result.outputs, longest);
  // The columns of relevance are the prompt and what follows it.
  const std::vector<std::string> all = token_labels(result.source.tokens, longest);
  if (is_span(result)) return token_labels(result.outputs, longest);
  return {all.end() - static_cast<std::ptrdiff_t>(result.outputs.size()), all.end()};
}

}  // namespace headwater
