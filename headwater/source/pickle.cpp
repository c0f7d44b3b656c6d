#include "headwater/source/pickle.h"

#include <algorithm>
#include <cstring>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

using Kind = PickleValue::Kind;

// Names of tensors and layers, not numbers: real ones are below a megabyte.
constexpr size_t longest = 8 << 20;

constexpr std::string_view callable[] = {
    "collections\nOrderedDict",
    "torch._utils\n_rebuild_parameter",
    "torch._utils\n_rebuild_tensor",
    "torch._utils\n_rebuild_tensor_v2",
};

enum Opcode : unsigned char {
  proto = 0x80,
  stop = '.',
  mark = '(',
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  bin_int = 'J',
  bin_int1 = 'K',
  bin_int2 = 'M',
  long1 = 0x8a,
  bin_float = 'G',
  bin_unicode = 'X',
  global_name = 'c',
  empty_tuple = ')',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  tuple = 't',
  empty_list = ']',
  append = 'a',
  appends = 'e',
  empty_dict = '}',
  set_item = 's',
  set_items = 'u',
  reduce = 'R',
  build = 'b',
  persistent = 'Q',
  bin_put = 'q',
  long_bin_put = 'r',
  bin_get = 'h',
  long_bin_get = 'j',
};

std::string dotted(std::string_view global) {
  std::string name(global);
  std::ranges::replace(name, '\n', '.');
  return name;
}

class Interpreter {
 public:
  Interpreter(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes.first(std::min(bytes.size(), longest))), file_(file) {}

  Pickle run() {
    while (step()) {
    }
    out_.root = pop();
    out_.end = at_;
    return std::move(out_);
  }

 private:
  [[noreturn]] void damaged(const char* found) const {
    fail("{}: byte {} of its pickle {}, expected what torch.save writes; save the model again",
         file_, at_, found);
  }

  std::string_view take(size_t count) {
    if (count > bytes_.size() - at_) {
      if (bytes_.size() == longest)
        fail("{}: its pickle is longer than {} MB, expected names only; save the model again",
             file_, longest >> 20);
      damaged("is where it ends");
    }
    const std::string_view piece(reinterpret_cast<const char*>(bytes_.data()) + at_, count);
    at_ += count;
    return piece;
  }

  template <class T>
  T little() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view line() {
    const auto* from = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const void* end = std::memchr(from, '\n', bytes_.size() - at_);
    if (!end) damaged("starts a name without an end");
    const std::string_view text = take(static_cast<size_t>(static_cast<const char*>(end) - from));
    take(1);
    return text;
  }

  void push(PickleValue value) { stack_.push_back(value); }

  PickleValue pop() {
    if (stack_.size() == floor()) damaged("takes a value where there is none");
    const PickleValue value = stack_.back();
    stack_.pop_back();
    return value;
  }

  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  std::vector<PickleValue> pop_to_mark() {
    if (marks_.empty()) damaged("ends a list that never began");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleValue> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  void push_pool(Kind kind, std::vector<PickleValue> items) {
    PickleValue value;
    value.kind = kind;
    value.place = out_.pools.size();
    out_.pools.push_back(std::move(items));
    push(value);
  }

  void push_tuple(size_t count) {
    std::vector<PickleValue> items(count);
    for (size_t k = count; k-- > 0;) items[k] = pop();
    push_pool(Kind::tuple, std::move(items));
  }

  void push_number(Kind kind, int64_t number) { push({kind, number, {}, 0}); }

  void push_long(std::string_view digits) {
    if (digits.size() > sizeof(int64_t)) return push({Kind::text, 0, digits, 0});
    uint64_t number = 0;
    for (size_t k = 0; k < digits.size(); ++k)
      number |= uint64_t{static_cast<unsigned char>(digits[k])} << (8 * k);
    const size_t bits = 8 * digits.size();
    if (bits > 0 && bits < 64 && (number >> (bits - 1)) != 0) number |= ~uint64_t{0} << bits;
    push_number(Kind::integer, static_cast<int64_t>(number));
  }

  // Appends to the list or dict that is now on top.
  void extend(Kind kind, const std::vector<PickleValue>& items) {
    if (stack_.size() == floor() || stack_.back().kind != kind ||
        (kind == Kind::dict && items.size() % 2 != 0))
      damaged(kind == Kind::dict ? "sets entries of something that is not a dict"
                                 : "appends to something that is not a list");
    std::vector<PickleValue>& pool = out_.pools[stack_.back().place];
    pool.insert(pool.end(), items.begin(), items.end());
  }

  void call() {
    const PickleValue arguments = pop(), what = pop();
    if (what.kind != Kind::global || arguments.kind != Kind::tuple)
      damaged("calls something without a name");
    if (std::ranges::find(callable, what.text) == std::end(callable))
      fail(
          "{}: asks Python to call '{}', expected tensors only; get the file from somebody you "
          "trust, load it with torch and save it with save_pretrained of transformers",
          file_, dotted(what.text));
    if (what.text == callable[0]) {
      if (!out_.items(arguments).empty()) damaged("calls OrderedDict with arguments");
      return push_pool(Kind::dict, {});
    }
    push({Kind::call, 0, what.text, arguments.place});
  }

  // Python's writer numbers what it remembers 0, 1, 2 ...
  void remember(size_t number) {
    if (stack_.size() == floor()) damaged("remembers a value where there is none");
    if (number > memo_.size()) damaged("remembers a value under a number that is too large");
    if (number == memo_.size()) memo_.emplace_back();
    memo_[number] = stack_.back();
  }

  void recall(size_t number) {
    if (number >= memo_.size()) damaged("recalls a value that was never remembered");
    push(memo_[number]);
  }

  void global() {
    const std::string_view module = line(), name = line();
    push({Kind::global, 0, {module.data(), module.size() + 1 + name.size()}, 0});
  }

  bool step();

  std::span<const std::byte> bytes_;
  const std::string& file_;
  size_t at_ = 0;
  Pickle out_;
  std::vector<PickleValue> stack_, memo_;
  std::vector<size_t> marks_;
};

// Runs one opcode. Returns false after the last.
bool Interpreter::step() {
  const auto opcode = static_cast<unsigned char>(take(1)[0]);
  switch (opcode) {
    case proto:
      if (little<uint8_t>() != 2) damaged("starts a pickle of another protocol than 2");
      return true;
    case stop:
      return false;
    case mark:
      marks_.push_back(stack_.size());
      return true;
    case none:
      push({});
      return true;
    case new_true:
    case new_false:
      push_number(Kind::boolean, opcode == new_true);
      return true;
    case bin_int:
      push_number(Kind::integer, little<int32_t>());
      return true;
    case bin_int1:
      push_number(Kind::integer, little<uint8_t>());
      return true;
    case bin_int2:
      push_number(Kind::integer, little<uint16_t>());
      return true;
    case long1:
      push_long(take(little<uint8_t>()));
      return true;
    case bin_float:
      take(8);
      push({Kind::real, 0, {}, 0});
      return true;
    case bin_unicode:
      push({Kind::text, 0, take(little<uint32_t>()), 0});
      return true;
    case global_name:
      global();
      return true;
    case empty_tuple:
    case tuple1:
    case tuple2:
    case tuple3:
      push_tuple(opcode == empty_tuple ? 0 : opcode - tuple1 + 1u);
      return true;
    case tuple:
      push_pool(Kind::tuple, pop_to_mark());
      return true;
    case empty_list:
      push_pool(Kind::list, {});
      return true;
    case empty_dict:
      push_pool(Kind::dict, {});
      return true;
    case append:
      extend(Kind::list, {pop()});
      return true;
    case appends:
      extend(Kind::list, pop_to_mark());
      return true;
    case set_item: {
      const PickleValue value = pop(), key = pop();
      extend(Kind::dict, {key, value});
      return true;
    }
    case set_items:
      extend(Kind::dict, pop_to_mark());
      return true;
    case reduce:
      call();
      return true;
    case build:
      // The attributes of a dict, such as the versions of its modules. Nothing here needs them.
      pop();
      if (stack_.size() == floor() || stack_.back().kind != Kind::dict)
        damaged("sets attributes of something that is not a dict");
      return true;
    case persistent: {
      PickleValue value = pop();
      if (value.kind != Kind::tuple) damaged("names a storage by something that is not a tuple");
      value.kind = Kind::persistent;
      push(value);
      return true;
    }
    case bin_put:
      remember(little<uint8_t>());
      return true;
    case long_bin_put:
      remember(little<uint32_t>());
      return true;
    case bin_get:
      recall(little<uint8_t>());
      return true;
    case long_bin_get:
      recall(little<uint32_t>());
      return true;
    default:
      --at_;
      fail(
          "{}: byte {} of its pickle is the opcode 0x{:02x}, expected one of those that torch.save "
          "writes for tensors; load it with torch and save it with save_pretrained of transformers",
          file_, at_, opcode);
  }
}

}  // namespace

Pickle read_pickle(std::span<const std::byte> bytes, const std::string& file) {
  return Interpreter(bytes, file).run();
}

}  // namespace headwater
