#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "cli/commands.h"
#include "cli/deliver.h"
#include "headwater/core/fail.h"
#include "headwater/core/output_file.h"
#include "headwater/method/compare.h"
#include "headwater/method/rollout.h"
#include "headwater/source/open.h"

namespace headwater::cli {
namespace {

// Attention as trained encoders tend to have it: near neighbours in the low layers, further away
// and to the first and last token in the high ones.
std::string quick_fox() {
  constexpr int layers = 6, heads = 8, n = 8;
  std::string text =
      "{\"tokens\": [\"[CLS]\", \"The\", \"quick\", \"brown\", \"fox\", \"jumps\", \"over\", "
      "\"[SEP]\"],\n"
      " \"attentions\": [";
  for (int l = 0; l < layers; ++l) {
    const double depth = static_cast<double>(l) / layers;
    std::string head = "[";
    for (int i = 0; i < n; ++i) {
      double row[n], sum = 0;
      for (int j = 0; j < n; ++j) {
        row[j] = std::exp(-std::abs(i - j) * (1 - depth * 0.5));
        if (j == 0) row[j] += depth * 0.3;
        if (j == n - 1) row[j] += depth * 0.2;
        sum += row[j];
      }
      head += i ? ", [" : "[";
      for (int j = 0; j < n; ++j)
        head += fmt::format("{}{}", j ? ", " : "", static_cast<float>(row[j] / sum));
      head += "]";
    }
    head += "]";
    text += l ? ",\n  [" : "\n  [";
    for (int h = 0; h < heads; ++h) text += (h ? ", " : "") + head;
    text += "]";
  }
  return text + "]}\n";
}

}  // namespace

void run_demo(const Arguments& arguments) {
  std::error_code error;
  std::filesystem::create_directories(arguments.folder, error);
  if (error)
    fail(
        "{}: cannot be made ({}), expected a folder for the pictures; choose another with --folder",
        arguments.folder, error.message());
  const auto in_folder = [&](const char* name) { return arguments.folder + "/" + name; };
  const std::string file = in_folder("quick-fox.json");
  OutputFile input(file);
  input.write(quick_fox());
  input.commit();

  const std::unique_ptr<Source> source = open(file);
  const Options options = options_of(Preset::tutorial);
  std::string tour = fmt::format(
      "Eight tokens, six layers, eight heads, made up: near neighbours below, [CLS] and [SEP] "
      "above.\n"
      "  {:<24} the attention itself, tokens included\n",
      file);
  const auto picture = [&](const char* name, Result result, const char* about) {
    write(std::move(result), in_folder(name));
    tour += fmt::format("  {:<24} {}\n", in_folder(name), about);
  };
  picture("rollout.png", rollout(*source, options), "rollout over all layers");
  picture("layer.png", compare_layer(*source, options, -1), "the last layer beside the rollout");
  picture("evolution.png", compare_evolution(*source, options), "the rollout after each layer");
  picture("discard.png", compare_discard(*source, options),
          "0, 0.1, 0.3 and 0.5 of the weights dropped");
  picture("fuse.png", compare_fuse(*source, options),
          "heads fused by mean, max and min: alike here, as all heads are");
  tour += fmt::format(
      "\nTry next:\n"
      "  headwater rollout {0} --row cls\n"
      "  headwater rollout {0} --row cls --by-layer -o cls.svg\n"
      "  headwater compare {0} --by method -o methods.png\n"
      "  headwater rollout YOUR.npz -o rollout.png        one array a layer: docs/formats.md\n",
      file);
  std::fputs(tour.c_str(), stdout);
}

}  // namespace headwater::cli
