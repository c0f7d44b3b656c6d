#include "headwater/open.h"

#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/layer/options.h"
#include "headwater/layer/resolve.h"
#include "headwater/model/find_model.h"
#include "headwater/model/model_batch.h"
#include "headwater/model/model_generation.h"
#include "headwater/source/file.h"

namespace headwater {
namespace {

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
  const bool asks_a_model = !options.input.empty() || options.input.against_text ||
                            options.input.against_image || options.input.truncate ||
                            options.input.ignore_code;
  const std::optional<std::string> folder = find_model(name);
  std::error_code missing;
  const bool exists = std::filesystem::exists(name, missing);
  const std::filesystem::path beside = std::filesystem::path(name).replace_filename("config.json");
  if (!folder && exists && std::filesystem::exists(beside, missing) &&
      (asks_a_model || std::filesystem::equivalent(name, beside, missing)))
    fail_usage("{}: is a file of a model, expected the model's directory; give '{}'", name,
               beside.parent_path().empty() ? "." : beside.parent_path().string());
  if (!folder && asks_a_model && exists)
    fail_usage(
        "{}: is a file of attention, which takes no text, ids or image, expected a model directory "
        "for them; leave them out",
        name);
  if (!folder && (asks_a_model || (!exists && !is_attention_file(name)))) need_model(name);
  if (!folder) return open_file(name, options.read);
  if (const char* option = option_of_files(options.read))
    fail_usage(
        "{}: is a model, expected no `{}`, which is only for files of attention; leave it out",
        name, option);
  const Side side = options.input.images.empty() ? Side::text : Side::image;
  return std::make_unique<ModelBatch>(Model::open(*folder, options.input.ignore_code, side, name),
                                      options.input, name);
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

std::unique_ptr<Generation> open_generation(const std::string& name, const GenerationInput& input) {
  return open_generations(name, input.ignore_code)(input);
}

OpenInput open_generations(const std::string& name, bool ignore_code) {
  return [name, model = open_model(name, ignore_code)](const GenerationInput& input) {
    return start_generation(model, input, name);
  };
}

}  // namespace headwater
