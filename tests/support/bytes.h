// Bytes of hand-made files: numbers of every type, and files that are gone after the test.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "headwater/core/dtype.h"

namespace headwater::test {

using Bytes = std::string;

/// Appends `value` as it lies in memory, little endian.
template <class T>
void append(Bytes& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

/// The nearest number of `type`, ties to even.
void append_number(Bytes& bytes, DType type, double value);
Bytes encode(DType type, const std::vector<double>& values);

/// A folder of its own for each test, removed with all that is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  /// Writes a file and gives its path.
  std::string write(const std::string& name, const Bytes& bytes) const;
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// All bytes of a file.
Bytes read_file(const std::string& path);

}  // namespace headwater::test
