"""hw.Attributor in Spark's predict_batch_udf, with the real package: `make engines`."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import headwater as hw

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/data/spark_udf.py"


def test_the_example_gives_every_row_once(tmp_path):
    texts = [f"the {'keys' if k % 2 else 'key'} near the cabinet" + " is here" * (k % 3) for k in range(300)]
    texts[7], texts[8] = "", None
    pq.write_table(pa.table({"id": list(range(300)), "label": [k % 2 for k in range(300)], "text": texts}),
                   tmp_path / "rows.parquet")
    done = subprocess.run([sys.executable, EXAMPLE, tmp_path / "rows.parquet", tmp_path / "out"], capture_output=True,
                          text=True, timeout=600, env=os.environ | {"PYSPARK_PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr[-3000:]
    assert "300 rows" in done.stdout
    found = {row["id"]: row for row in pq.read_table(tmp_path / "out").to_pylist()}
    assert len(found) == 300
    assert "no tokens" in found[7]["error"] and "missing" in found[8]["error"] and found[7]["values"] == []
    for k in [0, 1, 9, 150, 299]:
        assert found[k]["error"] == "" and found[k]["label"] == k % 2 and found[k]["tokens"][0] == "[CLS]"
        np.testing.assert_array_equal(np.float32(found[k]["values"]),
                                      np.asarray(hw.rollout("verb-number", text=texts[k], row=0)))
