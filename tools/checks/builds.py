"""Builds: the benchmarks, and those with sanitizers, with the tests in them and the readers under a fuzzer."""
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

from . import ROOT, run, tail

FUZZ_TARGETS = ["fuzz_npy", "fuzz_npz", "fuzz_safetensors", "fuzz_torch", "fuzz_json", "fuzz_image",
                "fuzz_preprocessor", "fuzz_config", "fuzz_tokenizer", "fuzz_sentencepiece", "fuzz_examples",
                "fuzz_question"]


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


def bench(report):
    """the benchmarks compile; 'make bench' runs them"""
    for command in (["cmake", "--preset", "release", "-DHEADWATER_BENCH=ON"], ["cmake", "--build", "--preset", "release"]):
        status, output = run(command)
        if status:
            report.fail(f"{' '.join(command)}:\n{tail(output)}")
            return


def fuzz(report):
    """all readers under libFuzzer for FUZZ_SECONDS (180) together, starting from the hostile files and tests/golden"""
    seconds = max(1, int(os.environ.get("FUZZ_SECONDS", "180")) // len(FUZZ_TARGETS))
    if not built(report, "sanitize", *FUZZ_TARGETS):
        return

    def one(target):
        """What went wrong with a target, or None."""
        program = ROOT / "build/sanitize/tests/fuzz" / target
        # New inputs go to the first folder, crashes to found/; seeds are only read.
        corpus, found = ROOT / "build/sanitize/corpus" / target, ROOT / "build/sanitize/found" / target
        shutil.rmtree(found, ignore_errors=True)
        for folder in (corpus, found):
            folder.mkdir(parents=True, exist_ok=True)
        seeds = [folder for folder in (
            ROOT / "tests/hostile", ROOT / "tests/image/hostile", ROOT / "tests/tokenizer/hostile", ROOT / "tests/golden") if folder.exists()]
        status, output = run([program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
                              f"-artifact_prefix={found}/", corpus, *seeds],
                             timeout=seconds + 120)
        return f"{target}: exit status {status}\n{tail(output)}" if status else None

    report.note = f"{len(FUZZ_TARGETS)} targets, {seconds} s each"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for failure in filter(None, pool.map(one, FUZZ_TARGETS)):
            report.fail(failure)
