#include "headwater/open.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/layer/options.h"
#include "headwater/model/model_batch.h"
#include "headwater/model/shipped.h"
#include "headwater/source/file.h"

namespace headwater {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code missing;
  return fs::exists(path, missing);
}

// The model folder that `name` refers to, if any.
std::optional<std::string> find_model(const std::string& name) {
  std::error_code missing;
  if (fs::is_directory(name, missing)) return name;
  if (exists(name)) return {};
  return shipped_model(name);
}

std::string known_models(const std::string& name) {
  const std::vector<std::string> names = shipped_models();
  if (names.empty()) return "; check the name";
  const std::string_view near =
      nearest(name, std::vector<std::string_view>(names.begin(), names.end()));
  if (near.empty()) return fmt::format("; these are {}", fmt::join(names, ", "));
  return fmt::format("; did you mean '{}'?", near);
}

std::string need_model(const std::string& name) {
  if (auto folder = find_model(name)) return *folder;
  if (exists(name))
    fail(
        "{}: is a file, expected a model directory or the name of a model that ships; for example "
        "verb-number",
        name);
  fail("{}: does not exist, expected a model directory or the name of a model that ships{}", name,
       known_models(name));
}

// The name of an option that only files have, or null if none is set.
const char* option_of_files(const ReadOptions& read) {
  if (!read.axes.empty()) return "axes";
  if (!read.tokens.empty()) return "tokens";
  if (read.any_sums) return "sums";
  if (read.nan_identity) return "nan";
  return nullptr;
}

}  // namespace

std::unique_ptr<Batch> open_batch(const std::string& name, const OpenOptions& options) {
  const bool asks_a_model = !options.input.empty() || options.input.truncate;
  const std::optional<std::string> folder = find_model(name);
  if (!folder && asks_a_model && exists(name))
    fail_usage(
        "{}: is a file of attention, which takes no text, ids or image, expected a model directory "
        "for them; leave them out",
        name);
  if (!folder && (asks_a_model || (!exists(name) && !is_attention_file(name)))) need_model(name);
  if (!folder) return open_file(name, options.read);
  if (const char* option = option_of_files(options.read))
    fail_usage(
        "{}: is a model, expected no `{}`, which is only for files of attention; leave it out",
        name, option);
  return std::make_unique<ModelBatch>(Model::open(*folder), options.input, name);
}

std::unique_ptr<Source> open(const std::string& name, const OpenOptions& options,
                             std::optional<int> item) {
  const std::unique_ptr<Batch> batch = open_batch(name, options);
  if (batch->size() == 0)
    fail("{}: is a model, expected something to run it on; give `text`, `ids` or `image`", name);
  if (!item && batch->size() > 1)
    fail("{}: holds a batch of {}, expected one item; choose it with `item`", name, batch->size());
  return batch->item(resolve_index(item.value_or(0), batch->size(), "item", name));
}

std::unique_ptr<Source> open(const std::string& name, const ModelInput& input) {
  return open(name, OpenOptions{input, {}});
}

std::shared_ptr<const Model> open_model(const std::string& name) {
  return Model::open(need_model(name));
}

std::unique_ptr<Generation> open_generation(const std::string& name, const GenerationInput& input) {
  return start_generation(open_model(name), input, name);
}

}  // namespace headwater
