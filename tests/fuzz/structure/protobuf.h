// A protocol buffer as fields, those inside of fields too.
#pragma once
#include "tests/fuzz/structure/chance.h"

namespace headwater::fuzz {

std::string changed_protobuf(std::string_view bytes, Chance& chance);

}  // namespace headwater::fuzz
