// Rotary positions, as in config.json.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/model/config.h"

namespace headwater {

/// Angle of pair d at position t: t * frequency(d). The kinds differ in the frequencies (theta is
/// the base, size that of a head):
///   default  theta^(-2d / size)
///   linear   the same divided by factor
///   dynamic  theta grows if an input is longer than the model's positions
///   llama3   low frequencies are divided by factor, high ones kept, those between blended
///   yarn     the same with a linear ramp; cosines and sines are multiplied by a factor
///   longrope each pair is divided by a factor of its own, by another one if an input is longer
///            than the original positions; cosines and sines are multiplied by a factor
struct Rope {
  std::string kind = "default";
  int size = 0;  // of the rotated part of a head: twice the number of pairs
  double theta = 10000;
  double factor = 1;
  double original_positions = 0;           // dynamic: the model's own; others: before scaling
  double low_factor = 1, high_factor = 4;  // llama3
  double beta_fast = 32, beta_slow = 1;    // yarn
  bool truncate = true;                    // yarn
  std::vector<double> short_factors, long_factors;  // longrope
  double scale = 1;                                 // of cosines and sines
};

/// Reads both spellings: rope_theta with rope_scaling, or rope_parameters. `share` is the part of a
/// head that is rotated if config.json does not say, in a family that may rotate only a part.
/// `theta` is the family's own. Throws Error for a kind that is not listed above, and for a part if
/// there is no `share`.
Rope read_rope(const Config& config, int head_size, int positions, std::optional<double> share = {},
               double theta = 10000);

/// The rope of layers with a window, if rope_parameters or rope_local_base_freq gives them their
/// own.
Rope read_window_rope(const Config& config, int head_size, int positions, double theta = 10000);

/// Cosines and sines, n x size / 2 each, for positions first ... first + n - 1 of an input with
/// `length` tokens in all. Frequencies and angles are rounded to float as PyTorch rounds them.
struct Angles {
  Matrix cosine, sine;
};
Angles angles(const Rope& rope, int first, int n, int length);

}  // namespace headwater
