// A source whose rows come from a Python function: how a capture feeds the methods.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "headwater/core/fail.h"
#include "headwater/core/threads.h"
#include "headwater/source/resolve_head.h"
#include "python/binding/binding.h"
#include "python/binding/openmp.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Rows = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr int block_rows = 256;

class LiveSource : public Source {
 public:
  LiveSource(Description described, nb::handle rows, nb::handle notes)
      : description_(std::move(described)), rows_(rows), notes_(notes) {}
  const Description& description() const override { return description_; }

  std::vector<std::string> notes() const override {
    nb::gil_scoped_acquire acquire;
    if (notes_.is_none()) return {};
    return nb::cast<std::vector<std::string>>(notes_(description_.item));
  }

  void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) override {
    const int n = static_cast<int>(description_.tokens.size());
    each(range, direction, [&](int layer) {
      with_rows(fuse, layer, 0, n, [&](MatrixSpan map) { visit(layer, map); });
    });
  }

  void rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) override {
    const int n = static_cast<int>(description_.tokens.size());
    each(range, direction, [&](int layer) {
      for (int first = 0; first < n; first += block_rows) {
        const int count = std::min(block_rows, n - first);
        if (!visitor.wants(layer, first, count)) continue;
        with_rows(fuse, layer, first, count,
                  [&](MatrixSpan block) { visitor.take(layer, first, block); });
      }
    });
  }

 private:
  template <class Do>
  static void each(Range range, Direction direction, Do act) {
    for (int k = 0; k < range.size(); ++k)
      act(direction == Direction::up ? range.begin + k : range.end - 1 - k);
  }

  // The function runs with the GIL held; what is done with its rows runs without it.
  template <class Do>
  void with_rows(Fuse fuse, int layer, int first, int count, Do act) {
    const int heads = description_.heads[static_cast<size_t>(layer)];
    if (fuse.kind == Fuse::Kind::head)
      fuse.head = resolve_head(fuse, heads, layer, description_.name);
    nb::gil_scoped_acquire acquire;
    auto block = nb::cast<Rows>(rows_(description_.item, layer, to_string(fuse), first, count));
    const auto n = description_.tokens.size();
    if (block.shape(0) != static_cast<size_t>(count) || block.shape(1) != n)
      fail("{}: layer {} gave {} x {} numbers, expected {} x {}; this is a mistake in a capture",
           description_.name, layer, block.shape(0), block.shape(1), count, n);
    const MatrixSpan span(block.data(), count, static_cast<int>(n));
    {
      nb::gil_scoped_release release;
      const OnTeam on(openmp(), threads());
      check(span, layer, first);
      act(span);
    }
  }

  // Sixteen sums at once, which the compiler vectorises.
  static float sum_of(std::span<const float> row) {
    std::array<float, 16> sums = {};
    size_t j = 0;
    for (; j + sums.size() <= row.size(); j += sums.size())
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += row[j + i];
    for (; j < row.size(); ++j) sums[0] += row[j];
    return std::accumulate(sums.begin(), sums.end(), 0.0f);
  }

  // As for files, NaN is an error.
  void check(MatrixSpan span, int layer, int first) const {
    for (int r = 0; r < span.rows(); ++r) {
      if (!std::isfinite(sum_of(span.row(r))))
        fail(
            "{}: layer {}, row {} holds a number that is not finite, expected attention; look at "
            "what the model computes there",
            description_.name, layer, first + r);
    }
  }

  Description description_;
  nb::handle rows_, notes_;  // kept alive by Inputs
};

class LiveBatch : public Batch {
 public:
  LiveBatch(std::vector<Description> descriptions, nb::handle rows, nb::handle notes)
      : descriptions_(std::move(descriptions)), rows_(rows), notes_(notes) {}
  const Description& description() const override { return descriptions_.front(); }
  int size() const override { return static_cast<int>(descriptions_.size()); }
  std::unique_ptr<Source> item(int k) override {
    return std::make_unique<LiveSource>(descriptions_[static_cast<size_t>(k)], rows_, notes_);
  }
  std::string reading() const override {
    return fmt::format("capture, {} layers", descriptions_.front().layers);
  }

 private:
  std::vector<Description> descriptions_;
  nb::handle rows_, notes_;
};

using RowsFunction = nb::typed<nb::callable, nb::any(int, int, nb::str, int, int)>;

Inputs from_rows(RowsFunction rows, const std::vector<std::vector<std::string>>& tokens,
                 const std::vector<int>& heads, const std::string& name, int padded, bool causal,
                 nb::object notes) {
  if (tokens.empty() || heads.empty())
    fail("{}: holds no attention, expected some; run the model inside the capture", name);
  std::vector<Description> descriptions;
  for (const std::vector<std::string>& words : tokens) {
    Description described;
    described.kind = "capture";
    described.name = name;
    described.tokens = words;
    described.layers = static_cast<int>(heads.size());
    described.heads = heads;
    described.item = static_cast<int>(descriptions.size());
    described.items = static_cast<int>(tokens.size());
    described.padded = padded;
    described.causal = causal;
    descriptions.push_back(std::move(described));
  }
  return {nb::make_tuple(rows, notes),
          std::make_unique<LiveBatch>(std::move(descriptions), rows, notes)};
}

}  // namespace

void bind_live(nb::module_& module) {
  module.def("from_rows", &from_rows, "rows"_a, "tokens"_a, "heads"_a, "name"_a, "padded"_a,
             "causal"_a, "notes"_a = nb::none(),
             "A batch whose maps a function makes: rows(item, layer, fuse, first, count) gives "
             "[count, n] float32 in memory of its own. tokens: a list for each item; heads: of "
             "each layer; notes(item) gives what to note once the maps are made.");
}

}  // namespace headwater::python
