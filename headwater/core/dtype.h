// The number types of files and arrays, and how to read one number.
#pragma once
#include <cstddef>
#include <string_view>

namespace headwater {

enum class DType { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// Bytes of one number.
size_t size_of(DType type);

/// "f16", "bf16", ..., "bool".
std::string_view name_of(DType type);

/// Whether attention may have this type: f16, bf16, f32 or f64.
bool is_float(DType type);

/// The number at `bytes`, which need not be aligned. Little endian, like all our formats.
double number_at(DType type, const std::byte* bytes);

}  // namespace headwater
