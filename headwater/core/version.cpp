#include "headwater/core/version.h"

namespace headwater {

const char* version() { return HEADWATER_VERSION; }

}  // namespace headwater
