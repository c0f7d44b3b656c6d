// Derivatives of attention: the reference against differences of the forward operations, in double
// where they are, and every instruction set against the reference.
#include "headwater/kernel/backward.h"

#include <limits>

#include "tests/kernel/slopes.h"

namespace headwater::kernel {
namespace {

struct AttendedShape {
  int n, size, heads, groups;
  Sight sight;
  bool distances = false;
  float cap = 0;
  int buckets = 0;
};

// Queries, keys and values side by side, and the gradient of the output.
struct AttendedInput {
  explicit AttendedInput(const AttendedShape& shape, unsigned seed = 1)
      : rows(shape.n, (shape.heads + 2 * shape.groups) * shape.size, seed),
        gradient(shape.n, shape.heads * shape.size, seed + 1),
        distances(shape.heads, 2 * shape.n - 1, seed + 2),
        by_query(shape.n, shape.heads * shape.buckets, seed + 3),
        by_key(shape.n, shape.heads * shape.buckets, seed + 4) {
    attention = {part(shape, rows.span(), 0),
                 part(shape, rows.span(), 1),
                 part(shape, rows.span(), 2),
                 shape.heads,
                 shape.groups,
                 1 / std::sqrt(static_cast<float>(shape.size)),
                 shape.sight};
    if (shape.distances) attention.distances = distances.span();
    attention.cap = shape.cap;
    for (int k = 1 - shape.n; k < shape.n; ++k)
      bucket_of.push_back(std::clamp(k + shape.buckets / 2, 0, std::max(0, shape.buckets - 1)));
    if (shape.buckets > 0)
      attention.buckets = {shape.buckets, by_query.span(), by_key.span(), bucket_of};
  }
  static MatrixSpan part(const AttendedShape& shape, MatrixSpan rows, int k) {
    const int queries = shape.heads * shape.size, keys = shape.groups * shape.size;
    const int first = k == 0 ? 0 : queries + (k - 1) * keys;
    return {rows.data() + first, rows.rows(), k == 0 ? queries : keys, rows.stride()};
  }
  Island rows, gradient, distances, by_query, by_key;
  std::vector<int> bucket_of;
  Attention attention;
};

struct Output {
  explicit Output(const AttendedShape& shape)
      : rows(shape.n, (shape.heads + 2 * shape.groups) * shape.size, 7),
        map(shape.n, shape.n, 8),
        by_query(shape.n, shape.heads * shape.buckets, 9),
        by_key(shape.n, shape.heads * shape.buckets, 9) {}
  AttentionGradient parts(const AttendedShape& shape) {
    return {AttendedInput::part(shape, rows.span(), 0), AttendedInput::part(shape, rows.span(), 1),
            AttendedInput::part(shape, rows.span(), 2), by_query.span(), by_key.span()};
  }
  Island rows, map, by_query, by_key;
};

TEST(BackwardReference, AttentionHasTheSlopesOfItsDifferences) {
  for (const AttendedShape& shape :
       {AttendedShape{5, 3, 4, 2, {}}, AttendedShape{6, 4, 2, 2, {true, 0, 0}},
        AttendedShape{7, 3, 2, 1, {true, 3, 0}}, AttendedShape{6, 3, 2, 1, {}, true},
        AttendedShape{7, 3, 2, 1, {false, 3, 0}}, AttendedShape{6, 4, 2, 2, {}, false, 0.5f},
        AttendedShape{6, 3, 2, 2, {}, false, 0, 5}}) {
    AttendedInput input(shape);
    Output found(shape);
    reference().backward.attention(input.attention, input.gradient.span(), {}, found.parts(shape),
                                   {});
    Matrix out(shape.n, shape.heads * shape.size);
    const auto run = [&] {
      reference().network.attention(input.attention, out, {});
      return total(out, input.gradient.span());
    };
    for (int k = 0; k < 3; ++k)
      expect_slopes(AttendedInput::part(shape, input.rows.span(), k),
                    AttendedInput::part(shape, found.rows.span(), k), run, 2e-3);
    if (shape.buckets == 0) continue;
    expect_slopes(input.by_query.span(), found.by_query.span(), run, 2e-3);
    expect_slopes(input.by_key.span(), found.by_key.span(), run, 2e-3);
  }
}

// By hand: one head of size one, queries 0, so that P = (1/2, 1/2) in both rows; dP = dO v.
TEST(BackwardReference, MapIsThePositivePartOfAttentionTimesItsGradient) {
  const std::vector<float> queries = {0, 0}, keys = {1, 2}, values = {3, -1}, gradient = {2, -4};
  std::vector<float> dq(2), dk(2), dv(2), map(4);
  const Attention in{MatrixView(queries.data(), 2, 1),
                     MatrixView(keys.data(), 2, 1),
                     MatrixView(values.data(), 2, 1),
                     1,
                     1,
                     1,
                     {}};
  reference().backward.attention(
      in, MatrixView(gradient.data(), 2, 1), {},
      {MatrixSpan(dq.data(), 2, 1), MatrixSpan(dk.data(), 2, 1), MatrixSpan(dv.data(), 2, 1)},
      {Reduce::sum, 1, 0, 1, MatrixSpan(map.data(), 2, 2)});
  EXPECT_EQ(map, (std::vector<float>{3, 0, 0, 2}));
  EXPECT_EQ(dv, (std::vector<float>{-1, -1}));
  EXPECT_EQ(dq, (std::vector<float>{-2, 4}));
  EXPECT_EQ(dk, (std::vector<float>{0, 0}));
}

int column(const Attention& in, int h, int r, int j) {
  return h * in.buckets.count + in.buckets.of[static_cast<size_t>(j - r + in.keys.rows() - 1)];
}

// The same in float, as people write it first.
void plain_attention_backward(const AttendedShape& shape, const Attention& in, MatrixView gradient,
                              const AttentionRule& rule, const AttentionGradient& out,
                              const HeadMap& fused) {
  for (MatrixSpan part : {out.queries, out.keys, out.values, out.bucket_queries, out.bucket_keys})
    if (rule.scores != 0 || part.data() == out.values.data())
      for (int t = 0; t < part.rows(); ++t) std::ranges::fill(part.row(t), 0.0f);
  for (int r = 0; r < shape.n; ++r)
    for (int h = 0; h < shape.heads; ++h) {
      const int q = h * shape.size, k = h / (shape.heads / shape.groups) * shape.size;
      const int near = in.sight.window > 0 ? in.sight.window : shape.n;
      const int begin = std::max(0, r - near + 1);
      const int end = in.sight.causal ? r + 1 : std::min(shape.n, r + near);
      std::vector<float> p(static_cast<size_t>(shape.n)), dp(p.size()), slope(p.size(), 1.0f);
      float largest = -std::numeric_limits<float>::infinity(), sum = 0, along = 0;
      for (int j = begin; j < end; ++j) {
        for (int d = 0; d < shape.size; ++d) {
          p[j] += in.queries(r, q + d) * in.keys(j, k + d);
          dp[j] += gradient(r, q + d) * in.values(j, k + d);
        }
        p[j] *= in.scale;
        if (in.cap != 0) {
          const float x = p[j] / in.cap, capped = std::tanh(x);
          slope[j] = rule.cap == Slope::tangent ? 1 - capped * capped : capped / x;
          p[j] = in.cap * capped;
        }
        if (in.distances.rows() > 0) p[j] += in.distances(h, j - r + shape.n - 1);
        if (in.buckets.count > 0)
          p[j] +=
              in.buckets.queries(r, column(in, h, r, j)) + in.buckets.keys(j, column(in, h, r, j));
        largest = std::max(largest, p[j]);
      }
      for (int j = begin; j < end; ++j) sum += p[j] = std::exp(p[j] - largest);
      for (float& one : p) one /= sum;
      for (int j = begin; j < end; ++j) along += p[j] * dp[j];
      for (int j = begin; j < end && rule.scores != 0 && in.buckets.count > 0; ++j) {
        const float ds = rule.buckets * p[j] * (dp[j] - along);
        out.bucket_queries(r, column(in, h, r, j)) += ds;
        out.bucket_keys(j, column(in, h, r, j)) += ds;
      }
      for (int j = begin; j < end; ++j)
        for (int d = 0; d < shape.size; ++d) {
          const float ds = rule.scores * in.scale * p[j] * (dp[j] - along) * slope[j];
          if (rule.scores != 0) {
            out.queries(r, q + d) += ds * in.keys(j, k + d);
            out.keys(j, k + d) += ds * in.queries(r, q + d);
          }
          out.values(j, k + d) += rule.values * p[j] * gradient(r, q + d);
        }
      const int place = h - fused.first_head;
      if (place < 0 || place >= fused.count) continue;
      for (int j = 0; j < shape.n; ++j) {
        const float product = p[j] * dp[j];
        const float here = fused.weight * (rule.positive ? std::max(0.0f, product) : product);
        float& old = fused.map(r, j);
        if (place == 0)
          old = here;
        else if (fused.reduce == Reduce::sum)
          old += here;
        else
          old = fused.reduce == Reduce::max ? std::max(old, here) : std::min(old, here);
      }
    }
}

class BackwardKernel : public EachKernel {
 protected:
  void TearDown() override {
    EXPECT_TRUE(rows_.verdict());
    EXPECT_TRUE(map_.verdict()) << "map";
  }

  void check(const AttendedShape& shape, HeadMap fused, const AttentionRule& rule = {}) {
    AttendedInput input(shape);
    Output got(shape), plain(shape), exact(shape);
    fused.map = got.map.span();
    GetParam().backward.attention(input.attention, input.gradient.span(), rule, got.parts(shape),
                                  fused);
    fused.map = plain.map.span();
    plain_attention_backward(shape, input.attention, input.gradient.span(), rule,
                             plain.parts(shape), fused);
    fused.map = exact.map.span();
    reference().backward.attention(input.attention, input.gradient.span(), rule, exact.parts(shape),
                                   fused);
    rows_.see(got.rows.span(), plain.rows.span(), exact.rows.span());
    rows_.see(got.by_query.span(), plain.by_query.span(), exact.by_query.span());
    rows_.see(got.by_key.span(), plain.by_key.span(), exact.by_key.span());
    map_.see(got.map.span(), plain.map.span(), exact.map.span());
    EXPECT_TRUE(got.rows.sea_is_calm() && got.map.sea_is_calm() && got.by_query.sea_is_calm() &&
                got.by_key.sea_is_calm())
        << shape.n << " size " << shape.size << " heads " << shape.heads << "/" << shape.groups
        << " causal " << shape.sight.causal << " window " << shape.sight.window;
  }
  void check(const AttendedShape& shape) { check(shape, {Reduce::sum, 0.25f, 0, shape.heads, {}}); }

 private:
  Judge rows_, map_;  // of all shapes: of one alone the plain loop's may be small by luck
};

TEST_P(BackwardKernel, AttentionTakesEverySmallSize) {
  for (int n = 1; n <= past_two_vectors; ++n) {
    check({n, 5, 2, 1, {}});
    check({n, 4, 2, 2, {true, 0, 0}});
    check({n, 3, 3, 1, {true, 4, 0}});
    check({9, n, 2, 2, {}});
  }
}

TEST_P(BackwardKernel, AttentionAddsWhatDistancesAdd) {
  for (int n = 1; n <= past_two_vectors; ++n) check({n, 5, 2, 1, {}, true});
  check({400, 16, 2, 1, {}, true});
  check({90, 12, 4, 2, {true, 20, 0}, true});
}

TEST_P(BackwardKernel, AttentionSeesItsWindowOnBothSides) {
  for (int window : {1, 3, 20, 1000}) {
    check({past_two_vectors, 5, 2, 1, {false, window, 0}});
    check({420, 8, 2, 2, {false, window, 0}});
  }
}

TEST_P(BackwardKernel, AttentionCapsScores) {
  for (const AttentionRule& rule :
       {AttentionRule{}, AttentionRule{0.25f, 0.5f, false, 0.5f, Slope::secant}}) {
    const HeadMap fused{Reduce::sum, 1, 0, 2, {}};
    for (int n = 1; n <= past_two_vectors; ++n) check({n, 5, 2, 1, {}, false, 0.5f}, fused, rule);
    check({420, 8, 2, 2, {true, 50, 0}, false, 2}, fused, rule);
  }
}

TEST_P(BackwardKernel, AttentionAddsWhatBucketsAdd) {
  for (const AttentionRule& rule :
       {AttentionRule{}, AttentionRule{0.25f, 0.5f, false, 0.5f}, AttentionRule{0, 1, false}}) {
    const HeadMap fused{Reduce::sum, 1, 0, 2, {}};
    for (int n = 1; n <= past_two_vectors; ++n) check({n, 5, 2, 2, {}, false, 0, 6}, fused, rule);
    check({420, 8, 2, 2, {}, false, 0, 32}, fused, rule);
    check({300, 8, 2, 2, {false, 20, 0}, false, 0, 16}, fused, rule);
  }
}

TEST_P(BackwardKernel, AttentionTakesSizesAcrossSlabsAndStretches) {
  check({400, 16, 2, 1, {}});
  check({450, 12, 4, 2, {true, 0, 0}});
  check({800, 8, 2, 2, {true, 100, 0}});
  check({40, 400, 1, 1, {}});
  check({300, 33, 6, 3, {}});
}

TEST_P(BackwardKernel, AttentionJoinsTheHeadsThatAreAskedFor) {
  for (Reduce reduce : {Reduce::sum, Reduce::max, Reduce::min}) {
    check({30, 6, 6, 3, {true, 0, 0}}, {reduce, 0.5f, 0, 6, {}});
    check({30, 6, 6, 3, {}}, {reduce, 1, 2, 3, {}});
    check({30, 6, 6, 3, {}}, {reduce, 1, 5, 1, {}});
  }
}

// What a rule does not compute stays as it was, in every implementation.
TEST_P(BackwardKernel, AttentionFollowsTheRule) {
  for (const AttentionRule& rule :
       {AttentionRule{0, 1, true}, AttentionRule{0, 1, false}, AttentionRule{0.25f, 0.5f, false}}) {
    for (int n = 1; n <= past_two_vectors; n += 3) {
      check({n, 5, 2, 1, {}}, {Reduce::sum, 1, 0, 2, {}}, rule);
      check({n, 4, 2, 2, {true, 0, 0}}, {Reduce::max, 1, 0, 2, {}}, rule);
    }
    check({450, 12, 4, 2, {true, 100, 0}}, {Reduce::sum, 1, 1, 3, {}}, rule);
    check({400, 16, 2, 1, {}}, {Reduce::sum, 1, 0, 0, {}}, rule);
  }
}

TEST_P(BackwardKernel, FrozenAttentionNeedsNoMapAndNoPlaceForScores) {
  const AttendedShape shape{420, 8, 4, 2, {true, 0, 0}};
  AttendedInput input(shape);
  Output with(shape), without(shape);
  GetParam().backward.attention(input.attention, input.gradient.span(), {0, 1, false},
                                with.parts(shape), {Reduce::sum, 1, 0, 4, with.map.span()});
  AttentionGradient parts = without.parts(shape);
  const MatrixSpan values = parts.values;
  parts.queries = parts.keys = {};
  GetParam().backward.attention(input.attention, input.gradient.span(), {0, 1, false}, parts, {});
  EXPECT_TRUE(same_bytes(AttendedInput::part(shape, with.rows.span(), 2), values));
}

TEST_P(BackwardKernel, AttentionGivesTheSameBytesForEveryNumberOfThreads) {
  const AttendedShape shape{500, 32, 6, 2, {}};
  AttendedInput input(shape);
  Output one(shape);
  set_threads(1);
  GetParam().backward.attention(input.attention, input.gradient.span(), {}, one.parts(shape),
                                {Reduce::sum, 1, 0, 6, one.map.span()});
  for (int count : {2, 3, 5}) {
    Output several(shape);
    set_threads(count);
    GetParam().backward.attention(input.attention, input.gradient.span(), {}, several.parts(shape),
                                  {Reduce::sum, 1, 0, 6, several.map.span()});
    EXPECT_TRUE(same_bytes(one.rows.span(), several.rows.span())) << count << " threads";
    EXPECT_TRUE(same_bytes(one.map.span(), several.map.span())) << count << " threads";
  }
}

HEADWATER_EACH_KERNEL(BackwardKernel);

}  // namespace
}  // namespace headwater::kernel
