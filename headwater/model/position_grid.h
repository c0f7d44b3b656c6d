// A table of positions on a grid, stretched to another grid.
#pragma once
#include "headwater/core/matrix.h"
#include "headwater/model/architecture.h"

namespace headwater {

/// `table` has a row for each place of a square grid of `side` x side, row by row; the result one
/// for each of rows x columns. Bicubic as torch.nn.functional.interpolate does it, align_corners
/// false: without antialias 4 x 4 neighbours with a = -0.75, with it a = -0.5 and a support that
/// grows where the grid shrinks.
Matrix stretch_grid(MatrixView table, int side, int rows, int columns, ImageEmbedding::Resize how);

}  // namespace headwater
