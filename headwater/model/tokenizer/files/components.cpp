#include "headwater/model/tokenizer/files/components.h"

#include <fmt/format.h>

#include "headwater/model/tokenizer/base64.h"
#include "headwater/model/tokenizer/files/words.h"

namespace headwater {

std::string metaspace(const char* split, const char* prepend) {
  return fmt::format(R"({{"type":"Metaspace","replacement":"\u2581",{}"prepend_scheme":"{}"}})",
                     split, prepend);
}

std::string split_before(const char* pattern, const char* behaviour, bool invert,
                         const std::string& then) {
  return fmt::format(
      R"({{"type":"Sequence","pretokenizers":[{{"type":"Split","pattern":{{"Regex":{}}},)"
      R"("behavior":"{}","invert":{}}},{}]}})",
      json_text(pattern), behaviour, invert, then);
}

std::string replacing(const char* pattern, const char* with) {
  return fmt::format(R"({{"type":"Replace","pattern":{{"Regex":{}}},"content":{}}})",
                     json_text(pattern), json_text(with));
}

std::string precompiled(std::string_view charsmap) {
  return fmt::format(R"({{"type":"Precompiled","precompiled_charsmap":"{}"}})",
                     encode_base64(charsmap));
}

std::string siglip_normalizer(bool lower, const std::string& precompiled) {
  return fmt::format(R"({{"type":"Sequence","normalizers":[{}{},{},{}{},)"
                     R"({{"type":"Strip","strip_left":true,"strip_right":true}}]}})",
                     lower ? R"({"type":"Lowercase"},)" : "", replacing(R"([!-/:-@\[-`{-~])", ""),
                     replacing(R"([\s\x1c-\x1f\x{2581}]+)", " "),
                     precompiled.empty() ? "" : precompiled + ",", replacing(" {2,}", " "));
}

std::string merged_decoder(bool strip) {
  return fmt::format(
      R"({{"type":"Sequence","decoders":[{{"type":"Replace","pattern":{{"String":"\u2581"}},)"
      R"("content":" "}},{{"type":"ByteFallback"}},{{"type":"Fuse"}}{}]}})",
      strip ? R"(,{"type":"Strip","content":" ","start":1,"stop":0})" : "");
}

std::string clip_normalizer() {
  return fmt::format(
      R"({{"type":"Sequence","normalizers":[{{"type":"NFC"}},{},{{"type":"Lowercase"}}]}})",
      replacing(R"(\s+)", " "));
}

std::string clip_decoder(const std::string& bytes) {
  return fmt::format(
      R"({{"type":"Sequence","decoders":[{},{{"type":"Replace","pattern":{{"String":"</w>"}},)"
      R"("content":" "}},{{"type":"Strip","content":" ","start":0,"stop":1}}]}})",
      bytes);
}

std::string roberta_processing(const std::pair<std::string, int>& first,
                               const std::pair<std::string, int>& last, bool trim_offsets,
                               bool add_prefix_space) {
  return fmt::format(
      R"({{"type":"RobertaProcessing","sep":[{},{}],"cls":[{},{}],"trim_offsets":{},)"
      R"("add_prefix_space":{}}})",
      json_text(last.first), last.second, json_text(first.first), first.second, trim_offsets,
      add_prefix_space);
}

}  // namespace headwater
