#include "headwater/source/torch_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "headwater/core/fail.h"
#include "headwater/source/pickle.h"
#include "headwater/source/zip.h"

namespace headwater {
namespace {

using Kind = PickleValue::Kind;
using Bytes = std::span<const std::byte>;

constexpr const char* writer = "torch.save";
// The first pickle of a file from before version 1.6 holds this number.
constexpr std::string_view old_magic = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

std::optional<DType> type_of(std::string_view storage) {
  static const std::map<std::string_view, DType> known = {
      {"torch\nFloatStorage", DType::f32},     {"torch\nHalfStorage", DType::f16},
      {"torch\nBFloat16Storage", DType::bf16}, {"torch\nDoubleStorage", DType::f64},
      {"torch\nLongStorage", DType::i64},      {"torch\nIntStorage", DType::i32},
      {"torch\nShortStorage", DType::i16},     {"torch\nCharStorage", DType::i8},
      {"torch\nByteStorage", DType::u8},       {"torch\nBoolStorage", DType::boolean},
  };
  const auto found = known.find(storage);
  if (found == known.end()) return {};
  return found->second;
}

bool is_text(const PickleValue& value) { return value.kind == Kind::text; }

// A storage as a tensor names it: ("storage", type, key, device, count), in the old format also a
// view of another storage, or None.
struct Storage {
  DType type = DType::f32;
  std::string_view key;
  uint64_t count = 0;
};

class TensorReader {
 public:
  TensorReader(const Pickle& pickle, Arrays& arrays) : pickle_(pickle), arrays_(arrays) {}

  // The storages, by key.
  std::map<std::string, Bytes, std::less<>> storages;

  Storage storage_of(const PickleValue& value, const std::string& what) const {
    const auto damaged = [&]() {
      fail("{} has a storage that headwater cannot read, expected one of numbers; save it with {}",
           what, writer);
    };
    if (value.kind != Kind::persistent) damaged();
    const auto& items = pickle_.items(value);
    if (items.size() < 5 || items.size() > 6 || !is_text(items[0]) || items[0].text != "storage" ||
        items[1].kind != Kind::global || !is_text(items[2]) || items[4].kind != Kind::integer ||
        items[4].number < 0 || (items.size() == 6 && items[5].kind != Kind::none))
      damaged();
    const std::optional<DType> type = type_of(items[1].text);
    if (!type)
      fail("{} is a {}, expected f32, f16 or bf16; convert the model", what,
           items[1].text.substr(items[1].text.find('\n') + 1));
    return {*type, items[2].text, static_cast<uint64_t>(items[4].number)};
  }

  void read(std::string_view name, const PickleValue& value) {
    if (value.kind != Kind::call) return;  // a number beside the tensors
    const std::string what = fmt::format("{}: tensor '{}'", arrays_.name, name);
    const auto damaged = [&]() {
      fail(
          "{} is not rebuilt as torch does it, expected its storage, offset, size and strides; "
          "save it with {}",
          what, writer);
    };
    const auto& arguments = pickle_.items(value);
    if (value.text == "torch._utils\n_rebuild_parameter") {
      if (arguments.empty() || arguments[0].kind != Kind::call || arguments[0].text == value.text)
        damaged();
      return read(name, arguments[0]);
    }
    if (arguments.size() < 4 || arguments[1].kind != Kind::integer || arguments[1].number < 0 ||
        arguments[2].kind != Kind::tuple || arguments[3].kind != Kind::tuple)
      damaged();
    const Storage storage = storage_of(arguments[0], what);
    std::vector<int64_t> shape, strides;
    for (const auto& [list, out] : {std::pair{&arguments[2], &shape}, {&arguments[3], &strides}})
      for (const PickleValue& one : pickle_.items(*list)) {
        constexpr int64_t most = int64_t{1} << 40;
        if (one.kind != Kind::integer || one.number < 0 || one.number > most) damaged();
        out->push_back(one.number);
      }
    constexpr size_t most_axes = 8;
    if (shape.size() != strides.size() || shape.size() > most_axes) damaged();
    if (std::ranges::find(shape, 0) != shape.end()) return;  // holds no numbers

    Tensor tensor;
    tensor.name = name;
    tensor.type = storage.type;
    tensor.shape = std::move(shape);
    tensor.bytes =
        bytes_of(tensor, strides, storage, static_cast<uint64_t>(arguments[1].number), what);
    arrays_.layers.push_back(std::move(tensor));
  }

 private:
  // Whether the numbers lie row by row.
  static bool in_rows(const Tensor& tensor, const std::vector<int64_t>& strides) {
    int64_t expected = 1;
    for (size_t k = strides.size(); k-- > 0;) {
      if (tensor.shape[k] > 1 && strides[k] != expected) return false;
      expected *= tensor.shape[k];
    }
    return true;
  }

  Bytes bytes_of(const Tensor& tensor, const std::vector<int64_t>& strides, const Storage& storage,
                 uint64_t offset, const std::string& what) {
    const auto found = storages.find(storage.key);
    if (found == storages.end())
      fail("{} is in storage '{}', expected it in the file; copy the file again", what,
           storage.key);
    const uint64_t size = size_of(tensor.type), held = found->second.size() / size;
    const uint64_t count = count_of(tensor.shape, tensor.type, what);
    uint64_t last = offset;  // the place of the last number
    bool inside = offset < held && storage.count <= held && count <= held;
    for (size_t k = 0; k < strides.size() && inside; ++k) {
      if (tensor.shape[k] == 1) continue;
      const auto steps = static_cast<uint64_t>(tensor.shape[k] - 1);
      const auto stride = static_cast<uint64_t>(strides[k]);
      inside = stride <= (held - 1 - last) / steps;
      last += inside ? steps * stride : 0;
    }
    if (!inside)
      fail(
          "{} needs more numbers than the {} of its storage, expected it inside; copy the file "
          "again",
          what, held);
    if (!in_rows(tensor, strides))
      return gathered(tensor, strides, found->second.subspan(offset * size), what);
    return found->second.subspan(offset * size, count * size);
  }

  // Room for a copy. All copies together are no larger than the file.
  std::vector<std::byte>& room(uint64_t size, const std::string& what) {
    if (size > arrays_.file->bytes().size() - copied_)
      fail(
          "{} repeats numbers that are in the file once, expected each in its place; save it with "
          "{}",
          what, writer);
    copied_ += size;
    return arrays_.copies.emplace_back(size);
  }

  // The numbers row by row: of a transposed matrix, for example.
  Bytes gathered(const Tensor& tensor, const std::vector<int64_t>& strides, Bytes from,
                 const std::string& what) {
    const size_t size = size_of(tensor.type);
    const uint64_t count = count_of(tensor.shape, tensor.type, what);
    // Tied tensors are views of the same numbers.
    Bytes& known = gathered_[{from.data(), tensor.shape, strides}];
    if (!known.empty()) return known;
    std::vector<std::byte>& rows = room(count * size, what);
    std::vector<int64_t> index(tensor.shape.size());
    for (uint64_t k = 0; k < count; ++k) {
      uint64_t place = 0;
      for (size_t axis = 0; axis < index.size(); ++axis)
        place += static_cast<uint64_t>(index[axis] * strides[axis]);
      std::memcpy(rows.data() + k * size, from.data() + place * size, size);
      for (size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < tensor.shape[axis]) break;
        index[axis] = 0;
      }
    }
    return known = rows;
  }

  const Pickle& pickle_;
  Arrays& arrays_;
  std::map<std::tuple<const std::byte*, std::vector<int64_t>, std::vector<int64_t>>, Bytes>
      gathered_;
  uint64_t copied_ = 0;
};

// The dict of tensors: the root itself, or what training code puts it under.
const PickleValue& find_tensors(const Pickle& pickle, const std::string& file) {
  if (pickle.root.kind != Kind::dict)
    fail(
        "{}: holds no dict, expected the tensors of a model by name; save model.state_dict() with "
        "{}",
        file, writer);
  const auto& items = pickle.items(pickle.root);
  for (size_t k = 0; k + 1 < items.size(); k += 2)
    for (const std::string_view name : {"state_dict", "model_state_dict", "model"})
      if (is_text(items[k]) && items[k].text == name && items[k + 1].kind == Kind::dict)
        return items[k + 1];
  return pickle.root;
}

void read_tensors(const Pickle& pickle, TensorReader& reader, Arrays& arrays) {
  const auto& items = pickle.items(find_tensors(pickle, arrays.name));
  std::set<std::string_view> seen;
  for (size_t k = 0; k + 1 < items.size(); k += 2) {
    if (!is_text(items[k])) continue;
    if (!seen.insert(items[k].text).second)
      fail("{}: has tensor '{}' twice, expected it once; save it again with {}", arrays.name,
           items[k].text, writer);
    reader.read(items[k].text, items[k + 1]);
  }
  if (arrays.layers.empty())
    fail("{}: holds no tensors, expected those of a model; save model.state_dict() with {}",
         arrays.name, writer);
}

void read_zipped(Arrays& arrays) {
  const Bytes file = arrays.file->bytes();
  std::string root;
  Bytes pickled;
  const std::vector<ZipMember> members = read_zip(file, arrays.name, writer);
  for (const ZipMember& member : members) {
    if (member.deflated)
      fail("{}: member '{}' is compressed, expected it stored; save it with {}", arrays.name,
           member.name, writer);
    const size_t slash = member.name.find('/');
    if (slash == std::string::npos || member.name.substr(slash) != "/data.pkl") continue;
    root = member.name.substr(0, slash + 1);
    pickled = member.bytes;
  }
  if (root.empty())
    fail("{}: is a zip file without data.pkl, expected tensors; save model.state_dict() with {}",
         arrays.name, writer);
  const Pickle pickle = read_pickle(pickled, arrays.name);
  TensorReader reader(pickle, arrays);
  for (const ZipMember& member : members) {
    if (member.name.starts_with(root + "data/"))
      reader.storages[member.name.substr(root.size() + 5)] = member.bytes;
    if (member.name == root + "byteorder" &&
        std::string_view(reinterpret_cast<const char*>(member.bytes.data()), member.bytes.size()) !=
            "little")
      fail("{}: has big-endian numbers, expected little-endian ones; save it on another machine",
           arrays.name);
  }
  read_tensors(pickle, reader, arrays);
}

// Five pickles (magic, version, machine, tensors, keys of the storages), then the storages: a count
// and the numbers.
void read_old(Arrays& arrays) {
  Bytes rest = arrays.file->bytes();
  const auto next = [&] {
    Pickle pickle = read_pickle(rest, arrays.name);
    rest = rest.subspan(pickle.end);
    return pickle;
  };
  next();
  next();
  const Pickle machine = next();
  if (machine.root.kind == Kind::dict) {
    const auto& items = machine.items(machine.root);
    for (size_t k = 0; k + 1 < items.size(); k += 2)
      if (is_text(items[k]) && items[k].text == "little_endian" && items[k + 1].number != 1)
        fail("{}: has big-endian numbers, expected little-endian ones; save it on another machine",
             arrays.name);
  }
  const Pickle pickle = next(), keys = next();
  TensorReader reader(pickle, arrays);
  // Only tensors know the types of their storages.
  std::map<std::string_view, DType> types;
  for (const auto& pool : pickle.pools)
    for (const PickleValue& value : pool)
      if (value.kind == Kind::persistent) {
        const Storage storage = reader.storage_of(value, arrays.name + ": a tensor");
        types[storage.key] = storage.type;
      }
  if (keys.root.kind != Kind::list)
    fail("{}: has no list of storages, expected one; copy the file again", arrays.name);
  for (const PickleValue& key : keys.items(keys.root)) {
    uint64_t count = 0;
    const auto type = types.find(key.text);
    if (type == types.end() || rest.size() < sizeof count)
      fail("{}: storage '{}' belongs to no tensor or is missing, expected it; copy the file again",
           arrays.name, key.text);
    std::memcpy(&count, rest.data(), sizeof count);
    rest = rest.subspan(sizeof count);
    const uint64_t size = size_of(type->second);
    if (count > rest.size() / size)
      fail(
          "{}: storage '{}' has {} numbers, expected at most {} before the end of the file; copy "
          "it again",
          arrays.name, key.text, count, rest.size() / size);
    reader.storages[std::string(key.text)] = rest.first(count * size);
    rest = rest.subspan(count * size);
  }
  read_tensors(pickle, reader, arrays);
}

}  // namespace

Arrays read_torch(const std::string& path) {
  Arrays arrays;
  arrays.format = "torch";
  arrays.name = path;
  arrays.file = std::make_unique<MappedFile>(path);
  const Bytes bytes = arrays.file->bytes();
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<size_t>(bytes.size(), 64));
  if (start.starts_with("PK"))
    read_zipped(arrays);
  else if (start.starts_with(old_magic))
    read_old(arrays);
  else
    fail("{}: is not a file of torch.save, expected one; copy it again", path);
  return arrays;
}

}  // namespace headwater
