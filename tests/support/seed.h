// Seeds of tests that look at other inputs in every run.
#pragma once

namespace headwater::test {

/// HEADWATER_SEED if the environment has it, else a new number for each run. It is printed, so that
/// a failure can be repeated. Throws std::invalid_argument if HEADWATER_SEED is not a number.
unsigned seed_of_this_run();

}  // namespace headwater::test
