// attention_backward: slabs of at most depth_step rows, for each slab a few heads at a time.
//
// The first step goes through blocks of rows: scores and weights P as in attention, dP = dO V' by
// the same loops, then dS, the map and dQ = dS K. It keeps P and dS of the slab as panels of keys,
// in the layout that the second step reads: for each panel, dK' = Q' dS and dV' = dO' P, over the
// rows of the slab. Where the rule gives scores no gradient, neither dP (unless a map needs it),
// dS, dQ nor dK exist. Slabs, heads and rows come in the same order for any number of threads, so
// the bytes are the same.
#if defined(HEADWATER_KERNEL_CPU_BACKWARD_ATTENTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_BACKWARD_ATTENTION_INL_H
#undef HEADWATER_KERNEL_CPU_BACKWARD_ATTENTION_INL_H
#else
#define HEADWATER_KERNEL_CPU_BACKWARD_ATTENTION_INL_H
#endif

#include <algorithm>
#include <vector>

#include "headwater/core/parallel.h"
#include "headwater/kernel/backward.h"
#include "headwater/kernel/cpu/backward_map-inl.h"
#include "headwater/kernel/cpu/backward_scores-inl.h"
#include "headwater/kernel/cpu/backward_transpose-inl.h"
#include "headwater/kernel/cpu/panel-inl.h"
#include "headwater/kernel/cpu/query_rows-inl.h"
#include "headwater/kernel/cpu/scores-inl.h"
#include "headwater/kernel/cpu/scratch.h"
#include "headwater/kernel/cpu/softmax-inl.h"
#include "headwater/kernel/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

class AttentionBackwardPart {
 public:
  AttentionBackwardPart(const Attention& in, MatrixView gradient, const AttentionRule& rule,
                        const AttentionGradient& out, const HeadMap& fused)
      : in_(in),
        gradient_(gradient),
        rule_(rule),
        out_(out),
        fused_(fused),
        size_(in.queries.columns() / in.heads),
        keys_(in.keys.rows()),
        key_panels_(panels_of(keys_)),
        size_panels_(panels_of(size_)),
        key_floats_(packed_rows(key_panels_) * static_cast<size_t>(size_)),
        column_floats_(packed_rows(size_panels_) * static_cast<size_t>(keys_)),
        slab_rows_(std::min(keys_, depth_step)),
        weight_floats_(packed_rows(key_panels_) * static_cast<size_t>(slab_rows_)),
        transposed_floats_(static_cast<size_t>(tile_sizes()) * row_step),
        heads_of_group_(in.heads / in.groups),
        groups_at_once_(some_groups()) {
    const size_t packed = static_cast<size_t>(in.groups) * (2 * key_floats_ + column_floats_);
    packed_ = scratch(packed + static_cast<size_t>(groups_at_once_ * heads_of_group_) * 2 *
                                   (weight_floats_ + transposed_floats_));
    kept_ = packed_ + packed;
  }

  void run(bool threads) {
    const auto loop = [&](int count, const auto& task) {
      if (threads) return parallel_for(count, task);
      for (int i = 0; i < count; ++i) task(i);
    };
    loop(in_.groups, [&](int group) { pack_group(group); });
    for (int first = 0; first < keys_; first += slab_rows_) {
      slab_ = {first, std::min(slab_rows_, keys_ - first)};
      const int step = slab_.count <= 256 ? tile_rows : 2 * tile_rows;
      const int blocks = (slab_.count + step - 1) / step;
      for (int group = 0; group < in_.groups; group += groups_at_once_) {
        const int groups = std::min(groups_at_once_, in_.groups - group);
        const Heads heads{group * heads_of_group_, groups * heads_of_group_};
        loop(blocks + heads.count, [&](int task) {
          if (task < heads.count) return transpose_head(heads, heads.first + task);
          // From the last rows up: in causal attention they cost the most.
          const int begin = (blocks - 1 - (task - heads.count)) * step;
          differentiate_rows(heads, slab_.first + begin, std::min(step, slab_.count - begin));
        });
        const int panels = static_cast<int>(key_panels_.size());
        loop(groups * panels, [&](int task) {
          add_keys(heads, group + task / panels, key_panels_[static_cast<size_t>(task % panels)],
                   step);
        });
      }
    }
  }

 private:
  struct Heads {
    int first, count;
  };
  struct Slab {
    int first, count;
  };
  // What one head keeps of the slab.
  struct Kept {
    float *weights, *slopes;     // P and dS, panel by panel
    float *queries, *gradients;  // Q' (times the scale) and dO'
  };

  bool has_scores() const { return rule_.scores != 0; }
  bool has_slopes() const { return has_scores() || fused_.map.rows() > 0; }
  int tile_sizes() const { return (size_ + tile_rows - 1) / tile_rows * tile_rows; }
  // As many as fit into a few MB, so that the second step finds its input in the cache.
  int some_groups() const {
    constexpr size_t floats = size_t{1} << 20;
    const size_t one =
        static_cast<size_t>(heads_of_group_) * 2 * (weight_floats_ + transposed_floats_);
    return static_cast<int>(std::clamp<size_t>(floats / one, 1, static_cast<size_t>(in_.groups)));
  }
  float* packed_keys(int group) const {
    return packed_ + static_cast<size_t>(group) * (2 * key_floats_ + column_floats_);
  }
  float* packed_values(int group) const { return packed_keys(group) + key_floats_; }
  float* packed_columns(int group) const { return packed_keys(group) + 2 * key_floats_; }
  Kept kept(const Heads& heads, int h) const {
    float* at =
        kept_ + static_cast<size_t>(h - heads.first) * 2 * (weight_floats_ + transposed_floats_);
    return {at, at + weight_floats_, at + 2 * weight_floats_,
            at + 2 * weight_floats_ + transposed_floats_};
  }

  void pack_group(int group) const {
    const MatrixView keys = columns_of(in_.keys, group * size_, size_);
    const MatrixView values = columns_of(in_.values, group * size_, size_);
    for (const PackedPanel& panel : key_panels_) {
      const std::ptrdiff_t at = panel.first * std::ptrdiff_t{size_};
      pack_panel_rows(keys, panel, packed_keys(group) + at);
      if (has_slopes()) pack_panel_rows(values, panel, packed_values(group) + at);
    }
    if (!has_scores()) return;
    for (const PackedPanel& panel : size_panels_)
      pack_panel_columns(keys, panel, packed_columns(group) + panel.first * std::ptrdiff_t{keys_});
  }

  void transpose_head(const Heads& heads, int h) const {
    const Kept to = kept(heads, h);
    if (has_scores())
      transpose_rows(columns_of(in_.queries, h * size_, size_).rows(slab_.first, slab_.count),
                     rule_.scores * in_.scale, to.queries);
    transpose_rows(columns_of(gradient_, h * size_, size_).rows(slab_.first, slab_.count),
                   rule_.values, to.gradients);
  }

  QueryBlock block_of(int first, int count) const {
    return {first,
            count,
            {down_to(wide_panel, seen_by(in_, first).begin), seen_by(in_, first + count - 1).end}};
  }

  void differentiate_rows(const Heads& heads, int first, int count) const {
    const QueryBlock block = block_of(first, count);
    const std::ptrdiff_t part = std::ptrdiff_t{block.rows()} * row_step;
    const int row_parts = (size_ + depth_step - 1) / depth_step;
    const int score_parts = (block.range.end + depth_step - 1) / depth_step;
    const auto width = static_cast<std::ptrdiff_t>(packed_rows(size_panels_));
    // Scores, their slopes and, if there is a cap, its slopes.
    const int kinds = in_.cap != 0 ? 3 : 2;
    float* rows = task_scratch(
        static_cast<size_t>((row_parts + kinds * score_parts) * part + block.rows() * width));
    float* scores = rows + row_parts * part;
    float* slopes = scores + score_parts * part;
    float* sums = scores + kinds * score_parts * part;
    const std::ptrdiff_t cap = 2 * score_parts * part;
    for (int h = heads.first; h < heads.first + heads.count; ++h) {
      const int group = h / heads_of_group_;
      copy_rows(block, in_.queries, h, in_.scale, part, rows);
      multiply_keys(block, packed_keys(group), part, rows, scores);
      if (has_slopes()) {
        copy_rows(block, gradient_, h, 1, part, rows);
        multiply_keys(block, packed_values(group), part, rows, slopes);
      }
      for (int r = 0; r < count; ++r)
        differentiate_row(block, r, heads, h, {scores + r * row_step, part},
                          {slopes + r * row_step, part}, cap);
      if (!has_scores()) continue;
      multiply_columns(block, packed_columns(group), part, slopes, sums, width);
      for (int r = 0; r < count; ++r)
        store_scaled(sums + r * width, rule_.scores * in_.scale, size_,
                     &out_.queries(first + r, h * size_));
    }
  }

  // Rows of a head times the scale, in sections of depth_step numbers.
  void copy_rows(const QueryBlock& block, MatrixView from, int h, float scale, std::ptrdiff_t part,
                 float* to) const {
    for (int r = 0; r < block.rows(); ++r)
      for (int k = 0; k < size_; k += depth_step) {
        float* row = to + k / depth_step * part + r * row_step;
        const int some = std::min(depth_step, size_ - k);
        if (r < block.count)
          copy_scaled(from.row(block.first + r).data() + h * size_ + k, scale, some, row);
        else
          std::fill_n(row, some, 0.0f);
      }
  }

  // Products of the block's rows with the keys (or values) that it sees.
  void multiply_keys(const QueryBlock& block, const float* packed, std::ptrdiff_t part,
                     const float* rows, float* scores) const {
    for (int p = block.range.begin / wide_panel; p * wide_panel < block.range.end; ++p) {
      const PackedPanel& panel = key_panels_[static_cast<size_t>(p)];
      float* to = scores + score_place(part, panel.first);
      for (int k = 0; k < size_; k += depth_step) {
        const float* from = packed + panel.first * std::ptrdiff_t{size_} + k * panel.width;
        const float* some = rows + k / depth_step * part;
        for (int i = 0; i < block.rows(); i += tile_rows)
          with_width(panel.width, [&](auto vectors) {
            multiply_rows<vectors>(some + i * row_step, from, std::min(depth_step, size_ - k),
                                   k > 0, to + i * row_step, row_step);
          });
      }
    }
  }

  // Sums over the keys of dS times key.
  void multiply_columns(const QueryBlock& block, const float* packed, std::ptrdiff_t part,
                        const float* slopes, float* sums, std::ptrdiff_t width) const {
    for (const PackedPanel& panel : size_panels_) {
      const float* keys = packed + panel.first * std::ptrdiff_t{keys_};
      for (int i = 0; i < block.rows(); i += tile_rows) {
        int end = 0;
        for (int key = block.range.begin; key < block.range.end; key = end) {
          end = std::min(block.range.end, down_to(depth_step, key) + depth_step);
          const float* rows = slopes + score_place(part, key) + i * row_step;
          with_width(panel.width, [&](auto vectors) {
            multiply_rows<vectors>(rows, keys + std::ptrdiff_t{key} * panel.width, end - key,
                                   key > block.range.begin, sums + i * width + panel.first, width);
          });
        }
      }
    }
  }

  // Replaces a row of scores by P, keeps it, and fuses the map; then does the same with dP and dS.
  // The slopes of the cap are kept `cap` floats after the scores.
  void differentiate_row(const QueryBlock& block, int r, const Heads& heads, int h,
                         const ScoreRow& scores, const ScoreRow& slopes, std::ptrdiff_t cap) const {
    const Floats d;
    const bool capped = in_.cap != 0 && has_scores();
    if (capped) keep_cap(in_, rule_.cap, scores, block.range, cap);
    finish_scores(in_, h, block.first + r, scores, block.range);
    const double total = exp_row(scores, seen_by(in_, block.first + r), block.range);
    const FloatVec over = hn::Set(d, static_cast<float>(1 / total));
    const auto slope_at = [&](const float* at) { return slopes.data + (at - scores.data); };
    const Kept to = kept(heads, h);
    const int row = block.first + r - slab_.first;
    const bool goes_on = has_scores();
    double along = 0;
    FloatVec sum = hn::Zero(d);
    for_vectors(scores, block.range, [&](int key, float* at) {
      const FloatVec p = hn::Mul(hn::Load(d, at), over);
      hn::Store(p, d, at);
      hn::Store(p, d, to.weights + place_of(key, row));
      if (!goes_on) return;
      sum = hn::MulAdd(p, hn::Load(d, slope_at(at)), sum);
      // Short sums in float, the long one in double.
      if (key / vector_floats % 8 < 7) return;
      along += double{hn::GetLane(hn::SumOfLanes(d, sum))};
      sum = hn::Zero(d);
    });
    clear_after(block, row, to.weights);
    join_products(fused_, rule_.positive, h, block.first + r, scores, slopes, block.range);
    if (!goes_on) return;
    along += double{hn::GetLane(hn::SumOfLanes(d, sum))};
    const FloatVec mean = hn::Set(d, static_cast<float>(along));
    for_vectors(scores, block.range, [&](int key, const float* at) {
      FloatVec ds = hn::Mul(hn::Load(d, at), hn::Sub(hn::Load(d, slope_at(at)), mean));
      if (capped) ds = hn::Mul(ds, hn::Load(d, at + cap));
      hn::Store(ds, d, slope_at(at));
      hn::Store(ds, d, to.slopes + place_of(key, row));
    });
    clear_after(block, row, to.slopes);
    if (in_.buckets.queries.rows() > 0)
      add_to_query(in_, rule_.buckets, h, block.first + r, slopes, block.range,
                   out_.bucket_queries);
  }

  // No row of the block sees the rest of the last panel.
  void clear_after(const QueryBlock& block, int row, float* kept) const {
    const Floats d;
    const PackedPanel& last = key_panels_[static_cast<size_t>((block.range.end - 1) / wide_panel)];
    for (int key = down_to(vector_floats, block.range.end - 1) + vector_floats;
         key < last.first + last.width; key += vector_floats)
      hn::Store(hn::Zero(d), d, kept + place_of(key, row));
  }

  std::ptrdiff_t place_of(int key, int row) const {
    const PackedPanel& panel = key_panels_[static_cast<size_t>(key / wide_panel)];
    return std::ptrdiff_t{panel.first} * slab_rows_ + std::ptrdiff_t{row} * panel.width + key -
           panel.first;
  }

  // Rows of the slab whose block sees the panel, from the slab's first on.
  Slab rows_that_see(const PackedPanel& panel, int step) const {
    int begin = slab_.count, end = 0;
    for (int first = 0; first < slab_.count; first += step) {
      const int count = std::min(step, slab_.count - first);
      const Keys range = block_of(slab_.first + first, count).range;
      if (panel.first < range.begin || panel.first >= range.end) continue;
      begin = std::min(begin, first);
      end = first + count;
    }
    return {begin, end - begin};
  }

  void add_keys(const Heads& heads, int group, const PackedPanel& panel, int step) const {
    const Slab rows = rows_that_see(panel, step);
    const bool add = slab_.first > 0;
    const int sizes = tile_sizes();
    float* keys = task_scratch(static_cast<size_t>(2 * sizes) * static_cast<size_t>(panel.width));
    float* values = keys + std::ptrdiff_t{sizes} * panel.width;
    if (rows.count <= 0) std::fill_n(keys, 2 * std::ptrdiff_t{sizes} * panel.width, 0.0f);
    for (int k = 0; k < heads_of_group_; ++k) {
      const int h = group * heads_of_group_ + k;
      const Kept from = kept(heads, h);
      const std::ptrdiff_t at =
          std::ptrdiff_t{panel.first} * slab_rows_ + std::ptrdiff_t{rows.first} * panel.width;
      if (has_scores() && in_.buckets.keys.rows() > 0)
        add_to_keys(in_, rule_.buckets, h, slab_.first + rows.first, rows.count, add,
                    from.slopes + at, panel, out_.bucket_keys);
      if (rows.count <= 0) continue;
      for (int i = 0; i < sizes; i += tile_rows)
        with_width(panel.width, [&](auto vectors) {
          const std::ptrdiff_t row = std::ptrdiff_t{i} * row_step + rows.first;
          if (has_scores())
            multiply_rows<vectors>(from.queries + row, from.slopes + at, rows.count, k > 0,
                                   keys + i * panel.width, panel.width);
          multiply_rows<vectors>(from.gradients + row, from.weights + at, rows.count, k > 0,
                                 values + i * panel.width, panel.width);
        });
    }
    const auto columns = [&](MatrixSpan x) {
      return MatrixSpan(x.data() + group * size_, x.rows(), size_, x.stride());
    };
    if (has_scores())
      add_transposed(keys, panel.width, panel.first, panel.count, add, columns(out_.keys));
    add_transposed(values, panel.width, panel.first, panel.count, add, columns(out_.values));
  }

  const Attention& in_;
  MatrixView gradient_;
  const AttentionRule& rule_;
  const AttentionGradient& out_;
  const HeadMap& fused_;
  int size_, keys_;
  std::vector<PackedPanel> key_panels_, size_panels_;
  size_t key_floats_, column_floats_;
  int slab_rows_;
  size_t weight_floats_, transposed_floats_;
  int heads_of_group_, groups_at_once_;
  Slab slab_{0, 0};
  float* packed_;
  float* kept_;
};

void attention_backward(const Attention& in, MatrixView gradient, const AttentionRule& rule,
                        const AttentionGradient& out, const HeadMap& fused) {
  if (in.keys.rows() == 0) return;
  const double work = double(in.keys.rows()) * in.keys.rows() * in.queries.columns();
  AttentionBackwardPart(in, gradient, rule, out, fused).run(work > 1 << 17);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_BACKWARD_ATTENTION_INL_H
