#include "headwater/method/generate.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headwater/open.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;

// `reads`: what each of several texts reads; none: one text, which `input` says all about.
std::vector<Results> write_texts(const std::string& folder, const GenerationInput& input,
                                 const std::optional<std::vector<std::string>>& reads,
                                 const GenerateOptions& how, const Options& options) {
  nb::gil_scoped_release release;
  const OpenInput open = open_generations(folder, input.ignore_code);
  std::vector<Results> results;
  if (!reads) {
    results.emplace_back().list.emplace_back(generate(*open(input), options, how));
    return results;
  }
  const int count = static_cast<int>(reads->size());
  const auto open_text = [&](int k) {
    GenerationInput one = input;
    one.reads = (*reads)[static_cast<size_t>(k)];
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return open(one);
  };
  for (Generated& written : generate(count, open_text, options, how))
    results.emplace_back().list.emplace_back(std::move(written));
  return results;
}

}  // namespace

void bind_generate(nb::module_& module) {
  module.def(
      "generate",
      [](const std::string& folder, const Options& options, std::string prompt,
         std::vector<int> ids, std::optional<std::string> continuation, int count,
         double temperature, int top_k, double top_p, uint64_t seed, bool ignore_end,
         bool own_position, std::vector<std::string> stops, std::optional<std::string> rule,
         std::optional<std::string> span, const std::string& score, bool ignore_code,
         std::optional<std::string> text, const std::optional<std::vector<std::string>>& reads) {
        GenerationInput input;
        input.prompt = std::move(prompt);
        input.text = std::move(text);
        input.ids = std::move(ids);
        input.continuation = std::move(continuation);
        input.stops = std::move(stops);
        input.ignore_code = ignore_code;
        GenerateOptions how;
        how.count = count;
        how.temperature = temperature;
        how.top_k = top_k;
        how.top_p = top_p;
        how.seed = seed;
        how.ignore_end = ignore_end;
        how.own_position = own_position;
        if (rule) how.relevance = parse_relevance_rule(*rule);
        if (span) how.span = parse_span(*span);
        how.score = parse_word_score(score);
        return write_texts(folder, input, reads, how, options);
      },
      "folder"_a, "options"_a, "prompt"_a = "", "ids"_a = std::vector<int>(),
      "continuation"_a = nb::none(), "count"_a = 20, "temperature"_a = 0.0, "top_k"_a = 0,
      "top_p"_a = 1.0, "seed"_a = 0, "ignore_end"_a = false, "own_position"_a = false,
      "stops"_a = std::vector<std::string>(), "rule"_a = nb::none(), "span"_a = nb::none(),
      "score"_a = "logit", "ignore_code"_a = false, "text"_a = nb::none(), "reads"_a = nb::none(),
      "Text that a model directory writes, and which tokens of its prompt or source each token "
      "comes from. `reads` are several prompts or sources, with a result for each.");
}

}  // namespace headwater::python
