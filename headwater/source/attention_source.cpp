#include "headwater/source/attention_source.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/core/parallel.h"
#include "headwater/kernel/maps.h"
#include "headwater/source/resolve_head.h"

namespace headwater {
namespace {

constexpr double sum_tolerance = 1e-2;
// Layers of at least this size are released once they are read, so that a file of any size fits.
constexpr uint64_t released_from = 16 << 20;

}  // namespace

// Fuses one layer block by block, so that a block's accumulators stay in the near caches.
struct AttentionSource::Pass {
  AttentionSource& source;
  const LayerPlace& place;
  Tensor& tensor;
  int layer, n, first_head, heads;
  kernel::Reduce reduce;
  float weight;
  MatrixSpan map;
  std::atomic<long> mended{0};

  Pass(AttentionSource& source, int layer, const Fuse& fuse, MatrixSpan map)
      : source(source),
        place(source.shared_->stack.layers[static_cast<size_t>(layer)]),
        tensor(source.shared_->arrays.layers[static_cast<size_t>(place.array)]),
        layer(layer),
        n(static_cast<int>(source.kept_.size())),
        first_head(0),
        heads(place.heads),
        reduce(kernel::Reduce::sum),
        weight(1),
        map(map) {
    if (fuse.kind == Fuse::Kind::head) {
      first_head = resolve_head(fuse, heads, layer, source.description_.name);
      heads = 1;
    } else if (fuse.kind == Fuse::Kind::mean) {
      weight = 1 / static_cast<float>(heads);
    } else {
      reduce = fuse.kind == Fuse::Kind::max ? kernel::Reduce::max : kernel::Reduce::min;
    }
  }

  int block() const { return std::clamp(8192 / n, 1, 64); }
  int blocks() const { return (n + block() - 1) / block(); }
  MatrixSpan rows_of(int b) const {
    return map.rows(b * block(), std::min(block(), n - b * block()));
  }

  uint64_t number(int head, int row, int column) const {
    return place.offset + static_cast<uint64_t>(source.description_.item) * place.item +
           static_cast<uint64_t>(head) * place.head + static_cast<uint64_t>(row) * place.row +
           static_cast<uint64_t>(column) * place.column;
  }
  const std::byte* bytes_at(uint64_t number) const {
    return tensor.bytes.data() + number * size_of(tensor.type);
  }

  // Row r of the cropped head as floats, for any strides.
  void copy_row(int head, int r, std::span<float> out) const {
    for (int j = 0; j < n; ++j)
      out[static_cast<size_t>(j)] = static_cast<float>(
          number_at(tensor.type, bytes_at(number(head, source.kept_[static_cast<size_t>(r)],
                                                 source.kept_[static_cast<size_t>(j)]))));
  }

  // Returns true if the row is valid, false if it was replaced by an identity row. Throws
  // otherwise.
  bool accept(int head, int r, std::span<float> row) {
    const ReadOptions& options = source.shared_->options;
    const auto where = [&] {
      return fmt::format("{}: layer {}, head {}, row {}", source.description_.name, layer, head, r);
    };
    double sum = 0;
    int bad = -1;
    for (int j = 0; j < n; ++j) {
      const float value = row[static_cast<size_t>(j)];
      sum += static_cast<double>(value);
      if (bad < 0 && !(value >= 0 && std::isfinite(value))) bad = j;
    }
    if (bad >= 0 && options.nan_identity) {
      std::fill(row.begin(), row.end(), 0.0f);
      row[static_cast<size_t>(r)] = 1;
      ++mended;
      return false;
    }
    if (bad >= 0)
      fail(
          "{} has {} in column {}, expected weights of 0 or more; `nan` identity makes such rows "
          "identity rows",
          where(), row[static_cast<size_t>(bad)], bad);
    if (!options.any_sums && !(std::abs(sum - 1) <= sum_tolerance))
      fail("{} sums to {:.6g}, expected 1; `sums` any accepts rows that do not sum to 1", where(),
           sum);
    return true;
  }

  bool suspicious(std::span<const float> sums) const {
    const bool any = source.shared_->options.any_sums;
    for (float sum : sums)
      if (!(any ? std::isfinite(sum)
                : std::abs(sum - 1) <= 0.99f * static_cast<float>(sum_tolerance)))
        return true;
    return false;
  }

  // Fuses rows of one head after checking each; repairs or throws.
  void fuse_checked(int head, int first_row, MatrixSpan rows, bool first, MatrixSpan out) {
    for (int r = 0; r < rows.rows(); ++r) accept(head, first_row + r, rows.row(r));
    std::vector<float> sums(static_cast<size_t>(rows.rows()));
    kernel::fuse_rows(reduce, first, weight,
                      {DType::f32, reinterpret_cast<const std::byte*>(rows.data()), rows.stride()},
                      out, sums);
  }

  // Contiguous rows are fused in place. Others, and rows that look invalid, are copied and checked.
  void fuse_block(int b) {
    const MatrixSpan out = rows_of(b);
    const int first_row = b * block();
    const bool direct = place.column == 1 && source.contiguous_;
    if (direct) {
      std::vector<float> sums(static_cast<size_t>(out.rows()) * static_cast<size_t>(heads));
      const std::byte* data =
          bytes_at(number(first_head, source.kept_[0] + first_row, source.kept_[0]));
      kernel::fuse_rows(reduce, true, weight,
                        {tensor.type, data, static_cast<std::ptrdiff_t>(place.row), heads,
                         static_cast<std::ptrdiff_t>(place.head)},
                        out, sums);
      if (!suspicious(sums)) return;
    }
    Matrix rows(out.rows(), n);
    for (int h = 0; h < heads; ++h) {
      for (int r = 0; r < out.rows(); ++r) copy_row(first_head + h, first_row + r, rows.row(r));
      fuse_checked(first_head + h, first_row, rows, h == 0, out);
    }
  }

  // A deflated layer is read in the order of its bytes: head by head, row by row.
  void fuse_stream() {
    const uint64_t width = size_of(tensor.type);
    const size_t line = static_cast<size_t>(source.description_.padded) * width;
    std::vector<std::byte> bytes(line * static_cast<size_t>(block()));
    Matrix rows(block(), n);
    for (int h = 0; h < heads; ++h) {
      for (int b = 0; b < blocks(); ++b) {
        const MatrixSpan out = rows_of(b);
        const MatrixSpan in = MatrixSpan(rows).rows(0, out.rows());
        for (int r = 0; r < out.rows(); ++r) {
          const int row = source.kept_[static_cast<size_t>(b * block() + r)];
          tensor.deflated->read(tensor.skip + number(first_head + h, row, 0) * width,
                                std::span(bytes).first(line));
          for (int j = 0; j < n; ++j)
            in(r, j) = static_cast<float>(number_at(
                tensor.type,
                bytes.data() + static_cast<size_t>(source.kept_[static_cast<size_t>(j)]) * width));
        }
        fuse_checked(first_head + h, b * block(), in, h == 0, out);
      }
    }
  }

  /// A deflated layer is one task, any other a task for each block of rows.
  int tasks() const { return tensor.deflated ? 1 : blocks(); }
  void run(int task) {
    if (tensor.deflated)
      fuse_stream();
    else
      fuse_block(task);
  }

  void release_pages() const {
    const uint64_t size = static_cast<uint64_t>(heads) *
                          static_cast<uint64_t>(source.description_.padded) *
                          static_cast<uint64_t>(source.description_.padded);
    const bool side_by_side =
        place.column == 1 && place.row == static_cast<uint64_t>(source.description_.padded);
    if (tensor.mapped && side_by_side && size * size_of(tensor.type) >= released_from)
      release({bytes_at(number(first_head, 0, 0)), size * size_of(tensor.type)});
  }
};

AttentionSource::AttentionSource(std::shared_ptr<AttentionBatch::Shared> shared,
                                 Description description, int item)
    : shared_(std::move(shared)), description_(std::move(description)) {
  description_.item = item;
  const std::vector<double>& mask = shared_->mask;
  const size_t n = static_cast<size_t>(shared_->stack.n);
  const size_t mask_row = mask.size() > n ? static_cast<size_t>(item) * n : 0;
  for (size_t j = 0; j < n; ++j)
    if (mask.empty() || mask[mask_row + j] != 0) kept_.push_back(static_cast<int>(j));
  if (kept_.empty())
    fail("{}: attention_mask leaves no token of item {}, expected at least one; check the mask",
         description_.name, item);
  contiguous_ = kept_.back() - kept_.front() + 1 == static_cast<int>(kept_.size());
  const auto& tokens = shared_->arrays.tokens;
  const size_t list = tokens && tokens->lists > 1 ? static_cast<size_t>(item) * n : 0;
  for (size_t k = 0; k < kept_.size(); ++k)
    description_.tokens.push_back(tokens ? tokens->words[list + static_cast<size_t>(kept_[k])]
                                         : std::to_string(k));
}

namespace {

Matrix room_for(int n, const std::string& name) {
  try {
    return Matrix(n, n);
  } catch (const std::bad_alloc&) {
    fail(
        "{}: has {} tokens, expected fewer: a map of {} x {} does not fit into memory; shorten the "
        "input",
        name, n, n, n);
  }
}

}  // namespace

// While a layer is visited, the other threads fuse the next one into a second map: fusing is
// limited by memory, most visitors by computation. For small maps this is not worth it.
void AttentionSource::layers(Fuse fuse, Range range, Direction direction, const Visit& visit) {
  const int n = static_cast<int>(kept_.size());
  const bool ahead = n >= 256 && range.size() > 1;
  Matrix map = room_for(n, description_.name), other = room_for(ahead ? n : 0, description_.name);
  mended_ = 0;
  const auto layer_at = [&](int k) {
    return direction == Direction::up ? range.begin + k : range.end - 1 - k;
  };
  const auto finish = [&](Pass& pass) {
    mended_ += pass.mended;
    pass.release_pages();
  };
  for (int k = 0; k < range.size(); ++k) {
    if (k == 0 || !ahead) {
      Pass pass(*this, layer_at(k), fuse, map);
      parallel_for(pass.tasks(), [&](int task) { pass.run(task); });
      finish(pass);
    }
    if (!ahead || k + 1 == range.size()) {
      visit(layer_at(k), map);
      continue;
    }
    Pass pass(*this, layer_at(k + 1), fuse, other);
    Background next(pass.tasks(), [&](int task) { pass.run(task); });
    visit(layer_at(k), map);
    next.finish();
    finish(pass);
    std::swap(map, other);
  }
}

std::vector<std::string> AttentionSource::notes() const {
  if (mended_ == 0) return {};
  return {fmt::format(
      "{} row(s) of heads with NaN, infinite or negative weights became identity rows", mended_)};
}

}  // namespace headwater
