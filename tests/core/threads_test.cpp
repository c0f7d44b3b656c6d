#include "headwater/core/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "headwater/core/parallel.h"
#include "tests/support/failing_allocation.h"

namespace headwater {
namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SKIP_FORKS \
  GTEST_SKIP() << "ThreadSanitizer ends a forked child that makes threads of its own"
#endif
#endif
#ifndef SKIP_FORKS
#define SKIP_FORKS static_cast<void>(0)
#endif

class Threads : public testing::Test {
 protected:
  ~Threads() override { set_threads(before_); }

 private:
  const int before_ = threads();
};

TEST_F(Threads, CallEachTaskOnce) {
  for (int count : {1, 2, 3, 8}) {
    set_threads(count);
    for (int tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(tasks));
      parallel_for(tasks, [&](int i) { ++calls[static_cast<size_t>(i)]; });
      for (const auto& one : calls) EXPECT_EQ(one, 1) << tasks << " tasks, " << count << " threads";
    }
  }
}

TEST_F(Threads, SeeWhatTheCallerWroteAndTheCallerWhatTheyWrote) {
  set_threads(4);
  std::vector<int> numbers(64), squares(64);
  for (int round = 0; round < 500; ++round) {
    std::iota(numbers.begin(), numbers.end(), round);
    parallel_for(64, [&](int i) {
      const auto at = static_cast<size_t>(i);
      squares[at] = numbers[at] * numbers[at];
    });
    for (int i = 0; i < 64; ++i)
      ASSERT_EQ(squares[static_cast<size_t>(i)], (round + i) * (round + i));
  }
}

TEST_F(Threads, AreNeverFewerThanOne) {
  set_threads(0);
  EXPECT_EQ(threads(), 1);
  set_threads(-3);
  EXPECT_EQ(threads(), 1);
  set_threads(6);
  EXPECT_EQ(threads(), 6);
}

TEST_F(Threads, HandTheExceptionOfATaskToTheCaller) {
  for (int count : {1, 4}) {
    set_threads(count);
    const auto loop = [] {
      parallel_for(100, [](int i) {
        if (i == 41) throw std::runtime_error("task 41");
      });
    };
    try {
      loop();
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), "task 41");
    }
    // The pool works after that.
    std::atomic<int> sum = 0;
    parallel_for(10, [&](int i) { sum += i; });
    EXPECT_EQ(sum, 45);
  }
}

TEST_F(Threads, HandOverTheLowestOfSeveralExceptions) {
  set_threads(4);
  for (int round = 0; round < 200; ++round) {
    try {
      parallel_for(100, [](int i) {
        if (i >= 5) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "5");
    }
  }
}

TEST_F(Threads, RunALoopInsideATaskWhereItIs) {
  set_threads(3);
  std::atomic<int> sum = 0;
  parallel_for(5, [&](int) {
    const auto here = std::this_thread::get_id();
    parallel_for(4, [&](int i) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      sum += i;
    });
  });
  EXPECT_EQ(sum, 30);
}

TEST_F(Threads, ServeSeveralCallersAtOnce) {
  set_threads(3);
  std::atomic<int> sum = 0;
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&] {
        for (int round = 0; round < 50; ++round) parallel_for(10, [&](int i) { sum += i; });
      });
  }
  EXPECT_EQ(sum, 4 * 50 * 45);
}

TEST_F(Threads, WorkInAChildThatWasForked) {
  SKIP_FORKS;
  set_threads(3);
  parallel_for(8, [](int) {});  // the parent has a pool now, whose threads the child will not have
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> sum = 0;
    for (int round = 0; round < 10; ++round) parallel_for(8, [&](int i) { sum += i; });
    _exit(sum == 280 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// A pool that hangs takes its process with it, so each failure happens in a process of its own.
TEST_F(Threads, DoAllTheWorkWhereMemoryForMoreOfThemIsMissing) {
  SKIP_FORKS;
  set_threads(40);
  for (int allocation = 0; allocation < 60; ++allocation) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      std::atomic<int> sum = 0;
      try {
        const FailingAllocation failing(allocation);
        parallel_for(100, [&](int i) { sum += i; });
      } catch (const std::bad_alloc&) {
        sum = 4950;  // before the first thread
      }
      _exit(sum == 4950 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "allocation " << allocation;
  }
}

TEST_F(Threads, WorkInTheBackgroundBesideTheCallersLoops) {
  for (int count : {1, 2, 4}) {
    set_threads(count);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> behind(50), before(50);
      Background background(50, [&](int i) { ++behind[static_cast<size_t>(i)]; });
      for (int loop = 0; loop < 3; ++loop)
        parallel_for(50, [&](int i) { ++before[static_cast<size_t>(i)]; });
      background.finish();
      for (const auto& one : behind) ASSERT_EQ(one, 1);
      for (const auto& one : before) ASSERT_EQ(one, 3);
    }
  }
}

TEST_F(Threads, HandOverTheLowestExceptionOfTheBackgroundWhenItIsFinished) {
  for (int count : {1, 4}) {
    set_threads(count);
    for (int round = 0; round < 200; ++round) {
      Background background(20, [](int i) {
        if (i >= 3) throw std::runtime_error(std::to_string(i));
      });
      try {
        background.finish();
        ADD_FAILURE() << "no exception";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "3");
      }
    }
  }
}

TEST_F(Threads, LeaveNoTaskRunningWhenTheBackgroundIsGivenUp) {
  set_threads(4);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> running = 0;
    {
      Background background(1000, [&](int) {
        ++running;
        --running;
      });
    }
    EXPECT_EQ(running, 0);
  }
}

TEST_F(Threads, TakeASecondBackgroundAndAnotherNumberOfThreadsMeanwhile) {
  set_threads(3);
  std::atomic<int> first = 0, second = 0, loop = 0;
  Background one(100, [&](int) { ++first; });
  Background two(100, [&](int) { ++second; });
  set_threads(2);
  parallel_for(100, [&](int) { ++loop; });
  two.finish();
  one.finish();
  EXPECT_EQ(first + second + loop, 300);
}

// A library with threads of its own, and how often it was asked.
std::atomic<int> asked = 0;
void three_jthreads(void (*work)(void*), void* data, int count) {
  ++asked;
  EXPECT_EQ(count, 3);
  std::vector<std::jthread> others;
  for (int i = 1; i < count; ++i) others.emplace_back([=] { work(data); });
  work(data);
}

TEST_F(Threads, OfATeamCallEachTaskOnceInPlaceOfTheEnginesOwn) {
  set_threads(2);
  asked = 0;
  {
    const OnTeam on(three_jthreads, 3);
    for (int tasks : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(tasks));
      parallel_for(tasks, [&](int i) { ++calls[static_cast<size_t>(i)]; });
      for (const auto& one : calls) EXPECT_EQ(one, 1) << tasks << " tasks";
    }
    EXPECT_EQ(asked, 2) << "one task needs no team";
    parallel_for(4, [&](int) { parallel_for(4, [](int) {}); });
    EXPECT_EQ(asked, 3) << "a loop inside a task runs where it is";
    const OnTeam none(nullptr, 5);
    parallel_for(4, [](int) {});
    EXPECT_EQ(asked, 4) << "without a team nothing changes";
  }
  parallel_for(4, [](int) {});
  EXPECT_EQ(asked, 4) << "the team is gone";
}

TEST_F(Threads, OfATeamHandOverTheLowestException) {
  const OnTeam on(three_jthreads, 3);
  for (int round = 0; round < 50; ++round) try {
      parallel_for(100, [](int i) {
        if (i >= 5) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "5");
    }
}

}  // namespace
}  // namespace headwater
