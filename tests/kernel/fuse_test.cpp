#include <bit>

#include "tests/kernel/each_kernel.h"

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

constexpr DType stored_types[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

// Heads of `rows` rows, of which the first begins `shift` bytes off any alignment; gaps between
// rows and between heads.
struct Heads {
  Heads(DType type, int heads, int rows, int columns, size_t shift)
      : type(type),
        heads(heads),
        stride(columns + 3),
        apart(rows * stride + 5),
        bytes(static_cast<size_t>(heads * apart) * size_of(type) + 64 + shift),
        data(bytes.data() + shift) {}
  void set(int h, int r, int j, double x) {
    put(type, x, data + static_cast<size_t>(h * apart + r * stride + j) * size_of(type));
  }
  HeadRows rows() const { return {type, data, stride, heads, apart}; }

  DType type;
  int heads, stride, apart;
  std::vector<std::byte> bytes;
  std::byte* data;
};

// Multiples of 1/256 below 1, zeros of both signs, and the subnormal numbers of f16.
Heads random_heads(DType type, int heads, int rows, int columns, size_t shift, unsigned seed) {
  Heads out(type, heads, rows, columns, shift);
  std::mt19937 bits(seed);
  for (int h = 0; h < heads; ++h)
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < columns; ++j) {
        const unsigned x = bits() % 128;
        out.set(h, r, j, x == 0 ? -0.0 : x == 1 ? 0x1p-24 : x == 2 ? 0x1p-15 : x / 256.0);
      }
  return out;
}

class FuseRows : public EachKernel {
 protected:
  void check(Reduce reduce, bool first, const Heads& heads, int rows, int n) {
    // Room around out, to see that nothing else is written.
    Matrix got = random_matrix(rows, n + 2, 2), want = got.copy(), plain = got.copy();
    const auto inside = [&](Matrix& all) { return MatrixSpan(all.data() + 1, rows, n, n + 2); };
    std::vector<float> got_sums(static_cast<size_t>(heads.heads * rows)), want_sums(got_sums);
    const float weight = 1 / 12.0f;
    GetParam().maps.fuse_rows(reduce, first, weight, heads.rows(), inside(got), got_sums);
    reference().maps.fuse_rows(reduce, first, weight, heads.rows(), inside(want), want_sums);
    for (int h = 0; h < heads.heads; ++h) {  // rounded to float after every head
      HeadRows one = heads.rows();
      one.data += static_cast<size_t>(h * heads.apart) * size_of(heads.type);
      one.heads = 1;
      std::vector<float> sums(static_cast<size_t>(rows));
      reference().maps.fuse_rows(reduce, first && h == 0, weight, one, inside(plain), sums);
    }
    double error = 0, plain_error = 0, size = 1;
    for (size_t i = 0; i < got.size(); ++i) {
      const double exact = want.data()[i];
      error = std::max(error, std::abs(got.data()[i] - exact));
      plain_error = std::max(plain_error, std::abs(plain.data()[i] - exact));
      size = std::max(size, exact);
    }
    ASSERT_LE(error, 2 * plain_error + 1e-7 * size) << name_of(heads.type) << " n " << n;
    for (size_t i = 0; i < got_sums.size(); ++i)
      ASSERT_NEAR(got_sums[i], want_sums[i], 1e-7 * std::max(1.0f, want_sums[i]))
          << name_of(heads.type) << " n " << n;
  }
};

TEST_P(FuseRows, AgreesWithTheReference) {
  for (DType type : stored_types)
    for (int n = 0; n <= 4 * past_two_vectors; n += n < past_two_vectors ? 1 : 13)
      for (size_t shift : {0, 1, 2, 4, 24})
        for (int heads : {1, 9}) {
          const Heads some = random_heads(type, heads, 3, n, shift, static_cast<unsigned>(n));
          for (Reduce reduce : {Reduce::sum, Reduce::max, Reduce::min})
            for (bool first : {true, false}) check(reduce, first, some, 3, n);
        }
}

TEST_P(FuseRows, TakesAnyNumberOfHeads) {
  for (int heads = 0; heads <= 20; ++heads) {
    const Heads some = random_heads(DType::f32, heads, 3, 50, 0, 1);
    check(Reduce::sum, heads > 0, some, 3, 50);
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
      GetParam().maps.fuse_rows(Reduce::sum, true, 1, {type, bytes, 1}, out, sum);
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
  for (DType type : stored_types) {
    std::vector<double> bad = {nan, -nan, inf, -inf, -1, -tiny};
    if (type == DType::f64) bad.insert(bad.end(), {-1e-300, 1e300});
    for (int n : {1, 7, past_two_vectors, 4 * past_two_vectors})
      for (int at = 0; at < n; ++at)
        for (double x : bad) {
          const int rows = 2, heads = 3;
          Heads some = random_heads(type, heads, rows, n, 0, 5);
          some.set(at % heads, 1, at, x);
          Matrix out(rows, n);
          std::vector<float> sums(static_cast<size_t>(heads * rows));
          GetParam().maps.fuse_rows(Reduce::sum, false, 1, some.rows(), out, sums);
          for (int h = 0; h < heads; ++h)
            for (int r = 0; r < rows; ++r)
              ASSERT_EQ(std::isnan(sums[static_cast<size_t>(h * rows + r)]),
                        h == at % heads && r == 1)
                  << name_of(type) << " " << x << " at " << at << " of head " << h << " row " << r;
        }
  }
}

TEST_P(FuseRows, TellsASumThatIsTooLargeFromBadNumbers) {
  const std::vector<float> row(40, std::numeric_limits<float>::max());
  Matrix out(1, 40);
  std::vector<float> sum(1);
  const auto* bytes = reinterpret_cast<const std::byte*>(row.data());
  GetParam().maps.fuse_rows(Reduce::sum, true, 1, {DType::f32, bytes, 40}, out, sum);
  EXPECT_EQ(sum[0], std::numeric_limits<float>::infinity());
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
  GetParam().maps.fuse_rows(Reduce::sum, true, 1, {DType::f32, bytes, n}, out, sum);
  expect_as_good(sum[0], plain, exact, "sum");
}

HEADWATER_EACH_KERNEL(FuseRows);

}  // namespace
}  // namespace headwater::kernel
