"""Every input under libFuzzer, with mutators that know its format."""
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

from . import ROOT, run, tail
from .builds import built

# What a target starts from besides tests/fuzz/corpus/TARGET.
STARTS = {
    "npy": ["tests/hostile/*.npy", "tests/source/saved/*.npy"],
    "npz": ["tests/hostile/*.npz", "tests/source/saved/*.npz"],
    "safetensors": ["tests/hostile/*.safetensors", "tests/source/saved/*.safetensors", "tests/golden/*/*.safetensors"],
    "json": ["tests/hostile/*.json", "tests/source/saved/*.json"],
    "torch": ["tests/weights/hostile/*.bin"],
    "image": ["tests/image/hostile/*.png", "tests/image/hostile/*.jpg"],
    "preprocessor": ["models/*/preprocessor_config.json"],
    "config": ["models/*/config.json", "tests/golden/*/config.json"],
    "tokenizer": ["tests/tokenizer/hostile/*.json", "models/pairs/tokenizer.json"],
}
MOST_BYTES = 64 << 10  # of a file to start from: long ones are slow


def targets():
    """The names behind fuzz_."""
    return sorted(path.stem.removeprefix("fuzz_") for path in (ROOT / "tests/fuzz").glob("fuzz_*.cpp"))


def starts(target):
    """The files that a target starts from."""
    patterns = [f"tests/fuzz/corpus/{target}/*", *STARTS.get(target, [])]
    found = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    return [path for path in found if path.stat().st_size <= MOST_BYTES]


def one(target, seconds):
    """What went wrong with a target, or None."""
    folders = {name: ROOT / "build/sanitize" / name / target for name in ("corpus", "found", "starts")}
    for name, folder in folders.items():
        if name != "corpus":  # what was new in earlier runs stays
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
    for path in starts(target):
        shutil.copy(path, folders["starts"] / f"{path.parent.name}-{path.name}")
    # New inputs go to the first folder, crashes to found/.
    status, output = run([ROOT / "build/sanitize/tests/fuzz" / f"fuzz_{target}", f"-max_total_time={seconds}", "-timeout=10",
                          "-rss_limit_mb=2048", f"-artifact_prefix={folders['found']}/", folders["corpus"], folders["starts"]],
                         timeout=seconds + 120)
    return f"fuzz_{target}: exit status {status}\n{tail(output)}" if status else None


def check(report):
    """every input under libFuzzer for FUZZ_SECONDS (180) together, from tests/fuzz/corpus and the hostile files on"""
    names = targets()
    seconds = max(1, int(os.environ.get("FUZZ_SECONDS", "180")) // len(names))
    if not built(report, "sanitize", *(f"fuzz_{name}" for name in names)):
        return
    report.note = f"{len(names)} targets, {seconds} s each"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for failure in filter(None, pool.map(lambda name: one(name, seconds), names)):
            report.fail(failure)
