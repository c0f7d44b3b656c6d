#include "headwater/model/tokenizer/lost_parts.h"

#include <functional>
#include <memory>

#include "headwater/core/error.h"

namespace headwater {
namespace {

constexpr std::string_view sample =
    "The Kings' \u00c9t\u00e9, na\u00efve e\u0301 2024  two\n\"``quotes''\" \u4f60\u597d \ufb01ne\t"
    "STRASSE \u0130! don't a_b 3.14  ";

std::string normalised(const Normalizer* normalizer) {
  AlignedText text(sample);
  if (normalizer) normalizer->apply(text);
  return std::string(text.text());
}

std::vector<std::string> split(const Normalizer* normalizer, const PreTokenizer* pre_tokenizer) {
  AlignedText text(sample);
  if (normalizer) normalizer->apply(text);
  Splits splits;
  splits.push_back({std::move(text), {}});
  if (pre_tokenizer) pre_tokenizer->apply(splits);
  std::vector<std::string> out;
  for (const Split& one : splits)
    if (!one.text.empty()) out.emplace_back(one.text.text());
  return out;
}

// The ids and types around a text, and around a pair.
std::vector<std::vector<int>> around(const PostProcessor* post_processor) {
  std::vector<std::vector<int>> out;
  for (const int texts : {1, 2}) {
    std::vector<Encoding> parts(static_cast<size_t>(texts));
    for (int k = 0; k < texts; ++k) parts[static_cast<size_t>(k)].add(-1 - k, "x", {0, 1}, k, k);
    if (post_processor) post_processor->apply(parts, {"x", "x"}, true);
    std::vector<int>& both = out.emplace_back();
    for (const Encoding& part : parts)
      for (size_t t = 0; t < part.size(); ++t)
        both.insert(both.end(), {part.ids[t], part.types[t]});
  }
  return out;
}

// The file's part, or null. One that headwater cannot read is another, too.
template <class Part>
std::unique_ptr<Part> read_own(JsonPart& file, const char* key, bool& known,
                               const std::function<std::unique_ptr<Part>(JsonPart)>& read) {
  if (!file.has(key)) return nullptr;
  try {
    return read({file.element(key), key});
  } catch (const Error&) {
    known = false;
    return nullptr;
  }
}

}  // namespace

std::vector<std::string> lost_parts(JsonPart& file, const UsedParts& used) {
  bool knows_normalizer = true, splits = true, ends = true;
  const auto normalizer =
      read_own<Normalizer>(file, "normalizer", knows_normalizer,
                           [](JsonPart part) { return read_normalizer(std::move(part)); });
  const auto pre_tokenizer =
      read_own<PreTokenizer>(file, "pre_tokenizer", splits,
                             [](JsonPart part) { return read_pre_tokenizer(std::move(part)); });
  const auto post_processor =
      read_own<PostProcessor>(file, "post_processor", ends,
                              [](JsonPart part) { return read_post_processor(std::move(part)); });
  std::vector<std::string> out;
  // What one of the two leaves out the other may do: the words that both make together count.
  const bool same =
      knows_normalizer && splits &&
      split(normalizer.get(), pre_tokenizer.get()) == split(used.normalizer, used.pre_tokenizer);
  if (!same && (!knows_normalizer || normalised(normalizer.get()) != normalised(used.normalizer)))
    out.emplace_back("normalizer");
  if (!same && (!splits || split(used.normalizer, pre_tokenizer.get()) !=
                               split(used.normalizer, used.pre_tokenizer)))
    out.emplace_back("pre_tokenizer");
  if (!ends || around(post_processor.get()) != around(used.post_processor))
    out.emplace_back("post_processor");
  return out;
}

}  // namespace headwater
