// A part of an object that is made when it is first asked for, by whichever thread asks.
#pragma once
#include <memory>
#include <mutex>

namespace headwater {

/// Not std::call_once: an exception that leaves it goes through C code which may need memory to
/// continue, and aborts the process if there is none.
template <class Part>
class OnFirstUse {
 public:
  /// The part, or null if `make` returned null. If `make` throws, the next call tries again.
  template <class Make>
  const Part* get(const Make& make) const {
    const std::lock_guard lock(mutex_);
    if (!made_) {
      part_ = make();
      made_ = true;
    }
    return part_.get();
  }

 private:
  mutable std::mutex mutex_;
  mutable bool made_ = false;
  mutable std::unique_ptr<const Part> part_;
};

}  // namespace headwater
