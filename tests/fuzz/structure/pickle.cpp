#include <algorithm>
#include <string>

#include "tests/fuzz/structure/arrays.h"
#include "tests/fuzz/structure/bytes.h"

namespace headwater::fuzz {
namespace {

// How many bytes the instruction at the start of `rest` has.
size_t instruction_size(std::string_view rest) {
  const auto line = [&](size_t from) {
    return std::min(rest.find('\n', from), rest.size() - 1) + 1;
  };
  switch (rest[0]) {
    case '\x80':
    case 'q':
    case 'h':
    case 'K':
      return 2;
    case 'M':
      return 3;
    case 'J':
    case 'r':
    case 'j':
      return 5;
    case 'G':
    case '\x95':
      return 9;
    case '\x8a':
    case 'U':
    case 'C':
    case '\x8c':
      return 2 + number_at(rest, 1, 1);
    case 'X':
    case 'T':
    case 'B':
    case '\x8b':
      return 5 + number_at(rest, 1, 4);
    case 'c':
    case 'i':
      return line(line(0));
    case 'I':
    case 'L':
    case 'F':
    case 'S':
    case 'V':
    case 'P':
      return line(0);
    default:
      return 1;
  }
}

std::vector<std::string> instructions_of(std::string_view rest) {
  std::vector<std::string> out;
  while (!rest.empty()) {
    out.emplace_back(rest.substr(0, instruction_size(rest)));
    rest.remove_prefix(out.back().size());
  }
  return out;
}

std::string any_instruction(Chance& chance) {
  static const std::string known[] = {"}",
                                      "]",
                                      ")",
                                      "(",
                                      "t",
                                      "u",
                                      "s",
                                      "e",
                                      "a",
                                      "R",
                                      "Q",
                                      "b",
                                      "0",
                                      "2",
                                      "N",
                                      "\x88",
                                      "\x89",
                                      "\x85",
                                      "\x86",
                                      "\x87",
                                      ".",
                                      "ccollections\nOrderedDict\n",
                                      "ctorch._utils\n_rebuild_tensor_v2\n",
                                      "ctorch._utils\n_rebuild_parameter\n",
                                      "ctorch\nFloatStorage\n",
                                      "ctorch\nBFloat16Storage\n",
                                      "ctorch\nHalfStorage\n",
                                      "cos\nsystem\n",
                                      std::string("X\x07\0\0\0storage", 12),
                                      std::string("X\x01\0\0\0"
                                                  "0",
                                                  6),
                                      std::string("X\x03\0\0\0cpu", 8)};
  switch (chance.below(6)) {
    case 0:
      return "K" + number(chance.below(8), 1);
    case 1:
      return "J" + number(edge_number(chance), 4);
    case 2:
      return "\x8a\x08" + number(edge_number(chance), 8);
    case 3:
      return (chance.one_in(2) ? "q" : "h") + number(chance.below(40), 1);
    default:
      return chance.pick(known);
  }
}

std::string argument_changed(const std::string& one, Chance& chance) {
  if (one[0] == 'X' && one.size() >= 5) {
    const std::string text = changed_bytes(one.substr(5), chance);
    return "X" + number(text.size(), 4) + text;
  }
  if (one.size() == 1 || chance.one_in(3)) return any_instruction(chance);
  if (one[0] == 'K' || one[0] == 'M' || one[0] == 'J')
    return one[0] + number(edge_number(chance), static_cast<int>(one.size()) - 1);
  return one[0] + changed_bytes(one.substr(1), chance);
}

}  // namespace

std::string changed_pickle(std::string_view pickle, Chance& chance) {
  std::vector<std::string> instructions = instructions_of(pickle);
  if (instructions.empty()) return std::string(pickle);
  if (chance.one_in(5)) {  // several at once: a tensor more, or one in another's place
    const size_t from = chance.below(instructions.size()),
                 count = chance.below(std::min<size_t>(40, instructions.size() - from) + 1);
    const std::vector<std::string> some(
        instructions.begin() + static_cast<std::ptrdiff_t>(from),
        instructions.begin() + static_cast<std::ptrdiff_t>(from + count));
    instructions.insert(
        instructions.begin() + static_cast<std::ptrdiff_t>(chance.below(instructions.size())),
        some.begin(), some.end());
  } else if (chance.one_in(5)) {
    instructions.insert(
        instructions.begin() + static_cast<std::ptrdiff_t>(chance.below(instructions.size())),
        any_instruction(chance));
  } else {
    change_list(instructions, chance,
                [&](std::string& one) { one = argument_changed(one, chance); });
  }
  std::string out;
  for (const std::string& one : instructions) out += one;
  return out;
}

}  // namespace headwater::fuzz
