#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headwater/core/fail.h"
#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"
#include "headwater/kernel/network.h"
#include "headwater/layer/layers.h"
#include "headwater/method/spearman.h"
#include "headwater/model/head_map.h"
#include "python/binding/arrays.h"
#include "python/binding/binding.h"
#include "python/binding/openmp.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Line = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Attention of matrices whose sizes fit. The values are the keys until a caller sets others.
kernel::Attention checked(const In& queries, const In& keys, const Out& map, int heads, int groups,
                          float scale, const kernel::Sight& sight) {
  const auto size = queries.shape(1) / static_cast<size_t>(heads > 0 ? heads : 1);
  if (heads < 1 || groups < 1 || heads % groups != 0 ||
      queries.shape(1) != size * static_cast<size_t>(heads) ||
      keys.shape(1) != size * static_cast<size_t>(groups) || map.shape(0) != queries.shape(0) ||
      map.shape(1) != keys.shape(0) || sight.first < 0 ||
      (sight.causal && static_cast<size_t>(sight.first) + queries.shape(0) > keys.shape(0)))
    fail(
        "attention: queries {} x {}, keys {} x {}, map {} x {} do not fit {} heads in {} groups; "
        "see its documentation",
        queries.shape(0), queries.shape(1), keys.shape(0), keys.shape(1), map.shape(0),
        map.shape(1), heads, groups);
  kernel::Attention attention;
  attention.queries = view_of(queries);
  attention.keys = view_of(keys);
  attention.values = attention.keys;
  attention.heads = heads;
  attention.groups = groups;
  attention.scale = scale;
  attention.sight = sight;
  return attention;
}

kernel::HeadMap fused_into(const Out& map, const std::string& fuse, int heads) {
  return head_map(parse_fuse(fuse), heads, 0, "capture", span_of(map));
}

void attention_map(const In& queries, const In& keys, const Out& out, int heads, int groups,
                   float scale, bool causal, int window, int first, const std::string& fuse) {
  const auto attention = checked(queries, keys, out, heads, groups, scale, {causal, window, first});
  const kernel::HeadMap fused = fused_into(out, fuse, heads);
  nb::gil_scoped_release release;
  const OnTeam on(openmp(), threads());
  kernel::attention(attention, {}, fused);
}

void attend(const In& queries, const In& keys, const In& values, const Out& out, const Out& map,
            int heads, int groups, float scale, bool causal, int window, const std::string& fuse,
            int torch_threads) {
  auto attention = checked(queries, keys, map, heads, groups, scale, {causal, window, 0});
  if (values.shape(0) != keys.shape(0) || values.shape(1) != keys.shape(1) ||
      out.shape(0) != queries.shape(0) || out.shape(1) != queries.shape(1))
    fail(
        "attention: values {} x {}, out {} x {}, expected those of the keys, {} x {}, and of the "
        "queries, {} x {}; see its documentation",
        values.shape(0), values.shape(1), out.shape(0), out.shape(1), keys.shape(0), keys.shape(1),
        queries.shape(0), queries.shape(1));
  attention.values = view_of(values);
  const kernel::HeadMap fused = fused_into(map, fuse, heads);
  nb::gil_scoped_release release;
  const OnTeam on(openmp(), torch_threads);
  kernel::attention(attention, span_of(out), fused);
}

void fold(const In& total, const Out& map, const Out& out, const Options& options) {
  const size_t n = map.shape(0);
  for (const size_t side :
       {map.shape(1), total.shape(0), total.shape(1), out.shape(0), out.shape(1)})
    if (side != n) fail("fold: has sides of {} and {}, expected three n x n matrices", n, side);
  const MatrixSpan layer(map.data(), static_cast<int>(n), static_cast<int>(n));
  nb::gil_scoped_release release;
  const OnTeam on(openmp(), threads());
  prepare_layer(layer, options);
  kernel::multiply(view_of(total), layer, {out.data(), static_cast<int>(n), static_cast<int>(n)});
}

}  // namespace

void bind_kernels(nb::module_& module) {
  module.def(
      "attention_map", &attention_map, "queries"_a, "keys"_a, "out"_a, "heads"_a, "groups"_a,
      "scale"_a, "causal"_a = false, "window"_a = 0, "first"_a = 0, "fuse"_a = "mean",
      "out = softmax(scale Q K^T) with fused heads; heads x n x n never exists. Row r of the "
      "queries is at position first + r of the keys.");
  module.def(
      "attention", &attend, "queries"_a, "keys"_a, "values"_a, "out"_a, "map"_a, "heads"_a,
      "groups"_a, "scale"_a, "causal"_a, "window"_a, "fuse"_a, "threads"_a,
      "map as attention_map computes it, and out = softmax(scale Q K^T) V in the same pass, heads "
      "side by side, on `threads` threads.");
  module.def(
      "kernel", [] { return std::string(kernel::name()); }, "The instruction set in use.");
  module.def(
      "use_kernel", [](const std::string& name) { kernel::use(name); }, "name"_a,
      "Forces an instruction set; '' goes back to the best.");
  module.def("fold", &fold, "total"_a, "map"_a, "out"_a, "options"_a,
             "Prepares `map` in place as a layer; then out = total map.");
  module.def("kernels", &kernel::available, "The instruction sets that this machine can run.");
  module.def(
      "spearman",
      [](Line a, Line b) {
        if (a.shape(0) != b.shape(0))
          fail("spearman: {} and {} values, expected as many; compare results of one input",
               a.shape(0), b.shape(0));
        return spearman({a.data(), a.shape(0)}, {b.data(), b.shape(0)});
      },
      "a"_a, "b"_a, "Spearman's rank correlation of two rows, ties at their average rank.");
}

}  // namespace headwater::python
