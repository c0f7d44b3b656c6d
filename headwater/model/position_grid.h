// Resizes a table of positions to another grid.
#pragma once
#include "headwater/core/matrix.h"
#include "headwater/model/architecture.h"

namespace headwater {

/// `table` has a row for each place of a `side` x side grid, row by row; the result has one for
/// each of rows x columns. Bicubic like torch.nn.functional.interpolate with align_corners false:
/// without antialias 4 x 4 neighbours and a = -0.75; with it a = -0.5 and a support that grows if
/// the grid shrinks.
Matrix stretch_grid(MatrixView table, int side, int rows, int columns, ImageEmbedding::Resize how);

}  // namespace headwater
