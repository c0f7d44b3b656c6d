#include "python/binding/arrays.h"

#include "headwater/core/fail.h"

namespace headwater::python {

DType type_of(nb::dlpack::dtype type, const std::string& what) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(type.code);
  if (code == Code::Float && type.bits == 16) return DType::f16;
  if (code == Code::Float && type.bits == 32) return DType::f32;
  if (code == Code::Float && type.bits == 64) return DType::f64;
  if (code == Code::Bfloat && type.bits == 16) return DType::bf16;
  fail(
      "{}: holds numbers of {} bits that are not floats, expected f16, bf16, f32 or f64; convert "
      "it first",
      what, type.bits);
}

}  // namespace headwater::python
