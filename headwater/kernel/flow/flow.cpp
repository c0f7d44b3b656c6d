#include "headwater/kernel/flow/flow.h"

#include "headwater/kernel/kernel.h"

namespace headwater::kernel {

const FlowTable& flow_table() {
  static const std::vector<FlowTable> all = cpu_flow_tables();
  for (const FlowTable& one : all)
    if (name() == one.name) return one;
  return flow_reference();
}

}  // namespace headwater::kernel
