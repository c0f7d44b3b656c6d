#include "headwater/source/attention_batch.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/source/attention_source.h"

namespace headwater {
namespace {

// A deflated array can only be read in its own order; any other order needs it decompressed.
bool is_in_order(const LayerPlace& place, int n) {
  return place.column == 1 && place.row == static_cast<uint64_t>(n) &&
         (place.heads == 1 || place.head == static_cast<uint64_t>(n) * static_cast<uint64_t>(n));
}

// Marks places where maps start, so that going back to one is cheap. A mark takes about 45 KB, so
// marks are far enough apart to cost little even if the maps are small. A small array of small maps
// is simply decompressed.
void mark_maps(Tensor& tensor, uint64_t map_bytes) {
  const uint64_t size = tensor.deflated->size() - tensor.skip;
  const uint64_t apart = std::max<uint64_t>(1 << 18, size / 1024);
  constexpr uint64_t small = 16 << 20;
  if (size <= small && map_bytes < apart && map_bytes < size) return decompress(tensor);
  const uint64_t step = (apart + map_bytes - 1) / map_bytes * map_bytes;
  for (uint64_t at = 0; at < size; at += step) tensor.deflated->mark(tensor.skip + at);
}

std::vector<double> read_mask(Arrays& arrays, const Stack& stack) {
  if (!arrays.mask) return {};
  const std::vector<int64_t>& shape = arrays.mask->shape;
  const bool one = shape.size() == 1 && shape[0] == stack.n;
  const bool each =
      shape.size() == 2 && (shape[0] == stack.items || shape[0] == 1) && shape[1] == stack.n;
  if (!one && !each)
    fail(
        "{}: attention_mask has shape {}, expected [{}] or [{}, {}]; save the mask of the same "
        "batch",
        arrays.name, shape_text(shape), stack.n, stack.items, stack.n);
  return numbers_of(*arrays.mask);
}

}  // namespace

AttentionBatch::AttentionBatch(Arrays given, ReadOptions how)
    : shared_(std::make_shared<Shared>(Shared{std::move(given), std::move(how), {}, {}})) {
  auto& [arrays, read, stack, mask] = *shared_;
  stack = read_axes(arrays, read.axes);
  mask = read_mask(arrays, stack);
  const size_t n = static_cast<size_t>(stack.n);
  if (!read.tokens.empty()) {
    if (read.tokens.size() != n)
      fail("{}: {} tokens were given, expected {}, one for each position; check the tokens",
           arrays.name, read.tokens.size(), n);
    arrays.tokens = Tokens{read.tokens, 1};
  } else if (arrays.tokens) {
    const size_t lists = static_cast<size_t>(arrays.tokens->lists);
    const bool fits = arrays.tokens->words.size() == n * lists &&
                      (lists == 1 || lists == static_cast<size_t>(stack.items));
    if (!fits)
      fail(
          "{}: has {} tokens in {} list(s), expected {}, one for each position; save the tokens of "
          "the same input",
          arrays.name, arrays.tokens->words.size(), lists, n);
  }
  for (const LayerPlace& place : stack.layers) {
    Tensor& tensor = arrays.layers[static_cast<size_t>(place.array)];
    if (!tensor.deflated || place.offset != 0) continue;  // once for each array
    if (is_in_order(place, stack.n))
      mark_maps(tensor, size_of(tensor.type) * static_cast<uint64_t>(place.heads) * n * n);
    else
      decompress(tensor);
  }
  description_.kind = arrays.format == "memory" ? "memory" : "file";
  description_.name = arrays.name;
  description_.layers = static_cast<int>(stack.layers.size());
  for (const LayerPlace& place : stack.layers) description_.heads.push_back(place.heads);
  description_.items = stack.items;
  description_.padded = stack.n;
}

std::unique_ptr<Source> AttentionBatch::item(int k) {
  return std::make_unique<AttentionSource>(shared_, description_, k);
}

std::string AttentionBatch::reading() const {
  const Arrays& arrays = shared_->arrays;
  const Stack& stack = shared_->stack;
  const Tensor& first = arrays.layers[0];
  bool deflated = false;
  for (const Tensor& tensor : arrays.layers) deflated = deflated || tensor.deflated;
  const std::string how =
      stack.single ? "one array with all layers"
                   : fmt::format("{} arrays, one a layer ({} ... {})", arrays.layers.size(),
                                 arrays.layers.front().name, arrays.layers.back().name);
  return fmt::format("{}, {}, axes {}, {}{}{}", arrays.format, how, stack.axes, name_of(first.type),
                     first.fortran ? ", Fortran order" : "", deflated ? ", deflated" : "");
}

}  // namespace headwater
