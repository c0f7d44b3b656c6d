// A document as JSON.
#pragma once
#include <string>
#include <vector>

#include "headwater/output/document.h"
#include "headwater/output/sink.h"

namespace headwater {

/// Writes the document: a field a line, a row of values a line, a final line end. Always valid
/// UTF-8 and valid JSON: bytes that are no UTF-8 become U+FFFD, a number that is not finite becomes
/// null. Numbers are the shortest that read back as the same float (double outside of values).
/// Holds one row of text at a time.
void write_json(const Document& document, const Sink& sink);

/// The documents as a list.
void write_json(const std::vector<Document>& documents, const Sink& sink);

/// The document on one line, without a line end.
std::string json_line(const Document& document);

}  // namespace headwater
