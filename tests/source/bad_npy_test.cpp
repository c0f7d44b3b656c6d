// .npy files with one thing wrong.
#include <gtest/gtest.h>

#include "headwater/open.h"
#include "tests/support/build_npy.h"
#include "tests/support/build_zip.h"
#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

const std::vector<double> numbers = {1, 0, 0.5, 0.5};

class BadNpy : public testing::Test {
 protected:
  void expect_bad(const Bytes& bytes, std::vector<std::string> parts) {
    expect_bad_file(folder_.write("a.npy", bytes), parts);
    // The same array as a member of a .npz, stored and deflated.
    parts.push_back("array 'a'");
    for (bool deflated : {false, true})
      expect_bad_file(folder_.write("a.npz", zip({{"a.npy", bytes, deflated}})), {"a.npz"});
  }
  Folder folder_;
};

TEST_F(BadNpy, ClaimsMoreNumbersThanAFileCanHold) {
  const int64_t most = int64_t{1} << 60;
  expect_bad(npy_header("'<f4'", {most}), {"length 1152921504606846976"});
  expect_bad(npy_header("'<f4'", {1 << 30, 1 << 30}), {"[1073741824, 1073741824]", "fits"});
  expect_bad(npy_header("'<f8'", {1 << 30, 1 << 28, 1 << 28}), {"fits"});
  expect_bad(npy_header("'<f4'", {12, 1 << 13, 1 << 13}), {"has 0 bytes", "3221225472"});
  expect_bad(npy_header("'<f4'", {9223372036854775807, 9223372036854775807}), {"length"});
  expect_bad(npy_header("'<f4'", {-1, 2}), {"length -1"});
  expect_bad(npy_header("'<f4'", {0, 2, 2}), {"length 0"});
}

TEST_F(BadNpy, HoldsAnotherNumberOfBytes) {
  Bytes bytes = npy(DType::f32, {2, 2}, numbers);
  expect_bad(bytes + '\0', {"has 17 bytes", "expected 16", "[2, 2] of f32"});
  bytes.pop_back();
  expect_bad(bytes, {"has 15 bytes", "expected 16"});
}

TEST_F(BadNpy, HoldsNoNumbers) {
  expect_bad(npy_header("'|O'", {2, 2}) + "\x80\x04K\x01.", {"pickled", "float"});
  expect_bad(npy_header("[('x', '<f4'), ('y', '<i8')]", {4}), {"structured", "one field"});
  expect_bad(npy(DType::f32, {2, 2}, numbers, {1, false, "'>f4'"}),
             {"big-endian", ">f4", "astype"});
  expect_bad(npy_header("'<M8[ns]'", {2, 2}), {"'<M8[ns]'", "expected f2, f4, f8"});
  expect_bad(npy_header("'<c8'", {2, 2}), {"'<c8'"});
  expect_bad(npy_header("'<f16'", {2, 2}), {"'<f16'"});
  expect_bad(npy_header("'<U-3'", {2, 2}), {"'<U-3'"});
  expect_bad(npy_header("'<U99999999999999999999'", {2}), {"'<U999"});
  expect_bad(npy_header("'<U1048575'", {2}), {"1048575 characters wide"});
  expect_bad(npy_words({2}, {"a", "b"}), {"text", "`tokens`"});
  expect_bad(npy(DType::i32, {2, 2}, {1, 0, 0, 1}), {"type i32", "expected f16, bf16, f32 or f64"});
  expect_bad(npy_header("'<f\n4'", {2, 2}), {"expected f2"});
}

TEST_F(BadNpy, HasADamagedHeader) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  const auto with = [](const std::string& text) {
    Bytes bytes = "\x93NUMPY";
    bytes += std::string("\x01\x00", 2);
    append(bytes, static_cast<uint16_t>(text.size()));
    return bytes + text + encode(DType::f32, numbers);
  };
  const auto path = folder_.write("good.npy", with(good));
  EXPECT_NO_THROW(read_through(path));
  for (const char* text :
       {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2; 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 2], }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), 'more': 1}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 2), }", "{'descr: '<f4'"})
    expect_bad(with(text), {"header is damaged", "descr, fortran_order and shape"});
  std::string axes = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int k = 0; k < 5000; ++k) axes += "1,";
  expect_bad(with(axes + "), }"), {"header is damaged"});
}

TEST_F(BadNpy, IsSomethingElse) {
  expect_bad("PK\x03\x04 and so on and so on", {"is a zip archive", "expected .npy"});
  expect_bad("something else altogether", {"does not start like a .npy", "numpy.save"});
  expect_bad(npy(DType::f32, {2, 2}, numbers, {4, false}), {"version 4", "expected 1, 2 or 3"});
  Bytes long_header = npy_header("'<f4'", {2, 2}, {2, false});
  long_header.replace(8, 4, "\xff\xff\xff\xff");
  expect_bad(long_header, {"header of 4294967295 bytes"});
}

TEST_F(BadNpy, HasMapsThatAreNotSquareOrTooManyAxes) {
  expect_bad(npy(DType::f32, {2, 1}, {1, 1}), {"2 x 1", "square", "`axes`"});
  expect_bad(npy(DType::f32, {2, 2, 1}, {1, 0, 0, 1}), {"2 x 1", "L n n", "[2, 2, 1]"});
  expect_bad(npy(DType::f32, {4}, numbers), {"1 axes [4]", "[L, H, n, n]"});
  expect_bad(npy(DType::f32, {1, 1, 1, 1, 1, 1}, {1}), {"6 axes"});
  expect_bad(npy(DType::f32, {}, {1}), {"0 axes"});
}

TEST_F(BadNpy, HasMoreLayersThanAnyModel) {
  // Twenty kilobytes of deflated zeros are five million layers of one token.
  Bytes bytes = npy_header("'<f4'", {5'000'000, 1, 1});
  bytes.resize(bytes.size() + 20'000'000);
  expect_bad_file(folder_.write("a.npz", zip({{"a.npy", bytes, true}})), {"5000000 layers"});
}

TEST(Axes, AreKnownLettersThatFitTheArray) {
  const Folder folder;
  const auto path = folder.write("a.npy", npy(DType::f32, {1, 2, 2}, numbers));
  const auto open_with = [&](const char* letters) {
    ReadOptions options;
    options.axes = letters;
    open_batch(path, {.read = options});
  };
  for (const char* letters : {"LXnn", "LLnn", "nnn", "Ln", "L", "lnn", "Lnn;", "N N"})
    expect_error(Error::Kind::usage, {std::string("`axes` '") + letters, "LHnn"},
                 [&] { open_with(letters); });
  expect_error(Error::Kind::work, {path, "3 axes [1, 2, 2]", "expected 4", "LHnn"},
               [&] { open_with("LHnn"); });
  expect_error(Error::Kind::work, {path, "1 x 2", "square"}, [&] { open_with("nnL"); });
  EXPECT_NO_THROW(open_with("Lnn"));
}

}  // namespace
}  // namespace headwater::test
