// How heads become layers, and layers rows of a growing text: the engine's own steps, for arrays
// that Python holds.
#include "headwater/layer/layers.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/kernel/kernel.h"
#include "headwater/method/target_tracker.h"
#include "headwater/method/tracker.h"
#include "headwater/model/head_map.h"
#include "python/binding/arrays.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Heads = nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void fuse_heads(const Heads& heads, const Out& out, const std::string& fuse) {
  const auto rows = heads.shape(1), columns = heads.shape(2);
  if (heads.shape(0) == 0 || out.shape(0) != rows || out.shape(1) != columns)
    fail("fuse_heads: {} heads of {} x {} do not fit {} x {}", heads.shape(0), rows, columns,
         out.shape(0), out.shape(1));
  const kernel::HeadMap map =
      head_map(parse_fuse(fuse), static_cast<int>(heads.shape(0)), 0, "memory", span_of(out));
  const DType type = type_of(heads.dtype(), "memory: attention");
  const auto apart = static_cast<std::ptrdiff_t>(rows * columns);
  const auto* data =
      static_cast<const std::byte*>(heads.data()) +
      static_cast<size_t>(map.first_head) * rows * columns * static_cast<size_t>(size_of(type));
  std::vector<float> sums(static_cast<size_t>(map.count) * rows);
  {
    nb::gil_scoped_release release;
    kernel::fuse_rows(map.reduce, true, map.weight,
                      {type, data, static_cast<std::ptrdiff_t>(columns), map.count, apart},
                      span_of(out), sums);
  }
  for (size_t k = 0; k < sums.size(); ++k)
    if (!std::isfinite(sums[k]))
      fail(
          "memory: head {}, row {} holds a number that is negative or not finite, expected "
          "attention; check what the model computes there",
          static_cast<size_t>(map.first_head) + k / rows, k % rows);
}

int prepare_whole(const Out& map, const Options& options) {
  if (map.shape(0) != map.shape(1))
    fail("prepare_layer: has {} rows and {} columns, expected a square matrix", map.shape(0),
         map.shape(1));
  nb::gil_scoped_release release;
  return prepare_layer(span_of(map), options);
}

int prepare_some(const Out& rows, int first, const Options& options) {
  if (options.discard > 0) fail("prepare_rows: `discard` needs the whole matrix; expected 0");
  // With neither a residual nor `empty` identity, no row has a diagonal of its own.
  const bool diagonal = options.residual > 0 || options.empty == Empty::identity;
  const auto past = static_cast<size_t>(std::max(first, 0)) + rows.shape(0);
  if (first < 0 || (diagonal && past > rows.shape(1)))
    fail("prepare_rows: rows {} to {} have {} columns, expected one for each row up to the last",
         first, past, rows.shape(1));
  nb::gil_scoped_release release;
  return prepare_rows(span_of(rows), first, options);
}

// A tracker that checks what C++ callers promise: the size of what is pushed, layers from below.
class CheckedTracker {
 public:
  CheckedTracker(int layers, int prompt, int positions, const Options& options,
                 const std::string& name)
      : tracker_(layers, checked(prompt, "prompt"), checked(positions, "positions"), options, name),
        layers_(layers),
        positions_(positions) {}

  CheckedTracker(CheckedTracker&&) = default;

  void push(int layer, const Out& rows) {
    const Range range = tracker_.range();
    if (layer < 0 || layer >= layers_)
      fail("push: has no layer {}, expected 0 to {}", layer, layers_ - 1);
    if (layer < range.begin || layer >= range.end) return;
    const int after = tracker_.rolled(layer).rows() + static_cast<int>(rows.shape(0));
    if (after > positions_ || rows.shape(1) != static_cast<size_t>(after))
      fail(
          "push: {} x {} rows of layer {} do not fit, expected {} columns and at most {} positions",
          rows.shape(0), rows.shape(1), layer, after, positions_);
    if (layer > range.begin && tracker_.rolled(layer - 1).rows() < after)
      fail("push: layer {} came before layer {}, expected layers from below", layer, layer - 1);
    nb::gil_scoped_release release;
    tracker_.push(layer, span_of(rows));
  }

  MatrixView rolled(int layer) const {
    const Range range = tracker_.range();
    if (layer < range.begin || layer >= range.end)
      fail("rolled: has no layer {}, expected {} to {}", layer, range.begin, range.end - 1);
    return tracker_.rolled(layer);
  }

  std::pair<int, int> range() const { return {tracker_.range().begin, tracker_.range().end}; }
  int empty_rows() const { return tracker_.empty_rows(); }

 private:
  static int checked(int size, const char* what) {
    if (size < 0) fail("Tracker: `{}` is {}, expected 0 or more", what, size);
    return size;
  }

  Tracker tracker_;
  int layers_, positions_;
};

using View = nb::ndarray<nb::numpy, const float, nb::ndim<2>>;

View view_in(nb::handle owner, MatrixView view) {
  return {
      view.data(), {static_cast<size_t>(view.rows()), static_cast<size_t>(view.columns())}, owner};
}

View rolled(nb::handle_t<CheckedTracker> owner, int layer) {
  return view_in(owner, nb::cast<const CheckedTracker&>(owner).rolled(layer));
}

// A whole target beside its source: every layer takes all of its rows at once.
class WholeTarget {
 public:
  WholeTarget(int layers, int source, int positions, const Options& options)
      : tracker_(layers, source, positions, options),
        layers_(layers),
        source_(static_cast<size_t>(source)),
        positions_(static_cast<size_t>(positions)) {}

  void encode(const Out& map) {
    check("encode", map, source_, source_);
    nb::gil_scoped_release release;
    tracker_.encode(span_of(map));
  }

  void push(const Out& rows, const Out& across) {
    if (done_ == layers_) fail("push: has {} layers, expected no more", layers_);
    if (tracker_.encoder().rows() == 0) fail("push: came before encode, expected it first");
    check("push", rows, positions_, positions_);
    check("push", across, positions_, source_);
    nb::gil_scoped_release release;
    tracker_.push(done_, span_of(rows));
    tracker_.push_across(done_++, span_of(across));
  }

  MatrixView target() const { return tracker_.target(last()); }
  MatrixView source() const { return tracker_.source(last()); }
  MatrixView encoder() const { return tracker_.encoder(); }
  int empty_rows() const { return tracker_.empty_rows(); }

 private:
  int last() const {
    if (done_ == 0) fail("TargetTracker: has no layer yet, expected a push before");
    return done_ - 1;
  }

  static void check(const char* what, const Out& found, size_t rows, size_t columns) {
    if (found.shape(0) != rows || found.shape(1) != columns)
      fail("{}: was given {} x {}, expected {} x {}", what, found.shape(0), found.shape(1), rows,
           columns);
  }

  TargetTracker tracker_;
  int layers_, done_ = 0;
  size_t source_, positions_;
};

}  // namespace

void bind_layers(nb::module_& module) {
  module.def("fuse_heads", &fuse_heads, "heads"_a, "out"_a, "fuse"_a = "mean",
             "Fuses heads [H, rows, columns] of f16, bf16, f32 or f64 into `out`.");
  module.def("prepare_layer", &prepare_whole, "map"_a, "options"_a,
             "Turns one fused map [n, n] into the layer's matrix, in place. Returns how many rows "
             "had nothing to divide by.");
  module.def("prepare_rows", &prepare_some, "rows"_a, "first"_a, "options"_a,
             "The same for some rows of a layer: row r is row first + r of it. Needs discard 0.");
  module.def(
      "empty_rows_note",
      [](long count, const Options& options) { return empty_rows_note(count, options.empty); },
      "count"_a, "options"_a, "What results say about rows that had nothing to divide by.");
  nb::class_<CheckedTracker>(module, "Tracker",
                             "Rollout of a text that grows, cut to the columns of its prompt.")
      .def(nb::init<int, int, int, const Options&, const std::string&>(), "layers"_a, "prompt"_a,
           "positions"_a, "options"_a, "name"_a,
           "`prompt` columns, room for `positions` rows in each of `layers`.")
      .def("push", &CheckedTracker::push, "layer"_a, "rows"_a,
           "Takes the fused attention of new positions in one layer, which it overwrites. Each row "
           "covers all positions up to the last new one; layers come from below.")
      .def("rolled", &rolled, "layer"_a,
           "The rows of a layer so far, [positions, prompt], without a copy.")
      .def_prop_ro("range", &CheckedTracker::range, "The layers: first, and one past the last.")
      .def_prop_ro("empty_rows", &CheckedTracker::empty_rows,
                   "How many rows had nothing to divide by.");
  using Whole = nb::handle_t<WholeTarget>;
  const auto part = [](MatrixView (WholeTarget::*which)() const) {
    return [which](Whole owner) {
      return view_in(owner, (nb::cast<const WholeTarget&>(owner).*which)());
    };
  };
  nb::class_<WholeTarget>(module, "TargetTracker", "Rollout of a target text beside its source.")
      .def(nb::init<int, int, int, const Options&>(), "layers"_a, "source"_a, "positions"_a,
           "options"_a, "`layers` of the decoder, `source` tokens and `positions` of the target.")
      .def("encode", &WholeTarget::encode, "map"_a,
           "Takes the fused attention of the encoder's next layer, which it overwrites.")
      .def("push", &WholeTarget::push, "rows"_a, "across"_a,
           "Takes the decoder's next layer: the fused attention of the target to itself and to the "
           "source. Overwrites both.")
      .def_prop_ro("target", part(&WholeTarget::target), "[positions, positions], without a copy.")
      .def_prop_ro("source", part(&WholeTarget::source), "[positions, source], without a copy.")
      .def_prop_ro("encoder", part(&WholeTarget::encoder), "[source, source], without a copy.")
      .def_prop_ro("empty_rows", &WholeTarget::empty_rows,
                   "How many rows had nothing to divide by.");
}

}  // namespace headwater::python
