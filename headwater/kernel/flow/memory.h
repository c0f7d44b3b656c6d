// Integers for the flow solver: 64-byte aligned, zero at first, large arrays on huge pages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace headwater::kernel {

class IntArray {
 public:
  IntArray() = default;
  explicit IntArray(size_t count);
  IntArray(int count) : IntArray(static_cast<size_t>(count)) {}
  /// Keeps the old numbers; new ones are zero.
  void resize(size_t count);
  int32_t* data() { return data_.get(); }
  const int32_t* data() const { return data_.get(); }
  size_t size() const { return size_; }
  int32_t& operator[](size_t i) { return data_[i]; }
  int32_t operator[](size_t i) const { return data_[i]; }
  int32_t& operator[](int i) { return data_[static_cast<size_t>(i)]; }
  int32_t operator[](int i) const { return data_[static_cast<size_t>(i)]; }

 private:
  struct Free {
    void operator()(int32_t* memory) const;
  };
  std::unique_ptr<int32_t[], Free> data_;
  size_t size_ = 0;
};

}  // namespace headwater::kernel
