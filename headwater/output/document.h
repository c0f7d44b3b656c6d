// A result as an ordered tree of named values: what JSON and .npz hold, before either of them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "headwater/core/double_matrix.h"
#include "headwater/core/matrix.h"
#include "headwater/output/write_options.h"
#include "headwater/result/result.h"

namespace headwater {

/// Values with two axes, or three if stacked. Borrowed: it dies with the result it was made
/// from.
struct Numbers {
  std::span<const Matrix> matrices;  // all of one shape; exactly one unless stacked
  bool stacked = false;
  std::vector<bool> kept;               // not empty: rows are renormalised over these columns
  std::span<const DoubleMatrix> exact;  // the same in double, where there is more than floats

  std::vector<int64_t> shape() const;
  /// Row i of matrix k as it is to be written; `room` holds it where it had to be computed.
  std::span<const float> row(int k, int i, Vector& room) const;
  /// The same of `exact`.
  std::span<const double> exact_row(int k, int i, std::vector<double>& room) const;
};

struct Field;

struct Document {
  std::vector<Field> fields;
  bool apart = false;  // each field counts for itself: .npz has an array for each, not one text

  /// The field of that name, or null.
  const Field* find(std::string_view name) const;
};

/// A list of two numbers each.
using Pairs = std::vector<std::array<int, 2>>;

using Value = std::variant<std::string, double, int64_t, bool, std::vector<std::string>,
                           std::vector<int>, std::vector<float>, std::vector<double>, Pairs,
                           Numbers, Document, std::vector<Document>>;

struct Field {
  std::string name;
  Value value;
};

/// All that the result records, under the names that its JSON has. Borrows the matrices of
/// `result`. With a filter: which tokens it left out and how much of each row (of the last matrix)
/// went with them.
Document document_of(ResultView result, const WriteOptions& options);

}  // namespace headwater
