#include "cli/open.h"

#include "headwater/core/fail.h"
#include "headwater/open.h"

namespace headwater::cli {

std::unique_ptr<Batch> open_source(const std::string& name, const Arguments& arguments) {
  OpenOptions options{arguments.input, arguments.read};
  if (!arguments.text_file.empty()) {
    if (!options.input.texts.empty())
      fail_usage("--text-file: was given beside --text, expected one of them; leave one out");
    options.input.texts = read_texts(arguments.text_file);
  }
  return open_batch(name, options);
}

}  // namespace headwater::cli
