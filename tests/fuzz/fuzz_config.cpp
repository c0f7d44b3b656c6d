// config.json: any bytes are a family that is described, or one sentence.
#include <string_view>

#include "headwater/core/error.h"
#include "headwater/model/architecture.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  try {
    const headwater::Architecture model = headwater::describe(headwater::Config::parse(
        std::string_view(reinterpret_cast<const char*>(data), size), "config.json"));
    model.layer(model.layers - 1);
    if (model.rope && model.rope->size <= 4096) headwater::angles(*model.rope, 0, 3, 7);
  } catch (const headwater::Error&) {
  }
  return 0;
}
