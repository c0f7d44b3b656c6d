#include "cli/option_list.h"

#include <algorithm>
#include <cassert>

#include "cli/numbers.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater::cli {

Option& OptionList::add(const char* names, const char* value, const std::string& about,
                        std::function<void(const std::string&)> take) {
  return options_.emplace_back(Option{names, value, about, group_, std::move(take)});
}

Option& OptionList::flag(const char* name, const char* about, bool& given) {
  return add(name, "", about, [&given](const std::string&) { given = true; });
}

Option& OptionList::text(const char* names, const char* value, const std::string& about,
                         std::string& out) {
  return add(names, value, about, [&out](const std::string& text) { out = text; });
}

Option& OptionList::text(const char* names, const char* value, const std::string& about,
                         std::optional<std::string>& out) {
  return add(names, value, about, [&out](const std::string& text) { out = text; });
}

Option& OptionList::texts(const char* names, const char* value, const std::string& about,
                          std::vector<std::string>& out) {
  Option& option = add(names, value, about + "; may be given several times",
                       [&out](const std::string& text) { out.push_back(text); });
  option.several = true;
  return option;
}

Option& OptionList::integer(const char* name, const char* value, const char* about, int& out) {
  return add(name, value, about,
             [name, &out](const std::string& text) { out = parse_integer(name, text); });
}

Option& OptionList::integer(const char* name, const char* value, const char* about,
                            std::optional<int>& out) {
  return add(name, value, about,
             [name, &out](const std::string& text) { out = parse_integer(name, text); });
}

Option& OptionList::real(const char* name, const char* value, const char* about, double& out) {
  return add(name, value, about,
             [name, &out](const std::string& text) { out = parse_real(name, text); });
}

Option& OptionList::choice(const char* name, const char* value, const char* about,
                           std::initializer_list<std::string_view> words, std::string& out) {
  const std::vector<std::string_view> known(words);
  Option& option = add(name, value, about, [name, known, &out](const std::string& text) {
    if (std::ranges::find(known, text) == known.end())
      fail_usage("unknown {} '{}'{}", name, text, suggestion(text, known));
    out = text;
  });
  option.words = known;
  return option;
}

void OptionList::hide(std::string_view names) { find(names).group.clear(); }

void OptionList::make_optional(std::string_view names) { find(names).required.clear(); }

Option& OptionList::find(std::string_view names) {
  const auto found = std::ranges::find(options_, names, &Option::names);
  assert(found != options_.end());
  return *found;
}

std::string long_name(const Option& option) {
  return option.names.substr(option.names.find_last_of(',') + 1);
}

}  // namespace headwater::cli
