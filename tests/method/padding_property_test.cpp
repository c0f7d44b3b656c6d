// Padding changes nothing, wherever it is and whatever it holds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>

#include "headwater/method/metrics.h"
#include "headwater/method/rollout.h"
#include "headwater/open.h"
#include "tests/support/build_npy.h"
#include "tests/support/build_zip.h"
#include "tests/support/in_memory.h"

namespace headwater::test {
namespace {

// `attention` spread over the places where `real` is true, with garbage between them.
Attention pad(const Attention& attention, const std::vector<bool>& real) {
  Attention out{
      attention.layers, attention.items, attention.heads, static_cast<int>(real.size()), {}};
  std::vector<int> place;
  for (size_t j = 0; j < real.size(); ++j)
    if (real[j]) place.push_back(static_cast<int>(j));
  out.values.assign(static_cast<size_t>(out.layers * out.items * out.heads * out.n * out.n),
                    std::nan(""));
  for (int l = 0; l < out.layers; ++l)
    for (int b = 0; b < out.items; ++b)
      for (int h = 0; h < out.heads; ++h)
        for (int i = 0; i < attention.n; ++i)
          for (int j = 0; j < attention.n; ++j)
            out.at(l, b, h, place[static_cast<size_t>(i)], place[static_cast<size_t>(j)]) =
                attention.at(l, b, h, i, j);
  return out;
}

RC_GTEST_PROP(Padding, ChangesNothing, ()) {
  const int n = *rc::gen::inRange(1, 12), heads = *rc::gen::inRange(1, 4);
  const Attention attention = random_attention(3, 1, heads, n, *rc::gen::arbitrary<unsigned>());
  std::vector<bool> real(static_cast<size_t>(n), true);
  const int more = *rc::gen::inRange(0, 6);
  for (int k = 0; k < more; ++k)
    real.insert(real.begin() + *rc::gen::inRange<long>(0, static_cast<long>(real.size()) + 1),
                false);
  const Attention padded = pad(attention, real);
  const bool deflated = *rc::gen::arbitrary<bool>(), fortran = *rc::gen::arbitrary<bool>();
  const Npy how{1, fortran};
  const Folder folder;
  const auto path = folder.write(
      "a.npz",
      zip({{"a.npy", npy(DType::f32, shape_of(padded, "LHnn"), padded.values, how), deflated},
           {"attention_mask.npy",
            npy(DType::u8, {padded.n}, std::vector<double>(real.begin(), real.end())), deflated}}));
  Options options;
  options.discard = *rc::gen::element(0.0, 0.3);
  options.row = *rc::gen::element(Row{}, Row{Row::Kind::last, 0}, Row{Row::Kind::mean, 0});
  InMemory memory(attention);
  const Attribution plain = rollout(*memory.item(), options),
                    cropped = rollout(*open(path), options);
  RC_ASSERT(cropped.source.tokens == plain.source.tokens);
  RC_ASSERT(cropped.source.padded == padded.n);
  RC_ASSERT(cropped.rows == plain.rows);
  RC_ASSERT(std::memcmp(cropped.values[0].data(), plain.values[0].data(),
                        plain.values[0].size() * sizeof(float)) == 0);
  const Options of_metrics = options_of(Preset::metrics);
  const Metrics a = metrics(*memory.item(), of_metrics), b = metrics(*open_batch(path), of_metrics);
  RC_ASSERT(a.rollout_entropy == b.rollout_entropy);
  RC_ASSERT(a.mean_attention == b.mean_attention);
  RC_ASSERT(b.seq_length == padded.n);
}

}  // namespace
}  // namespace headwater::test
