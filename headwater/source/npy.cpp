#include "headwater/source/npy.h"

#include <charconv>
#include <cstring>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// The header is a Python dictionary with three entries, as repr() writes it. This reads only that.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !has_type) {
        has_type = true;
        read_type(header);
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        header.fortran = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        header.shape = shape();
      } else {
        bad();
      }
      if (!take(',') && peek() != '}') bad();
    }
    if (!has_type || !has_order || !has_shape) bad();
    return header;
  }

 private:
  [[noreturn]] void bad() const {
    fail(
        "{}: its .npy header is damaged at character {}, expected descr, fortran_order and shape; "
        "save it again with numpy.save",
        what_, at_);
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) bad();
  }
  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') bad();
    const size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) bad();
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + 1;
    return inside;
  }
  bool boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    bad();
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> lengths;
    expect('(');
    while (!take(')')) {
      peek();
      int64_t length = 0;
      const auto [stop, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), length);
      if (error != std::errc() || lengths.size() >= 32) bad();
      at_ = static_cast<size_t>(stop - text_.data());
      lengths.push_back(length);
      take('L');  // the suffix of Python 2's long integers
      if (!take(',') && peek() != ')') bad();
    }
    return lengths;
  }
  void read_type(NpyHeader& header);

  std::string_view text_;
  const std::string& what_;
  size_t at_ = 0;
};

void HeaderReader::read_type(NpyHeader& header) {
  if (peek() == '[')
    fail("{}: holds a structured array, expected plain numbers; save one field with numpy.save",
         what_);
  const std::string_view text = quoted();
  const std::string_view kind = text.empty() ? text : text.substr(1);
  if (kind.starts_with("O"))
    fail(
        "{}: holds pickled Python objects, expected an array of numbers; save it with a float "
        "dtype",
        what_);
  if (text.starts_with(">"))
    fail(
        "{}: holds big-endian numbers ({}), expected little-endian ones; save it again after "
        ".astype('<f4')",
        what_, text);
  if (kind.starts_with("U")) {
    const auto [stop, error] =
        std::from_chars(kind.data() + 1, kind.data() + kind.size(), header.characters);
    // A compressed file holds wide, nearly empty texts in a few bytes, and gigabytes when it is
    // read.
    constexpr int64_t widest = 1 << 13;
    if (error == std::errc() && stop == kind.data() + kind.size() && header.characters > widest)
      fail("{}: holds texts {} characters wide, expected at most {}; save shorter tokens", what_,
           header.characters, widest);
    if (error == std::errc() && stop == kind.data() + kind.size() && header.characters >= 0) return;
  }
  struct Known {
    std::string_view name;
    DType type;
  };
  // NumPy has no bfloat16; the package that adds it saves it as two raw bytes.
  constexpr Known known[] = {{"f2", DType::f16},    {"V2", DType::bf16}, {"f4", DType::f32},
                             {"f8", DType::f64},    {"i1", DType::i8},   {"i2", DType::i16},
                             {"i4", DType::i32},    {"i8", DType::i64},  {"u1", DType::u8},
                             {"u2", DType::u16},    {"u4", DType::u32},  {"u8", DType::u64},
                             {"b1", DType::boolean}};
  for (const Known& one : known)
    if (kind == one.name) header.type = one.type;
  if (!header.type)
    fail(
        "{}: holds numbers of type '{}', expected f2, f4, f8 or bfloat16; convert it with "
        ".astype('f4')",
        what_, text);
}

}  // namespace

NpyHeader read_npy_header(std::span<const std::byte> bytes, const std::string& what) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  if (bytes.size() < 10 || std::memcmp(data, "\x93NUMPY", 6) != 0)
    fail(
        "{}: does not start like a .npy file, expected the bytes \\x93NUMPY; check that it was "
        "saved with numpy.save",
        what);
  const int version = data[6];
  if (version < 1 || version > 3)
    fail("{}: is .npy version {}, expected 1, 2 or 3; save it again with numpy.save", what,
         version);
  uint64_t length = data[8] | data[9] << 8;
  uint64_t start = 10;
  if (version >= 2) {
    if (bytes.size() < 12)
      fail("{}: ends in its header, expected at least 12 bytes; copy it again", what);
    length |= static_cast<uint64_t>(data[10]) << 16 | static_cast<uint64_t>(data[11]) << 24;
    start = 12;
  }
  constexpr uint64_t longest = 60'000;
  if (length > longest)
    fail("{}: claims a header of {} bytes, expected at most {}; save it again with numpy.save",
         what, length, longest);
  if (length > bytes.size() - start)
    fail("{}: ends in its header, expected {} more bytes; copy it again", what,
         length - (bytes.size() - start));
  NpyHeader header =
      HeaderReader({reinterpret_cast<const char*>(data) + start, length}, what).read();
  header.size = start + length;
  return header;
}

Arrays read_npy(const std::string& path) {
  Arrays arrays;
  arrays.format = "npy";
  arrays.name = path;
  arrays.file = std::make_unique<MappedFile>(path);
  const std::span<const std::byte> bytes = arrays.file->bytes();
  const NpyHeader header = read_npy_header(bytes, path);
  if (!header.type)
    fail("{}: holds text, expected attention weights; give tokens with `tokens`", path);
  const uint64_t claimed = count_of(header.shape, *header.type, path) * size_of(*header.type);
  const uint64_t there = bytes.size() - header.size;
  if (claimed != there)
    fail("{}: has {} bytes of numbers, expected {} for {} of {}; copy it again", path, there,
         claimed, shape_text(header.shape), name_of(*header.type));
  Tensor tensor;
  tensor.type = *header.type;
  tensor.shape = header.shape;
  tensor.fortran = header.fortran;
  tensor.bytes = bytes.subspan(header.size);
  tensor.mapped = true;
  arrays.layers.push_back(std::move(tensor));
  return arrays;
}

}  // namespace headwater
