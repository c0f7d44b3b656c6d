#include "headwater/model/weight_files.h"

#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/parse_json.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

// The shards of an index: {"weight_map": {"tensor": "file", ...}}.
std::vector<WeightFile> read_index(const fs::path& path) {
  const std::string name = path.string();
  const MappedFile file(name);
  // The longest in use name some hundred thousand tensors.
  constexpr size_t longest = 64 << 20;
  if (file.bytes().size() > longest)
    fail("{}: is {} bytes long, expected at most {}; save it again", name, file.bytes().size(),
         longest);
  dom::parser parser;
  dom::object root, map;
  if (parse_json(parser, as_text(file.bytes()), root) || root["weight_map"].get(map))
    fail("{}: has no 'weight_map', expected the names of tensors and their files; save it again",
         name);
  std::map<std::string, std::vector<std::string>> shards;
  for (const auto& [tensor, value] : map) {
    std::string_view shard;
    if (value.get(shard) || shard.empty() || shard.find('/') != std::string_view::npos)
      fail("{}: puts tensor '{}' into {}, expected the name of a file next to it; save it again",
           name, tensor, simdjson::minify(value));
    shards[std::string(shard)].emplace_back(tensor);
  }
  std::vector<WeightFile> files;
  for (auto& [shard, names] : shards)
    files.push_back({(path.parent_path() / shard).string(), std::move(names)});
  return files;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// "fp16" of "model.fp16.safetensors" or "model.safetensors.index.fp16.json"; "" for other names.
std::string variant_of(const std::string& name, const std::string& stem, const std::string& end) {
  for (const auto& [before, after] :
       {std::pair{stem + ".", end}, {stem + end + ".index.", std::string(".json")}}) {
    if (!name.starts_with(before) || !name.ends_with(after) ||
        name.size() <= before.size() + after.size())
      continue;
    std::string variant = name.substr(before.size(), name.size() - before.size() - after.size());
    // "model.fp16-00001-of-00002.safetensors" is a shard, for which there is an index.
    if (variant.find_first_of(".-") == std::string::npos) return variant;
  }
  return "";
}

struct Other {
  std::string_view part;  // of a file's name
  const char* sentence;
};

// Other files that a folder may have; the first that fits is used.
constexpr Other others[] = {
    {"adapter_model.",
     "holds an adapter (PEFT), expected a whole model; load it with peft, call "
     "merge_and_unload() and save_pretrained"},
    {".gguf",
     "holds weights for llama.cpp (GGUF), expected safetensors; get the model that it was made "
     "from, or load it with from_pretrained(..., gguf_file=...) of transformers and "
     "save_pretrained"},
    {".onnx",
     "holds a graph for ONNX, expected safetensors; get the model that it was exported from"},
    {".h5",
     "holds weights of TensorFlow (h5), expected safetensors; load it with a transformers before "
     "version 5 and from_tf=True, and save_pretrained"},
    {".ckpt",
     "holds a checkpoint of TensorFlow, expected safetensors; convert it with a transformers "
     "before version 5"},
    {".msgpack",
     "holds weights of Flax, expected safetensors; load it with a transformers before version 5 "
     "and from_flax=True, and save_pretrained"},
    {".pt",
     "holds a file of torch that is not named pytorch_model.bin, expected that name; rename it if "
     "it holds the tensors of the model"},
    {".pth",
     "holds a file of torch that is not named pytorch_model.bin, expected that name; rename it if "
     "it holds the tensors of the model"},
    {".safetensors",
     "holds no file named model.safetensors, expected that name, or an index for shards; rename "
     "it if it holds the whole model"},
};

}  // namespace

std::optional<std::string> what_else(const std::string& folder) {
  std::vector<std::string> names = names_in(folder);
  // Folders made for browsers keep their graphs one level down.
  for (const std::string& name : names_in(fs::path(folder) / "onnx"))
    names.push_back("onnx/" + name);
  for (const Other& other : others)
    for (const std::string& name : names)
      if (name.find(other.part) != std::string::npos)
        return fmt::format("{} {}", name, other.sentence);
  return {};
}

WeightFiles find_weights(const std::string& folder) {
  struct Kind {
    std::string stem, end;
  };
  static const Kind kinds[] = {{"model", ".safetensors"}, {"pytorch_model", ".bin"}};
  std::error_code missing;
  for (const auto& [stem, end] : kinds) {
    const fs::path whole = fs::path(folder) / (stem + end), index = whole.string() + ".index.json";
    if (fs::exists(whole, missing)) return {{{whole.string(), {}}}, {}};
    if (fs::exists(index, missing)) return {read_index(index), {}};
  }
  const std::vector<std::string> names = names_in(folder);
  for (const auto& [stem, end] : kinds) {
    std::vector<std::string> found;
    for (const std::string& name : names)
      if (!variant_of(name, stem, end).empty()) found.push_back(name);
    if (found.empty()) continue;
    if (found.size() > 1)
      fail("{}: has the weights in several variants ({}), expected one; move the others away",
           folder, fmt::join(found, ", "));
    const fs::path path = fs::path(folder) / found[0];
    WeightFiles weights;
    weights.notes.push_back(fmt::format("the weights are those of {}", found[0]));
    if (found[0].ends_with(".json"))
      weights.files = read_index(path);
    else
      weights.files.push_back({path.string(), {}});
    return weights;
  }
  if (const auto other = what_else(folder)) fail("{}: {}", folder, *other);
  fail(
      "{}: has neither model.safetensors nor pytorch_model.bin, expected the weights; save the "
      "model with save_pretrained of transformers",
      folder);
}

}  // namespace headwater
