#include "headwater/output/document_parts.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace headwater {

void add(Document& document, std::string name, Value value) {
  document.fields.push_back({std::move(name), std::move(value)});
}

namespace {

Document patches_document(const PatchGrid& picture) {
  Document out;
  add(out, "width", int64_t{picture.width});
  add(out, "height", int64_t{picture.height});
  add(out, "seen",
      std::vector<double>{picture.seen.x, picture.seen.y, picture.seen.width, picture.seen.height});
  add(out, "rows", int64_t{picture.rows});
  add(out, "columns", int64_t{picture.columns});
  add(out, "prefix", int64_t{picture.prefix});
  return out;
}

}  // namespace

Document options_document(const Options& options, Range layers) {
  Document out;
  add(out, "preset", to_string(options.preset));
  add(out, "fuse", to_string(options.fuse));
  add(out, "residual", options.residual);
  add(out, "discard", options.discard);
  add(out, "order", to_string(options.order));
  add(out, "empty", to_string(options.empty));
  add(out, "divide", to_string(options.divide));
  add(out, "layers", std::vector<int>{layers.begin, layers.end});
  return out;
}

Document source_document(const Description& source) {
  Document out;
  add(out, "kind", source.kind);
  add(out, "name", source.name);
  add(out, "layers", int64_t{source.layers});
  const bool agree = std::adjacent_find(source.heads.begin(), source.heads.end(),
                                        std::not_equal_to<>()) == source.heads.end();
  if (agree && !source.heads.empty())
    add(out, "heads", int64_t{source.heads.front()});
  else
    add(out, "heads", source.heads);
  add(out, "tokens", static_cast<int64_t>(source.tokens.size()));
  if (source.items > 1) {
    add(out, "item", int64_t{source.item});
    add(out, "items", int64_t{source.items});
  }
  if (source.patches) add(out, "image", patches_document(*source.patches));
  return out;
}

Document model_document(const ModelFacts& model) {
  Document out;
  add(out, "family", model.family);
  if (!model.head.empty()) {
    add(out, "head", model.head);
    add(out, "outputs", int64_t{model.outputs});
  }
  if (!model.classes.empty()) add(out, "classes", model.classes);
  if (model.positions) add(out, "positions", int64_t{*model.positions});
  if (!model.windows.empty()) add(out, "windows", model.windows);
  add(out, "parameters", static_cast<int64_t>(model.parameters));
  add(out, "types", model.types);
  return out;
}

Document timing_document(const Timing& timing) {
  Document out;
  add(out, "reading", timing.reading);
  add(out, "preparing", timing.preparing);
  add(out, "method", timing.method);
  return out;
}

Document logit_document(const Logit& logit) {
  Document out;
  add(out, "name", logit.name);
  add(out, "id", int64_t{logit.id});
  add(out, "row", int64_t{logit.row});
  add(out, "value", logit.value);
  return out;
}

Document prediction_document(const Prediction& prediction) {
  Document out = logit_document(prediction.best);
  out.fields.insert(out.fields.begin(), {"what", prediction.what});
  if (prediction.probability) add(out, "probability", *prediction.probability);
  if (prediction.second) {
    Document second = logit_document(*prediction.second);
    add(second, "probability", prediction.second_probability);
    add(out, "runner_up", std::move(second));
  }
  return out;
}

Document choices_document(const std::vector<WordChoice>& choices) {
  std::vector<double> probabilities, second_probabilities;
  std::vector<std::string> seconds;
  for (const WordChoice& choice : choices) {
    probabilities.push_back(choice.probability);
    seconds.push_back(choice.second);
    second_probabilities.push_back(choice.second_probability);
  }
  Document out;
  add(out, "probability", std::move(probabilities));
  add(out, "runner_up", std::move(seconds));
  add(out, "runner_up_probability", std::move(second_probabilities));
  return out;
}

Document target_document(const Target& target) {
  Document out = logit_document(target.logit);
  if (target.against) add(out, "against", logit_document(*target.against));
  return out;
}

}  // namespace headwater
