// What all fuzz targets do: hand the bytes to a format's reader as a file, then read all of it.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "headwater/core/error.h"
#include "headwater/core/threads.h"
#include "headwater/source/attention_batch.h"

namespace headwater {

/// Reads layers of the first and last item in both directions; of large inputs only a few, so that
/// many inputs are tried. Anything but an Error or a map of finite weights that are not negative
/// ends the process.
inline void read_all(AttentionBatch& batch) {
  for (int k : {0, batch.size() - 1}) {
    const auto source = batch.item(k);
    if (source->description().tokens.size() > 100) continue;
    const int layers = std::min(source->description().layers, 10);
    for (Direction direction : {Direction::up, Direction::down})
      source->layers(Fuse::mean, {0, layers}, direction, [](int, MatrixSpan map) {
        for (int i = 0; i < map.rows(); ++i)
          for (float value : map.row(i))
            if (!(value >= 0 && std::isfinite(value))) std::abort();
      });
  }
}

/// `read` is a format's reader, which takes a path: here that of a file in memory.
inline void read_bytes(const uint8_t* data, size_t size, Arrays (*read)(const std::string& path)) {
  set_threads(1);
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  ReadOptions strict, lenient;
  lenient.any_sums = lenient.nan_identity = true;
  for (const ReadOptions& options : {strict, lenient}) {
    try {
      AttentionBatch batch(read(path), options);
      read_all(batch);
    } catch (const Error& error) {
      if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
    }
  }
  close(file);
}

}  // namespace headwater
