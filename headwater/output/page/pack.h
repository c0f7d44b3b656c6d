// Matrices as a page holds them: small, and quick to unpack.
//
// Every number is stored over the largest of its row, which is kept in full:
//   f32   the number itself
//   f16   half precision: 11 bits, within 0.05 %
//   log8  a byte, of which 0 is zero. Without signs, byte q is 2^((q - 255) / 20): steps of 3.5 %,
//         so a number is within 1.8 % of its own size, and what is below 1/6500 of the row's
//         largest is zero. With signs, the lowest bit is the sign and q / 2 has steps of 7.2 %.
// The bytes are split into planes, first bytes of all numbers, then second ones; in a plane each
// row may be stored as the difference to the row above, if that is smaller. Rows of a rollout look
// alike.
#pragma once
#include <span>
#include <string>

#include "headwater/core/matrix.h"
#include "headwater/output/document.h"

namespace headwater {

enum class Coding { f32, f16, log8 };

/// The coding for `count` numbers in all: the best that keeps a page small.
Coding coding_for(size_t count);

/// Whether a matrix has a number below zero.
bool has_negative(std::span<const Matrix> matrices);

/// {rows, columns, coding, difference, scale, data}: the last two gzip and base64.
Document packed(const Matrix& matrix, Coding coding, bool with_signs);

}  // namespace headwater
