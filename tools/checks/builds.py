"""Builds: the benchmarks, and those with sanitizers, with the tests in them."""
import os
from concurrent.futures import ThreadPoolExecutor

from . import ROOT, run, tail


def built(report, preset, *targets):
    """Whether the targets, or everything, could be built with sanitizers."""
    chosen = [word for target in targets for word in ("--target", target)]
    for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset, *chosen]):
        status, output = run(command)
        if status:
            report.fail(f"{' '.join(command)}:\n{tail(output)}")
            return False
    return True


def tested(report, preset, env, *options):
    status, output = run(["ctest", "--preset", preset, "--no-tests=error", "-j", str(os.cpu_count()), *options],
                         env=os.environ | env)
    report.note = next((line for line in output.splitlines() if "tests passed" in line), "")
    if status:
        report.fail(f"ctest --preset {preset}:\n{tail(output, 80)}")


def asan(report):
    """the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer"""
    if built(report, "sanitize"):
        # For the command that tests start; it is a program of its own.
        tested(report, "sanitize", {"LSAN_OPTIONS": f"suppressions={ROOT}/tools/checks/leaks.txt:print_suppressions=0"})


def threads(report):
    """the C++ tests in which several threads work, under ThreadSanitizer; 'make threads' has all"""
    if not built(report, "threads", "headwater_thread_tests"):
        return
    shards = os.cpu_count()

    def one(shard):
        return run([ROOT / "build/threads/tests/headwater_thread_tests", "--gtest_brief=1"], cwd=ROOT / "tests", timeout=900,
                   env=os.environ | {"TSAN_OPTIONS": "halt_on_error=1", "GTEST_TOTAL_SHARDS": str(shards),
                                     "GTEST_SHARD_INDEX": str(shard)})

    passed = 0
    with ThreadPoolExecutor(shards) as pool:
        for status, output in pool.map(one, range(shards)):
            passed += sum(int(line.split()[3]) for line in output.splitlines() if "  PASSED  " in line)
            if status:
                report.fail(f"headwater_thread_tests:\n{tail(output, 80)}")
    report.note = f"{passed} tests passed"


def bench(report):
    """the benchmarks compile; 'make bench' runs them"""
    for command in (["cmake", "--preset", "release", "-DHEADWATER_BENCH=ON"], ["cmake", "--build", "--preset", "release"]):
        status, output = run(command)
        if status:
            report.fail(f"{' '.join(command)}:\n{tail(output)}")
            return
