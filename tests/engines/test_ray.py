"""hw.Attributor in Ray Data, with the real package: `make engines`."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headwater as hw

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/data"
WORDS = ["keys", "cabinet", "dogs", "author"]
AROUND = os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0",
                       "PYTHONPATH": os.pathsep.join(filter(None, [str(EXAMPLES), os.environ.get("PYTHONPATH")]))}


@pytest.fixture
def rows(tmp_path):
    texts = [f"the {WORDS[k % 4]} near the {WORDS[k // 4 % 4]}" + " is here" * (k % 3) for k in range(500)]
    texts[7] = ""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": list(range(500)), "label": [k % 2 for k in range(500)], "text": texts}), path,
                   row_group_size=50)
    return path, texts


def check(table, texts):
    """Every row once, with the values of rollout."""
    found = {row["id"]: row for row in table.to_pylist()}
    assert len(table) == len(found) == 500
    assert "no tokens" in found[7]["error"]
    for k in list(range(7)) + list(range(450, 500)):
        np.testing.assert_array_equal(np.float32(found[k]["values"]),
                                      np.asarray(hw.rollout("verb-number", text=texts[k], row=0)))
        assert found[k]["error"] is None and found[k]["label"] == k % 2


# Ray gives itself thirty seconds to start, which can be too short on a busy machine.
START = """
import ray
for attempt in range(5):
    try:
        ray.init(include_dashboard=False, num_cpus=2)
        break
    except Exception:
        ray.shutdown()
"""


def test_ray_data_maps_batches_in_two_actors(rows, tmp_path):
    path, texts = rows
    example = f"import runpy; runpy.run_path({str(EXAMPLES / 'ray_data.py')!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", START + example, path, tmp_path / "out"], capture_output=True, text=True,
                          timeout=900, env=AROUND)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "500 rows" in done.stdout
    check(pq.read_table(tmp_path / "out"), texts)


# The example with actors that say who they are, and take their time.
SLOW = """
import os, sys, time
import ray_data
import headwater as hw

class Slow(hw.Attributor):
    def __call__(self, batch):
        with open(os.environ["ACTORS"], "a") as file:
            file.write(f"{os.getpid()}\\n")
        time.sleep(0.5)
        return super().__call__(batch)

ray_data.main(*sys.argv[1:], Slow)
"""


def test_ray_data_goes_on_when_an_actor_is_killed(rows, tmp_path):
    path, texts = rows
    actors = tmp_path / "actors"
    with subprocess.Popen([sys.executable, "-c", START + SLOW, path, tmp_path / "out"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=AROUND | {"ACTORS": str(actors)}) as process:
        give_up = time.monotonic() + 600
        while not actors.exists() or not actors.read_text().endswith("\n"):
            assert process.poll() is None and time.monotonic() < give_up, process.communicate()[1][-3000:]
            time.sleep(0.02)
        killed = actors.read_text().split()[0]
        os.kill(int(killed), signal.SIGKILL)
        said, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors[-3000:]
    assert "500 rows" in said
    pids = actors.read_text().split()
    assert len(set(pids)) >= 2 and len(pids) > 10, "nothing was done again"  # 10 batches of 50 rows, and the lost one
    check(pq.read_table(tmp_path / "out"), texts)
