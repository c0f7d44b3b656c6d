// A zip file as members: one changes, and checksums, sizes and the directory fit again.
#pragma once
#include "tests/fuzz/structure/chance.h"

namespace headwater::fuzz {

/// `change` is for the bytes of a member, inflated.
Change zip_change(Change change);

}  // namespace headwater::fuzz
