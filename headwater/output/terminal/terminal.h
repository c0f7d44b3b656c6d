// Results for people at a terminal, and plain tables for pipes.
#pragma once
#include <string>

#include "headwater/result/attribution.h"
#include "headwater/result/comparison.h"
#include "headwater/result/evaluation.h"
#include "headwater/result/filter.h"
#include "headwater/result/generated.h"
#include "headwater/result/info.h"
#include "headwater/result/metrics.h"

namespace headwater {

// Each gives whole lines of valid UTF-8. Nothing in a token, a name or a note can move the cursor,
// change a colour or do anything else to a terminal. With a filter, tokens left out have no line
// and no shade, and the share of the row that they had is said.

/// Row `r` of the values (of the last layer, if by layer). In colour: the running text, each token
/// on a background shaded by its value (24-bit), in lines of at most `width` columns, then the
/// largest values; for a vision model, in place of the text, what it saw of the image and beside it
/// the patches, coloured by their values. Else a table: index, token, value and a bar, ordered by
/// position, after lines that begin with "#".
std::string terminal(const Attribution& result, int r, const Filter& filter, bool colour,
                     int width);

/// How far the panels agree, and row `r` of each side by side.
std::string terminal(const Comparison& result, int r, const Filter& filter);

/// The text that was generated, and for each of its tokens the prompt tokens that it leans on most;
/// or, where one token is shown, its row as above.
std::string terminal(const Generated& result, const Filter& filter, bool colour, int width);

/// Tables of methods by layers: correlations, hits and faithfulness, as mean and deviation.
std::string terminal(const Evaluation& result);

std::string terminal(const Metrics& result);
std::string terminal(const Info& result);

}  // namespace headwater
