// Compiled kernels on disk, so that only the first run on a machine compiles: in
// $HEADWATER_CACHE, or $XDG_CACHE_HOME/headwater, or ~/.cache/headwater.
#pragma once
#include <functional>
#include <string>

namespace headwater::kernel::cuda {

/// The machine code for `key`, which says all that it depends on: from the cache, or from `make`,
/// which is then kept. A file's name is a hash of the key; the file holds the key too, so that
/// another kernel's code is never taken. A cache that cannot be written is no error.
std::string cached(const std::string& key, const std::function<std::string()>& make);

}  // namespace headwater::kernel::cuda
