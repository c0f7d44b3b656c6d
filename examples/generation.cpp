// Text that a model writes, and the prompt token that each new token comes from most.
//
//   build/release/examples/generation facts "Anna took the key to the box. Where is it? Answer:"
#include <cstdio>

#include "headwater/headwater.h"

namespace hw = headwater;

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: generation FOLDER_OR_NAME PROMPT\n");
    return 2;
  }
  try {
    const auto model = hw::open_generation(words[1], {.prompt = words[2]});
    const hw::Generated text = hw::generate(*model, {}, {.count = 4});
    std::printf("%s\n", text.text.c_str());
    // Rows are generated tokens, columns are prompt tokens.
    const hw::Attribution last = hw::at_layer(text);
    for (size_t s = 0; s < text.tokens.size(); ++s) {
      int most = 0;
      for (int j = 1; j < last.values[0].columns(); ++j)
        if (last.values[0](static_cast<int>(s), j) > last.values[0](static_cast<int>(s), most))
          most = j;
      std::printf("%s <- %s %.3f\n", text.tokens[s].c_str(),
                  last.source.tokens[static_cast<size_t>(most)].c_str(),
                  last.values[0](static_cast<int>(s), most));
    }
  } catch (const hw::Error& error) {
    std::fprintf(stderr, "generation: %s\n", error.what());
    return 1;
  }
  return 0;
}
