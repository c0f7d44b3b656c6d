// A document as JSON.
#pragma once
#include <string>
#include <vector>

#include "headwater/output/document.h"
#include "headwater/output/sink.h"

namespace headwater {

/// Writes the document: one field a line, one row of values a line, and a final line end. The
/// output is always valid UTF-8 and valid JSON: bytes that are not UTF-8 become U+FFFD, and a
/// number that is not finite becomes null. Numbers are the shortest that read back as the same
/// float (double outside values). Holds one row of text at a time.
void write_json(const Document& document, const Sink& sink);

/// Writes the documents as a list.
void write_json(const std::vector<Document>& documents, const Sink& sink);

/// The document on one line, without a line end.
std::string json_line(const Document& document);

}  // namespace headwater
