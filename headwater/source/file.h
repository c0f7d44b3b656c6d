// Attention from files, and from arrays in memory.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/core/dtype.h"
#include "headwater/source/read_options.h"
#include "headwater/source/source.h"

namespace headwater {

/// The attention in a file; the ending gives the format: .npy .npz .safetensors .json
/// (docs/formats.md). Maps the file and checks its headers; a layer is read when a method asks for
/// it. Throws Error.
std::unique_ptr<Batch> open_file(const std::string& path, const ReadOptions& options = {});

/// Whether the name ends like a file of attention.
bool is_attention_file(const std::string& path);

/// A caller's array: C order, little endian, f16, bf16, f32 or f64.
struct ArrayView {
  DType type = DType::f32;
  std::vector<int64_t> shape;
  const void* data = nullptr;
};

/// Layers in the caller's memory: one array for each, or a single one with all layers; shapes as in
/// files. The arrays are borrowed and must outlive the batch. Throws Error as open_file does.
std::unique_ptr<Batch> from_memory(const std::vector<ArrayView>& layers,
                                   const std::string& name = "memory",
                                   const ReadOptions& options = {});

}  // namespace headwater
