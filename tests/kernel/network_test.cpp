#include <string>

#include "tests/kernel/judge.h"

namespace headwater::kernel {
namespace {

class Network : public testing::Test {
 protected:
  ~Network() override {
    use("");
    set_threads(before_);
  }

 private:
  const int before_ = threads();
};

TEST_F(Network, NormsAndRotationsAreTheSameBytesForEveryNumberOfThreads) {
  const Matrix x = normal_matrix(200, 256, 1), angles = normal_matrix(200, 16, 2);
  const std::vector<float> weight = normal_floats(256, 3);
  for (const std::string& one : available()) {
    use(one);
    const auto results = [&] {
      Matrix all(600, 256);
      const auto part = [&](int i) { return MatrixSpan(all).rows(200 * i, 200); };
      layer_norm(x, weight, weight, 1e-5, part(0));
      rms_norm(x, weight, 1e-5, part(1));
      std::copy_n(x.data(), x.size(), part(2).data());
      rotate(part(2), 4, angles, angles);
      return all;
    };
    set_threads(1);
    const Matrix alone = results();
    for (int count : {2, 3, 5}) {
      set_threads(count);
      EXPECT_TRUE(same_bytes(alone, results())) << one << ", " << count << " threads";
    }
  }
}

// A layer may be kept before its activation, and must then go on as if it had not been.
TEST_F(Network, AnActivationByItselfIsTheSameBytesAsAfterAProduct) {
  const Matrix x = normal_matrix(37, 19, 1);
  std::vector<float> rows(size_t{19} * 19);
  for (size_t k = 0; k < 19; ++k) rows[20 * k] = 1;
  const Weights identity{DType::f32, reinterpret_cast<const std::byte*>(rows.data()), 19, 19,
                         false};
  for (const std::string& one : available()) {
    use(one);
    for (Activation activation :
         {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu,
          Activation::relu, Activation::silu, Activation::tanh}) {
      Matrix after(37, 19), alone(37, 19), product(37, 19);
      linear(x, identity, {{}, activation, {}}, after);
      linear(x, identity, {}, product);
      activate(product, activation, alone);
      EXPECT_TRUE(same_bytes(after, alone)) << one << ", " << static_cast<int>(activation);
    }
  }
}

}  // namespace
}  // namespace headwater::kernel
