#include "tests/fuzz/structure/protobuf.h"

#include <optional>
#include <string>

namespace headwater::fuzz {
namespace {

struct ProtobufField {
  uint64_t key = 0;     // the number of the field and how it is written
  std::string bytes;    // of a text or message, or of 4 or 8 bytes
  uint64_t number = 0;  // if it is written as one
  int kind() const { return static_cast<int>(key & 7); }
};

std::optional<uint64_t> take_number(std::string_view& rest) {
  uint64_t out = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest[0]);
    rest.remove_prefix(1);
    out |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return out;
  }
  return {};
}

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::optional<std::vector<ProtobufField>> fields_of(std::string_view rest) {
  std::vector<ProtobufField> out;
  while (!rest.empty()) {
    ProtobufField field;
    const auto key = take_number(rest);
    if (!key) return {};
    field.key = *key;
    size_t size = 0;
    if (field.kind() == 0 || field.kind() == 2) {
      const auto number = take_number(rest);
      if (!number) return {};
      field.number = *number;
      size = field.kind() == 2 ? *number : 0;
    } else if (field.kind() == 1 || field.kind() == 5) {
      size = field.kind() == 1 ? 8 : 4;
    } else {
      return {};
    }
    if (size > rest.size()) return {};
    field.bytes = rest.substr(0, size);
    rest.remove_prefix(size);
    out.push_back(std::move(field));
  }
  return out;
}

std::string written(const std::vector<ProtobufField>& fields) {
  std::string out;
  for (const ProtobufField& field : fields) {
    out += varint(field.key);
    if (field.kind() == 0) out += varint(field.number);
    if (field.kind() == 2) out += varint(field.bytes.size());
    out += field.bytes;
  }
  return out;
}

void change_field(ProtobufField& field, Chance& chance) {
  if (chance.one_in(10)) {
    field.key = chance.below(48) << 3 | static_cast<uint64_t>(field.kind());
  } else if (field.kind() == 0) {
    field.number = chance.one_in(2) ? chance.below(8) : edge_number(chance);
  } else if (field.kind() == 2 && !chance.one_in(4)) {
    field.bytes = changed_protobuf(field.bytes, chance);
  } else {
    const size_t size = field.bytes.size();
    field.bytes = changed_bytes(field.bytes, chance);
    if (field.kind() != 2) field.bytes.resize(size);
  }
}

}  // namespace

std::string changed_protobuf(std::string_view bytes, Chance& chance) {
  std::optional<std::vector<ProtobufField>> fields = fields_of(bytes);
  if (!fields || fields->empty()) return changed_bytes(bytes, chance);
  change_list(*fields, chance, [&](ProtobufField& field) { change_field(field, chance); });
  return written(*fields);
}

}  // namespace headwater::fuzz
