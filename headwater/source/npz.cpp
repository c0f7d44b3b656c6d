#include "headwater/source/npz.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/core/utf8.h"
#include "headwater/source/natural_order.h"
#include "headwater/source/npy.h"
#include "headwater/source/zip.h"

namespace headwater {
namespace {

// NumPy stores text as UTF-32, each entry padded with zeros.
Tokens read_tokens(Tensor& tensor, int64_t characters) {
  decompress(tensor);
  Tokens tokens;
  tokens.lists = tensor.shape.size() == 2 ? static_cast<int>(tensor.shape[0]) : 1;
  const size_t width = static_cast<size_t>(characters);
  const size_t count = width ? tensor.bytes.size() / (4 * width) : 0;
  for (size_t k = 0; k < count; ++k) {
    std::u32string word;
    for (size_t c = 0; c < width; ++c) {
      const auto code =
          static_cast<uint32_t>(number_at(DType::u32, tensor.bytes.data() + 4 * (k * width + c)));
      if (code == 0) break;
      word += static_cast<char32_t>(code);
    }
    tokens.words.push_back(to_utf8(word));
  }
  return tokens;
}

struct Member {
  Tensor tensor;
  NpyHeader header;
};

Member open_member(const ZipMember& zip, const std::string& what) {
  Member member;
  Tensor& tensor = member.tensor;
  tensor.name = zip.name.substr(0, zip.name.size() - 4);
  std::vector<std::byte> head;
  if (zip.deflated) {
    tensor.deflated.emplace(zip.bytes, zip.size, zip.checksum, what);
    head.resize(std::min<uint64_t>(zip.size, 65536));
    tensor.deflated->read(0, head);
    member.header = read_npy_header(head, what);
    tensor.skip = member.header.size;
  } else {
    member.header = read_npy_header(zip.bytes, what);
    tensor.bytes = zip.bytes.subspan(member.header.size);
    tensor.mapped = true;
  }
  tensor.shape = member.header.shape;
  tensor.fortran = member.header.fortran;
  tensor.type = member.header.type.value_or(DType::u32);
  const uint64_t width = member.header.type ? 1 : static_cast<uint64_t>(member.header.characters);
  const uint64_t claimed = count_of(tensor.shape, tensor.type, what) * size_of(tensor.type);
  const uint64_t there = zip.size - member.header.size;
  if (width == 0 ? there != 0 : (there % width != 0 || there / width != claimed))
    fail("{}: has {} bytes of numbers, expected {} for {} of {}; copy the file again", what, there,
         claimed * width, shape_text(tensor.shape), name_of(tensor.type));
  return member;
}

// Checked before the tokens are decompressed: a few bytes of a deflated file can claim millions.
void check_count(const Tensor& tokens, const std::vector<Tensor>& layers, const std::string& what) {
  if (layers.empty()) return;
  const std::vector<int64_t>& axes = layers[0].shape;
  const auto fits = [&](int64_t length) { return std::ranges::find(axes, length) != axes.end(); };
  const bool lists = tokens.shape.size() < 2 || tokens.shape[0] == 1 || fits(tokens.shape[0]);
  if (tokens.shape.empty() || !fits(tokens.shape.back()) || !lists)
    fail(
        "{}: has shape {}, expected one token for each position of arrays of shape {}; save the "
        "tokens of the same input",
        what, shape_text(tokens.shape), shape_text(axes));
}

}  // namespace

Arrays read_npz(const std::string& path) {
  Arrays arrays;
  arrays.format = "npz";
  arrays.name = path;
  arrays.file = std::make_unique<MappedFile>(path);
  std::optional<Member> tokens;
  for (const ZipMember& zip : read_zip(arrays.file->bytes(), path)) {
    if (!zip.name.ends_with(".npy"))
      fail("{}: has a member '{}', expected arrays (.npy) only; save it with numpy.savez", path,
           zip.name);
    const std::string what =
        fmt::format("{}: array '{}'", path, zip.name.substr(0, zip.name.size() - 4));
    Member member = open_member(zip, what);
    if (member.tensor.name == "tokens") {
      if (member.header.type || member.tensor.shape.size() > 2 || member.tensor.fortran)
        fail(
            "{}: holds {} of shape {}, expected a unicode array of [n] or [B, n]; save tokens as "
            "numpy.array(list_of_str)",
            what, member.header.type ? name_of(*member.header.type) : "text",
            shape_text(member.tensor.shape));
      tokens = std::move(member);
    } else if (!member.header.type) {
      fail("{}: holds text, expected attention weights; only 'tokens' may be text", what);
    } else if (member.tensor.name == "attention_mask") {
      arrays.mask = std::move(member.tensor);
    } else {
      arrays.layers.push_back(std::move(member.tensor));
    }
  }
  std::sort(arrays.layers.begin(), arrays.layers.end(),
            [](const Tensor& a, const Tensor& b) { return natural_less(a.name, b.name); });
  if (tokens) {
    check_count(tokens->tensor, arrays.layers, fmt::format("{}: array 'tokens'", path));
    arrays.tokens = read_tokens(tokens->tensor, tokens->header.characters);
  }
  return arrays;
}

}  // namespace headwater
