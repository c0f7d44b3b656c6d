#include "headwater/source/fuse.h"

#include <array>
#include <charconv>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/source/resolve_head.h"

namespace headwater {

Fuse parse_fuse(std::string_view text) {
  if (text == "mean") return Fuse::mean;
  if (text == "max") return Fuse::max;
  if (text == "min") return Fuse::min;
  if (text.starts_with("head:")) {
    int head = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 5, end, head);
    if (error == std::errc() && stop == end) return Fuse::one(head);
    fail_usage("`fuse` '{}': expected a number after 'head:'; for example head:3", text);
  }
  constexpr std::array<std::string_view, 4> names = {"mean", "max", "min", "head:0"};
  fail_usage("unknown fuse '{}'{}", text, suggestion(text, names));
}

std::string to_string(const Fuse& fuse) {
  switch (fuse.kind) {
    case Fuse::Kind::mean:
      return "mean";
    case Fuse::Kind::max:
      return "max";
    case Fuse::Kind::min:
      return "min";
    case Fuse::Kind::head:
      return fmt::format("head:{}", fuse.head);
  }
  return "";
}

int resolve_head(const Fuse& fuse, int heads, int layer, const std::string& name) {
  const int head = fuse.head < 0 ? fuse.head + heads : fuse.head;
  if (head < 0 || head >= heads)
    fail("{}: layer {} has no head {}, expected 0 to {}; choose another", name, layer, fuse.head,
         heads - 1);
  return head;
}

}  // namespace headwater
