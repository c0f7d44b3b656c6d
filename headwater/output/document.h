// A result as an ordered tree of named values, from which JSON and .npz are written.
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

/// Values with two axes, or three if stacked. Borrowed: valid only as long as the result.
struct Numbers {
  std::span<const Matrix> matrices;  // all of one shape; exactly one unless stacked
  bool stacked = false;
  std::vector<bool> kept;               // if not empty: rows are renormalised over these columns
  std::span<const DoubleMatrix> exact;  // the same in double, if floats are not enough
  std::vector<bool> kept_rows = {};     // if not empty: columns are renormalised over these rows,
  std::vector<std::vector<double>> column_sums = {};  //   by these sums of each matrix

  std::vector<int64_t> shape() const;
  /// Sets kept_rows and column_sums.
  void renormalise_columns(std::vector<bool> rows);
  /// Row i of matrix k as written to the file; `room` holds it if it has to be computed.
  std::span<const float> row(int k, int i, Vector& room) const;
  /// The same for `exact`.
  std::span<const double> exact_row(int k, int i, std::vector<double>& room) const;
};

struct Field;

struct Document {
  std::vector<Field> fields;
  bool apart = false;  // .npz has an array for each field, not one text for all

  /// The field with that name, or null.
  const Field* find(std::string_view name) const;
};

/// A list of pairs of numbers.
using Pairs = std::vector<std::array<int, 2>>;

using Value = std::variant<std::string, double, int64_t, bool, std::vector<std::string>,
                           std::vector<int>, std::vector<float>, std::vector<double>, Pairs,
                           Numbers, Document, std::vector<Document>>;

struct Field {
  std::string name;
  Value value;
};

/// Everything that the result records, under the names of its JSON. Borrows the matrices of
/// `result`. With a filter: which tokens it left out, and their share of each row (of the last
/// matrix).
Document document_of(ResultView result, const WriteOptions& options);

}  // namespace headwater
