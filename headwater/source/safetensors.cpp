#include "headwater/source/safetensors.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "headwater/core/fail.h"
#include "headwater/core/parse_json.h"
#include "headwater/source/json.h"
#include "headwater/source/natural_order.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;

DType dtype_of(std::string_view name, const std::string& what) {
  struct Known {
    std::string_view name;
    DType type;
  };
  constexpr Known known[] = {{"F16", DType::f16},     {"BF16", DType::bf16}, {"F32", DType::f32},
                             {"F64", DType::f64},     {"I8", DType::i8},     {"I16", DType::i16},
                             {"I32", DType::i32},     {"I64", DType::i64},   {"U8", DType::u8},
                             {"U16", DType::u16},     {"U32", DType::u32},   {"U64", DType::u64},
                             {"BOOL", DType::boolean}};
  for (const Known& one : known)
    if (one.name == name) return one.type;
  fail("{}: holds numbers of type '{}', expected F16, BF16, F32 or F64; convert it first", what,
       name);
}

Tensor read_entry(const dom::object& entry, std::span<const std::byte> data,
                  const std::string& name, const std::string& what) {
  std::string_view type;
  dom::array shape, offsets;
  if (entry["dtype"].get(type) || entry["shape"].get(shape) || entry["data_offsets"].get(offsets) ||
      entry.size() != 3)
    fail("{}: is described wrongly, expected dtype, shape and data_offsets; save the file again",
         what);
  Tensor tensor;
  tensor.name = name;
  tensor.type = dtype_of(type, what);
  for (const dom::element length : shape) {
    int64_t value;
    if (length.get(value) || tensor.shape.size() >= 32)
      fail("{}: has a shape that is not a list of numbers, expected one; save the file again",
           what);
    tensor.shape.push_back(value);
  }
  uint64_t begin, end;
  if (offsets.size() != 2 || offsets.at(0).get(begin) || offsets.at(1).get(end))
    fail(
        "{}: has data_offsets that are not two numbers, expected [begin, end]; save the file again",
        what);
  if (begin > end || end > data.size())
    fail(
        "{}: is at bytes {} to {}, expected a place within the {} bytes of numbers; copy the "
        "file again",
        what, begin, end, data.size());
  const uint64_t claimed = count_of(tensor.shape, tensor.type, what) * size_of(tensor.type);
  if (claimed != end - begin)
    fail("{}: has {} bytes, expected {} for {} of {}; save the file again", what, end - begin,
         claimed, shape_text(tensor.shape), name_of(tensor.type));
  tensor.bytes = data.subspan(begin, end - begin);
  tensor.mapped = true;
  return tensor;
}

// The format allows no overlaps and no gaps.
void check_cover(std::vector<std::span<const std::byte>> pieces, std::span<const std::byte> data,
                 const std::string& path) {
  std::sort(pieces.begin(), pieces.end(),
            [](const auto& a, const auto& b) { return a.data() < b.data(); });
  const std::byte* at = data.data();
  for (const auto& piece : pieces) {
    if (piece.data() != at)
      fail("{}: two arrays {} at byte {}, expected one after the other; save the file again", path,
           piece.data() < at ? "overlap" : "leave a gap", std::min(piece.data(), at) - data.data());
    at += piece.size();
  }
  if (at != data.data() + data.size())
    fail("{}: {} bytes follow the last array, expected none; copy the file again", path,
         data.data() + data.size() - at);
}

}  // namespace

Arrays read_safetensors(const std::string& path) {
  Arrays arrays;
  arrays.format = "safetensors";
  arrays.name = path;
  arrays.file = std::make_unique<MappedFile>(path);
  const std::span<const std::byte> bytes = arrays.file->bytes();
  if (bytes.size() < 8)
    fail("{}: is {} bytes long, expected at least a header of 8 bytes; copy it again", path,
         bytes.size());
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  constexpr uint64_t longest = 100'000'000;  // the format's own limit
  if (length > longest || length > bytes.size() - 8)
    fail("{}: claims a header of {} bytes, expected at most {}; it may be truncated: copy it again",
         path, length, std::min<uint64_t>(longest, bytes.size() - 8));
  const std::span<const std::byte> data = bytes.subspan(8 + length);

  dom::parser parser;
  dom::object header;
  if (const auto error = parse_json(parser, as_text(bytes.subspan(8, length)), header))
    fail("{}: its header is not a JSON object ({}), expected one; save it again", path,
         simdjson::error_message(error));
  std::set<std::string, std::less<>> names;
  std::vector<std::span<const std::byte>> pieces;
  for (const auto& [key, value] : header) {
    const std::string name(key);
    const std::string what = fmt::format("{}: array '{}'", path, name);
    if (!names.insert(name).second)
      fail("{}: is given twice, expected each name once; save the file again", what);
    dom::object entry;
    if (value.get(entry))
      fail("{}: is described wrongly, expected dtype, shape and data_offsets; save the file again",
           what);
    if (name == "__metadata__") {
      const std::string place = path + ": metadata 'tokens'";
      std::string_view tokens;
      const auto error = entry["tokens"].get(tokens);
      if (!error)
        arrays.tokens = parse_tokens(tokens, place);
      else if (error != simdjson::NO_SUCH_FIELD)
        fail("{}: is not a string, expected a JSON list of strings as text; save the file again",
             place);
      continue;
    }
    Tensor tensor = read_entry(entry, data, name, what);
    pieces.push_back(tensor.bytes);
    if (name == "attention_mask")
      arrays.mask = std::move(tensor);
    else
      arrays.layers.push_back(std::move(tensor));
  }
  check_cover(std::move(pieces), data, path);
  std::sort(arrays.layers.begin(), arrays.layers.end(),
            [](const Tensor& a, const Tensor& b) { return natural_less(a.name, b.name); });
  return arrays;
}

}  // namespace headwater
