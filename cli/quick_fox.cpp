#include "cli/quick_fox.h"

#include <fmt/format.h>

#include <cmath>

namespace headwater::cli {

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

}  // namespace headwater::cli
