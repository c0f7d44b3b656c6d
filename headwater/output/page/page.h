// A page that needs no other files: one HTML file with its data, style and scripts; and the page of
// a server, which requests its data.
//
// The content security policy allows the scripts and the style by their hashes, and pictures and a
// worker from data. Nothing else can run, and no request leaves the page.
// Everything that comes from tokens is JSON in which <, > and & are escaped.
#pragma once
#include <string>
#include <vector>

#include "headwater/output/sink.h"
#include "headwater/output/write_options.h"
#include "headwater/result/result.h"

namespace headwater {

/// Writes one page for all results; the page has a list to choose from if there are several.
void write_page(const std::vector<ResultView>& results, const WriteOptions& options,
                const Sink& sink);

/// What such a page holds, as JSON on one line: a server sends it to a page that is open already.
std::string page_data(const std::vector<ResultView>& results, const WriteOptions& options);

/// The page of a server. It holds no result, and may send requests only to where it came from.
void write_server_page(const Sink& sink);
/// Its policy for the response's header, which also keeps it out of frames.
std::string server_page_policy();

}  // namespace headwater
