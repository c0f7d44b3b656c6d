"""hw.Attributor in Hugging Face datasets and in Ray Data, with the real packages."""
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


@pytest.fixture
def rows(tmp_path):
    texts = [f"the {WORDS[k % 4]} near the {WORDS[k // 4 % 4]}" + " is here" * (k % 3) for k in range(500)]
    texts[7] = ""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": list(range(500)), "label": [k % 2 for k in range(500)], "text": texts}), path,
                   row_group_size=50)
    return path, texts


def check(table, texts, method, **words):
    """Every row once, with the values of the method."""
    found = {row["id"]: row for row in table.to_pylist()}
    assert len(table) == len(found) == 500
    assert "no tokens" in found[7]["error"]
    for k in list(range(7)) + list(range(450, 500)):
        expected = np.asarray(getattr(hw, method)("verb-number", text=texts[k], **words))
        at = found[k]["positions"] if "positions" in found[k] else slice(None)
        np.testing.assert_array_equal(np.float32(found[k]["values"]), expected[at])
        assert found[k]["error"] is None and found[k]["label"] == k % 2


OFFLINE = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "RAY_USAGE_STATS_ENABLED": "0"}


def run(script, *words):
    done = subprocess.run([sys.executable, EXAMPLES / script, *map(str, words)], capture_output=True, text=True,
                          timeout=300, env=os.environ | OFFLINE)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_hugging_face_datasets_map_in_two_processes(rows, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    path, texts = rows
    assert "500 rows with id, label, text, length" in run("datasets_map.py", path, tmp_path / "out.parquet")
    check(pq.read_table(tmp_path / "out.parquet"), texts, "rollout", row=0)


def test_ray_data_maps_batches_in_two_actors(rows, tmp_path):
    path, texts = rows
    assert "500 rows" in run("ray_data.py", path, tmp_path / "out")
    check(pq.read_table(tmp_path / "out"), texts, "rollout", row=0)


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
    around = os.environ | OFFLINE | {"ACTORS": str(actors), "PYTHONPATH": str(EXAMPLES)}
    with subprocess.Popen([sys.executable, "-c", SLOW, path, tmp_path / "out"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=around) as process:
        give_up = time.monotonic() + 120
        while not actors.exists() or not actors.read_text().endswith("\n"):
            assert process.poll() is None and time.monotonic() < give_up, process.communicate()[1][-3000:]
            time.sleep(0.02)
        killed = actors.read_text().split()[0]
        os.kill(int(killed), signal.SIGKILL)
        said, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors[-3000:]
    assert "500 rows" in said
    pids = actors.read_text().split()
    assert len(set(pids)) >= 2 and len(pids) > 10, "nothing was done again"  # 10 batches of 50 rows, and the lost one
    check(pq.read_table(tmp_path / "out"), texts, "rollout", row=0)
