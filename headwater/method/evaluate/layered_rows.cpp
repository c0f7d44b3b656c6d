#include "headwater/method/evaluate/layered_rows.h"

#include <algorithm>

#include "headwater/kernel/maps.h"
#include "headwater/layer/layers.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/average.h"
#include "headwater/method/flow/flow.h"
#include "headwater/method/rollout.h"
#include "headwater/result/relevance_record.h"
#include "headwater/source/differentiable.h"

namespace headwater {
namespace {

Vector first_row(const Matrix& values) { return {values.row(0).begin(), values.row(0).end()}; }

LayeredRow rows_of(std::string method, const Attribution& result) {
  LayeredRow out{std::move(method), {}};
  for (const Matrix& values : result.values) out.by_layer.push_back(first_row(values));
  return out;
}

// v times each layer from `top` down; `keep` adds the old v each time, as chefer does.
Vector product_down(const std::vector<Matrix>& layers, size_t top, int row, bool keep) {
  Vector v(static_cast<size_t>(layers[top].columns()), 0.0f), next(v.size());
  v[static_cast<size_t>(row)] = 1;
  for (size_t l = top + 1; l-- > 0;) {
    kernel::multiply(v, layers[l], next);
    if (keep)
      for (size_t j = 0; j < v.size(); ++j) next[j] += v[j];
    std::swap(v, next);
  }
  return v;
}

}  // namespace

std::vector<std::string> layered_methods() {
  return {"raw",    "rollout",          "flow",   "gradient", "gradient-rollout",
          "chefer", "gradient-x-input", "frozen", "attnlrp",  "integrated"};
}

bool follows_whole_model(std::string_view method) {
  const std::vector<std::string> all = layered_methods();
  const auto first = std::ranges::find(all, "gradient-x-input");
  return std::find(first, all.end(), method) != all.end();
}

GradientMaps gradient_maps(Source& source, const GradientRequest& request) {
  GradientMaps out;
  out.answer = differentiable(source).gradients(request, [&](int, MatrixSpan map) {
    Matrix copy(map.rows(), map.columns());
    std::copy_n(map.data(), copy.size(), copy.data());
    out.maps.push_back(std::move(copy));
  });
  std::ranges::reverse(out.maps);  // the backward pass gave the top layer first
  return out;
}

std::vector<LayeredRow> layered_rows(Source& source, const Options& options, int row,
                                     const std::vector<std::string>& methods,
                                     const TargetRequest& target, GradientMaps& maps) {
  Options one = options;
  one.row = {Row::Kind::index, row};
  const Description& described = source.description();
  const Range range = resolve(options.layers, described.layers, described.name);
  const auto wanted = [&](std::string_view method) {
    return std::ranges::find(methods, method) != methods.end();
  };
  std::vector<LayeredRow> out;
  // Rollout first: it keeps the queries and keys that the others reuse.
  LayeredRow rolled, plain{"raw", {}};
  if (wanted("rollout")) rolled = rows_of("rollout", rollout_by_layer(source, one));
  if (wanted("raw")) {
    for (int l = range.begin; l < range.end; ++l)
      plain.by_layer.push_back(first_row(raw(source, l, one).values[0]));
    out.push_back(std::move(plain));
  }
  if (wanted("rollout")) out.push_back(std::move(rolled));
  if (wanted("flow")) {
    FlowOptions every;
    every.every_layer = true;
    out.push_back(rows_of("flow", flow(source, one, every)));
  }

  LayeredRow single{"gradient", {}}, relevance{"chefer", {}}, product{"gradient-rollout", {}};
  for (size_t top = 0; top < maps.maps.size(); ++top) {
    const std::span<const float> own = MatrixView(maps.maps[top]).row(row);
    single.by_layer.emplace_back(own.begin(), own.end());
    if (wanted("chefer")) relevance.by_layer.push_back(product_down(maps.maps, top, row, true));
  }
  if (wanted("gradient-rollout")) {
    for (Matrix& map : maps.maps) prepare_layer(map, options);
    for (size_t top = 0; top < maps.maps.size(); ++top)
      product.by_layer.push_back(product_down(maps.maps, top, row, false));
  }
  for (LayeredRow* by_maps : {&single, &product, &relevance})
    if (wanted(by_maps->method)) out.push_back(std::move(*by_maps));

  TargetRequest whole = target;
  if (differentiable(source).one_of_two()) whole.against = "best";  // the other class
  if (wanted("gradient-x-input")) {
    if (!whole.against.empty())
      maps.answer = differentiable(source).gradients({whole, options.fuse, {0, 0}}, {});
    out.push_back({"gradient-x-input", {std::move(maps.answer.input.times_input)}});
  }
  for (const RelevanceRule rule :
       {RelevanceRule::frozen, RelevanceRule::attnlrp, RelevanceRule::integrated})
    if (wanted(to_string(rule))) {
      RelevanceRequest request;
      static_cast<TargetRequest&>(request) = whole;
      request.rule = rule;
      out.push_back({to_string(rule), {differentiable(source).relevance(request).input}});
    }
  return out;
}

}  // namespace headwater
