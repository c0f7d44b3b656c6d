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


def tested(report, program, env):
    """Runs a program of C++ tests in parts, side by side. A process for each test, as with ctest, takes twice as long here: a
    sanitizer makes the start and the end slow."""
    parts = 4 * os.cpu_count()

    def one(part):
        return run([program, "--gtest_brief=1"], cwd=ROOT / "tests", timeout=900,
                   env=os.environ | env | {"GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(part)})

    passed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for status, output in pool.map(one, range(parts)):
            passed += sum(int(line.split()[3]) for line in output.splitlines() if "  PASSED  " in line)
            if status:
                report.fail(f"{program.name}:\n{tail(output, 80)}")
    report.note = f"{passed} tests passed"
    if not passed:
        report.fail(f"{program.name} has no tests")


def asan(report):
    """the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer"""
    if not built(report, "sanitize"):
        return
    # For the command that tests start; it is a program of its own.
    env = {"LSAN_OPTIONS": f"suppressions={ROOT}/tools/checks/leaks.txt:print_suppressions=0"}
    tested(report, ROOT / "build/sanitize/tests/headwater_tests", env)
    status, output = run(["ctest", "--preset", "sanitize", "--no-tests=error", "-R", "^example[.]"], env=os.environ | env)
    if status:
        report.fail(f"ctest --preset sanitize:\n{tail(output, 80)}")


def threads(report):
    """the C++ tests in which several threads work, under ThreadSanitizer; 'make threads' has all"""
    if built(report, "threads", "headwater_thread_tests"):
        tested(report, ROOT / "build/threads/tests/headwater_thread_tests", {"TSAN_OPTIONS": "halt_on_error=1"})


def bench(report):
    """the benchmarks compile; 'make bench' runs them"""
    for command in (["cmake", "--preset", "release", "-DHEADWATER_BENCH=ON"], ["cmake", "--build", "--preset", "release"]):
        status, output = run(command)
        if status:
            report.fail(f"{' '.join(command)}:\n{tail(output)}")
            return
