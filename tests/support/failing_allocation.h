// Memory that runs out at a chosen moment.
#pragma once

namespace headwater {

/// While it lives, `new` on this thread succeeds `successes` times and then throws std::bad_alloc.
class FailingAllocation {
 public:
  explicit FailingAllocation(long successes);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
};

}  // namespace headwater
