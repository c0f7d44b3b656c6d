// NumPy's .npy: one array after a text header.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/output/document.h"
#include "headwater/output/sink.h"

namespace headwater {

/// The header of an array in C order. `type` is NumPy's name ("<f4"); `shape` is empty for a single
/// number. The numbers follow at a multiple of 64 bytes.
std::string npy_header(std::string_view type, const std::vector<int64_t>& shape);

/// Writes the values as float32 (float64 if all of them are exact doubles): [rows, n], or [n] for a
/// single row. By-layer results, the panels of a comparison, and several documents each add a
/// leading axis (`list`: also for one document). Throws Error, which names `path`, for documents
/// without values and for shapes that do not fit into one array.
void write_npy(const std::vector<Document>& documents, bool list, const std::string& path,
               const Sink& sink);

/// The bytes of all rows, without a header, as float32 or, with `exact`, as float64.
void write_rows(const Numbers& numbers, bool exact, const Sink& sink);

}  // namespace headwater
