// A model run on a text: what it answers, and which words that comes from.
//
//   build/release/examples/model verb-number "The keys to the cabinet"
#include <cstdio>

#include "headwater/headwater.h"

namespace hw = headwater;

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: model FOLDER_OR_NAME TEXT\n");
    return 2;
  }
  try {
    // The source owns the model; it is run when a method asks.
    const auto source = hw::open(words[1], {.texts = {words[2]}});
    hw::Options options;
    options.row = hw::Row::cls;
    const hw::Attribution rollout = hw::rollout(*source, options);
    const hw::Attribution relevance = hw::relevance(*source);
    const hw::Logit& answer = relevance.relevance->target.logit;
    std::printf("%s (logit %.3f)\n", answer.name.c_str(), answer.value);
    std::printf("%9s %9s\n", "rollout", "relevance");
    for (size_t j = 0; j < rollout.source.tokens.size(); ++j)
      std::printf("%9.4f %9.4f  %s\n", rollout.values[0](0, static_cast<int>(j)),
                  relevance.values[0](0, static_cast<int>(j)), rollout.source.tokens[j].c_str());
  } catch (const hw::Error& error) {
    std::fprintf(stderr, "model: %s\n", error.what());
    return 1;
  }
  return 0;
}
