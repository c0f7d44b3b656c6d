// NumPy's .npz: everything that the JSON of a result holds, as named arrays.
#pragma once
#include <string>
#include <vector>

#include "headwater/output/document.h"
#include "headwater/output/sink.h"

namespace headwater {

/// Values are float32, whole numbers int64, other numbers float64, texts NumPy's unicode; options,
/// source, filter and timing are texts of JSON. Panels are named "0/values", "1/values", ...;
/// metrics have an array each ("metrics/mean_attention"); with `list` the names of document K begin
/// with "K/". numpy.load reads all of it without allow_pickle. Throws Error, which names `path`,
/// where one text of many is so long that NumPy's form, in which all are as long as the longest,
/// would not fit into 1 GiB.
void write_npz(const std::vector<Document>& documents, bool list, const std::string& path,
               const Sink& sink);

}  // namespace headwater
