"""hw.Attributor in Hugging Face datasets, with the real package."""
import os
import subprocess
import sys
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


def run(script, *words):
    done = subprocess.run([sys.executable, EXAMPLES / script, *map(str, words)], capture_output=True, encoding="utf-8",
                          timeout=300, env=os.environ | {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"})
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_hugging_face_datasets_map_in_two_processes(rows, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    path, texts = rows
    assert "500 rows with id, label, text, length" in run("datasets_map.py", path, tmp_path / "out.parquet")
    check(pq.read_table(tmp_path / "out.parquet"), texts, "rollout", row=0)
