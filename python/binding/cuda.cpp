// The kernels for NVIDIA's GPUs, for tensors that PyTorch holds: addresses, strides and streams are
// PyTorch's numbers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "headwater/core/fail.h"
#include "headwater/kernel/cuda/compiler.h"
#include "headwater/kernel/cuda/kernels.h"
#include "headwater/kernel/cuda/layer.h"
#include "headwater/kernel/cuda/pairs.h"
#include "headwater/source/fuse.h"
#include "headwater/source/resolve_head.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
namespace cuda = kernel::cuda;
using Address = unsigned long long;
using Heads3 = std::tuple<Address, long long, long long>;  // address, strides of heads and rows
using Pairs3 = std::tuple<Address, long long, long long>;  // address, strides of rows and parts
using Added4 = std::tuple<Address, std::string, long long, long long, long long>;
using Items4 = std::tuple<long long, long long, long long, long long>;  // bytes of q, k, mask, bias

template <class T>
T* at(Address address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

cuda::Number number_of(const std::string& name) {
  if (name == "bfloat16") return cuda::Number::bfloat16;
  if (name == "float16") return cuda::Number::float16;
  if (name == "float32") return cuda::Number::float32;
  fail("CUDA kernels: numbers are {}, expected bfloat16, float16 or float32", name);
}

cuda::Added added_of(const Added4& given) {
  const auto& [address, name, head, query, key] = given;
  cuda::Added added = {at<const void>(address), head, query, key, cuda::Added::none};
  if (name == "bool")
    added.kind = cuda::Added::seen;
  else if (name == "float32")
    added.kind = cuda::Added::float32;
  else if (name == "bfloat16")
    added.kind = cuda::Added::bfloat16;
  else if (name == "float16")
    added.kind = cuda::Added::float16;
  else
    fail("CUDA kernels: a mask of {}, expected bool, float32, bfloat16 or float16", name);
  return added;
}

cuda::Pairs pairs_of(const Pairs3& given) {
  return {at<void>(std::get<0>(given)), std::get<1>(given), std::get<2>(given)};
}

cuda::Fused fused_of(const std::string& text, int heads) {
  const Fuse fuse = parse_fuse(text);
  if (fuse.kind == Fuse::Kind::head) {
    const int head = resolve_head(fuse, heads, 0, "capture");
    return {kernel::Reduce::sum, head, head + 1};
  }
  const auto how = fuse.kind == Fuse::Kind::max   ? kernel::Reduce::max
                   : fuse.kind == Fuse::Kind::min ? kernel::Reduce::min
                                                  : kernel::Reduce::sum;
  return {how, 0, heads};
}

cuda::Layer layer_of(int device, Address stream, const std::string& number, const Heads3& queries,
                     const Heads3& keys, int heads, int groups, int query_count, int key_count,
                     int size, double scale, bool causal, int window, int first) {
  if (heads < 1 || groups < 1 || heads % groups != 0 || query_count < 1 || key_count < 1 ||
      size < 1)
    fail("CUDA kernels: {} heads in {} groups, {} queries, {} keys of {} numbers do not fit", heads,
         groups, query_count, key_count, size);
  cuda::Layer layer;
  layer.device = device;
  layer.stream = at<void>(stream);
  layer.number = number_of(number);
  layer.size = size;
  layer.heads = heads;
  cuda::Arguments& a = layer.arguments;
  a.q = at<const void>(std::get<0>(queries));
  a.q_head = std::get<1>(queries);
  a.q_row = std::get<2>(queries);
  a.k = at<const void>(std::get<0>(keys));
  a.k_head = std::get<1>(keys);
  a.k_row = std::get<2>(keys);
  a.queries = query_count;
  a.keys = key_count;
  a.group = heads / groups;
  a.scale = static_cast<float>(scale);
  a.causal = causal ? 1 : 0;
  a.window = window;
  a.first = first;
  return layer;
}

}  // namespace

void bind_cuda(nb::module_& module) {
  module.def("cuda_look_for_compiler", &cuda::look_for_compiler, "paths"_a,
             "Where to look for NVRTC before the system's places.");
  module.def(
      "cuda_status",
      [](int device) {
        const cuda::Status found = cuda::status(device);
        return std::pair(found.ready, found.why);
      },
      "device"_a, nb::call_guard<nb::gil_scoped_release>(),
      "Whether headwater's kernels can run on a device, and on what, or why not.");
  module.def("cuda_compiler", &cuda::compiler_version, "The version of NVRTC.");
  module.def(
      "cuda_compile",
      [](const std::string& source, const std::string& chip,
         const std::vector<std::string>& defines) {
        std::string code;
        {
          nb::gil_scoped_release release;
          code = cuda::compile(source, chip, defines);
        }
        return nb::bytes(code.data(), code.size());
      },
      "source"_a, "chip"_a, "defines"_a, "Compiles a kernel; needs no GPU. Returns machine code.");
  module.attr("cuda_most_rows") = cuda::most_rows;
  nb::class_<cuda::Layer>(
      module, "CudaLayer",
      "One layer of one text on a GPU: queries [H, n, d] and keys [G, m, d] whose last axis is "
      "contiguous, as (address, stride of heads, stride of rows). Lends everything.")
      .def(
          "__init__",
          [](cuda::Layer* self, int device, Address stream, const std::string& number,
             const Heads3& queries, const Heads3& keys, int heads, int groups, int query_count,
             int key_count, int size, double scale, bool causal, int window, int first) {
            new (self)
                cuda::Layer(layer_of(device, stream, number, queries, keys, heads, groups,
                                     query_count, key_count, size, scale, causal, window, first));
          },
          "device"_a, "stream"_a, "number"_a, "queries"_a, "keys"_a, "heads"_a, "groups"_a,
          "query_count"_a, "key_count"_a, "size"_a, "scale"_a, "causal"_a = false, "window"_a = 0,
          "first"_a = 0)
      .def(
          "batch",
          [](cuda::Layer& self, int items, const Items4& bytes) {
            if (items < 1) fail("CUDA kernels: {} items, expected 1 or more", items);
            self.items = items;
            cuda::Items& strides = self.arguments.items;
            std::tie(strides.q, strides.k, strides.mask, strides.bias) = bytes;
          },
          "items"_a, "bytes"_a,
          "From now on so many texts at once. bytes: from the queries, keys, masks and biases of "
          "one "
          "item to those of the next. lse, weights, parts and out have an axis of items before all "
          "others, without gaps.")
      .def(
          "cap",
          [](cuda::Layer& self, double cap) { self.arguments.softcap = static_cast<float>(cap); },
          "cap"_a, "Scores s become cap tanh(s / cap).")
      .def(
          "mask",
          [](cuda::Layer& self, const Added4& mask) { self.arguments.mask = added_of(mask); },
          "mask"_a,
          "(address, type, strides of heads, queries and keys): added to the scores; bool hides.")
      .def(
          "bias",
          [](cuda::Layer& self, const Added4& bias) { self.arguments.bias = added_of(bias); },
          "bias"_a, "The same for a bias.")
      .def(
          "sinks",
          [](cuda::Layer& self, Address sinks) { self.arguments.sinks = at<const float>(sinks); },
          "sinks"_a, "One score a head, float32, that takes its share of every row.")
      .def(
          "log_sum_exp",
          [](const cuda::Layer& self, Address out) { self.log_sum_exp(at<float>(out)); }, "out"_a,
          nb::call_guard<nb::gil_scoped_release>(),
          "out[h, i] = log sum_j exp(s_hij), float32, [heads, queries].")
      .def(
          "splits",
          [](const cuda::Layer& self, const std::string& fuse, int rows) {
            return self.splits(fused_of(fuse, self.heads), rows);
          },
          "fuse"_a, "rows"_a, "How many sums through() makes for each number.")
      .def(
          "through",
          [](const cuda::Layer& self, const std::string& fuse, Address lse, int rows,
             Address weights, int begin, int end, Address parts, float residual, Address out) {
            const cuda::Fused fused = fused_of(fuse, self.heads);
            nb::gil_scoped_release release;
            self.through(fused, at<const float>(lse),
                         {rows, at<const float>(weights), begin, end, at<float>(parts)}, residual,
                         at<float>(out));
          },
          "fuse"_a, "lse"_a, "rows"_a, "weights"_a, "begin"_a, "end"_a, "parts"_a, "residual"_a,
          "out"_a,
          "out [rows, keys]: weights [rows, queries] times (1 - residual) map + residual identity. "
          "Only queries begin ... end - 1 have weights. parts [splits, rows, keys] is for sums on "
          "the way.")
      .def(
          "row_sums",
          [](const cuda::Layer& self, const std::string& fuse, Address lse, Address out) {
            const cuda::Fused fused = fused_of(fuse, self.heads);
            nb::gil_scoped_release release;
            self.row_sums(fused.how, at<const float>(lse), at<float>(out));
          },
          "fuse"_a, "lse"_a, "out"_a, "out [queries]: the sums of the rows of the fused map.")
      .def(
          "map",
          [](const cuda::Layer& self, const std::string& fuse, Address lse, int begin, int end,
             float residual, Address out) {
            const cuda::Fused fused = fused_of(fuse, self.heads);
            nb::gil_scoped_release release;
            self.map(fused, at<const float>(lse), begin, end, residual, at<float>(out));
          },
          "fuse"_a, "lse"_a, "begin"_a, "end"_a, "residual"_a, "out"_a,
          "out [end - begin, keys], float32: rows begin ... end - 1 of (1 - residual) map + "
          "residual "
          "identity.")
      .def(
          "map_pairs",
          [](const cuda::Layer& self, const std::string& fuse, Address lse, int begin, int end,
             int columns, float residual, const Pairs3& out) {
            const cuda::Fused fused = fused_of(fuse, self.heads);
            nb::gil_scoped_release release;
            self.map_pairs(fused, at<const float>(lse), begin, end, columns, residual,
                           pairs_of(out));
          },
          "fuse"_a, "lse"_a, "begin"_a, "end"_a, "columns"_a, "residual"_a, "out"_a,
          "The same rows, columns 0 ... columns - 1, as pairs of bfloat16: out is (address, stride "
          "of rows, stride of parts).");
  module.def(
      "cuda_multiplies_pairs", [](int device) { return cuda::multiplies_pairs(device); },
      "device"_a, "Whether a device multiplies matrices of pairs.");
  module.def(
      "cuda_product",
      [](int device, Address stream, const Pairs3& left, const Pairs3& right, int n, int first,
         int rows, bool lower, const Pairs3& out, bool pairs) {
        const cuda::PairProduct product = {
            device, at<void>(stream), pairs_of(left), pairs_of(right), n, first, rows, lower};
        nb::gil_scoped_release release;
        if (pairs)
          product.into(pairs_of(out));
        else
          product.into(at<float>(std::get<0>(out)));
      },
      "device"_a, "stream"_a, "left"_a, "right"_a, "n"_a, "first"_a, "rows"_a, "lower"_a, "out"_a,
      "pairs"_a,
      "Rows first ... first + rows - 1 of a product of [n, n] matrices of pairs, as pairs or as "
      "float32 [rows, n]. left has these rows alone.");
}

}  // namespace headwater::python
