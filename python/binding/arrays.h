// Arrays of Python as the engine's views.
#pragma once
#include <nanobind/ndarray.h>

#include <string>

#include "headwater/core/dtype.h"
#include "headwater/core/matrix.h"

namespace headwater::python {

namespace nb = nanobind;

using In = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline MatrixView view_of(const In& array) {
  return {array.data(), static_cast<int>(array.shape(0)), static_cast<int>(array.shape(1))};
}

inline MatrixSpan span_of(const Out& array) {
  return {array.data(), static_cast<int>(array.shape(0)), static_cast<int>(array.shape(1))};
}

/// Throws Error, naming `what`, unless the numbers are f16, bf16, f32 or f64.
DType type_of(nb::dlpack::dtype type, const std::string& what);

}  // namespace headwater::python
