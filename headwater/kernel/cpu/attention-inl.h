// attention for several rows: it takes a block of queries, then all heads one after the other, so
// that the block's rows of the map stay in the cache while heads are fused into them.
//
// The keys of every group are packed like the rows of x in linear, the values like its columns,
// once for all blocks. A block holds its scores against the keys that its rows see, and no others.
#if defined(HEADWATER_KERNEL_CPU_ATTENTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_ATTENTION_INL_H
#undef HEADWATER_KERNEL_CPU_ATTENTION_INL_H
#else
#define HEADWATER_KERNEL_CPU_ATTENTION_INL_H
#endif

#include <algorithm>
#include <vector>

#include "headwater/core/parallel.h"
#include "headwater/kernel/cpu/attention_row-inl.h"
#include "headwater/kernel/cpu/panel-inl.h"
#include "headwater/kernel/cpu/query_rows-inl.h"
#include "headwater/kernel/cpu/scores-inl.h"
#include "headwater/kernel/cpu/scratch.h"
#include "headwater/kernel/cpu/softmax-inl.h"
#include "headwater/kernel/cpu/tile-inl.h"
#include "headwater/kernel/network.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

class AttentionPart {
 public:
  AttentionPart(const Attention& attention, MatrixSpan out, const HeadMap& fused)
      : in_(attention),
        out_(out),
        fused_(fused),
        size_(attention.queries.columns() / attention.heads),
        keys_(attention.keys.rows()),
        key_panels_(panels_of(keys_)),
        value_panels_(panels_of(size_)),
        key_floats_(packed_rows(key_panels_) * static_cast<size_t>(size_)),
        value_floats_(wants_out() ? packed_rows(value_panels_) * static_cast<size_t>(keys_) : 0),
        packed_(scratch(static_cast<size_t>(attention.groups) * (key_floats_ + value_floats_))) {}

  void run(bool parallel) {
    const int rows = in_.queries.rows();
    // Small blocks if there are few rows, so that every thread gets some.
    const int step = rows <= 256 ? tile_rows : 2 * tile_rows;
    const int blocks = (rows + step - 1) / step;
    const auto pack = [&](int group) { pack_group(group); };
    // From the last rows up: in causal attention they cost the most.
    const auto attend = [&](int task) {
      const int first = (blocks - 1 - task) * step;
      attend_rows(first, std::min(step, rows - first));
    };
    if (parallel) {
      parallel_for(in_.groups, pack);
      parallel_for(blocks, attend);
    } else {
      for (int group = 0; group < in_.groups; ++group) pack(group);
      for (int task = 0; task < blocks; ++task) attend(task);
    }
  }

 private:
  bool wants_out() const { return out_.rows() > 0; }
  bool wants_map() const { return fused_.map.rows() > 0; }
  float* packed_keys(int group) const {
    return packed_ + static_cast<size_t>(group) * (key_floats_ + value_floats_);
  }
  float* packed_values(int group) const { return packed_keys(group) + key_floats_; }

  void pack_group(int group) const {
    const MatrixView keys = columns_of(in_.keys, group * size_, size_);
    for (const PackedPanel& panel : key_panels_)
      pack_panel_rows(keys, panel, packed_keys(group) + panel.first * std::ptrdiff_t{size_});
    if (!wants_out()) return;
    const MatrixView values = columns_of(in_.values, group * size_, size_);
    for (const PackedPanel& panel : value_panels_)
      pack_panel_columns(values, panel, packed_values(group) + panel.first * std::ptrdiff_t{keys_});
  }

  void attend_rows(int first, int count) const {
    const QueryBlock block{
        first,
        count,
        {down_to(wide_panel, seen_by(in_, first).begin), seen_by(in_, first + count - 1).end}};
    const std::ptrdiff_t part = std::ptrdiff_t{block.rows()} * row_step;
    const int query_parts = (size_ + depth_step - 1) / depth_step;
    const int score_parts = (block.range.end + depth_step - 1) / depth_step;
    const auto width = static_cast<std::ptrdiff_t>(packed_rows(value_panels_));
    float* queries = task_scratch(
        static_cast<size_t>((query_parts + score_parts) * part + block.rows() * width));
    float* scores = queries + query_parts * part;
    float* sums = scores + score_parts * part;
    for (int h = 0; h < in_.heads; ++h) {
      const int group = h / (in_.heads / in_.groups);
      copy_queries(block, h, part, queries);
      score(block, packed_keys(group), part, queries, scores);
      double totals[2 * tile_rows];
      for (int r = 0; r < count; ++r) {
        const ScoreRow row{scores + r * row_step, part};
        finish_scores(in_, h, first + r, row, block.range);
        totals[r] = exp_row(row, seen_by(in_, first + r), block.range);
        join_map(first + r, h, row, block.range, totals[r]);
      }
      if (!wants_out()) continue;
      weigh(block, packed_values(group), part, scores, sums, width);
      for (int r = 0; r < count; ++r)
        store_scaled(sums + r * width, 1 / totals[r], size_, &out_(first + r, h * size_));
    }
  }

  // Queries times the scale, in sections of depth_step numbers.
  void copy_queries(const QueryBlock& block, int h, std::ptrdiff_t part, float* to) const {
    for (int r = 0; r < block.rows(); ++r)
      for (int k = 0; k < size_; k += depth_step) {
        float* row = to + k / depth_step * part + r * row_step;
        const int some = std::min(depth_step, size_ - k);
        if (r < block.count)
          copy_scaled(in_.queries.row(block.first + r).data() + h * size_ + k, in_.scale, some,
                      row);
        else
          std::fill_n(row, some, 0.0f);
      }
  }

  void score(const QueryBlock& block, const float* packed, std::ptrdiff_t part,
             const float* queries, float* scores) const {
    for (int p = block.range.begin / wide_panel; p * wide_panel < block.range.end; ++p) {
      const PackedPanel& panel = key_panels_[static_cast<size_t>(p)];
      float* to = scores + score_place(part, panel.first);
      for (int k = 0; k < size_; k += depth_step) {
        const float* from = packed + panel.first * std::ptrdiff_t{size_} + k * panel.width;
        const float* rows = queries + k / depth_step * part;
        for (int i = 0; i < block.rows(); i += tile_rows)
          with_width(panel.width, [&](auto vectors) {
            multiply_rows<vectors>(rows + i * row_step, from, std::min(depth_step, size_ - k),
                                   k > 0, to + i * row_step, row_step);
          });
      }
    }
  }

  void join_map(int r, int h, const ScoreRow& row, Keys range, double total) const {
    const int place = h - fused_.first_head;
    if (!wants_map() || place < 0 || place >= fused_.count) return;
    join_row(fused_.reduce, row, range, place == 0, static_cast<float>(fused_.weight / total),
             fused_.map.row(r));
  }

  // Sums over the keys of weight times value, for the rows of the block.
  void weigh(const QueryBlock& block, const float* packed, std::ptrdiff_t part, const float* scores,
             float* sums, std::ptrdiff_t width) const {
    for (const PackedPanel& panel : value_panels_) {
      const float* values = packed + panel.first * std::ptrdiff_t{keys_};
      for (int i = 0; i < block.rows(); i += tile_rows) {
        int end = 0;
        for (int key = block.range.begin; key < block.range.end; key = end) {
          end = std::min(block.range.end, down_to(depth_step, key) + depth_step);
          const float* rows = scores + score_place(part, key) + i * row_step;
          with_width(panel.width, [&](auto vectors) {
            multiply_rows<vectors>(rows, values + std::ptrdiff_t{key} * panel.width, end - key,
                                   key > block.range.begin, sums + i * width + panel.first, width);
          });
        }
      }
    }
  }

  const Attention& in_;
  MatrixSpan out_;
  const HeadMap& fused_;
  int size_, keys_;
  std::vector<PackedPanel> key_panels_, value_panels_;
  size_t key_floats_, value_floats_;
  float* packed_;
};

void attention(const Attention& attention, MatrixSpan out, const HeadMap& fused) {
  const int rows = attention.queries.rows(), keys = attention.keys.rows();
  if (rows == 0) return;
  if (keys == 0) {
    for (int r = 0; r < out.rows(); ++r) std::fill_n(out.row(r).data(), out.columns(), 0.0f);
    return;
  }
  const double work = double(rows) * keys * attention.queries.columns();
  const bool parallel = work > 1 << 17;
  if (rows < 4) return attend_few(attention, out, fused, parallel);
  AttentionPart(attention, out, fused).run(parallel);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_ATTENTION_INL_H
