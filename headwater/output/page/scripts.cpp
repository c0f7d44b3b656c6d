#include "headwater/output/page/scripts.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace headwater {
namespace {

// Whether some tokens are patches of an image, as captures of vision-language models name them.
bool has_patches(const Document& tokens) {
  return std::ranges::any_of(
      std::get<std::vector<std::string>>(tokens.find("labels")->value), [](std::string_view label) {
        return (label.starts_with("<image ") || label.starts_with("<video ")) &&
               label.find(": ") != label.npos && label.ends_with(">");
      });
}

void add_parts(const Document& item, std::set<std::string_view>& parts) {
  const auto& kind = std::get<std::string>(item.find("kind")->value);
  if (kind == "evaluation" || kind == "table") {
    parts.insert("tables");
    return;
  }
  parts.insert("result");
  if (kind == "comparison") {
    parts.insert("compare");
    for (const Document& panel : std::get<std::vector<Document>>(item.find("panels")->value))
      add_parts(panel, parts);
    return;
  }
  parts.insert(item.find("image") ? "picture" : "text");
  if (has_patches(std::get<Document>(item.find("inputs")->value))) parts.insert("patches");
  const auto has = [&](std::string_view name) { return item.find(name) != nullptr; };
  const bool has_arcs = has("cut") || has("heads") || has("edges");
  if (has_arcs) parts.insert("arcs");
  if (has_arcs || has("by_layer") || has("maps")) parts.insert("layers");
}

}  // namespace

std::vector<std::string> page_scripts(const std::vector<Document>& items) {
  std::set<std::string_view> parts;
  for (const Document& item : items) add_parts(item, parts);
  if (items.size() > 1) parts.insert("several");
  std::vector<std::string> out{"core.js"};
  // The other parts use what the result's part has.
  for (const std::string_view part :
       {"result", "text", "picture", "patches", "layers", "arcs", "compare", "several", "tables"})
    if (parts.contains(part)) out.push_back(std::string(part) + ".js");
  return out;
}

}  // namespace headwater
