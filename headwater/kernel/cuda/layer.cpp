#include "headwater/kernel/cuda/layer.h"

#include <algorithm>
#include <cstdint>

#include "headwater/core/fail.h"
#include "headwater/kernel/cuda/kernels.h"

namespace headwater::kernel::cuda {
namespace {

// The sizes of tiles, as in tile.cuh and row_hopper.cu.
constexpr int tile_columns = 64, rows_of_a_warp = 16, threads_of_a_warp = 32;
constexpr int row_warps = 4, map_warps = 8, map_warps_float32 = 4;
constexpr int total_threads = 256;
constexpr int hopper_keys = 256, hopper_threads = 384, hopper_shared = 200 << 10;

int bytes_of(Number number) { return number == Number::float32 ? 4 : 2; }

// Whether all rows begin at multiples of 16 bytes, for copies of that size.
bool aligned(const Layer& layer) {
  const Arguments& a = layer.arguments;
  const int step = 16 / bytes_of(layer.number);
  const auto fits = [&](const void* data, long long head, long long row) {
    return reinterpret_cast<uintptr_t>(data) % 16 == 0 && head % step == 0 && row % step == 0;
  };
  return layer.size % step == 0 && fits(a.q, a.q_head, a.q_row) && fits(a.k, a.k_head, a.k_row);
}

// Whether more than causal and window changes scores.
bool has_extra(const Arguments& a) {
  return a.softcap > 0 || a.bias.kind != Added::none || a.mask.kind != Added::none;
}

// Hopper's own instructions take plain attention of 16-bit numbers, and heads of these sizes.
bool on_hopper(const Layer& layer, Reduce how) {
  const Device& on = device(layer.device);
  return on.major == 9 && on.minor == 0 && layer.items == 1 && layer.number != Number::float32 &&
         how == Reduce::sum && (layer.size == 64 || layer.size == 128) &&
         !has_extra(layer.arguments) && aligned(layer);
}

Variant variant_of(const Layer& layer, const char* source, int warps) {
  return {
      source,
      {fmt::format("ELEMENT={}", static_cast<int>(layer.number)),
       fmt::format("SIZE={}", layer.size), fmt::format("VECTOR={}", aligned(layer) ? 1 : 0),
       fmt::format("EXTRA={}", has_extra(layer.arguments) ? 1 : 0), fmt::format("WARPS={}", warps)},
      0};
}

// The shared memory of so many rows of queries or keys, as tile.cuh lays them out.
unsigned bytes_of_rows(const Layer& layer, int rows) {
  const int bytes = bytes_of(layer.number);
  return static_cast<unsigned>(rows * ((layer.size + 15) / 16 * 16 * bytes + 16));
}

Variant row_variant(const Layer& layer, Reduce how, int rows, bool queries_stay) {
  Variant variant = variant_of(layer, "row.cu", row_warps);
  variant.defines.push_back(fmt::format("ROWS={}", rows));
  variant.defines.push_back(fmt::format("FUSE={}", static_cast<int>(how)));
  variant.defines.push_back(fmt::format("STAY={}", queries_stay ? 1 : 0));
  variant.shared_bytes = bytes_of_rows(layer, rows_of_a_warp * row_warps + 2 * tile_columns) +
                         static_cast<unsigned>(2 * (1 + rows) * tile_columns * 4);
  return variant;
}

void start(const Layer& layer, const Variant& variant, unsigned x, unsigned y, int threads,
           void** arguments) {
  launch(kernel_for(layer.device, variant),
         {{x, y, static_cast<unsigned>(layer.items)},
          static_cast<unsigned>(threads),
          variant.shared_bytes,
          layer.stream},
         arguments);
}

void start_on_hopper(const Layer& layer, Arguments a, int rows) {
  const int tile = rows <= 2 ? 128 : 64;  // more rows need more registers
  const int stage = tile * layer.size * 2 + (1 + rows) * tile * 4 + 16;
  const int stages = std::min(4, (hopper_shared - 2048) / stage);
  const auto queries = static_cast<unsigned long long>(a.queries);
  const auto row_stride = static_cast<unsigned long long>(a.q_row) * 2;
  const auto head_stride = static_cast<unsigned long long>(a.q_head) * 2;
  TensorMap map =
      tiles_of({a.q, layer.number == Number::bfloat16, static_cast<unsigned long long>(layer.size),
                queries, static_cast<unsigned long long>(layer.heads), row_stride,
                layer.heads > 1 ? head_stride : row_stride * queries},
               static_cast<unsigned>(tile));
  void* words[] = {&a, &map};
  start(layer,
        {"row_hopper.cu",
         {fmt::format("ELEMENT={}", static_cast<int>(layer.number)),
          fmt::format("SIZE={}", layer.size), fmt::format("ROWS={}", rows),
          fmt::format("TILE={}", tile), fmt::format("STAGES={}", stages)},
         static_cast<unsigned>(2048 + stages * stage)},
        static_cast<unsigned>(a.head_end - a.head_begin), blocks_for(a.keys, hopper_keys),
        hopper_threads, words);
}

long long bytes_of_floats(long long count) { return count * static_cast<long long>(sizeof(float)); }

// Gives a layer the logarithms, [items, heads, queries]; the kernels that use them only read.
void take_sums(Arguments& a, const float* lse, int heads) {
  a.lse = const_cast<float*>(lse);
  a.lse_head = a.queries;
  a.items.lse = bytes_of_floats(static_cast<long long>(heads) * a.queries);
}

// Rows begin ... end - 1 of the map of some heads.
Arguments map_arguments(const Layer& layer, const Fused& fused, const float* lse, int begin,
                        int end) {
  Arguments a = layer.arguments;
  if (begin < 0 || begin >= end || end > a.queries || fused.begin < 0 || fused.begin >= fused.end ||
      fused.end > layer.heads)
    fail("map kernel: rows {} to {}, heads {} to {} do not fit {} queries and {} heads", begin, end,
         fused.begin, fused.end, a.queries, layer.heads);
  take_sums(a, lse, layer.heads);
  a.query_begin = begin;
  a.query_end = end;
  a.head_begin = fused.begin;
  a.head_end = fused.end;
  return a;
}

void start_map(const Layer& layer, Reduce how, Arguments a, bool pairs, int columns) {
  const int warps = layer.number == Number::float32 ? map_warps_float32 : map_warps;
  Variant variant = variant_of(layer, "map.cu", warps);
  variant.defines.push_back(fmt::format("FUSE={}", static_cast<int>(how)));
  variant.defines.push_back(fmt::format("PAIRS={}", pairs ? 1 : 0));
  variant.shared_bytes = 2 * bytes_of_rows(layer, rows_of_a_warp * warps + tile_columns);
  void* words[] = {&a};
  start(layer, variant, blocks_for(columns, tile_columns),
        blocks_for(a.query_end - a.query_begin, rows_of_a_warp * warps), warps * threads_of_a_warp,
        words);
}

}  // namespace

void Layer::log_sum_exp(float* lse) const {
  Arguments a = arguments;
  take_sums(a, lse, heads);
  a.head_begin = 0;
  a.head_end = heads;
  Variant variant = variant_of(*this, "log_sum_exp.cu", row_warps);
  variant.shared_bytes = bytes_of_rows(*this, rows_of_a_warp * row_warps + 2 * tile_columns);
  void* words[] = {&a};
  start(*this, variant, static_cast<unsigned>(heads),
        blocks_for(a.queries, rows_of_a_warp * row_warps), row_warps * threads_of_a_warp, words);
}

int Layer::splits(const Fused& fused, int rows) const {
  const int count = fused.end - fused.begin;
  if (fused.how != Reduce::sum) return 1;
  if (rows <= most_rows && on_hopper(*this, fused.how)) return count;
  // Enough blocks to keep every multiprocessor busy while the longest ones of a causal layer run.
  const int wanted = (8 * cuda::device(device).multiprocessors + items - 1) / items;
  const int tiles = static_cast<int>(blocks_for(arguments.keys, rows_of_a_warp * row_warps));
  const int each = std::max(1, count / std::max(1, (wanted + tiles - 1) / tiles));
  return (count + each - 1) / each;
}

void Layer::row(const Fused& fused, const float* lse, const Rows& rows) const {
  if (rows.count < 1 || rows.count > most_rows || fused.begin < 0 || fused.begin >= fused.end ||
      fused.end > heads || rows.begin < 0 || rows.end > arguments.queries)
    fail("row kernel: {} rows, heads {} to {}, queries {} to {} do not fit {} heads and {} queries",
         rows.count, fused.begin, fused.end, rows.begin, rows.end, heads, arguments.queries);
  Arguments a = arguments;
  take_sums(a, lse, heads);
  a.weights = rows.weights;
  a.weights_row = a.queries;
  a.query_begin = rows.begin;
  a.query_end = rows.end;
  a.head_begin = fused.begin;
  a.head_end = fused.end;
  a.out = rows.parts;
  a.out_row = a.keys;
  a.out_split = static_cast<long long>(rows.count) * a.keys;
  if (on_hopper(*this, fused.how)) {
    start_on_hopper(*this, a, rows.count);
    return;
  }
  const int parts = splits(fused, rows.count);
  a.heads_per_split = (fused.end - fused.begin + parts - 1) / parts;
  a.items.weights = bytes_of_floats(static_cast<long long>(rows.count) * a.queries);
  a.items.out = bytes_of_floats(a.out_split * parts);
  void* words[] = {&a};
  start(*this, row_variant(*this, fused.how, rows.count, false), static_cast<unsigned>(parts),
        blocks_for(a.keys, rows_of_a_warp * row_warps), row_warps * threads_of_a_warp, words);
}

void Layer::through(const Fused& fused, const float* lse, const Rows& rows, float residual,
                    float* out) const {
  if (arguments.queries != arguments.keys)
    fail("row kernel: {} queries and {} keys, expected as many", arguments.queries, arguments.keys);
  row(fused, lse, rows);
  const int heads_added = fused.how == Reduce::sum ? fused.end - fused.begin : 1;
  Total total = {rows.parts,
                 rows.weights,
                 out,
                 static_cast<long long>(rows.count) * arguments.keys,
                 splits(fused, rows.count),
                 (1 - residual) / static_cast<float>(heads_added),
                 residual};
  void* words[] = {&total};
  const Variant variant = {"total.cu", {}, 0};
  launch(kernel_for(device, variant),
         {{blocks_for(rows.count * arguments.keys, total_threads), static_cast<unsigned>(items), 1},
          total_threads,
          0,
          stream},
         words);
}

void Layer::row_sums(Reduce how, const float* lse, float* out) const {
  Arguments a = arguments;
  take_sums(a, lse, heads);
  a.head_begin = 0;
  a.head_end = a.heads_per_split = heads;
  a.out = out;
  void* words[] = {&a};
  start(*this, row_variant(*this, how, 1, true), 1,
        blocks_for(a.queries, rows_of_a_warp * row_warps), row_warps * threads_of_a_warp, words);
}

void Layer::map(const Fused& fused, const float* lse, int begin, int end, float residual,
                float* out) const {
  Arguments a = map_arguments(*this, fused, lse, begin, end);
  a.out = out;
  a.out_row = a.keys;
  a.items.out = bytes_of_floats(static_cast<long long>(end - begin) * a.keys);
  a.residual = residual;
  start_map(*this, fused.how, a, false, a.keys);
}

void Layer::map_pairs(const Fused& fused, const float* lse, int begin, int end, int columns,
                      float residual, const Pairs& out) const {
  Arguments a = map_arguments(*this, fused, lse, begin, end);
  if (columns < end || columns > a.keys || out.row % 2 != 0 || out.row < columns)
    fail("map kernel: {} columns of {} keys in rows of {} numbers do not fit rows {} to {}",
         columns, a.keys, out.row, begin, end);
  a.out = static_cast<float*>(out.data);  // a kernel for pairs casts it back
  a.out_row = out.row;
  a.out_part = out.part;
  a.residual = residual;
  start_map(*this, fused.how, a, true, columns);
}

}  // namespace headwater::kernel::cuda
