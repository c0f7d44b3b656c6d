#include "tests/support/seed.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace headwater::test {
namespace {

unsigned chosen_seed() {
  const char* given = std::getenv("HEADWATER_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::stoul(given))
                              : static_cast<unsigned>(std::random_device()());
  std::printf("HEADWATER_SEED=%u repeats this run\n", seed);
  return seed;
}

}  // namespace

unsigned seed_of_this_run() {
  static const unsigned seed = chosen_seed();
  return seed;
}

}  // namespace headwater::test
