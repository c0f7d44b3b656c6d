#include <bit>

#include "tests/kernel/tables.h"

namespace headwater::kernel {
namespace {

// One number as a file has it. The numbers below are chosen so that f16 and bf16 hold them exactly.
void put(DType type, double x, std::byte* to) {
  const auto store = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  if (type == DType::f64) return store(x);
  const auto single = static_cast<float>(x);
  if (type == DType::f32) return store(single);
  const auto bits = std::bit_cast<uint32_t>(single);
  if (type == DType::bf16) return store(static_cast<uint16_t>(bits >> 16));
  const uint32_t sign = bits >> 16 & 0x8000u;
  if (!std::isfinite(x))
    return store(static_cast<uint16_t>(sign | (std::isnan(x) ? 0x7E00u : 0x7C00u)));
  int exponent = 0;
  const double fraction = std::frexp(std::abs(x), &exponent);  // |x| = fraction 2^exponent
  const uint32_t size = x == 0 ? 0u
                        : exponent < -13
                            ? static_cast<uint32_t>(std::ldexp(std::abs(x), 24))
                            : static_cast<uint32_t>((exponent + 14) << 10) +
                                  static_cast<uint32_t>(std::ldexp(fraction, 11)) - 1024u;
  store(static_cast<uint16_t>(sign | size));
}

constexpr DType types[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

// A head of `rows` rows that begins `shift` bytes off any alignment, rows `gap` numbers apart.
struct Head {
  Head(DType type, int rows, int columns, int gap, size_t shift)
      : type(type),
        stride(columns + gap),
        bytes(static_cast<size_t>(rows * stride) * size_of(type) + 64 + shift),
        data(bytes.data() + shift) {}
  void set(int r, int j, double x) { put(type, x, at(r, j)); }
  double operator()(int r, int j) { return number_at(type, at(r, j)); }
  std::byte* at(int r, int j) { return data + static_cast<size_t>(r * stride + j) * size_of(type); }
  HeadRows rows() const { return {type, data, stride}; }

  DType type;
  int stride;
  std::vector<std::byte> bytes;
  std::byte* data;
};

// Multiples of 1/256 below 1, zeros of both signs, and the subnormal numbers of f16.
Head random_head(DType type, int rows, int columns, size_t shift, unsigned seed) {
  Head head(type, rows, columns, 3, shift);
  std::mt19937 bits(seed);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < columns; ++j) {
      const unsigned x = bits() % 128;
      head.set(r, j, x == 0 ? -0.0 : x == 1 ? 0x1p-24 : x == 2 ? 0x1p-15 : x / 256.0);
    }
  return head;
}

class FuseRows : public EachTable {};

TEST_P(FuseRows, AgreesWithTheReference) {
  for (DType type : types)
    for (Reduce reduce : {Reduce::sum, Reduce::max, Reduce::min})
      for (bool first : {true, false})
        for (int n = 0; n <= 4 * past_two_vectors; n += n < past_two_vectors ? 1 : 13)
          for (size_t shift : {0, 1, 2, 4, 24}) {
            const int rows = 3;
            const Head head = random_head(type, rows, n, shift, static_cast<unsigned>(n));
            // Room around out, to see that nothing else is written.
            Matrix got = random_matrix(rows, n + 2, 2), want = got.copy();
            std::vector<float> got_sums(rows), want_sums(rows);
            const MatrixSpan got_out(got.data() + 1, rows, n, n + 2);
            const MatrixSpan want_out(want.data() + 1, rows, n, n + 2);
            const float weight = 1 / 12.0f;
            GetParam().fuse_rows(reduce, first, weight, head.rows(), got_out, got_sums);
            reference().fuse_rows(reduce, first, weight, head.rows(), want_out, want_sums);
            for (size_t i = 0; i < got.size(); ++i)
              ASSERT_NEAR(got.data()[i], want.data()[i], 1e-7 * std::max(1.0f, want.data()[i]))
                  << name_of(type) << " n " << n << " shift " << shift << " at " << i;
            for (int r = 0; r < rows; ++r)  // sums of multiples of 2^-24 below 2: exact in float
              ASSERT_NEAR(got_sums[r], want_sums[r], 1e-7 * std::max(1.0f, want_sums[r]))
                  << name_of(type) << " n " << n;
          }
}

TEST_P(FuseRows, ReadsEveryHalfFloat) {
  for (DType type : {DType::f16, DType::bf16}) {
    Matrix out(1, 1);
    std::vector<float> sum(1);
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<uint16_t>(bits);
      std::byte bytes[2];
      std::memcpy(bytes, &half, 2);
      GetParam().fuse_rows(Reduce::sum, true, 1, {type, bytes, 1}, out, sum);
      const double x = number_at(type, bytes);
      if (x >= 0 && std::isfinite(x)) {
        ASSERT_EQ(out(0, 0), x) << name_of(type) << " " << bits;
        ASSERT_EQ(sum[0], x);
      } else {
        ASSERT_TRUE(std::isnan(sum[0])) << name_of(type) << " " << bits;
      }
    }
  }
}

TEST_P(FuseRows, FindsWhatIsNoWeightWhereverItStands) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double tiny = 0x1p-24;
  for (DType type : types) {
    std::vector<double> bad = {nan, -nan, inf, -inf, -1, -tiny};
    if (type == DType::f64) bad.insert(bad.end(), {-1e-300, 1e300});
    for (int n : {1, 7, past_two_vectors, 4 * past_two_vectors})
      for (int at = 0; at < n; ++at)
        for (double x : bad) {
          Head head = random_head(type, 3, n, 0, 5);
          head.set(1, at, x);
          Matrix out(3, n);
          std::vector<float> sums(3);
          GetParam().fuse_rows(Reduce::sum, false, 1, head.rows(), out, sums);
          ASSERT_TRUE(std::isnan(sums[1])) << name_of(type) << " " << x << " at " << at;
          ASSERT_FALSE(std::isnan(sums[0]) || std::isnan(sums[2])) << name_of(type) << " " << x;
        }
  }
}

TEST_P(FuseRows, SumsAsWellAsAPlainLoop) {
  const int n = 5000;
  const std::vector<float> row = random_floats(n, 3);
  double exact = 0;
  float plain = 0;
  for (float x : row) {
    exact += x;
    plain += x;
  }
  Matrix out(1, n);
  std::vector<float> sum(1);
  const auto* bytes = reinterpret_cast<const std::byte*>(row.data());
  GetParam().fuse_rows(Reduce::sum, true, 1, {DType::f32, bytes, n}, out, sum);
  expect_as_good(sum[0], plain, exact, "sum");
}

HEADWATER_EACH_TABLE(FuseRows);

}  // namespace
}  // namespace headwater::kernel
