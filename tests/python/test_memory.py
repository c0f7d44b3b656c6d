"""Memory stays at a few n x n matrices, regardless of the number of layers and heads: files are mapped and passed through.

What counts is anonymous memory (RssAnon), sampled while the command runs: pages of the mapped file belong to the system
and can be dropped at any time. How much of the file is resident at once is printed beside it.
"""
import subprocess
import time
from pathlib import Path

import numpy as np

from command import HEADWATER

MEGABYTE = 1e6


def write_attention(path, layers, heads, n, written):
    """A file as large as that of all heads, of which only the first `written` heads of a layer take room on the disk: one
    map, turned by a row for each next head. The others are a hole in the file and read as zeros, as fast as numbers do;
    `--sums any` takes them."""
    rows = np.random.default_rng(0).standard_exponential((n, n), np.float32)
    rows /= rows.sum(axis=1, keepdims=True)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(layers, heads, n, n))
    for layer in out:
        for h in range(written):
            layer[h] = np.roll(rows, h, axis=0)
        out.flush()
    assert path.stat().st_size == layers * heads * n * n * 4 + 128
    assert path.stat().st_blocks * 512 < 250 * MEGABYTE, "expected a file system that keeps holes"
    return path


def status(pid):
    """Kilobytes by name; empty once the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {name: int(rest.split()[0]) for name, rest in (line.split(":", 1) for line in lines) if "kB" in rest}


def peak(words):
    """The most anonymous memory and the most resident file pages, in bytes."""
    process = subprocess.Popen([HEADWATER, *map(str, words)], stdout=subprocess.DEVNULL)
    anonymous = mapped = 0
    while process.poll() is None:
        now = status(process.pid)
        anonymous = max(anonymous, now.get("RssAnon", 0) * 1024)
        mapped = max(mapped, now.get("RssFile", 0) * 1024)
        time.sleep(0.002)
    assert process.returncode == 0
    return anonymous, mapped


def check(path, limit, capsys):
    for words in (["rollout", path], ["rollout", path, "--row", 0], ["rollout", path, "--discard", 0.1]):
        begin = time.monotonic()
        anonymous, mapped = peak([*words, "--sums", "any"])
        seconds = time.monotonic() - begin
        with capsys.disabled():
            print(f"\n{' '.join(map(str, words[2:])) or 'full':>13}: {anonymous / MEGABYTE:5.1f} MB of its own, "
                  f"{mapped / MEGABYTE:6.1f} MB of the file at once, {seconds:.2f} s", end="")
        assert anonymous < limit * MEGABYTE
    path.unlink()


def test_memory_of_24_layers_16_heads_512_tokens(tmp_path, capsys):
    """402 MB of attention; a matrix is 1 MB."""
    check(write_attention(tmp_path / "x.npy", 24, 16, 512, written=4), 20, capsys)


def test_memory_of_48_layers_32_heads_1024_tokens(tmp_path, capsys):
    """6.4 GB of attention; a matrix is 4 MB."""
    check(write_attention(tmp_path / "x.npy", 48, 32, 1024, written=1), 64, capsys)
