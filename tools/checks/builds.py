"""A build of its own, with sanitizers: the tests in it, and the readers under a fuzzer."""
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

from . import ROOT, run, tail

FUZZ_TARGETS = ["fuzz_npy", "fuzz_npz", "fuzz_safetensors", "fuzz_json", "fuzz_image",
                "fuzz_preprocessor", "fuzz_config", "fuzz_tokenizer", "fuzz_examples", "fuzz_question"]


def built(report, *targets):
    """Whether the targets, or everything, could be built with sanitizers."""
    chosen = [word for target in targets for word in ("--target", target)]
    for command in (["cmake", "--preset", "sanitize"], ["cmake", "--build", "--preset", "sanitize", *chosen]):
        status, output = run(command)
        if status:
            report.fail(f"{' '.join(command)}:\n{tail(output)}")
            return False
    return True


def asan(report):
    """the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer"""
    if not built(report):
        return
    # For the command that tests start; it is a program of its own.
    env = os.environ | {"LSAN_OPTIONS": f"suppressions={ROOT}/tools/checks/leaks.txt:print_suppressions=0"}
    status, output = run(["ctest", "--preset", "sanitize", "--no-tests=error", "-j", str(os.cpu_count())], env=env)
    report.note = next((line for line in output.splitlines() if "tests passed" in line), "")
    if status:
        report.fail(f"ctest --preset sanitize:\n{tail(output, 80)}")


def fuzz(report):
    """each reader under libFuzzer for FUZZ_SECONDS (20), starting from the hostile files and tests/golden"""
    seconds = int(os.environ.get("FUZZ_SECONDS", "20"))
    if not built(report, *FUZZ_TARGETS):
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
