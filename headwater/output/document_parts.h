// The parts of documents that several results have.
#pragma once
#include <string>
#include <vector>

#include "headwater/output/document.h"
#include "headwater/result/attribution.h"
#include "headwater/result/generated.h"

namespace headwater {

/// Appends a field.
void add(Document& document, std::string name, Value value);

Document options_document(const Options& options, Range layers);
Document source_document(const Description& source);
Document model_document(const ModelFacts& model);
Document timing_document(const Timing& timing);
Document logit_document(const Logit& logit);
Document target_document(const Target& target);
Document prediction_document(const Prediction& prediction);
/// Columns, one entry a generated token.
Document choices_document(const std::vector<WordChoice>& choices);

}  // namespace headwater
