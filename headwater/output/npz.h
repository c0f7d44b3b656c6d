// NumPy's .npz: everything in a result's JSON, as named arrays.
#pragma once
#include <string>
#include <vector>

#include "headwater/output/document.h"
#include "headwater/output/sink.h"

namespace headwater {

/// Values are float32, integers int64, other numbers float64, texts NumPy's unicode; options,
/// source, filter and timing are JSON texts. Panels are named "0/values", "1/values", ...; each
/// metric has an array ("metrics/mean_attention"); with `list`, the names of document K start with
/// "K/". numpy.load reads all of it without allow_pickle. NumPy pads all texts to the longest one:
/// throws Error, which names `path`, if that would not fit into 1 GiB.
void write_npz(const std::vector<Document>& documents, bool list, const std::string& path,
               const Sink& sink);

}  // namespace headwater
