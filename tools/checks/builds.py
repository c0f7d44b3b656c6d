"""Builds of their own: the tests with sanitizers, the readers under a fuzzer."""
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

from . import ROOT, run, tail

FUZZ_TARGETS = ["fuzz_npy", "fuzz_npz", "fuzz_safetensors", "fuzz_json", "fuzz_image",
                "fuzz_preprocessor", "fuzz_config", "fuzz_tokenizer"]


def configured(report, preset, *options):
    status, output = run(["cmake", "--preset", preset, "-DHEADWATER_BENCH=OFF", *options])
    if status:
        report.fail(f"cmake --preset {preset}:\n{tail(output)}")
    return status == 0


def asan(report):
    """the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer"""
    if not configured(report, "asan", "-DHEADWATER_TESTS=ON"):
        return
    status, output = run(["cmake", "--build", "--preset", "asan"])
    if status:
        report.fail(f"cmake --build --preset asan:\n{tail(output)}")
        return
    # For the command that tests start; it is a program of its own.
    env = os.environ | {"LSAN_OPTIONS": f"suppressions={ROOT}/tools/checks/leaks.txt:print_suppressions=0"}
    status, output = run(["ctest", "--preset", "asan", "--no-tests=error", "-j", str(os.cpu_count())], env=env)
    report.note = next((line for line in output.splitlines() if "tests passed" in line), "")
    if status:
        report.fail(f"ctest --preset asan:\n{tail(output, 80)}")


def fuzz(report):
    """each reader under libFuzzer for FUZZ_SECONDS (20), starting from the hostile files and tests/golden"""
    seconds = int(os.environ.get("FUZZ_SECONDS", "20"))
    if not (ROOT / "tests/fuzz/CMakeLists.txt").exists():
        report.fail(f"tests/fuzz/CMakeLists.txt is not there, expected targets {', '.join(FUZZ_TARGETS)}")
        return
    if not configured(report, "fuzz"):
        return

    def one(target):
        """What went wrong with a target, or None."""
        program = next((path for path in (ROOT / "build/fuzz").rglob(target) if path.is_file()), None)
        if program is None:
            return f"{target}: built, but not found in build/fuzz"
        # New inputs go to the first folder, crashes to found/; seeds are only read.
        corpus, found = ROOT / "build/fuzz/corpus" / target, ROOT / "build/fuzz/found" / target
        shutil.rmtree(found, ignore_errors=True)
        for folder in (corpus, found):
            folder.mkdir(parents=True, exist_ok=True)
        seeds = [folder for folder in (
            ROOT / "tests/hostile", ROOT / "tests/image/hostile", ROOT / "tests/tokenizer/hostile", ROOT / "tests/golden") if folder.exists()]
        status, output = run([program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
                              f"-artifact_prefix={found}/", corpus, *seeds],
                             timeout=seconds + 120)
        return f"{target}: exit status {status}\n{tail(output)}" if status else None

    ready = []
    for target in FUZZ_TARGETS:
        status, output = run(["cmake", "--build", "--preset", "fuzz", "--target", target])
        if status:
            report.fail(f"{target} does not build:\n{tail(output)}")
        else:
            ready.append(target)
    report.note = f"{len(ready)} targets, {seconds} s each"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for failure in filter(None, pool.map(one, ready)):
            report.fail(failure)
