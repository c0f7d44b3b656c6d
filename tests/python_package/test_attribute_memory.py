"""The memory of headwater attribute does not grow with the number of rows: `make million` compares 10,000 with a million."""
import os
import random
import subprocess
import sys

ROWS = [int(count) for count in os.environ.get("HEADWATER_ROWS", "2000,20000").split(",")]
NOUNS = ["key", "keys", "cabinet", "table", "author", "senators", "dog", "dogs"]


def peak(folder, count):
    """The most memory that the process had at once, in bytes, for so many rows."""
    pick = random.Random(1)
    path = folder / f"{count}.txt"
    with open(path, "w") as file:
        for _ in range(count):
            file.write(f"the {pick.choice(NOUNS)} near the {pick.choice(NOUNS)}\n")
    words = ["verb-number", path, "-o", folder / f"out-{count}", "--method", "average", "--top", "3", "--shard", "0/1"]
    process = subprocess.Popen([sys.executable, "-m", "headwater.data.command", "attribute", *map(str, words)],
                               stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert len(list((folder / f"out-{count}").iterdir())) == -(-count // 1000)
    return used.ru_maxrss * 1024


def test_ten_times_the_rows_and_more_have_the_same_peak(tmp_path, capsys):
    few, many = (peak(tmp_path, count) for count in ROWS)
    with capsys.disabled():
        print(f"\n{ROWS[0]:,} rows {few / 1e6:.0f} MB, {ROWS[1]:,} rows {many / 1e6:.0f} MB")
    assert many <= 1.1 * few
