// Matrices as a page holds them: small, and quick to unpack.
//
// Every number is stored over the largest of its row, which is kept in full:
//   f32   the number itself
//   f16   half precision: 11 bits, within 0.05 %
//   root8 a byte, the root of the number in steps of 1/K: byte q is (q / K)^2. K is 255, so a
//   number
//         is within 0.4 % of its row's largest, and much closer if it is small itself. Numbers that
//         do not pack well get a K of 127, 63 or 31 (0.8, 1.6, 3.2 %), so that a page stays small.
//         With signs K is at most 127, and the lowest bit is the sign.
//   root16 the same in two bytes, with a K of 1023: within 0.1 %
// The bytes are split into planes, first bytes of all numbers, then second ones; in a plane each
// row may be stored as the difference to the row above, if that is smaller. Rows of a rollout look
// alike.
#pragma once
#include <span>
#include <string>

#include "headwater/core/matrix.h"
#include "headwater/output/document.h"

namespace headwater {

enum class Coding { f32, f16, root16, root8 };

/// The coding for `count` numbers in all: the best that keeps a page small. packed() takes root16
/// in place of f16 for a large matrix that does not pack well.
Coding coding_for(size_t count);

/// Whether a matrix has a number below zero.
bool has_negative(std::span<const Matrix> matrices);

/// {rows, columns, coding, steps, difference, scale, data}: the last two gzip and base64.
Document packed(const Matrix& matrix, Coding coding, bool with_signs);

}  // namespace headwater
