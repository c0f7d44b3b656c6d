// A page that needs nothing: one HTML file with its data, its style and its script.
//
// The content security policy allows the two scripts and the style by their hashes, pictures from
// data, and a worker from the script itself. Nothing else can run, and no request leaves the page.
// Everything that comes from tokens is JSON in which <, > and & are escaped.
#pragma once
#include <vector>

#include "headwater/output/sink.h"
#include "headwater/output/write_options.h"
#include "headwater/result/result.h"

namespace headwater {

/// Writes one page for all results; the page has a list to choose from if there are several.
void write_page(const std::vector<ResultView>& results, const WriteOptions& options,
                const Sink& sink);

}  // namespace headwater
