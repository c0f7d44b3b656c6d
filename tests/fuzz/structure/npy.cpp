#include <algorithm>
#include <string>

#include "tests/fuzz/structure/arrays.h"
#include "tests/fuzz/structure/bytes.h"

namespace headwater::fuzz {
namespace {

struct Npy {
  std::string descr = "<f4", order = "False", shape = "(1, 1, 2, 2)";
};

// The text of an entry of the header, with its end at `end`.
std::string entry(std::string_view header, std::string_view key, char end) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  const size_t begin = std::min(header.find(':', at) + 1, header.size());
  const size_t stop = std::min(header.find(end, begin), header.size());
  std::string out(header.substr(begin, stop - begin));
  out.erase(0, std::min(out.find_first_not_of(' '), out.size()));
  return end == ')' ? out + ')' : out;
}

std::string any_shape(Chance& chance) {
  std::string out = "(";
  for (size_t axes = chance.below(7); axes > 0; --axes)
    out += std::to_string(chance.one_in(8) ? edge_number(chance) : chance.below(6)) + ", ";
  return out + ")";
}

// How many numbers a shape has, if they are few.
size_t count_of(std::string_view shape) {
  size_t out = 1, axis = 0;
  bool inside = false;
  for (const char c : shape) {
    if (c >= '0' && c <= '9') {
      axis = std::min<size_t>(axis * 10 + static_cast<size_t>(c - '0'), 4096);
      inside = true;
    } else if (inside) {
      out = std::min<size_t>(out * axis, 4096);
      axis = 0;
      inside = false;
    }
  }
  return out;
}

// Equal weights: rows that sum to 1, as a reader wants them.
std::string equal_weights(const Npy& npy, size_t count, Chance& chance) {
  const size_t comma = npy.shape.substr(0, npy.shape.find_last_of("0123456789") + 1).rfind(',');
  const std::string last = comma == std::string::npos ? npy.shape : npy.shape.substr(comma);
  const float n = static_cast<float>(std::max<size_t>(count_of(last), 1));
  std::string out;
  for (size_t k = 0; k < count; ++k) {
    const float value = 1 / n;
    const double wide = 1 / static_cast<double>(n);
    if (npy.descr.find("f8") != std::string::npos)
      out.append(reinterpret_cast<const char*>(&wide), 8);
    else if (npy.descr.find("f4") != std::string::npos)
      out.append(reinterpret_cast<const char*>(&value), 4);
    else
      out += number(chance.below(3), 4);
  }
  return out;
}

}  // namespace

std::string changed_npy(std::string_view file, Chance& chance) {
  static constexpr const char* types[] = {
      "'<f4'", "'<f8'", "'<f2'", "'>f4'",          "'=f4'",  "'|f4'",
      "'<i8'", "'<i4'", "'|b1'", "'|u1'",          "'<U4'",  "'<U1048575'",
      "'|S3'", "'|O'",  "'<c8'", "[('a', '<f4')]", "'<f99'", "'V2'"};
  if (!file.starts_with("\x93NUMPY") || file.size() < 12) return std::string(file);
  int version = static_cast<unsigned char>(file[6]);
  const int width = version == 1 ? 2 : 4;
  const size_t length = number_at(file, 8, width), begin = 8 + static_cast<size_t>(width);
  if (begin > file.size() || length > file.size() - begin) return std::string(file);
  const std::string_view header = file.substr(begin, length);
  std::string data(file.substr(begin + length));
  Npy npy{entry(header, "'descr'", ','), entry(header, "'fortran_order'", ','),
          entry(header, "'shape'", ')')};
  bool fits = false;
  switch (chance.below(7)) {
    case 0:
      npy.descr = chance.pick(types);
      break;
    case 1:
      npy.order = npy.order == "True" ? "False" : "True";
      break;
    case 2:
      npy.shape = changed_bytes(npy.shape, chance);
      break;
    case 3:
      version = chance.one_in(4) ? static_cast<int>(chance.below(5)) : 3 - version;
      break;
    case 4:
      data = changed_bytes(data, chance);
      break;
    default:
      npy.shape = any_shape(chance);
      fits = !chance.one_in(4);
  }
  if (fits) data = equal_weights(npy, count_of(npy.shape), chance);
  std::string made = "{'descr': " + npy.descr + ", 'fortran_order': " + npy.order +
                     ", 'shape': " + npy.shape + ", }";
  if (chance.one_in(16)) made = changed_bytes(made, chance);
  const int size = version == 1 ? 2 : 4;
  while ((8 + static_cast<size_t>(size) + made.size() + 1) % 64 != 0) made += ' ';
  made += '\n';
  return "\x93NUMPY" + number(static_cast<uint64_t>(version), 1) + number(0, 1) +
         number(made.size(), size) + made + data;
}

}  // namespace headwater::fuzz
