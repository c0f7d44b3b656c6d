// Files of arrays: npy, a zip of them (npz), safetensors, torch's pickles.
#pragma once
#include "tests/fuzz/structure/chance.h"

namespace headwater::fuzz {

/// The type, the order, the shape or the numbers; mostly with as many bytes as the shape needs.
std::string changed_npy(std::string_view file, Chance& chance);

/// The header as JSON, with its length and, mostly, with offsets that fit the shapes.
std::string changed_safetensors(std::string_view file, Chance& chance);

/// One instruction of a pickle.
std::string changed_pickle(std::string_view pickle, Chance& chance);

}  // namespace headwater::fuzz
