// Every format, type and shape gives the maps that its numbers describe.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "headwater/open.h"
#include "headwater/source/file.h"
#include "tests/support/attention.h"
#include "tests/support/build_npy.h"
#include "tests/support/build_safetensors.h"
#include "tests/support/build_zip.h"

namespace headwater::test {
namespace {

constexpr DType float_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

struct Shape {
  const char* letters;
  int layers, items, heads;
};

// One array with all layers.
constexpr Shape whole_shapes[] = {
    {"nn", 1, 1, 1}, {"Lnn", 3, 1, 1}, {"LHnn", 3, 1, 2}, {"LBHnn", 3, 2, 2}, {"LBHnn", 2, 1, 3}};
// One array a layer.
constexpr Shape layer_shapes[] = {{"nn", 3, 1, 1}, {"Hnn", 3, 1, 2}, {"BHnn", 3, 2, 2}};

Attention of(const Shape& shape, int n = 5) {
  return random_attention(shape.layers, shape.items, shape.heads, n, 7);
}

Bytes whole_npy(const Attention& attention, const std::string& letters, DType type,
                const Npy& how = {}) {
  return npy(type, shape_of(attention, letters), laid_out(attention, letters), how);
}

std::vector<ZipEntry> layer_members(const Attention& attention, const std::string& letters,
                                    DType type, const Npy& how = {}) {
  std::vector<ZipEntry> entries;
  for (int l = 0; l < attention.layers; ++l)
    entries.push_back(
        {fmt::format("layer_{}.npy", l), whole_npy(layer_of(attention, l), letters, type, how)});
  return entries;
}

TEST(Npy, IsReadInEveryTypeShapeOrderAndVersion) {
  const Folder folder;
  for (const Shape& shape : whole_shapes) {
    const Attention attention = of(shape);
    for (DType type : float_types) {
      for (int version : {1, 2, 3}) {
        for (bool fortran : {false, true}) {
          const auto path =
              folder.write("a.npy", whole_npy(attention, shape.letters, type, {version, fortran}));
          expect_maps(*open_batch(path), attention);
        }
      }
    }
  }
}

TEST(Npy, IsReadByTheLettersOfItsAxes) {
  const Folder folder;
  const Attention attention = random_attention(3, 2, 4, 5, 8);
  for (const char* letters :
       {"LBHnn", "BLHnn", "HBLnn", "nnLBH", "nLnHB", "BHnnL", "LnnBH", "LBnHn"}) {
    for (bool fortran : {false, true}) {
      const auto path =
          folder.write("a.npy", whole_npy(attention, letters, DType::f32, {1, fortran}));
      ReadOptions options;
      options.axes = letters;
      expect_maps(*open_batch(path, {.read = options}), attention);
    }
  }
  const Attention heads = random_attention(1, 1, 4, 5, 9);
  ReadOptions options;
  options.axes = "H, n, n";
  const auto path = folder.write("h.npy", whole_npy(heads, "Hnn", DType::f32));
  expect_maps(*open_batch(path, {.read = options}), heads);
  EXPECT_EQ(open_batch(path)->item(0)->description().layers, 4)
      << "without letters they are layers";
}

TEST(Npy, MayBePermutedAndDeflatedInANpz) {
  const Folder folder;
  const Attention attention = random_attention(3, 2, 4, 5, 10);
  for (const char* letters : {"HLBnn", "LnnBH", "BLHnn"}) {
    const auto path =
        folder.write("a.npz", zip({{"a.npy", whole_npy(attention, letters, DType::f32), true}}));
    ReadOptions options;
    options.axes = letters;
    expect_maps(*open_batch(path, {.read = options}), attention);
  }
}

TEST(Npz, IsReadStoredAndDeflatedInEveryTypeAndShape) {
  const Folder folder;
  for (DType type : float_types) {
    for (bool deflated : {false, true}) {
      for (bool fortran : {false, true}) {
        const Npy how{1, fortran, ""};
        for (const Shape& shape : layer_shapes) {
          const Attention attention = of(shape);
          std::vector<ZipEntry> entries = layer_members(attention, shape.letters, type, how);
          for (ZipEntry& entry : entries) entry.deflated = deflated;
          expect_maps(*open_batch(folder.write("a.npz", zip(entries))), attention);
        }
        for (const Shape& shape : whole_shapes) {
          const Attention attention = of(shape);
          const ZipEntry entry{"all.npy", whole_npy(attention, shape.letters, type, how), deflated};
          expect_maps(*open_batch(folder.write("a.npz", zip({entry}))), attention);
        }
      }
    }
  }
}

TEST(Npz, MayBeZip64AndHaveALongComment) {
  const Folder folder;
  const Attention attention = of({"LHnn", 3, 1, 2});
  for (bool deflated : {false, true}) {
    std::vector<ZipEntry> entries = layer_members(attention, "Hnn", DType::f32);
    for (ZipEntry& entry : entries) {
      entry.deflated = deflated;
      entry.zip64 = true;
    }
    for (size_t comment : {size_t{0}, size_t{1}, size_t{65535}}) {
      // The comment holds the mark of a directory's end, which must not be taken for one.
      std::string text = std::string("PK\x05\x06").substr(0, comment);
      text.resize(comment, 'c');
      expect_maps(*open_batch(folder.write("a.npz", zip(entries, {text, true, {}, {}}))),
                  attention);
    }
  }
}

TEST(Safetensors, IsReadInEveryTypeAndShape) {
  const Folder folder;
  for (DType type : float_types) {
    for (const Shape& shape : layer_shapes) {
      const Attention attention = of(shape);
      std::vector<SafeTensor> tensors;
      for (int l = 0; l < shape.layers; ++l) {
        const Attention layer = layer_of(attention, l);
        tensors.push_back({fmt::format("model.layers.{}.attn", l), type,
                           shape_of(layer, shape.letters), laid_out(layer, shape.letters)});
      }
      expect_maps(*open_batch(folder.write("a.safetensors", safetensors(tensors))), attention);
    }
    for (const Shape& shape : whole_shapes) {
      const Attention attention = of(shape);
      const SafeTensor tensor{"all", type, shape_of(attention, shape.letters),
                              laid_out(attention, shape.letters)};
      expect_maps(*open_batch(folder.write("a.safetensors", safetensors({tensor}))), attention);
    }
  }
}

TEST(Json, IsReadInEveryShape) {
  const Folder folder;
  for (const Shape& shape : whole_shapes) {
    const Attention attention = of(shape);
    const std::string lists =
        json_lists(shape_of(attention, shape.letters), laid_out(attention, shape.letters));
    const auto path =
        folder.write("a.json", R"({"model": {"x": [1, null]}, "attentions": )" + lists + "}");
    expect_maps(*open_batch(path), attention);
  }
}

TEST(Memory, IsReadInEveryTypeAndShape) {
  for (DType type : float_types) {
    for (const Shape& shape : layer_shapes) {
      const Attention attention = of(shape);
      std::vector<Bytes> numbers;
      for (int l = 0; l < shape.layers; ++l)
        numbers.push_back(encode(type, laid_out(layer_of(attention, l), shape.letters)));
      std::vector<ArrayView> views;
      for (const Bytes& bytes : numbers)
        views.push_back({type, shape_of(attention, shape.letters), bytes.data()});
      expect_maps(*from_memory(views), attention);
    }
    for (const Shape& shape : whole_shapes) {
      const Attention attention = of(shape);
      const Bytes numbers = encode(type, laid_out(attention, shape.letters));
      expect_maps(*from_memory({{type, shape_of(attention, shape.letters), numbers.data()}}),
                  attention);
    }
  }
}

TEST(Sources, FuseHeadsInEveryWay) {
  const Folder folder;
  const Attention attention = random_attention(2, 2, 3, 4, 11);
  std::vector<ZipEntry> stored = layer_members(attention, "BHnn", DType::f16), deflated = stored;
  for (ZipEntry& entry : deflated) entry.deflated = true;
  for (const auto& entries : {stored, deflated}) {
    const auto batch = open_batch(folder.write("a.npz", zip(entries)));
    for (Fuse fuse : {Fuse::mean, Fuse::max, Fuse::min, Fuse::one(0), Fuse::one(2), Fuse::one(-1)})
      expect_maps(*batch, attention, fuse);
  }
}

TEST(Sources, TakeLayersThatDifferInHeads) {
  const Folder folder;
  const Attention first = random_attention(1, 1, 2, 4, 12),
                  second = random_attention(1, 1, 5, 4, 13);
  const auto path =
      folder.write("a.npz", zip({{"0.npy", whole_npy(first, "Hnn", DType::f32)},
                                 {"1.npy", whole_npy(second, "Hnn", DType::f32), true},
                                 {"2.npy", whole_npy(layer_of(first, 0), "Hnn", DType::f64)}}));
  const auto source = open(path);
  EXPECT_EQ(source->description().heads, (std::vector<int>{2, 5, 2}));
  const std::vector<Matrix> maps = maps_of(*source, Fuse::max);
  double most = 0;
  for (int h = 0; h < 5; ++h) most = std::max(most, second.at(0, 0, h, 3, 1));
  EXPECT_EQ(maps[1](3, 1), static_cast<float>(most));
}

TEST(Sources, TakeLayersInTheNaturalOrderOfTheirNames) {
  const Folder folder;
  const Attention attention = random_attention(12, 1, 1, 3, 14);
  std::vector<ZipEntry> entries;
  std::vector<SafeTensor> tensors;
  for (int l : {10, 2, 0, 11, 1, 9, 3, 8, 4, 7, 5, 6}) {
    const Attention layer = layer_of(attention, l);
    entries.push_back({fmt::format("arr_{}.npy", l), whole_npy(layer, "nn", DType::f32)});
    tensors.push_back(
        {fmt::format("h.{}.weights", l), DType::f32, shape_of(layer, "nn"), laid_out(layer, "nn")});
  }
  expect_maps(*open_batch(folder.write("a.npz", zip(entries))), attention);
  expect_maps(*open_batch(folder.write("a.safetensors", safetensors(tensors))), attention);
}

TEST(Sources, SayHowTheyWereRead) {
  const Folder folder;
  const Attention attention = of({"LHnn", 3, 1, 2});
  const auto path = folder.write("a.npy", whole_npy(attention, "LHnn", DType::f16, {1, true}));
  EXPECT_EQ(open_batch(path)->reading(),
            "npy, one array with all layers, axes L H n n, f16, Fortran order");
  std::vector<ZipEntry> entries = layer_members(attention, "Hnn", DType::f32);
  for (ZipEntry& entry : entries) entry.deflated = true;
  EXPECT_EQ(open_batch(folder.write("a.npz", zip(entries)))->reading(),
            "npz, 3 arrays, one a layer (layer_0 ... layer_2), axes H n n, f32, deflated");
}

}  // namespace
}  // namespace headwater::test
