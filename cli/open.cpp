#include "cli/open.h"

#include <filesystem>

#include "headwater/core/fail.h"
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

}  // namespace

bool is_model(const std::string& name) {
  std::error_code missing;
  return std::filesystem::is_directory(name, missing);
}

bool has_input(const Arguments& arguments) {
  const ModelInput& input = arguments.input;
  return !input.texts.empty() || input.pair || !input.ids.empty() || !input.images.empty() ||
         !arguments.text_file.empty() || input.truncate;
}

std::unique_ptr<Batch> open_source(const std::string& name, const Arguments& arguments) {
  if (!is_model(name)) {
    std::error_code missing;
    if (has_input(arguments) && std::filesystem::exists(name, missing))
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
  if (!arguments.text_file.empty()) {
    if (!input.texts.empty())
      fail_usage("--text-file: was given beside --text, expected one of them; leave one out");
    input.texts = read_texts(arguments.text_file);
  }
  return open_model(name, input);
}

}  // namespace headwater::cli
