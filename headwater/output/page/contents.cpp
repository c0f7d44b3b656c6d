#include "headwater/output/page/contents.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "headwater/output/caption.h"
#include "headwater/output/page/image_document.h"
#include "headwater/output/page/pack.h"
#include "headwater/output/page/remarks.h"
#include "headwater/output/page/token_document.h"
#include "headwater/result/row_to_show.h"
#include "headwater/result/token_text.h"
#include "headwater/result/top.h"

namespace headwater {
namespace {

constexpr size_t most_in_half_maps = 50'000;  // numbers
constexpr int most_edges = 100;
constexpr size_t most_arcs = 300;  // of a flow

void put(Document& document, std::string name, Value value) {
  document.fields.push_back({std::move(name), std::move(value)});
}

// Fields of the plain document that the page shows as they are.
void take(Document& from, Document& to, std::initializer_list<std::string_view> names) {
  for (Field& field : from.fields)
    if (std::ranges::find(names, field.name) != names.end()) to.fields.push_back(std::move(field));
}

std::vector<Document> pack_all(std::span<const Matrix> matrices, Coding coding, bool with_signs) {
  std::vector<Document> out;
  for (const Matrix& matrix : matrices) out.push_back(packed(matrix, coding, with_signs));
  return out;
}

size_t size_of_all(std::span<const Matrix> matrices) {
  size_t count = 0;
  for (const Matrix& matrix : matrices) count += matrix.size();
  return count;
}

std::vector<int> left_out(const Filter& filter, const std::vector<std::string>& tokens) {
  std::vector<int> out;
  const std::vector<bool> shown = kept(filter, tokens);
  for (size_t j = 0; j < shown.size(); ++j)
    if (!shown[j]) out.push_back(static_cast<int>(j));
  return out;
}

void put_values(Document& out, const Attribution& result) {
  const bool with_signs = result.has_signs || has_negative(result.values);
  put(out, "signed", with_signs);
  std::vector<Document> values =
      pack_all(result.values, coding_for(size_of_all(result.values)), with_signs);
  std::vector<std::string> notes = result.notes;
  if (std::string remark = remark_on_digits(values.front()); !remark.empty())
    notes.push_back(std::move(remark));
  put(out, "notes", std::move(notes));
  put(out, "values", std::move(values));
}

// The edges with the largest values, as columns.
Document largest_edges(const Matrix& edges, int layer) {
  const auto columns = static_cast<size_t>(edges.columns());
  std::vector<float> sizes;
  for (size_t k = 0; k < edges.size(); ++k) sizes.push_back(std::abs(edges.data()[k]));
  std::vector<int> from, to;
  std::vector<float> values;
  for (const int k : top(std::span<const float>(sizes), most_edges)) {
    const auto place = static_cast<size_t>(k);
    if (sizes[place] == 0) break;
    from.push_back(static_cast<int>(place / columns));
    to.push_back(static_cast<int>(place % columns));
    values.push_back(edges.data()[place]);
  }
  Document out;
  put(out, "layer", int64_t{layer});
  put(out, "from", std::move(from));
  put(out, "to", std::move(to));
  put(out, "value", std::move(values));
  return out;
}

// What the arcs of a flow carry, the largest first, as columns.
Document largest_arcs(std::vector<CutArc> arcs) {
  std::ranges::stable_sort(arcs, std::ranges::greater{}, &CutArc::capacity);
  if (arcs.size() > most_arcs) arcs.resize(most_arcs);
  std::vector<int> layers, from, to;
  std::vector<double> amounts;
  for (const CutArc& arc : arcs) {
    layers.push_back(arc.layer);
    from.push_back(arc.from);
    to.push_back(arc.to);
    amounts.push_back(arc.capacity);
  }
  Document out;
  put(out, "layer", std::move(layers));
  put(out, "from", std::move(from));
  put(out, "to", std::move(to));
  put(out, "capacity", std::move(amounts));
  return out;
}

void put_relevance(Document& out, const RelevanceRecord& record) {
  if (record.heads.rows() > 0) put(out, "heads", packed(record.heads, Coding::f32, true));
  if (record.layer) put(out, "edges", largest_edges(record.edges, *record.layer));
}

Document contents(const Attribution& result, const WriteOptions& options) {
  Document plain = document_of(result, options), out;
  put(out, "kind", std::string("attribution"));
  put(out, "title", title_of(result));
  put(out, "details", details_of(result, options.filter));
  put(out, "label", harmless(result.label));
  take(plain, out, {"method", "options", "rule", "target", "columns", "by_layer", "cut"});
  if (!result.carried.empty()) put(out, "carried", largest_arcs(result.carried));
  put(out, "inputs", token_document(result.source));
  if (!result.outputs.empty()) put(out, "outputs", token_document(result.outputs));
  put(out, "rows", result.rows);
  put(out, "mean", result.mean_row);
  put(out, "shown", int64_t{row_to_show(result)});
  if (options.filter.any()) put(out, "left_out", left_out(options.filter, result.source.tokens));
  put(out, "renormalise", options.filter.renormalise);
  if (result.source.patches) put(out, "image", image_document(*result.source.patches));
  put_values(out, result);
  if (result.relevance) put_relevance(out, *result.relevance);
  if (!result.maps.empty()) {
    const Coding coding =
        size_of_all(result.maps) > most_in_half_maps ? Coding::root8 : Coding::f16;
    put(out, "maps", pack_all(result.maps, coding, false));
    if (std::string why = why_fixed(result); !why.empty()) put(out, "fixed", std::move(why));
  }
  if (options.timing) take(plain, out, {"timing"});
  return out;
}

Document contents(const Comparison& result, const WriteOptions& options) {
  Document plain = document_of(result, options), out;
  put(out, "kind", std::string("comparison"));
  put(out, "title", title_of(result));
  put(out, "details", details_of(result, options.filter));
  take(plain, out, {"by"});
  std::vector<Document> panels;
  for (const Attribution& panel : result.panels) panels.push_back(contents(panel, options));
  put(out, "panels", std::move(panels));
  put(out, "agreement", Numbers{{&result.agreement, 1}, false, {}, {}});
  return out;
}

Document contents(const Generated& result, const WriteOptions& options) {
  if (result.relevance.rows() > 0) {
    const Attribution rows = relevance_of(result);
    Document out = contents(rows, options);
    std::vector<std::string> details = details_of(rows, options.filter);
    for (std::string& detail : relevance_details(result)) details.push_back(std::move(detail));
    for (Field& field : out.fields) {
      if (field.name == "title") field.value = std::string("Relevance for generated tokens");
      if (field.name == "details") field.value = details;
      if (field.name == "shown" && result.span.size() == 0)
        field.value = int64_t{result.shown.value_or(0)};
    }
    return out;
  }
  if (result.values.empty()) {
    Document plain = document_of(result, options), out;
    put(out, "kind", std::string("table"));
    put(out, "title", std::string("Generated text"));
    put(out, "details", std::vector<std::string>{harmless(result.prompt.name)});
    put(out, "record", std::move(plain));
    return out;
  }
  // Layer by layer, as rows over the prompt.
  Attribution last = at_layer(result);
  last.layers = result.layers;
  std::vector<Matrix> values;
  for (int l = 0; l < result.layers.size(); ++l) {
    values.push_back(std::move(at_layer(result, l).values[0]));
    last.by_layer.push_back(result.layers.begin + l);
  }
  last.values = std::move(values);
  Document out = contents(last, options);
  for (Field& field : out.fields) {
    if (field.name == "title") field.value = std::string("Rollout of generated tokens");
    if (field.name == "shown" && result.shown) field.value = int64_t{*result.shown};
  }
  put(out, "ended", result.ended);
  return out;
}

Document contents(const Evaluation& result, const WriteOptions& options) {
  Document out;
  put(out, "kind", std::string("evaluation"));
  put(out, "title", std::string("Agreement with a model's own importance"));
  const std::string file = std::filesystem::path(result.file).filename().string();
  put(out, "details", std::vector<std::string>{harmless(result.source.name), harmless(file)});
  put(out, "record", document_of(result, options));
  return out;
}

template <class Kind>
Document table(const Kind& result, const char* title, const WriteOptions& options) {
  Document out;
  put(out, "kind", std::string("table"));
  put(out, "title", std::string(title));
  put(out, "details", std::vector<std::string>{harmless(result.source.name)});
  put(out, "record", document_of(result, options));
  return out;
}

Document contents(const Metrics& result, const WriteOptions& options) {
  return table(result, "Attention metrics", options);
}

Document contents(const Info& result, const WriteOptions& options) {
  return table(result, "About the source", options);
}

}  // namespace

Document page_contents(ResultView result, const WriteOptions& options) {
  return result.visit([&](const auto& one) { return contents(one, options); });
}

}  // namespace headwater
