#include "tests/fuzz/structure/json.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace headwater::fuzz {
namespace {

// A leaf and a key are kept as they were written.
struct JsonTree {
  char kind = 0;          // '{', '[' or 0, a leaf
  std::string key, leaf;  // the key in the object around it, or ""
  std::vector<JsonTree> items = {};
};

class JsonText {
 public:
  explicit JsonText(std::string_view text) : rest_(text) {}

  std::optional<JsonTree> tree() {
    std::optional<JsonTree> out = value(0);
    skip();
    return rest_.empty() ? std::move(out) : std::nullopt;
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool takes(char c) {
    skip();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string take(size_t count) {
    std::string out(rest_.substr(0, count));
    rest_.remove_prefix(out.size());
    return out;
  }
  std::string leaf() {
    if (!rest_.starts_with('"'))
      return take(std::min(rest_.find_first_of(",:]}{[ \t\r\n\""), rest_.size()));
    size_t at = 1;
    while (at < rest_.size() && rest_[at] != '"') at += rest_[at] == '\\' ? 2 : 1;
    return at < rest_.size() ? take(at + 1) : std::string();
  }
  std::optional<JsonTree> value(int depth) {
    skip();
    JsonTree out;
    if (depth > 200 || rest_.empty()) return {};
    if (rest_[0] != '{' && rest_[0] != '[') {
      out.leaf = leaf();
      return out.leaf.empty() ? std::nullopt : std::optional(std::move(out));
    }
    out.kind = take(1)[0];
    const char end = out.kind == '{' ? '}' : ']';
    if (takes(end)) return out;
    do {
      std::string key;
      skip();
      if (out.kind == '{') {
        key = leaf();
        if (key.empty() || !takes(':')) return {};
      }
      std::optional<JsonTree> one = value(depth + 1);
      if (!one) return {};
      one->key = std::move(key);
      out.items.push_back(std::move(*one));
    } while (takes(','));
    return takes(end) ? std::optional(std::move(out)) : std::nullopt;
  }

  std::string_view rest_;
};

void print(const JsonTree& tree, std::string& out) {
  if (tree.kind == 0) {
    out += tree.leaf;
    return;
  }
  out += tree.kind;
  for (size_t k = 0; k < tree.items.size(); ++k) {
    if (k > 0) out += ", ";
    if (tree.kind == '{') out += tree.items[k].key + ": ";
    print(tree.items[k], out);
  }
  out += tree.kind == '{' ? '}' : ']';
}

std::string printed(const JsonTree& tree) {
  std::string out;
  print(tree, out);
  return out;
}

// Deep values as often as those at the top.
JsonTree& any_node(JsonTree& tree, Chance& chance) {
  JsonTree* at = &tree;
  while (!at->items.empty() && !chance.one_in(4)) at = &chance.pick(at->items);
  return *at;
}

std::string quoted_word(std::string_view words, Chance& chance) {
  return '"' + std::string(any_word(words, chance)) + '"';
}

std::string any_leaf(std::string_view words, Chance& chance) {
  static constexpr const char* known[] = {"0",
                                          "1",
                                          "2",
                                          "-1",
                                          "0.5",
                                          "-0.0",
                                          "1e-45",
                                          "3.4e38",
                                          "1e39",
                                          "1e308",
                                          "1e400",
                                          "NaN",
                                          "true",
                                          "false",
                                          "null",
                                          "[]",
                                          "{}",
                                          "\"\"",
                                          "2147483647",
                                          "2147483648",
                                          "-2147483649",
                                          "4294967296",
                                          "9223372036854775807",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "\"\\u0000\"",
                                          "\"\\ud800\"",
                                          "\"\\u202e\"",
                                          "\"\\ufffe\"",
                                          "[[0, 1], [1, 0]]"};
  switch (chance.below(3)) {
    case 0:
      return quoted_word(words, chance);
    case 1:
      return std::to_string(static_cast<int64_t>(edge_number(chance)));
    default:
      return chance.pick(known);
  }
}

std::string changed_leaf(const std::string& leaf, std::string_view words, Chance& chance) {
  if (chance.one_in(2)) return any_leaf(words, chance);
  if (!leaf.starts_with('"')) return changed_bytes(leaf, chance);
  std::string inside = leaf.substr(1, leaf.size() - 2);
  if (chance.one_in(3))
    inside += inside;
  else
    inside = changed_bytes(inside, chance);
  std::erase_if(inside, [](char c) { return c == '"' || static_cast<unsigned char>(c) < ' '; });
  if (inside.ends_with('\\')) inside.pop_back();
  return '"' + inside + '"';
}

// A copy of `from` in the place of `to`, unless it is long.
void put(JsonTree& to, const JsonTree& from) {
  JsonTree copy = from;
  if (printed(copy).size() > 4096) return;
  copy.key = to.key;
  to = std::move(copy);
}

void change_tree(JsonTree& tree, std::string_view words, Chance& chance) {
  JsonTree& node = any_node(tree, chance);
  if (node.kind == 0) {
    node.leaf = changed_leaf(node.leaf, words, chance);
    return;
  }
  switch (chance.below(6)) {
    case 0:  // a new member
      node.items.push_back(
          {0, node.kind == '{' ? quoted_word(words, chance) : "", any_leaf(words, chance)});
      break;
    case 1: {  // one level more
      JsonTree outer{'[', node.key, ""};
      outer.items.push_back(std::move(node));
      node = std::move(outer);
      break;
    }
    case 2:  // as another part of it
      put(node, any_node(tree, chance));
      break;
    case 3: {  // long
      if (node.items.empty() || printed(node).size() > 2048) break;
      const auto again = node.items;
      for (size_t k = chance.below(8); k > 0; --k)
        node.items.insert(node.items.end(), again.begin(), again.end());
      break;
    }
    default:
      change_list(node.items, chance, [&](JsonTree& item) {
        if (node.kind == '{' && chance.one_in(2))
          item.key = quoted_word(words, chance);
        else
          item = {0, item.key, any_leaf(words, chance)};
      });
  }
}

}  // namespace

std::string_view any_word(std::string_view words, Chance& chance) {
  if (words.empty()) return "x";
  const size_t begin = words.rfind(' ', chance.below(words.size())) + 1;
  return words.substr(begin, std::min(words.find(' ', begin), words.size()) - begin);
}

std::string changed_json(std::string_view text, Chance& chance, std::string_view words) {
  std::optional<JsonTree> tree = JsonText(text).tree();
  if (!tree) return std::string(text);
  change_tree(*tree, words, chance);
  return printed(*tree);
}

std::string crossed_json(std::string_view text, std::string_view other, Chance& chance) {
  std::optional<JsonTree> a = JsonText(text).tree(), b = JsonText(other).tree();
  if (!a || !b) return std::string(text);
  JsonTree &to = any_node(*a, chance), &from = any_node(*b, chance);
  if (to.kind == '{' && from.kind == '{' && !from.items.empty())
    to.items.push_back(chance.pick(from.items));
  else
    put(to, from);
  return printed(*a);
}

Change json_change(std::string_view words) {
  return
      [words](std::string_view text, Chance& chance) { return changed_json(text, chance, words); };
}

size_t cross_json(const uint8_t* data, size_t size, const uint8_t* other, size_t other_size,
                  uint8_t* out, size_t most, unsigned seed) {
  Chance chance(seed);
  const auto text = [](const uint8_t* bytes, size_t count) {
    return std::string_view(reinterpret_cast<const char*>(bytes), count);
  };
  const std::string made = crossed_json(text(data, size), text(other, other_size), chance);
  const size_t taken = std::min(made.size(), most);
  std::memcpy(out, made.data(), taken);
  return taken;
}

}  // namespace headwater::fuzz
