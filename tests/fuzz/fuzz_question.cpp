// A question to the server: any bytes are a question, or one sentence.
#include <string_view>

#include "headwater/core/error.h"
#include "server/question.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  try {
    const headwater::server::Question question = headwater::server::parse_question(
        std::string_view(reinterpret_cast<const char*>(data), size));
    headwater::server::command_of(question, true);
  } catch (const headwater::Error&) {
  }
  return 0;
}
