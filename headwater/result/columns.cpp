#include "headwater/result/columns.h"

#include "headwater/core/fail.h"

namespace headwater {

void need_all_columns(const Attribution& result, std::string_view what) {
  if (result.columns.empty()) return;
  fail_usage("{}: needs all input tokens, expected more than token {} alone; leave out `column`",
             what, result.columns.front());
}

}  // namespace headwater
