#include <limits>

#include "tests/kernel/judge.h"

namespace headwater::kernel {
namespace {

struct Shape {
  int rows, keys, size;
  int heads = 1, groups = 1;
  Sight sight;
  bool distances = false;
  float cap = 0;
  int buckets = 0;
};

// Queries, keys and values as columns of one wide matrix, which is how a model with one weight for
// all three has them.
struct Input {
  Input(const Shape& shape, unsigned seed, float scale = 0.3f)
      : queries(shape.rows, shape.heads * shape.size, seed),
        both(shape.keys, 2 * shape.groups * shape.size, seed + 1),
        distances(shape.heads, std::max(0, 2 * shape.keys - 1), seed + 2),
        by_query(shape.rows, shape.heads * shape.buckets, seed + 3),
        by_key(shape.keys, shape.heads * shape.buckets, seed + 4) {
    const int width = shape.groups * shape.size;
    const MatrixView wide = both.span();
    attention = {queries.span(),
                 {wide.data(), shape.keys, width, wide.stride()},
                 {wide.data() + width, shape.keys, width, wide.stride()},
                 shape.heads,
                 shape.groups,
                 scale,
                 shape.sight};
    if (shape.distances) attention.distances = distances.span();
    attention.cap = shape.cap;
    // Near distances have their own buckets, far ones share the last.
    for (int k = 1 - shape.keys; k < shape.keys; ++k)
      bucket_of.push_back(std::clamp(k + shape.buckets / 2, 0, std::max(0, shape.buckets - 1)));
    if (shape.buckets > 0)
      attention.buckets = {shape.buckets, by_query.span(), by_key.span(), bucket_of};
  }
  Island queries, both, distances, by_query, by_key;
  std::vector<int> bucket_of;
  Attention attention;
};

// What people write first: scores, softmax and sums in float, one after the other.
void plain_attention(const Attention& in, MatrixSpan out, const HeadMap& fused) {
  const int size = in.queries.columns() / in.heads;
  for (int r = 0; r < in.queries.rows(); ++r)
    for (int h = 0; h < in.heads; ++h) {
      const int column = h / (in.heads / in.groups) * size;
      const int at = in.sight.first + r, near = in.sight.window;
      int begin = 0, end = in.sight.causal ? at + 1 : in.keys.rows();
      if (near > 0) {
        begin = std::max(0, at - near + 1);
        end = std::min(end, at + near);
      }
      std::vector<float> p(static_cast<size_t>(in.keys.rows()));
      float largest = -std::numeric_limits<float>::infinity(), sum = 0;
      for (int j = begin; j < end; ++j) {
        for (int d = 0; d < size; ++d) p[j] += in.queries(r, h * size + d) * in.keys(j, column + d);
        p[j] *= in.scale;
        if (in.cap != 0) p[j] = in.cap * std::tanh(p[j] / in.cap);
        const int distance = j - at + in.keys.rows() - 1;
        if (in.distances.rows() > 0) p[j] += in.distances(h, distance);
        if (in.buckets.count > 0) {
          const int column = h * in.buckets.count + in.buckets.of[static_cast<size_t>(distance)];
          if (in.buckets.queries.rows() > 0) p[j] += in.buckets.queries(r, column);
          if (in.buckets.keys.rows() > 0) p[j] += in.buckets.keys(j, column);
        }
        largest = std::max(largest, p[j]);
      }
      for (int j = begin; j < end; ++j) sum += p[j] = std::exp(p[j] - largest);
      for (float& one : p) one /= sum;
      for (int d = 0; d < (out.rows() > 0 ? size : 0); ++d) {
        float total = 0;
        for (int j = begin; j < end; ++j) total += p[j] * in.values(j, column + d);
        out(r, h * size + d) = total;
      }
      const int place = h - fused.first_head;
      if (fused.map.rows() == 0 || place < 0 || place >= fused.count) continue;
      for (int j = 0; j < in.keys.rows(); ++j) {
        float& old = fused.map(r, j);
        const float here = fused.weight * p[j];
        if (place == 0)
          old = here;
        else if (fused.reduce == Reduce::sum)
          old += here;
        else
          old = fused.reduce == Reduce::max ? std::max(old, here) : std::min(old, here);
      }
    }
}

class AttentionKernel : public EachKernel {
 protected:
  void check(const Shape& shape, HeadMap fused, bool wants_out = true) {
    Input input(shape, 1);
    check(shape, input, fused, wants_out);
  }
  void check(const Shape& shape, Input& input, HeadMap fused, bool wants_out = true) {
    const int rows = wants_out ? shape.rows : 0, width = shape.heads * shape.size;
    const bool wants_map = fused.count > 0;
    Island got(rows, width, 5), plain(rows, width, 5), exact(rows, width, 5);
    const int map_rows = wants_map ? shape.rows : 0;
    Island got_map(map_rows, shape.keys, 6), plain_map(map_rows, shape.keys, 6),
        exact_map(map_rows, shape.keys, 6);
    if (!wants_out) input.attention.values = {};
    fused.map = got_map.span();
    GetParam().network.attention(input.attention, got.span(), fused);
    fused.map = plain_map.span();
    plain_attention(input.attention, plain.span(), fused);
    fused.map = exact_map.span();
    reference().network.attention(input.attention, exact.span(), fused);
    Judge out, map;
    out.see(got.span(), plain.span(), exact.span());
    map.see(got_map.span(), plain_map.span(), exact_map.span());
    const auto what = [&] {
      return testing::Message() << shape.rows << " x " << shape.keys << " size " << shape.size
                                << " heads " << shape.heads << "/" << shape.groups << " causal "
                                << shape.sight.causal << " window " << shape.sight.window;
    };
    EXPECT_TRUE(out.verdict()) << what();
    EXPECT_TRUE(map.verdict()) << "map of " << what();
    EXPECT_TRUE(got.sea_is_calm() && got_map.sea_is_calm()) << what();
    for (int r = 0; r < map_rows; ++r)
      for (int j = 0; j < shape.keys; ++j)
        ASSERT_TRUE(exact_map.span()(r, j) != 0 || got_map.span()(r, j) == 0) << what();
  }
  void check(const Shape& shape) { check(shape, {Reduce::sum, 1.0f / 3, 0, shape.heads, {}}); }
};

TEST_P(AttentionKernel, TakesEverySmallSize) {
  for (int n = 1; n <= past_two_vectors; ++n) {
    check({n, n, 5, 2, 1, {}});
    check({n, n, 4, 2, 2, {true, 0, 0}});
    check({4, n, 3, 1, 1, {}});
    check({1, n, 7, 3, 1, {}});
    check({6, 9, n, 2, 2, {}});
    check({2, 9, n, 2, 2, {}});
    check({n, n + 3, 5, 1, 1, {true, 0, 3}});
  }
}

TEST_P(AttentionKernel, TakesNothing) {
  check({0, 5, 4, 2, 1, {}});
  check({3, 0, 4, 2, 1, {}});
}

TEST_P(AttentionKernel, TakesSizesAcrossBlocksAndStretches) {
  check({50, 800, 20, 2, 1, {}});
  check({300, 300, 16, 2, 1, {true, 0, 0}});
  check({30, 420, 33, 3, 3, {true, 0, 390}});
  check({1, 1200, 64, 2, 1, {true, 0, 1199}});
  check({5, 40, 400, 1, 1, {}});
  check({1, 40, 400, 1, 1, {}});
}

TEST_P(AttentionKernel, AddsWhatDistancesAdd) {
  for (int n = 1; n <= past_two_vectors; ++n) {
    check({n, n, 5, 3, 1, {}, true});
    check({1, n, 5, 2, 2, {true, 0, n - 1}, true});
  }
  check({300, 300, 16, 2, 1, {}, true});
  check({70, 70, 8, 2, 1, {true, 9, 0}, true});
  check({30, 420, 33, 3, 3, {true, 0, 390}, true});
}

TEST_P(AttentionKernel, SeesOnlyItsWindow) {
  for (int window : {1, 2, 5, 16, 31, 40, 1000}) {
    check({70, 70, 8, 2, 1, {true, window, 0}});
    check({3, 70, 8, 2, 1, {true, window, 67}});
    check({20, 900, 8, 1, 1, {true, window, 880}});
    check({1, 900, 8, 1, 1, {true, window, 899}});
  }
}

TEST_P(AttentionKernel, SeesItsWindowOnBothSides) {
  for (int window : {1, 2, 5, 16, 31, 40, 1000}) {
    check({70, 70, 8, 2, 1, {false, window, 0}});
    check({3, 70, 8, 2, 1, {false, window, 20}});
    check({20, 900, 8, 1, 1, {false, window, 400}});
    check({1, 900, 8, 1, 1, {false, window, 3}});
    check({300, 300, 16, 2, 1, {false, window, 0}, true});
  }
}

TEST_P(AttentionKernel, CapsScores) {
  for (int n = 1; n <= past_two_vectors; ++n) {
    check({n, n, 5, 3, 1, {}, false, 0.5f});
    check({1, n, 5, 2, 2, {true, 0, n - 1}, false, 0.5f});
  }
  check({300, 300, 16, 2, 1, {true, 40, 0}, true, 2});
}

TEST_P(AttentionKernel, AddsWhatBucketsAdd) {
  for (int n = 1; n <= past_two_vectors; ++n) {
    check({n, n, 5, 2, 2, {}, false, 0, 6});
    check({1, n, 5, 2, 1, {false, 0, n / 2}, false, 0, 4});
  }
  check({300, 300, 16, 2, 2, {}, true, 0, 32});
  check({30, 420, 33, 3, 3, {false, 50, 200}, false, 0, 16});
}

TEST_P(AttentionKernel, AddsBucketsOfQueriesOrOfKeysAlone) {
  const Shape shape{40, 40, 8, 2, 2, {}, false, 0, 10};
  const HeadMap fused{Reduce::sum, 0.5f, 0, 2, {}};
  Input queries(shape, 1), keys(shape, 1);
  queries.attention.buckets.keys = {};
  keys.attention.buckets.queries = {};
  check(shape, queries, fused);
  check(shape, keys, fused);
}

TEST_P(AttentionKernel, JoinsTheHeadsThatAreAskedFor) {
  for (Reduce reduce : {Reduce::sum, Reduce::max, Reduce::min})
    for (int rows : {1, 30})
      for (bool wants_out : {true, false}) {
        const Shape shape{rows, 30, 6, 6, 3, {true, 0, 30 - rows}};
        check(shape, {reduce, 0.5f, 0, 6, {}}, wants_out);
        check(shape, {reduce, 1, 2, 3, {}}, wants_out);
        check(shape, {reduce, 1, 5, 1, {}}, wants_out);
      }
  check({30, 30, 6, 2, 1, {}}, {Reduce::sum, 1, 0, 0, {}});
  check({1, 30, 6, 2, 1, {}}, {Reduce::sum, 1, 0, 0, {}});
}

TEST_P(AttentionKernel, GivesTheSameBytesForEveryNumberOfThreads) {
  for (int rows : {1, 300}) {
    Input input({rows, 300, 32, 6, 2, {}}, 7);
    Matrix one(rows, 192), one_map(rows, 300);
    set_threads(1);
    GetParam().network.attention(input.attention, one, {Reduce::sum, 1, 0, 6, one_map});
    for (int count : {2, 3, 5}) {
      Matrix several(rows, 192), several_map(rows, 300);
      set_threads(count);
      GetParam().network.attention(input.attention, several, {Reduce::sum, 1, 0, 6, several_map});
      EXPECT_TRUE(same_bytes(one, several)) << count << " threads";
      EXPECT_TRUE(same_bytes(one_map, several_map)) << count << " threads";
    }
  }
}

// Decoding token by token gives what the whole text gives at once.
TEST_P(AttentionKernel, GivesARowTheSameBytesAloneAndAmongOthers) {
  for (int window : {0, 50}) {
    const int n = 450;
    Input input({n, n, 20, 4, 2, {true, window, 0}}, 8);
    const Attention& whole = input.attention;
    Matrix all(n, 80), all_map(n, n);
    GetParam().network.attention(whole, all, {Reduce::sum, 0.25f, 0, 4, all_map});
    for (int t : {0, 1, 15, 16, 17, 100, 383, 384, 400, 449}) {
      Attention last = whole;
      last.queries = whole.queries.rows(t, 1);
      last.keys = whole.keys.rows(0, t + 1);
      last.values = whole.values.rows(0, t + 1);
      last.sight.first = t;
      Matrix one(1, 80), one_map(1, t + 1);
      GetParam().network.attention(last, one, {Reduce::sum, 0.25f, 0, 4, one_map});
      EXPECT_TRUE(same_bytes(one, MatrixView(all).rows(t, 1))) << "row " << t;
      EXPECT_TRUE(same_bytes(one_map, MatrixView(all_map.row(t).data(), 1, t + 1))) << "row " << t;
    }
  }
}

TEST_P(AttentionKernel, GivesNaNToTheRowsThatSeeANaN) {
  for (const int rows : {3, 40})
    for (const int bad : {0, 11, 36, 39}) {
      Input input({rows, 40, 6, 2, 2, {true, 0, 40 - rows}, false, bad > 20 ? 0.5f : 0}, 4);
      Matrix expected(rows, 12), expected_map(rows, 40), out(rows, 12), map(rows, 40);
      GetParam().network.attention(input.attention, expected,
                                   {Reduce::sum, 0.5f, 0, 2, expected_map});
      input.both.span()(bad, 7) = std::numeric_limits<float>::quiet_NaN();  // a key of head 1
      GetParam().network.attention(input.attention, out, {Reduce::sum, 0.5f, 0, 2, map});
      for (int r = 0; r < rows; ++r) {
        const bool sees = 40 - rows + r >= bad;
        for (int c = 0; c < 12; ++c)
          EXPECT_TRUE(sees && c >= 6 ? std::isnan(out(r, c)) : out(r, c) == expected(r, c))
              << "row " << r << ", " << c << ", NaN in key " << bad;
        EXPECT_TRUE(sees ? std::isnan(map(r, 0)) : map(r, 0) == expected_map(r, 0)) << "row " << r;
      }
    }
}

TEST_P(AttentionKernel, StaysFiniteForExtremeScores) {
  Input input({20, 20, 4, 1, 1, {}}, 9, 1e4f);
  Matrix out(20, 4), map(20, 20), exact(20, 4), exact_map(20, 20);
  GetParam().network.attention(input.attention, out, {Reduce::sum, 1, 0, 1, map});
  reference().network.attention(input.attention, exact, {Reduce::sum, 1, 0, 1, exact_map});
  for (int r = 0; r < 20; ++r) {
    double sum = 0;
    for (int j = 0; j < 20; ++j) {
      EXPECT_NEAR(map(r, j), exact_map(r, j), 0.02);
      sum += map(r, j);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    for (int d = 0; d < 4; ++d) EXPECT_TRUE(std::isfinite(out(r, d)));
  }
}

HEADWATER_EACH_KERNEL(AttentionKernel);

}  // namespace
}  // namespace headwater::kernel
