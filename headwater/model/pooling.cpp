#include "headwater/model/pooling.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/parse_json.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;
using Rows = Pooling::Rows;

struct Module {
  std::string path, type;  // the type without its packages: "Pooling"
};

// modules.json, or nothing if there is none.
std::vector<Module> read_modules(const std::string& folder) {
  const std::string path = (fs::path(folder) / "modules.json").string();
  std::error_code missing;
  if (!fs::exists(path, missing)) return {};
  const MappedFile file(path);
  constexpr size_t longest = 1 << 20;
  dom::parser parser;
  dom::element root;
  dom::array list;
  if (file.bytes().size() > longest || parse_json(parser, as_text(file.bytes()), root) ||
      root.get(list))
    fail("{}: is not a list of modules, expected that of sentence-transformers; save it again",
         path);
  std::vector<Module> modules;
  for (const dom::element one : list) {
    std::string_view place, type;
    if (one["path"].get(place) || one["type"].get(type) || place.find("..") != place.npos ||
        place.starts_with('/'))
      fail("{}: module {} has no path and type of its own, expected both; save it again", path,
           modules.size());
    modules.push_back({std::string(place), std::string(type.substr(type.rfind('.') + 1))});
  }
  return modules;
}

struct Mode {
  const char* flag;  // of older files
  const char* name;
  Rows rows;
};
constexpr Mode modes[] = {
    {"pooling_mode_cls_token", "cls", Rows::first},
    {"pooling_mode_mean_tokens", "mean", Rows::mean},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", Rows::mean_by_root},
    {"pooling_mode_weightedmean_tokens", "weightedmean", Rows::weighted_mean},
    {"pooling_mode_lasttoken", "lasttoken", Rows::last},
};

Pooling read_mode(const std::string& folder) {
  const Config config = Config::open((fs::path(folder) / "config.json").string());
  std::vector<Rows> found;
  for (const Mode& mode : modes)
    if (config.flag_or(mode.flag, false) ||
        (config.has("pooling_mode") && config.text("pooling_mode") == mode.name))
      found.push_back(mode.rows);
  if (found.size() != 1 || config.flag_or("pooling_mode_max_tokens", false))
    fail(
        "{}: pools rows in a way that is not implemented, expected one of cls, mean, "
        "mean_sqrt_len_tokens, weightedmean and lasttoken; use another model",
        config.name());
  Pooling pooling;
  pooling.rows = found.front();
  return pooling;
}

// How the first module of sentence-transformers reads texts.
void read_texts(const fs::path& module, Pooling& pooling) {
  std::error_code missing;
  for (const char* kind : {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta"}) {
    const fs::path path = module / fmt::format("sentence_{}_config.json", kind);
    if (!fs::exists(path, missing)) continue;
    const Config config = Config::open(path.string());
    pooling.longest = config.integer_or("max_seq_length", 0, 0);
    pooling.lowers = config.flag_or("do_lower_case", false);
    return;
  }
}

// The prompt that it puts before texts by default.
std::string default_prompt(const fs::path& root) {
  const fs::path path = root / "config_sentence_transformers.json";
  std::error_code missing;
  if (!fs::exists(path, missing)) return "";
  const Config config = Config::open(path.string());
  const std::string name = config.text_or("default_prompt_name", "");
  const std::optional<Config> prompts = config.object("prompts");
  return prompts && !name.empty() ? prompts->text_or(name, "") : "";
}

// CLIP's pooling: the end of a text or the class token of an image, projected.
Pooling read_projection(const Model& model, bool image) {
  const std::string name = image ? "visual_projection.weight" : "text_projection.weight";
  const std::vector<int64_t> shape = model.checkpoint().shape(name);
  const int outputs =
      shape.size() == 2 && shape[0] <= Config::most ? static_cast<int>(shape[0]) : 0;
  Pooling pooling;
  pooling.project.weights = model.checkpoint().matrix(name, outputs, model.architecture().width);
  if (image) return pooling;
  pooling.rows = Rows::end;
  // Older files say 2, which is not the end token of any CLIP: the largest id is.
  const auto part = model.config().object("text_config");
  const int end = (part ? *part : model.config()).integer_or("eos_token_id", 49407, 0);
  if (end != 2) pooling.end_token = end;
  return pooling;
}

// SigLIP's pooling: the last row of a padded text, projected, or attention to the rows of an image.
Pooling read_siglip(const Model& model, bool image) {
  Pooling pooling;
  const std::string head = model.prefix() + "head";
  if (image) {
    pooling.attention = std::make_shared<AttentionPool>(model, head + ".");
    return pooling;
  }
  const std::vector<int64_t> shape = model.checkpoint().shape(head + ".weight");
  const int outputs =
      shape.size() == 2 && shape[0] <= Config::most ? static_cast<int>(shape[0]) : 0;
  pooling.project =
      bind_linear(model.checkpoint(), "", {head}, outputs, model.architecture().width);
  pooling.rows = Rows::last;
  const auto part = model.config().object("text_config");
  pooling.padding = (part ? *part : model.config()).integer_or("pad_token_id", 1, 0);
  pooling.padded_to = *model.architecture().positions;
  return pooling;
}

}  // namespace

Vector Pooling::weights(const std::vector<int>& ids, int n) const {
  Vector out(static_cast<size_t>(n));
  switch (rows) {
    case Rows::first:
      out.front() = 1;
      break;
    case Rows::last:
      out.back() = 1;
      break;
    case Rows::mean:
      std::ranges::fill(out, 1 / static_cast<float>(n));
      break;
    case Rows::mean_by_root:
      std::ranges::fill(out, 1 / std::sqrt(static_cast<float>(n)));
      break;
    case Rows::weighted_mean:
      for (size_t t = 0; t < out.size(); ++t)
        out[t] = static_cast<float>(static_cast<double>(t + 1) / (double(n) * (n + 1) / 2));
      break;
    case Rows::end: {
      const auto found =
          end_token < 0 ? std::ranges::max_element(ids) : std::ranges::find(ids, end_token);
      // Like transformers, which takes the first row if there is none.
      out[found == ids.end() ? 0 : static_cast<size_t>(found - ids.begin())] = 1;
      break;
    }
  }
  return out;
}

Pooling read_pooling(const Model& model) {
  const fs::path folder(model.folder());
  std::vector<Module> modules = read_modules(folder.string());
  fs::path root = folder;
  const std::string parent = folder.parent_path().string();
  if (modules.empty() && !parent.empty() && fs::path(first_module(parent)) == folder) {
    root = parent;
    modules = read_modules(parent);
  }
  std::optional<Pooling> pooling;
  for (size_t k = 1; k < modules.size(); ++k) {
    const Module& module = modules[k];
    if (module.type == "Pooling" && !pooling)
      pooling = read_mode((root / module.path).string());
    else if (module.type != "Normalize")  // which a cosine does anyway
      fail(
          "{}: has a module {} after its model, expected none after its pooling; use another model",
          model.name(), module.type);
  }
  if (pooling) {
    read_texts(root / modules.front().path, *pooling);
    pooling->prompt = default_prompt(root);
    return *pooling;
  }
  const bool image = model.architecture().image.has_value();
  if (model.checkpoint().has(image ? "visual_projection.weight" : "text_projection.weight"))
    return read_projection(model, image);
  if (model.checkpoint().has(model.prefix() + (image ? "head.probe" : "head.weight")))
    return read_siglip(model, image);
  fail(
      "{}: does not say how it makes one vector of an input, expected modules.json of "
      "sentence-transformers with a pooling, CLIP or SigLIP; use another model",
      model.name());
}

std::string first_module(const std::string& folder) {
  std::error_code missing;
  if (fs::exists(fs::path(folder) / "config.json", missing)) return folder;
  const std::vector<Module> modules = read_modules(folder);
  return modules.empty() ? folder : (fs::path(folder) / modules.front().path).string();
}

}  // namespace headwater
