// Items, masks and tokens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "headwater/open.h"
#include "headwater/source/json.h"
#include "tests/support/attention.h"
#include "tests/support/build_npy.h"
#include "tests/support/build_safetensors.h"
#include "tests/support/build_zip.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

using Words = std::vector<std::string>;

ZipEntry member(const std::string& name, const Attention& attention, const std::string& letters) {
  return {name + ".npy",
          npy(DType::f32, shape_of(attention, letters), laid_out(attention, letters))};
}

// Rows of real positions put their weight on real positions, as a model with a mask does.
Attention padded_attention(const std::vector<std::vector<int>>& mask, int layers, int heads) {
  const int items = static_cast<int>(mask.size()), n = static_cast<int>(mask[0].size());
  Attention out = random_attention(layers, items, heads, n, 21);
  for (int l = 0; l < layers; ++l)
    for (int b = 0; b < items; ++b)
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < n; ++i) {
          const std::vector<int>& real = mask[static_cast<size_t>(b)];
          double lost = 0;
          int last = -1;
          for (int j = 0; j < n; ++j) {
            if (real[static_cast<size_t>(j)])
              last = j;
            else
              lost += std::exchange(out.at(l, b, h, i, j), 0.0);
          }
          out.at(l, b, h, i, last) += lost;
          // What a model leaves in padded rows does not matter.
          if (!real[static_cast<size_t>(i)]) out.at(l, b, h, i, 0) = std::nan("");
        }
  return out;
}

void expect_cropped(Batch& batch, const Attention& attention,
                    const std::vector<std::vector<int>>& mask) {
  ASSERT_EQ(batch.size(), attention.items);
  for (int b = 0; b < attention.items; ++b) {
    std::vector<int> kept;
    for (int j = 0; j < attention.n; ++j)
      if (mask[static_cast<size_t>(b)][static_cast<size_t>(j)]) kept.push_back(j);
    const auto source = batch.item(b);
    ASSERT_EQ(source->description().tokens.size(), kept.size());
    EXPECT_EQ(source->description().padded, attention.n);
    for (Direction direction : {Direction::up, Direction::down}) {
      const std::vector<Matrix> maps = maps_of(*source, Fuse::max, direction);
      for (int l = 0; l < attention.layers; ++l)
        for (size_t i = 0; i < kept.size(); ++i)
          for (size_t j = 0; j < kept.size(); ++j) {
            double most = 0;
            for (int h = 0; h < attention.heads; ++h)
              most = std::max(most, attention.at(l, b, h, kept[i], kept[j]));
            ASSERT_EQ(maps[static_cast<size_t>(l)](static_cast<int>(i), static_cast<int>(j)),
                      static_cast<float>(most));
          }
    }
  }
}

const std::vector<std::vector<int>> masks = {{1, 1, 1, 1, 1, 1},
                                             {1, 1, 1, 1, 0, 0},
                                             {0, 0, 1, 1, 1, 1},
                                             {1, 0, 1, 0, 0, 1},
                                             {0, 0, 0, 1, 0, 0}};

std::vector<double> flat(const std::vector<std::vector<int>>& mask) {
  std::vector<double> values;
  for (const auto& row : mask) values.insert(values.end(), row.begin(), row.end());
  return values;
}

TEST(Masks, CropPaddingOnEitherSideAndHoles) {
  const Folder folder;
  const Attention attention = padded_attention(masks, 2, 3);
  for (DType type :
       {DType::boolean, DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32,
        DType::i64, DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (bool deflated : {false, true}) {
      ZipEntry all = member("all", attention, "LBHnn");
      ZipEntry mask{"attention_mask.npy", npy(type, {5, 6}, flat(masks), {1, deflated})};
      all.deflated = mask.deflated = deflated;
      expect_cropped(*open_batch(folder.write("a.npz", zip({mask, all}))), attention, masks);
    }
    const auto path = folder.write(
        "a.safetensors",
        safetensors({{"attention_mask", type, {5, 6}, flat(masks)},
                     {"all", DType::f32, shape_of(attention, "LBHnn"), attention.values}}));
    expect_cropped(*open_batch(path), attention, masks);
  }
}

TEST(Masks, MayBeOneForAllItems) {
  const Folder folder;
  const std::vector<std::vector<int>> same(3, masks[3]);
  const Attention attention = padded_attention(same, 2, 2);
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{6}, std::vector<int64_t>{1, 6}}) {
    const ZipEntry mask{"attention_mask.npy", npy(DType::i64, shape, flat({masks[3]}))};
    expect_cropped(
        *open_batch(folder.write("a.npz", zip({member("all", attention, "LBHnn"), mask}))),
        attention, same);
  }
}

TEST(Masks, MayBeNumbersOrBooleansInJson) {
  const Folder folder;
  const std::string start = R"({"attentions": [[1, 0, 0], [0, 0, 0], [0.5, 0, 0.5]], )";
  for (const char* mask : {"[1, 0, 1]", "[1.0, 0.0, 2.5]", "[true, false, true]", "[[1, 0, 1]]"}) {
    const auto path = folder.write(
        "a.json", start + R"("tokens": ["a", "b", "c"], "attention_mask": )" + mask + "}");
    const auto source = open(path);
    EXPECT_EQ(source->description().tokens, (Words{"a", "c"})) << mask;
    EXPECT_EQ(maps_of(*source)[0](1, 0), 0.5f) << mask;
  }
}

TEST(Tokens, AreReadFromEveryFormatAndCropped) {
  const Folder folder;
  const Attention attention = padded_attention({masks[3]}, 2, 1);
  const Words words = {"[CLS]", "\xc3\xa9t\xc3\xa9", "\xe6\xb0\xb4", "a b", "", "\xf0\x9f\x8c\x8a"};
  const Words cropped = {words[0], words[2], words[5]};
  const ZipEntry all = member("all", attention, "Lnn");
  const ZipEntry mask{"attention_mask.npy", npy(DType::i64, {6}, flat({masks[3]}))};
  ZipEntry tokens{"tokens.npy", npy_words({6}, words)};
  EXPECT_EQ(open(folder.write("a.npz", zip({all, tokens, mask})))->description().tokens, cropped);
  tokens.deflated = true;
  EXPECT_EQ(open(folder.write("b.npz", zip({tokens, all, mask})))->description().tokens, cropped);
  EXPECT_EQ(open(folder.write("c.npz", zip({all, mask})))->description().tokens,
            (Words{"0", "1", "2"}));

  const std::string list =
      R"([\"[CLS]\", \"\u00e9t\u00e9\", \"\u6c34\", \"a b\", \"\", \"\ud83c\udf0a\"])";
  const auto path = folder.write(
      "a.safetensors", safetensors({{"all", DType::f32, {2, 6, 6}, attention.values},
                                    {"attention_mask", DType::i32, {6}, flat({masks[3]})}},
                                   R"({"format":"pt","tokens":")" + list + R"("})"));
  EXPECT_EQ(open(path)->description().tokens, cropped);
}

TEST(Tokens, MayBeAListForEachItem) {
  const Folder folder;
  const Attention attention = random_attention(1, 2, 1, 2, 22);
  const ZipEntry all = member("all", attention, "LBHnn");
  const ZipEntry tokens{"tokens.npy", npy_words({2, 2}, {"a", "b", "c", "d"})};
  const auto batch = open_batch(folder.write("a.npz", zip({all, tokens})));
  EXPECT_EQ(batch->item(0)->description().tokens, (Words{"a", "b"}));
  EXPECT_EQ(batch->item(1)->description().tokens, (Words{"c", "d"}));
  const std::string json = R"({"tokens": [["a", "b"], ["c", "d"]], "attentions": )" +
                           json_lists({1, 2, 1, 2, 2}, attention.values) + "}";
  EXPECT_EQ(open(folder.write("a.json", json), {}, 1)->description().tokens, (Words{"c", "d"}));
}

TEST(Tokens, OfTheCallerComeFirst) {
  const Folder folder;
  ReadOptions options;
  options.tokens = {"x", "y"};
  const auto path =
      folder.write("a.json", R"({"tokens": ["a", "b"], "attentions": [[1, 0], [0, 1]]})");
  EXPECT_EQ(open(path, {.read = options})->description().tokens, options.tokens);
  options.tokens = {"x", "y", "z"};
  expect_bad_file(path, {"3 tokens were given", "expected 2"}, options);
}

TEST(Tokens, OfAFileAreALineEachOrAJsonList) {
  const Folder folder;
  EXPECT_EQ(read_tokens(folder.write("t.txt", "a\nb c\r\n\nd")), (Words{"a", "b c", "", "d"}));
  EXPECT_EQ(read_tokens(folder.write("t.txt", "a\nb\n")), (Words{"a", "b"}));
  EXPECT_EQ(read_tokens(folder.write("t.json", R"(["a", "b\n"])")), (Words{"a", "b\n"}));
  const auto lists = folder.write("l.json", R"([["a"], ["b"]])");
  expect_error(Error::Kind::work, {lists, "2 lists", "expected one"}, [&] { read_tokens(lists); });
  const auto none = folder.write("n.json", "[]");
  expect_error(Error::Kind::work, {none, "no token"}, [&] { read_tokens(none); });
  const auto object = folder.write("o.json", R"({"a": 1})");
  expect_error(Error::Kind::work, {object, "list of strings"}, [&] { read_tokens(object); });
  const auto empty = folder.write("e.txt", "");
  expect_error(Error::Kind::work, {empty, "is empty"}, [&] { read_tokens(empty); });
}

TEST(Items, AreChosenByTheirNumberFromEitherEnd) {
  const Folder folder;
  const Attention attention = random_attention(2, 3, 1, 2, 23);
  const auto path =
      folder.write("a.npy", npy(DType::f32, shape_of(attention, "LBHnn"), attention.values));
  for (int k : {0, 1, 2, -1, -3}) {
    const auto source = open(path, {}, k);
    EXPECT_EQ(source->description().item, (k + 3) % 3);
    EXPECT_EQ(source->description().items, 3);
    EXPECT_EQ(maps_of(*source)[1](1, 0), static_cast<float>(attention.at(1, (k + 3) % 3, 0, 1, 0)));
  }
  for (int k : {3, -4, 1 << 30})
    expect_error(Error::Kind::work, {path, fmt::format("no item {}", k), "expected 0 to 2"},
                 [&] { open(path, {}, k); });
  expect_error(Error::Kind::work, {path, "batch of 3", "`item`"}, [&] { open(path); });
}

TEST(Items, OfABatchOfOneNeedNoNumber) {
  const Folder folder;
  const Attention attention = random_attention(2, 1, 2, 3, 24);
  const auto path =
      folder.write("a.npy", npy(DType::f32, shape_of(attention, "LBHnn"), attention.values));
  EXPECT_EQ(open(path)->description().items, 1);
}

}  // namespace
}  // namespace headwater::test
