#include "headwater/source/attention_batch.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/source/attention_source.h"

namespace headwater {
namespace {

// A stream can be read in the order it lies in; any other order needs the numbers open in memory.
bool lies_in_order(const LayerPlace& place, int n) {
  return place.column == 1 && place.row == static_cast<uint64_t>(n) &&
         (place.heads == 1 || place.head == static_cast<uint64_t>(n) * static_cast<uint64_t>(n));
}

// Makes it cheap to come back to where a map begins. A place to come back to takes about 45 KB, so
// they lie far enough apart to take little beside what they save, however small the maps are; a
// small array of small maps is simply laid open.
void mark_maps(Tensor& tensor, uint64_t map_bytes) {
  const uint64_t size = tensor.deflated->size() - tensor.skip;
  const uint64_t apart = std::max<uint64_t>(1 << 18, size / 1024);
  constexpr uint64_t small = 16 << 20;
  if (size <= small && map_bytes < apart && map_bytes < size) return lay_open(tensor);
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

AttentionBatch::AttentionBatch(Arrays arrays, ReadOptions options)
    : arrays_(std::move(arrays)),
      options_(std::move(options)),
      stack_(read_axes(arrays_, options_.axes)) {
  mask_ = read_mask(arrays_, stack_);
  const size_t n = static_cast<size_t>(stack_.n);
  if (!options_.tokens.empty()) {
    if (options_.tokens.size() != n)
      fail("{}: {} tokens were given, expected {}, one for each position; check the token file",
           arrays_.name, options_.tokens.size(), n);
    arrays_.tokens = Tokens{options_.tokens, 1};
  } else if (arrays_.tokens) {
    const size_t lists = static_cast<size_t>(arrays_.tokens->lists);
    const bool fits = arrays_.tokens->words.size() == n * lists &&
                      (lists == 1 || lists == static_cast<size_t>(stack_.items));
    if (!fits)
      fail(
          "{}: has {} tokens in {} list(s), expected {}, one for each position; save the tokens of "
          "the same "
          "input",
          arrays_.name, arrays_.tokens->words.size(), lists, n);
  }
  for (const LayerPlace& place : stack_.layers) {
    Tensor& tensor = arrays_.layers[static_cast<size_t>(place.array)];
    if (!tensor.deflated || place.offset != 0) continue;  // once for each array
    if (lies_in_order(place, stack_.n))
      mark_maps(tensor, size_of(tensor.type) * static_cast<uint64_t>(place.heads) * n * n);
    else
      lay_open(tensor);
  }
}

std::unique_ptr<Source> AttentionBatch::item(int k) {
  return std::make_unique<AttentionSource>(*this, k);
}

std::string AttentionBatch::reading() const {
  const Tensor& first = arrays_.layers[0];
  bool deflated = false;
  for (const Tensor& tensor : arrays_.layers) deflated = deflated || tensor.deflated;
  const std::string how =
      stack_.single ? "one array with all layers"
                    : fmt::format("{} arrays, one a layer ({} ... {})", arrays_.layers.size(),
                                  arrays_.layers.front().name, arrays_.layers.back().name);
  return fmt::format("{}, {}, axes {}, {}{}{}", arrays_.format, how, stack_.axes,
                     name_of(first.type), first.fortran ? ", Fortran order" : "",
                     deflated ? ", deflated" : "");
}

}  // namespace headwater
