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

// Each returns whole lines of valid UTF-8. Nothing in a token, a name or a note can move the
// cursor, change a colour or otherwise affect a terminal. With a filter, tokens left out have no
// line and no shade, and the output says which share of the row they had.

/// Row `r` of the values (of the last layer, if by layer). In colour: the running text in lines of
/// at most `width` columns, each token on a background shaded by its value (24-bit), then the
/// largest values. For a vision model the text is replaced by what it saw of the image, next to the
/// patches coloured by their values. Without colour: lines that start with "#", then a table of
/// index, token, value and a bar, ordered by position.
std::string terminal(const Attribution& result, int r, const Filter& filter, bool colour,
                     int width);

/// How well the panels agree, and row `r` of each side by side.
std::string terminal(const Comparison& result, int r, const Filter& filter);

/// The generated text, and for each of its tokens the prompt tokens that it depends on most; or, if
/// one token is selected, its row as above.
std::string terminal(const Generated& result, const Filter& filter, bool colour, int width);

/// Tables of methods by layers: correlations, hits and faithfulness, as mean and deviation.
std::string terminal(const Evaluation& result);

std::string terminal(const Metrics& result);
std::string terminal(const Info& result);

}  // namespace headwater
