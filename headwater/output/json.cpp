#include "headwater/output/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "headwater/core/utf8.h"

namespace headwater {
namespace {

class Writer {
 public:
  explicit Writer(const Sink& sink) : sink_(sink) {}

  void put(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= (1 << 16)) flush();
  }
  void flush() {
    sink_(buffer_);
    buffer_.clear();
  }

  void put_text(const std::string& text) {
    put("\"");
    for (const char c : valid_utf8(text)) put_character(c);
    put("\"");
  }

  template <class Real>
  void put_number(Real number) {
    if (!std::isfinite(number)) return put("null");
    char digits[32];
    const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    const std::string_view text(digits, static_cast<size_t>(end - digits));
    put(text);
    // Typed readers then see a real number wherever there can be one.
    if (text.find_first_of(".e") == text.npos) put(".0");
  }

  /// [first, second, ...] on one line.
  template <class List, class Put>
  void put_list(const List& list, Put put_one) {
    put("[");
    bool first = true;
    for (const auto& one : list) {
      if (!first) put(", ");
      first = false;
      put_one(one);
    }
    put("]");
  }

 private:
  void put_character(char c) {
    constexpr char hex[] = "0123456789abcdef";
    switch (c) {
      case '"':
        return put("\\\"");
      case '\\':
        return put("\\\\");
      case '\n':
        return put("\\n");
      case '\t':
        return put("\\t");
      case '\r':
        return put("\\r");
      default:
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) return put({&c, 1});
        put("\\u00");
        put({&hex[c >> 4 & 15], 1});
        put({&hex[c & 15], 1});
    }
  }

  const Sink& sink_;
  std::string buffer_;
};

// Whether fields and rows get a line each. Deeper levels stay on one line.
struct Layout {
  bool lines = true;
  int depth = 0;

  void begin_item(Writer& out, bool first) const {
    if (!first) out.put(lines ? "," : ", ");
    if (lines) {
      out.put("\n");
      out.put(std::string(static_cast<size_t>(depth + 1), ' '));
    }
  }
  void end_items(Writer& out, bool any) const {
    if (!lines || !any) return;
    out.put("\n");
    out.put(std::string(static_cast<size_t>(depth), ' '));
  }
  Layout inside() const { return {lines, depth + 1}; }
};

void put_document(Writer& out, const Document& document, Layout layout);

void put_documents(Writer& out, const std::vector<Document>& documents, Layout layout) {
  out.put("[");
  for (size_t k = 0; k < documents.size(); ++k) {
    layout.begin_item(out, k == 0);
    put_document(out, documents[k], layout.inside());
  }
  layout.end_items(out, !documents.empty());
  out.put("]");
}

void put_matrix(Writer& out, const Numbers& numbers, int k, Layout layout) {
  Vector room;
  std::vector<double> exact;
  const int rows = numbers.matrices[static_cast<size_t>(k)].rows();
  out.put("[");
  for (int i = 0; i < rows; ++i) {
    layout.begin_item(out, i == 0);
    if (numbers.exact.empty())
      out.put_list(numbers.row(k, i, room), [&](float x) { out.put_number(x); });
    else
      out.put_list(numbers.exact_row(k, i, exact), [&](double x) { out.put_number(x); });
  }
  layout.end_items(out, rows > 0);
  out.put("]");
}

void put_numbers(Writer& out, const Numbers& numbers, Layout layout) {
  if (!numbers.stacked) return put_matrix(out, numbers, 0, layout);
  out.put("[");
  for (size_t k = 0; k < numbers.matrices.size(); ++k) {
    layout.begin_item(out, k == 0);
    put_matrix(out, numbers, static_cast<int>(k), layout.inside());
  }
  layout.end_items(out, !numbers.matrices.empty());
  out.put("]");
}

struct PutValue {
  Writer& out;
  Layout layout;

  void operator()(const std::string& text) const { out.put_text(text); }
  void operator()(double number) const { out.put_number(number); }
  void operator()(int64_t number) const { out.put(std::to_string(number)); }
  void operator()(bool yes) const { out.put(yes ? "true" : "false"); }
  void operator()(const std::vector<std::string>& texts) const {
    out.put_list(texts, [&](const std::string& text) { out.put_text(text); });
  }
  void operator()(const std::vector<int>& numbers) const {
    out.put_list(numbers, [&](int number) { out.put(std::to_string(number)); });
  }
  void operator()(const std::vector<float>& numbers) const {
    out.put_list(numbers, [&](float number) { out.put_number(number); });
  }
  void operator()(const std::vector<double>& numbers) const {
    out.put_list(numbers, [&](double number) { out.put_number(number); });
  }
  void operator()(const Pairs& pairs) const {
    out.put_list(pairs, [&](const std::array<int, 2>& pair) {
      out.put(fmt::format("[{}, {}]", pair[0], pair[1]));
    });
  }
  void operator()(const Numbers& numbers) const { put_numbers(out, numbers, layout); }
  void operator()(const Document& document) const { put_document(out, document, {false, 0}); }
  void operator()(const std::vector<Document>& documents) const {
    put_documents(out, documents, layout);
  }
};

void put_document(Writer& out, const Document& document, Layout layout) {
  out.put("{");
  for (size_t k = 0; k < document.fields.size(); ++k) {
    layout.begin_item(out, k == 0);
    out.put_text(document.fields[k].name);
    out.put(": ");
    std::visit(PutValue{out, layout.inside()}, document.fields[k].value);
  }
  layout.end_items(out, !document.fields.empty());
  out.put("}");
}

}  // namespace

void write_json(const Document& document, const Sink& sink) {
  Writer out(sink);
  put_document(out, document, {});
  out.put("\n");
  out.flush();
}

void write_json(const std::vector<Document>& documents, const Sink& sink) {
  Writer out(sink);
  put_documents(out, documents, {});
  out.put("\n");
  out.flush();
}

std::string json_line(const Document& document) {
  std::string text;
  const Sink sink = [&](std::string_view bytes) { text += bytes; };
  Writer out(sink);
  put_document(out, document, {false, 0});
  out.flush();
  return text;
}

}  // namespace headwater
