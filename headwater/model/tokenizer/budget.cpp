#include "headwater/model/tokenizer/budget.h"

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// Real tokenizers make about ten times the bytes of a text in all their steps, and take some
// hundred steps a byte.
constexpr size_t always_bytes = 1 << 22, times_bytes = 256;
constexpr uint64_t always_steps = 1 << 22, times_steps = 1024;

}  // namespace

constinit thread_local Budget* Budget::open_ = nullptr;

Budget::Budget(size_t bytes, const std::string& tokenizer) : tokenizer_(tokenizer), text_(bytes) {
  if (!open_) open_ = this;
}

Budget::~Budget() {
  if (open_ == this) open_ = nullptr;
}

void Budget::spend_bytes(size_t bytes) {
  if (!open_) return;
  open_->bytes_ += bytes;
  const size_t most = always_bytes + times_bytes * open_->text_;
  if (open_->bytes_ > most)
    fail(
        "{}: makes more than {} bytes out of a text of {}, expected at most {} times as many in "
        "all "
        "its steps; check its \"normalizer\", \"pre_tokenizer\" and \"decoder\"",
        open_->tokenizer_, most, open_->text_, times_bytes);
}

void Budget::spend_steps(uint64_t steps, const std::string& what) {
  const size_t text = open_ ? open_->text_ : 0;
  const uint64_t before = open_ ? open_->steps_ : 0;
  if (open_) open_->steps_ += steps;
  if (before + steps > always_steps + times_steps * text)
    fail(
        "{}: gave up on a text after {} steps of its patterns, expected a few hundred per byte; "
        "simplify the pattern, which backtracks too much",
        what, before);
}

}  // namespace headwater
