"""What a thousand workers do to one folder: simulated on one machine, with the code that `headwater attribute` runs.

    build/venv/bin/python bench/writers.py [--writers 1000] [--blocks 10] [--at-once 100] [--folder DIR]

Each writer is a process of its own. It opens the folder as the command does (which lists it), then writes its blocks
beside their places and renames them. One in ten is killed with SIGKILL in the middle and run again. At the end every
block must be there once, whole, and nothing else. Prints what listing and writing cost.
"""
import argparse
import os
import random
import shutil
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from headwater.data.blocks import KEY, Folder, blocks_in
from headwater.data.inputs import Block

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--writers", type=int, default=1000)
parser.add_argument("--blocks", type=int, default=10)
parser.add_argument("--at-once", type=int, default=100)
parser.add_argument("--rows", type=int, default=1000)
parser.add_argument("--folder")
ARGUMENTS = parser.parse_args()


def make_table():
    """A block of rows of 25 tokens."""
    numbers = np.random.default_rng(0).random((ARGUMENTS.rows, 25), np.float32)
    words = [[f"w{k % 997}" for k in range(row, row + 25)] for row in range(ARGUMENTS.rows)]
    return pa.table({"tokens": words, "values": pa.array(list(numbers), pa.list_(pa.float32()))}).replace_schema_metadata(
        {KEY: b"{}"})


def name_of(index):
    return f"{index:07}-{index:016x}.parquet"


def write(folder, part, table, times):
    """What one worker does: blocks part, part + writers, ..."""
    begin = time.perf_counter()
    out = Folder(folder)
    listing = time.perf_counter() - begin
    for k in range(ARGUMENTS.blocks):
        index = part + k * ARGUMENTS.writers
        if not out.has(Block(index, 0, []), name_of(index)):
            out.write(name_of(index), table)
    os.write(times, f"{listing} {len(out.there)}\n".encode())


def main():
    folder = Path(ARGUMENTS.folder or tempfile.mkdtemp(dir=".")) / "blocks"
    table = make_table()
    pick = random.Random(0)
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    waiting, running, killed, seen = list(range(ARGUMENTS.writers)), {}, 0, b""
    again = set()
    begin = time.perf_counter()
    while waiting or running:
        while waiting and len(running) < ARGUMENTS.at_once:
            part = waiting.pop(0)
            child = os.fork()
            if child == 0:
                try:
                    write(folder, part, table, writing)
                finally:
                    os._exit(0)
            running[child] = part
            if part % 10 == 0 and part not in again:
                time.sleep(pick.uniform(0, 0.02))
                os.kill(child, signal.SIGKILL)
                again.add(part)
        child, status = os.wait()
        part = running.pop(child)
        if os.WIFSIGNALED(status):
            killed += 1
            waiting.append(part)
        try:
            seen += os.read(reading, 1 << 20)
        except BlockingIOError:
            pass
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    there = dict(blocks_in(folder))
    listing = time.perf_counter() - begin
    Folder(str(folder))  # removes what the killed ones left
    expected = ARGUMENTS.writers * ARGUMENTS.blocks
    left = [path.name for path in folder.iterdir() if not path.name.endswith(".parquet")]
    sizes = {path.stat().st_size for path in there.values()}
    assert sorted(there) == list(range(expected)) and not left and len(sizes) == 1, (len(there), left[:3], sizes)
    times = [float(line.split()[0]) for line in seen.decode().splitlines()]
    print(f"{ARGUMENTS.writers} writers, {ARGUMENTS.at_once} at a time, {expected} blocks of {sizes.pop()} bytes: "
          f"{seconds:.1f} s, {expected / seconds:.0f} blocks a second; {killed} killed and run again; opening the folder "
          f"took {1000 * np.median(times):.1f} ms (median), {1000 * max(times):.0f} ms at most; listing all of it at the "
          f"end {1000 * listing:.0f} ms")
    shutil.rmtree(folder.parent)


if __name__ == "__main__":
    main()
