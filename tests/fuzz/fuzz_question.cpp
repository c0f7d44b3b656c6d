// A question to the server: any bytes are a question, or one sentence.
#include <string_view>

#include "headwater/core/error.h"
#include "server/question.h"
#include "tests/fuzz/structure/json.h"

namespace {
constexpr std::string_view words =
    "model method text pair item example image file name data row layers layer fuse residual "
    "discard keep target against rule count explain by other rollout flow raw average "
    "gradient relevance generate compare mean max min best cls last mask frozen attnlrp "
    "integrated discard head evolution 0:1 -1: 0.5 1,2 YQ== a.npz a.png facts";
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const headwater::server::Question question = headwater::server::parse_question(
        std::string_view(reinterpret_cast<const char*>(data), size));
    headwater::server::command_of(question, true);
  } catch (const headwater::Error&) {
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed, headwater::fuzz::json_change(words));
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t most,
                                            unsigned seed) {
  return headwater::fuzz::cross_json(data, size, other, other_size, out, most, seed);
}
