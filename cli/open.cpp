#include "cli/open.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/model/shipped.h"
#include "headwater/source/open.h"

namespace headwater::cli {
namespace {

const char* file_option(const ReadOptions& read) {
  if (!read.axes.empty()) return "--axes";
  if (!read.tokens.empty()) return "--tokens";
  if (read.any_sums) return "--sums";
  if (read.nan_identity) return "--nan";
  return nullptr;
}

std::string known_models(const std::string& name) {
  const std::vector<std::string> names = shipped_models();
  if (names.empty()) return "; check the name";
  const std::string_view near =
      nearest(name, std::vector<std::string_view>(names.begin(), names.end()));
  if (near.empty()) return fmt::format("; these are {}", fmt::join(names, ", "));
  return fmt::format("; did you mean '{}'?", near);
}

}  // namespace

std::optional<std::string> model_folder(const std::string& name) {
  std::error_code missing;
  if (std::filesystem::is_directory(name, missing)) return name;
  if (std::filesystem::exists(name, missing)) return {};
  return shipped_model(name);
}

std::string needed_model(const std::string& name) {
  if (auto folder = model_folder(name)) return *folder;
  std::error_code missing;
  if (std::filesystem::exists(name, missing))
    fail(
        "{}: is a file, expected a model directory or the name of a model that ships; for example "
        "verb-number",
        name);
  fail("{}: is not there, expected a model directory or the name of a model that ships{}", name,
       known_models(name));
}

bool has_input(const Arguments& arguments) {
  const ModelInput& input = arguments.input;
  return !input.texts.empty() || input.pair || !input.ids.empty() || !input.images.empty() ||
         !arguments.text_file.empty() || input.truncate;
}

std::unique_ptr<Batch> open_source(const std::string& name, const Arguments& arguments) {
  const std::optional<std::string> folder = model_folder(name);
  if (!folder) {
    std::error_code missing;
    const bool there = std::filesystem::exists(name, missing);
    if (has_input(arguments) && !there) needed_model(name);
    if (has_input(arguments) && there)
      fail_usage(
          "{}: is a file of attention, which takes no text, ids or image, expected a model "
          "directory for them; leave them out",
          name);
    return open_batch(name, arguments.read);
  }
  if (const char* option = file_option(arguments.read))
    fail_usage("{}: is a model, expected no {}, which is for files of attention; leave it out",
               name, option);
  ModelInput input = arguments.input;
  input.name = name;
  if (!arguments.text_file.empty()) {
    if (!input.texts.empty())
      fail_usage("--text-file: was given beside --text, expected one of them; leave one out");
    input.texts = read_texts(arguments.text_file);
  }
  return open_model(*folder, input);
}

}  // namespace headwater::cli
