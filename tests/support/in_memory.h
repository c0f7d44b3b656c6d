// Attention of a test as a batch in memory.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/source/file.h"
#include "tests/support/attention.h"

namespace headwater::test {

/// Owns the numbers, one f32 array [L, B, H, n, n].
class InMemory {
 public:
  explicit InMemory(const Attention& attention, const ReadOptions& options = {})
      : numbers_(attention.values.begin(), attention.values.end()),
        batch_(from_memory({{DType::f32, shape_of(attention, "LBHnn"), numbers_.data()}}, "test",
                           options)) {}
  InMemory(const InMemory&) = delete;
  InMemory& operator=(const InMemory&) = delete;

  Batch& batch() { return *batch_; }
  std::unique_ptr<Source> item(int k = 0) { return batch_->item(k); }

 private:
  std::vector<float> numbers_;
  std::unique_ptr<Batch> batch_;
};

}  // namespace headwater::test
