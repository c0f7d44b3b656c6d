// One door for files, model folders and models by name.
#include "headwater/open.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "headwater/method/rollout.h"
#include "headwater/model/find_model.h"
#include "headwater/model/shipped.h"
#include "tests/support/attention.h"
#include "tests/support/build_npy.h"
#include "tests/support/expect_error.h"
#include "tests/support/test_data.h"

namespace headwater::test {
namespace {

const std::string sentence = "the keys to the cabinet are";

std::string attention_file(const Folder& folder, const Attention& attention) {
  return folder.write("x.npy", npy(DType::f32, shape_of(attention, "LBHnn"), attention.values));
}

TEST(Open, FindsAModelByItsName) {
  const std::unique_ptr<Source> source = open("verb-number", {.texts = {sentence}});
  EXPECT_EQ(source->description().kind, "model");
  EXPECT_EQ(source->description().name, "verb-number");
  EXPECT_EQ(source->description().tokens.front(), "[CLS]");
  EXPECT_TRUE(open_model("verb-number")->tokenizer());
}

TEST(Open, GivesTheSameByFolderAndByName) {
  const std::string folder = shipped_model("verb-number").value();
  const Attribution by_name = rollout(*open("verb-number", {.texts = {sentence}}));
  const Attribution by_folder = rollout(*open(folder, {.texts = {sentence}}));
  ASSERT_EQ(by_name.values[0].size(), by_folder.values[0].size());
  for (size_t k = 0; k < by_name.values[0].size(); ++k)
    ASSERT_EQ(by_name.values[0].data()[k], by_folder.values[0].data()[k]);
}

TEST(Open, SuggestsTheNearestNameOfAModel) {
  for (const std::string name : {"verb-numbr", "nowhere"}) {
    const std::string hint = name == "nowhere" ? "shapes" : "did you mean 'verb-number'?";
    expect_error(Error::Kind::work, {name + ": does not exist", hint}, [&] { open_batch(name); });
    expect_error(Error::Kind::work, {name + ": does not exist", hint},
                 [&] { open(name, {.texts = {sentence}}); });
    expect_error(Error::Kind::work, {name + ": does not exist", hint}, [&] { open_model(name); });
  }
}

TEST(Open, RefusesAFolderWithoutConfig) {
  const Folder folder;
  const std::string path = folder.path("");
  expect_error(Error::Kind::work, {path, "is a folder without config.json"},
               [&] { open(path, {.texts = {sentence}}); });
  expect_error(Error::Kind::work, {path, "is a folder without config.json"},
               [&] { open_batch(path); });
  expect_error(Error::Kind::work, {path, "is a folder without config.json"},
               [&] { open_model(path); });
}

TEST(Open, RefusesAnInputBesideAFile) {
  const Folder folder;
  const std::string path = attention_file(folder, random_attention(1, 1, 1, 3, 31));
  expect_error(Error::Kind::usage, {path, "takes no text, ids or image"},
               [&] { open(path, {.texts = {sentence}}); });
  expect_error(Error::Kind::usage, {path, "takes no text, ids or image"}, [&] {
    open(path, {.ids = {1, 2}});
  });
  expect_error(Error::Kind::usage, {path, "takes no text, ids or image"},
               [&] { open(path, {.truncate = true}); });
  expect_error(Error::Kind::work, {path, "is a file, expected a model directory"},
               [&] { open_model(path); });
}

TEST(Open, RefusesOptionsOfFilesBesideAModel) {
  const auto refused = [](const ReadOptions& read, const std::string& option) {
    expect_error(Error::Kind::usage, {"verb-number: is a model", "`" + option + "`"},
                 [&] { open("verb-number", {.input = {.texts = {sentence}}, .read = read}); });
  };
  refused({.axes = "LHnn"}, "axes");
  refused({.tokens = {"a"}}, "tokens");
  refused({.any_sums = true}, "sums");
  refused({.nan_identity = true}, "nan");
}

TEST(Open, AsksForSomethingToRunAModelOn) {
  EXPECT_EQ(open_batch("verb-number")->size(), 0);
  expect_error(Error::Kind::work, {"verb-number: is a model", "`text`, `ids` or `image`"},
               [] { open("verb-number"); });
}

TEST(Open, CountsTheTextsOfAModelAsItems) {
  const ModelInput two = {.texts = {"a b", sentence}};
  EXPECT_EQ(open_batch("verb-number", {.input = two})->size(), 2);
  EXPECT_EQ(open("verb-number", {.input = two}, -1)->description().item, 1);
  expect_error(Error::Kind::work, {"verb-number: holds a batch of 2", "`item`"},
               [&] { open("verb-number", two); });
}

// The batch, and with it all that opened the files, is gone when the item is read.
TEST(Items, OutliveTheirBatchOfAFile) {
  const Folder folder;
  const Attention attention = random_attention(2, 3, 2, 4, 32);
  const std::string path = attention_file(folder, attention);
  for (int k = 0; k < 3; ++k) {
    const std::unique_ptr<Source> item = open_batch(path)->item(k);
    const std::vector<Matrix> maps = maps_of(*item);
    ASSERT_EQ(maps.size(), 2u);
    for (int l = 0; l < 2; ++l)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          ASSERT_EQ(
              maps[static_cast<size_t>(l)](i, j),
              static_cast<float>((attention.at(l, k, 0, i, j) + attention.at(l, k, 1, i, j)) / 2));
  }
}

TEST(Items, OutliveTheirFile) {
  const Folder folder;
  const Attention attention = random_attention(2, 1, 1, 4, 33);
  const std::string path = attention_file(folder, attention);
  const std::unique_ptr<Source> item = open_batch(path)->item(0);
  std::filesystem::remove(path);
  EXPECT_EQ(maps_of(*item)[1](3, 2), static_cast<float>(attention.at(1, 0, 0, 3, 2)));
}

TEST(Items, OutliveTheirBatchOfAModel) {
  const OpenOptions options = {.input = {.texts = {"a b", sentence}}};
  const std::unique_ptr<Batch> batch = open_batch("verb-number", options);
  const std::unique_ptr<Source> beside = batch->item(1);
  const std::unique_ptr<Source> alone = open_batch("verb-number", options)->item(1);
  EXPECT_EQ(alone->description().tokens, beside->description().tokens);
  const std::vector<Matrix> expected = maps_of(*beside), maps = maps_of(*alone);
  ASSERT_EQ(maps.size(), expected.size());
  for (size_t l = 0; l < maps.size(); ++l)
    for (size_t k = 0; k < maps[l].size(); ++k)
      ASSERT_EQ(maps[l].data()[k], expected[l].data()[k]) << "layer " << l;
}

}  // namespace
}  // namespace headwater::test
