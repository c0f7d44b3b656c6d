// Which of the page's scripts a result needs: a page holds no others.
#pragma once
#include <string>
#include <vector>

#include "headwater/output/document.h"

namespace headwater {

/// Names of files in viewer/built, in the order in which they must run, for page_contents() of some
/// results.
std::vector<std::string> page_scripts(const std::vector<Document>& items);

}  // namespace headwater
