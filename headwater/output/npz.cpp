#include "headwater/output/npz.h"

#include "headwater/core/fail.h"
#include "headwater/core/utf8.h"
#include "headwater/output/json.h"
#include "headwater/output/npy.h"
#include "headwater/output/zip.h"

namespace headwater {
namespace {

template <class Number>
std::string_view bytes_of(const Number* numbers, size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(Number)};
}

class ArrayWriter {
 public:
  ArrayWriter(ZipWriter& zip, const std::string& path) : zip_(zip), path_(path) {}

  void add(const std::string& name, const Document& document) {
    for (const Field& field : document.fields)
      std::visit([&](const auto& value) { put(name + field.name, value); }, field.value);
  }

 private:
  void put(const std::string& name, const std::string& text) { put_texts(name, {&text, 1}, {}); }
  void put(const std::string& name, double number) {
    put_bytes(name, "<f8", {}, bytes_of(&number, 1));
  }
  void put(const std::string& name, int64_t number) {
    put_bytes(name, "<i8", {}, bytes_of(&number, 1));
  }
  void put(const std::string& name, bool yes) {
    put_bytes(name, "|b1", {}, yes ? std::string_view("\1", 1) : std::string_view("\0", 1));
  }
  void put(const std::string& name, const std::vector<std::string>& texts) {
    put_texts(name, texts, {static_cast<int64_t>(texts.size())});
  }
  void put(const std::string& name, const std::vector<int>& numbers) {
    const std::vector<int64_t> wide(numbers.begin(), numbers.end());
    put_bytes(name, "<i8", {static_cast<int64_t>(wide.size())}, bytes_of(wide.data(), wide.size()));
  }
  void put(const std::string& name, const std::vector<float>& numbers) {
    put_bytes(name, "<f4", {static_cast<int64_t>(numbers.size())},
              bytes_of(numbers.data(), numbers.size()));
  }
  void put(const std::string& name, const std::vector<double>& numbers) {
    put_bytes(name, "<f8", {static_cast<int64_t>(numbers.size())},
              bytes_of(numbers.data(), numbers.size()));
  }
  void put(const std::string& name, const Pairs& pairs) {
    std::vector<int64_t> wide;
    for (const auto& pair : pairs) wide.insert(wide.end(), pair.begin(), pair.end());
    put_bytes(name, "<i8", {static_cast<int64_t>(pairs.size()), 2},
              bytes_of(wide.data(), wide.size()));
  }
  void put(const std::string& name, const Numbers& numbers) {
    zip_.add(name + ".npy", [&](const Sink& sink) {
      const bool exact = !numbers.exact.empty();
      sink(npy_header(exact ? "<f8" : "<f4", numbers.shape()));
      write_rows(numbers, exact, sink);
    });
  }
  void put(const std::string& name, const Document& document) {
    if (document.apart)
      add(name + "/", document);
    else
      put(name, json_line(document));
  }
  void put(const std::string& name, const std::vector<Document>& documents) {
    // Panels are numbered at the document's level, so "0/values" is the same name as in a batch.
    const std::string prefix = name.substr(0, name.rfind('/') + 1);
    for (size_t k = 0; k < documents.size(); ++k)
      add(fmt::format("{}{}/", prefix, k), documents[k]);
  }

  void put_bytes(const std::string& name, std::string_view type, const std::vector<int64_t>& shape,
                 std::string_view bytes) {
    zip_.add(name + ".npy", [&](const Sink& sink) {
      sink(npy_header(type, shape));
      sink(bytes);
    });
  }

  void put_texts(const std::string& name, std::span<const std::string> texts,
                 const std::vector<int64_t>& shape) {
    size_t longest = 1;
    for (const std::string& text : texts) longest = std::max(longest, code_points(text).size());
    constexpr size_t most = size_t{1} << 28;
    if (!texts.empty() && longest > most / texts.size())
      fail(
          "{}: '{}' has {} texts, one of {} characters, expected less than 1 GiB in NumPy's form; "
          "use .json",
          path_, name, texts.size(), longest);
    zip_.add(name + ".npy", [&](const Sink& sink) {
      sink(npy_header(fmt::format("<U{}", longest), shape));
      for (const std::string& text : texts) {
        std::u32string points = code_points(text);
        points.resize(longest, 0);
        sink(bytes_of(points.data(), points.size()));
      }
    });
  }

  ZipWriter& zip_;
  const std::string& path_;
};

}  // namespace

void write_npz(const std::vector<Document>& documents, bool list, const std::string& path,
               const Sink& sink) {
  ZipWriter zip(sink);
  ArrayWriter arrays(zip, path);
  for (size_t k = 0; k < documents.size(); ++k)
    arrays.add(list ? fmt::format("{}/", k) : "", documents[k]);
  zip.finish();
}

}  // namespace headwater
