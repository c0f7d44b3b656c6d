// Results as bytes, for pickle: each field in order, lengths before contents. The bytes are read
// by the version that wrote them; another version refuses them.
#include <cstring>
#include <type_traits>

#include "headwater/core/fail.h"
#include "headwater/core/version.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
 public:
  std::string bytes;
  template <class... Fields>
  void operator()(Fields&... fields) {
    (put(fields), ...);
  }
  uint64_t length(uint64_t size) {
    raw(&size, sizeof size);
    return size;
  }
  void raw(const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }

 private:
  template <class T>
  void put(T& value) {
    if constexpr (Plain<T>)
      raw(&value, sizeof value);
    else
      fields_of(*this, value);
  }
};

class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}
  template <class... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  // Every entry takes at least one byte, so no length can ask for more memory than was given.
  uint64_t length(uint64_t) {
    uint64_t size = 0;
    raw(&size, sizeof size);
    if (size > rest_.size()) cut_short();
    return size;
  }
  void raw(void* data, size_t size) {
    if (size > rest_.size()) cut_short();
    if (size > 0) std::memcpy(data, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  bool done() const { return rest_.empty(); }

 private:
  [[noreturn]] static void cut_short() {
    fail("pickle: the bytes of a result are cut short, expected all of them; pickle it again");
  }
  template <class T>
  void get(T& value) {
    if constexpr (Plain<T>)
      raw(&value, sizeof value);
    else
      fields_of(*this, value);
  }
  std::string_view rest_;
};

template <class Archive>
void fields_of(Archive& archive, std::string& text) {
  text.resize(archive.length(text.size()));
  archive.raw(text.data(), text.size());
}

template <class Archive, class T>
void fields_of(Archive& archive, std::vector<T>& list) {
  list.resize(archive.length(list.size()));
  for (T& one : list) archive(one);
}

template <class Archive>
void fields_of(Archive& archive, std::vector<bool>& list) {
  list.resize(archive.length(list.size()));
  for (auto one : list) {
    bool yes = one;
    archive(yes);
    one = yes;
  }
}

template <class Archive, class T>
void fields_of(Archive& archive, std::optional<T>& value) {
  bool there = value.has_value();
  archive(there);
  if (there && !value) value.emplace();
  if (there) archive(*value);
}

template <class Archive, class Kind>
void fields_of_matrix(Archive& archive, Kind& matrix) {
  int rows = matrix.rows(), columns = matrix.columns();
  archive(rows, columns);
  const uint64_t expected = static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns);
  const uint64_t size = archive.length(expected);
  if (rows < 0 || columns < 0 || size != expected)
    fail("pickle: holds a matrix of {} x {} with {} numbers; pickle it again", rows, columns, size);
  if (matrix.rows() != rows || matrix.columns() != columns) matrix = Kind(rows, columns);
  for (int r = 0; r < rows; ++r) archive.raw(matrix.row(r).data(), matrix.row(r).size_bytes());
}

template <class Archive>
void fields_of(Archive& archive, Matrix& matrix) {
  fields_of_matrix(archive, matrix);
}

template <class Archive>
void fields_of(Archive& archive, DoubleMatrix& matrix) {
  fields_of_matrix(archive, matrix);
}

template <class Archive>
void fields_of(Archive& archive, Range& range) {
  archive(range.begin, range.end);
}

template <class Archive>
void fields_of(Archive& archive, Row& one) {
  archive(one.kind, one.index, one.each);
}

template <class Archive>
void fields_of(Archive& archive, Options& one) {
  archive(one.preset, one.fuse.kind, one.fuse.head, one.residual, one.discard, one.order, one.empty,
          one.divide, one.layers.begin, one.layers.end, one.row);
}

template <class Archive>
void fields_of(Archive& archive, Slice& one) {
  archive(one.begin, one.end);
}

template <class Archive>
void fields_of(Archive& archive, GenerateOptions& one) {
  archive(one.count, one.temperature, one.top_k, one.top_p, one.seed, one.ignore_end,
          one.own_position, one.attribute, one.relevance, one.span, one.score);
}

template <class Archive>
void fields_of(Archive& archive, TokenPlace& one) {
  archive(one.text, one.begin, one.end);
}

template <class Archive>
void fields_of(Archive& archive, PatchGrid& one) {
  archive(one.width, one.height, one.seen.x, one.seen.y, one.seen.width, one.seen.height,
          one.image.width, one.image.height, one.image.bytes, one.rows, one.columns, one.prefix);
}

template <class Archive>
void fields_of(Archive& archive, Description& one) {
  archive(one.kind, one.name, one.tokens, one.layers, one.heads, one.item, one.items, one.padded,
          one.patches, one.causal, one.ids, one.places, one.texts);
}

template <class Archive>
void fields_of(Archive& archive, Logit& one) {
  archive(one.name, one.id, one.row, one.value, one.probability);
}

template <class Archive>
void fields_of(Archive& archive, GradientRecord& one) {
  archive(one.rule, one.target.logit, one.target.against, one.input.norm, one.input.times_input);
}

template <class Archive>
void fields_of(Archive& archive, RelevanceRecord& one) {
  archive(one.rule, one.target.logit, one.target.against, one.output, one.sum, one.rest, one.steps,
          one.baseline, one.layer, one.heads, one.edges);
}

template <class Archive>
void fields_of(Archive& archive, CutArc& one) {
  archive(one.layer, one.from, one.to, one.capacity);
}

template <class Archive>
void fields_of(Archive& archive, Timing& one) {
  archive(one.reading, one.preparing, one.method);
}

template <class Archive>
void fields_of(Archive& archive, Prediction& one) {
  archive(one.what, one.best, one.probability, one.second, one.second_probability);
}

template <class Archive>
void fields_of(Archive& archive, WordChoice& one) {
  archive(one.probability, one.second, one.second_probability);
}

template <class Archive>
void fields_of(Archive& archive, Attribution& one) {
  archive(one.method, one.options, one.layers, one.source, one.rows, one.outputs, one.mean_row,
          one.by_layer, one.columns, one.values, one.has_signs, one.exact, one.gradient,
          one.relevance, one.prediction, one.cut, one.carried, one.maps, one.pieces, one.notes,
          one.timing, one.label);
}

template <class Archive>
void fields_of(Archive& archive, Comparison& one) {
  archive(one.by, one.panels, one.agreement);
}

template <class Archive>
void fields_of(Archive& archive, Metrics& one) {
  archive(one.mean_attention, one.max_attention, one.attention_entropy, one.attention_concentration,
          one.rollout_max, one.rollout_entropy, one.batch_size, one.seq_length, one.options,
          one.layers, one.layer, one.source, one.prediction, one.predictions, one.notes,
          one.timing);
}

template <class Archive>
void fields_of(Archive& archive, TargetHalf& one) {
  archive(one.tokens, one.ids, one.values, one.encoder);
}

template <class Archive>
void fields_of(Archive& archive, Generated& one) {
  archive(one.options, one.how, one.prompt, one.layers, one.tokens, one.ids, one.text, one.ended,
          one.target, one.choices, one.values, one.relevance, one.span, one.outputs, one.biases,
          one.shown, one.shown_by_layer, one.pieces, one.generated_pieces, one.notes, one.timing);
}

template <class Archive>
void fields_of(Archive& archive, Spread& one) {
  archive(one.mean, one.deviation, one.count);
}

template <class Archive>
void fields_of(Archive& archive, MethodSpread& one) {
  archive(one.method, one.layers);
}

template <class Archive>
void fields_of(Archive& archive, CorrelationTable& one) {
  archive(one.against, one.methods);
}

template <class Archive>
void fields_of(Archive& archive, TruthTable& one) {
  archive(one.methods, one.chance, one.found);
}

template <class Archive>
void fields_of(Archive& archive, FaithfulnessSpread& one) {
  archive(one.method, one.comprehensiveness, one.sufficiency, one.area, one.curve);
}

template <class Archive>
void fields_of(Archive& archive, ExampleRecord& one) {
  archive(one.line, one.tokens, one.row, one.target, one.probability, one.counted, one.blank_out,
          one.gradient, one.correlation);
}

template <class Archive>
void fields_of(Archive& archive, EvaluateOptions& one) {
  archive(one.blank_out, one.gradient, one.faithfulness, one.methods);
}

template <class Archive>
void fields_of(Archive& archive, Evaluation& one) {
  archive(one.file, one.options, one.what, one.layers, one.source, one.methods, one.examples,
          one.correlations, one.truth, one.faithfulness, one.notes, one.timing);
}

template <class Kind>
Result read(Reader& reader) {
  Kind one;
  reader(one);
  return one;
}

Result read_kind(Reader& reader) {
  uint64_t kind = 0;
  reader(kind);
  switch (kind) {
    case 0:
      return read<Attribution>(reader);
    case 1:
      return read<Comparison>(reader);
    case 2:
      return read<Metrics>(reader);
    case 4:
      return read<Generated>(reader);
    case 5:
      return read<Evaluation>(reader);
  }
  fail("pickle: holds an unknown kind of result, {}; pickle it again", kind);
}

void write_kind(Writer& writer, Result& result) {
  auto kind = static_cast<uint64_t>(result.index());
  writer(kind);
  std::visit(
      [&](auto& one) {
        using Kind = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, Info>)
          fail("pickle: this kind of result cannot be pickled; save it instead");
        else
          writer(one);
      },
      result);
}

template <class Kind>
Kind copied(Kind& result) {
  Writer writer;
  writer(result);
  Reader reader(writer.bytes);
  Kind copy;
  reader(copy);
  return copy;
}

}  // namespace

Attribution copy_of(Attribution& result) { return copied(result); }
Comparison copy_of(Comparison& result) { return copied(result); }
Generated copy_of(Generated& result) { return copied(result); }

nb::bytes to_bytes(Results& results) {
  Writer writer;
  std::string version(headwater::version());
  writer(version);
  writer.length(results.list.size());
  for (Result& result : results.list) write_kind(writer, result);
  return nb::bytes(writer.bytes.data(), writer.bytes.size());
}

Results from_bytes(const nb::bytes& bytes) {
  Reader reader({bytes.c_str(), bytes.size()});
  std::string version;
  reader(version);
  if (version != headwater::version())
    fail("pickle: was written by headwater {}, expected {}; compute the result again", version,
         headwater::version());
  Results results;
  const uint64_t count = reader.length(0);
  for (uint64_t k = 0; k < count; ++k) results.list.push_back(read_kind(reader));
  if (!reader.done()) fail("pickle: has bytes after its last result; pickle it again");
  return results;
}

}  // namespace headwater::python
