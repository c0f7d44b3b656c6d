// How the heads of a layer are fused into one map.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// mean, max or min over all heads, or one head alone ("head:K"; -1 is the last).
struct Fuse {
  enum class Kind { mean, max, min, head };
  Kind kind = Kind::mean;
  int head = 0;

  static const Fuse mean, max, min;
  static Fuse one(int head) { return {Kind::head, head}; }
  bool operator==(const Fuse&) const = default;
};
inline constexpr Fuse Fuse::mean = {Fuse::Kind::mean, 0};
inline constexpr Fuse Fuse::max = {Fuse::Kind::max, 0};
inline constexpr Fuse Fuse::min = {Fuse::Kind::min, 0};

/// Parses "mean", "max", "min" or "head:K". Throws Error (usage) for anything else.
Fuse parse_fuse(std::string_view text);

/// The text that parse_fuse reads.
std::string to_string(const Fuse& fuse);

}  // namespace headwater
