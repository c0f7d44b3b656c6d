#include "headwater/source/axes.h"

#include <algorithm>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// More than any model has. A few bytes of a deflated file can claim millions.
constexpr int most_layers = 10'000;

std::string spaced(const std::string& letters) {
  std::string text;
  for (char c : letters) text += text.empty() ? std::string{c} : std::string{' ', c};
  return text;
}

// "LHnn" from "LHnn", "L H n n" or "L,H,n,n".
std::string read_letters(const std::string& axes) {
  std::string letters;
  for (char c : axes) {
    if (c == ' ' || c == ',') continue;
    const bool known = c == 'L' || c == 'B' || c == 'H' || c == 'n';
    const long most = c == 'n' ? 2 : 1;
    if (!known || std::count(letters.begin(), letters.end(), c) >= most)
      fail_usage(
          "`axes` '{}': letter '{}' is {}, expected L, B and H at most once each and n twice; for "
          "example LHnn",
          axes, c, known ? "given too often" : "unknown");
    letters += c;
  }
  if (std::count(letters.begin(), letters.end(), 'n') != 2)
    fail_usage("`axes` '{}': n is not given twice, expected rows and columns; for example LHnn",
               axes);
  return letters;
}

std::string default_letters(const Tensor& tensor, bool single, const std::string& what) {
  const size_t count = tensor.shape.size();
  if (count == 2) return "nn";
  if (single && count == 3) return "Lnn";
  if (single && count == 4) return "LHnn";
  if (single && count == 5) return "LBHnn";
  if (!single && count == 3) return "Hnn";
  if (!single && count == 4) return "BHnn";
  fail(
      "{}: has {} axes {}, expected {}; name them with `axes`, or leave out arrays that are not "
      "attention",
      what, count, shape_text(tensor.shape),
      single ? "[n, n], [L, n, n], [L, H, n, n] or [L, B, H, n, n]"
             : "[n, n], [H, n, n] or [B, H, n, n]");
}

std::vector<uint64_t> steps_of(const Tensor& tensor) {
  std::vector<uint64_t> steps(tensor.shape.size());
  uint64_t step = 1;
  for (size_t k = 0; k < steps.size(); ++k) {
    const size_t axis = tensor.fortran ? k : steps.size() - 1 - k;
    steps[axis] = step;
    step *= static_cast<uint64_t>(tensor.shape[axis]);
  }
  return steps;
}

}  // namespace

Stack read_axes(const Arrays& arrays, const std::string& axes) {
  if (arrays.layers.empty())
    fail("{}: has no attention, expected an array for each layer; check what was saved",
         arrays.name);
  Stack stack;
  stack.single = arrays.layers.size() == 1;
  const std::string asked = axes.empty() ? "" : read_letters(axes);
  for (size_t a = 0; a < arrays.layers.size(); ++a) {
    const Tensor& tensor = arrays.layers[a];
    const std::string what =
        stack.single ? arrays.name : fmt::format("{}: array '{}'", arrays.name, tensor.name);
    if (!is_float(tensor.type))
      fail(
          "{}: holds numbers of type {}, expected f16, bf16, f32 or f64; leave out arrays that are "
          "not attention",
          what, name_of(tensor.type));
    const std::string letters = asked.empty() ? default_letters(tensor, stack.single, what) : asked;
    if (letters.size() != tensor.shape.size())
      fail("{}: has {} axes {}, expected {} for `axes` {}; name every axis", what,
           tensor.shape.size(), shape_text(tensor.shape), letters.size(), letters);
    if (!stack.single && letters.find('L') != std::string::npos)
      fail(
          "{}: is one of {} arrays, expected no axis L where each array is a layer; leave L out of "
          "`axes`",
          what, arrays.layers.size());

    LayerPlace place;
    place.array = static_cast<int>(a);
    const std::vector<uint64_t> steps = steps_of(tensor);
    int layers = 1, items = 1, rows = 0, columns = 0;
    uint64_t layer_step = 0;
    for (size_t k = 0; k < letters.size(); ++k) {
      const int length = static_cast<int>(tensor.shape[k]);
      switch (letters[k]) {
        case 'L':
          layers = length;
          layer_step = steps[k];
          break;
        case 'B':
          items = length;
          place.item = steps[k];
          break;
        case 'H':
          place.heads = length;
          place.head = steps[k];
          break;
        default:
          (rows == 0 ? rows : columns) = length;
          (columns == 0 ? place.row : place.column) = steps[k];
      }
    }
    if (rows != columns)
      fail(
          "{}: its maps are {} x {} (shape {}, axes {}), expected square ones; name the axes with "
          "`axes`",
          what, rows, columns, shape_text(tensor.shape), spaced(letters));
    if (layers > most_layers)
      fail("{}: has {} layers (shape {}, axes {}), expected at most {}; name the axes with `axes`",
           what, layers, shape_text(tensor.shape), spaced(letters), most_layers);
    if (a > 0 && (rows != stack.n || items != stack.items))
      fail("{}: has {} tokens and {} items, expected {} and {} as in array '{}'; layers must agree",
           what, rows, items, stack.n, stack.items, arrays.layers[0].name);
    stack.n = rows;
    stack.items = items;
    if (a == 0) stack.axes = spaced(letters);
    for (int l = 0; l < layers; ++l) {
      place.offset = static_cast<uint64_t>(l) * layer_step;
      stack.layers.push_back(place);
    }
  }
  return stack;
}

}  // namespace headwater
