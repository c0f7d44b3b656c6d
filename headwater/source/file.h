// Attention from files, and from arrays in memory.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/core/dtype.h"
#include "headwater/source/read_options.h"
#include "headwater/source/source.h"

namespace headwater {

/// The attention in a file, by its ending: .npy .npz .safetensors .json (see docs/formats.md). The
/// file is mapped and its headers are checked; attention is read layer by layer when a method asks.
/// Throws Error.
std::unique_ptr<Batch> open_file(const std::string& path, const ReadOptions& options = {});

/// Whether the name has the ending of a file of attention.
bool is_attention_file(const std::string& path);

/// A caller's array: C order, little endian, f16, bf16, f32 or f64.
struct ArrayView {
  DType type = DType::f32;
  std::vector<int64_t> shape;
  const void* data = nullptr;
};

/// Layers that a caller holds in memory: one array for each, or a single one with all; shapes as in
/// files. The arrays are borrowed and must outlive the batch. Throws Error as open_file does.
std::unique_ptr<Batch> from_memory(const std::vector<ArrayView>& layers,
                                   const std::string& name = "memory",
                                   const ReadOptions& options = {});

}  // namespace headwater
