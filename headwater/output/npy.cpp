#include "headwater/output/npy.h"

#include <fmt/ranges.h>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// The arrays of a document: its values, or those of its panels.
std::vector<const Numbers*> values_of(const Document& document, const std::string& path) {
  for (const char* name : {"values", "M"})
    if (const Field* values = document.find(name)) return {&std::get<Numbers>(values->value)};
  const Field* panels = document.find("panels");
  if (!panels)
    fail("{}: {} has no array of values, expected a result with one; use .json", path,
         std::get<std::string>(document.find("method")->value));
  std::vector<const Numbers*> out;
  for (const Document& panel : std::get<std::vector<Document>>(panels->value))
    out.push_back(&std::get<Numbers>(panel.find("values")->value));
  return out;
}

std::vector<int64_t> shape_in_file(const Numbers& numbers) {
  std::vector<int64_t> shape = numbers.shape();
  if (shape.at(shape.size() - 2) == 1) shape.erase(shape.end() - 2);
  return shape;
}

}  // namespace

std::string npy_header(std::string_view type, const std::vector<int64_t>& shape) {
  const std::string axes = shape.size() == 1 ? fmt::format("({},)", shape[0])
                                             : fmt::format("({})", fmt::join(shape, ", "));
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, axes);
  constexpr size_t before = 10;  // magic, version and length
  const size_t length = (before + text.size() + 1 + 63) / 64 * 64 - before;
  text.resize(length - 1, ' ');
  text += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(length & 255);
  out += static_cast<char>(length >> 8);
  return out + text;
}

void write_rows(const Numbers& numbers, bool exact, const Sink& sink) {
  Vector room;
  std::vector<double> exact_room;
  for (size_t k = 0; k < numbers.matrices.size(); ++k)
    for (int i = 0; i < numbers.matrices[k].rows(); ++i) {
      if (!exact) {
        const std::span<const float> row = numbers.row(static_cast<int>(k), i, room);
        sink({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
      } else {
        const std::span<const double> row = numbers.exact_row(static_cast<int>(k), i, exact_room);
        sink({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
      }
    }
}

void write_npy(const std::vector<Document>& documents, bool list, const std::string& path,
               const Sink& sink) {
  std::vector<std::vector<const Numbers*>> arrays;
  for (const Document& document : documents) arrays.push_back(values_of(document, path));
  if (arrays.empty() || arrays.front().empty())
    fail("{}: there is no result, expected at least one; use .json", path);
  const std::vector<int64_t> one = shape_in_file(*arrays.front().front());
  for (const auto& panels : arrays)
    for (const Numbers* numbers : panels)
      if (panels.size() != arrays.front().size() || shape_in_file(*numbers) != one)
        fail(
            "{}: results have the shapes [{}] and [{}], expected equal ones for a single array; "
            "use .npz",
            path, fmt::join(one, ", "), fmt::join(shape_in_file(*numbers), ", "));
  bool exact = true;
  for (const auto& panels : arrays)
    for (const Numbers* numbers : panels) exact &= !numbers->exact.empty();
  std::vector<int64_t> shape;
  if (list) shape.push_back(static_cast<int64_t>(documents.size()));
  if (documents.front().find("panels"))
    shape.push_back(static_cast<int64_t>(arrays.front().size()));
  shape.insert(shape.end(), one.begin(), one.end());
  sink(npy_header(exact ? "<f8" : "<f4", shape));
  for (const auto& panels : arrays)
    for (const Numbers* numbers : panels) write_rows(*numbers, exact, sink);
}

}  // namespace headwater
