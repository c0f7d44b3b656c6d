"""Where `headwater attribute` spends its time, and what it writes: reading, tokenizing, computing, columns, writing.

    build/venv/bin/python bench/shares.py [--models verb-number,minilm,bert] [--count 2000] [--method relevance]

Rows of 25 tokens on average come from a Parquet file and go to blocks, by the steps that the command takes, each with a
clock of processor time: other work on the machine does not change the shares much. Prints the share of each step, the
seconds of processor time for a thousand rows, and gigabytes for a million rows with all values and with the top 20.
"""
import argparse
import json
import math
import sys
import tempfile
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--models", default="verb-number,minilm,bert")
parser.add_argument("--count", type=int, default=2000)
parser.add_argument("--method", default="relevance")
ARGUMENTS = parser.parse_args()
sys.argv = sys.argv[:1] + ["--count", str(ARGUMENTS.count)]

import pyarrow as pa
import pyarrow.parquet as pq

import dataset
import headwater as hw
from headwater.data.attributor import columns_of
from headwater.data.blocks import Folder, hash_of, name_of, table_of
from headwater.data.inputs import Inputs

STEPS = ("reading", "tokenizing", "computing", "columns", "writing")


def attribute(rows, folder, model, top):
    """Seconds of each step, and the bytes written."""
    attributor = hw.Attributor(model, ARGUMENTS.method, row=0 if ARGUMENTS.method == "rollout" else None, top=top)
    run, settings = attributor._model, json.dumps(attributor.settings.record())
    seconds, last = dict.fromkeys(STEPS, 0.0), time.process_time()

    def done(step):
        nonlocal last
        now = time.process_time()
        seconds[step] += now - last
        last = now

    out = Folder(folder)
    for block in Inputs([rows], ["text"], 1000).read(lambda index: True):
        name = name_of(block, settings)
        done("reading")
        inputs, places, _ = run.opened([values[0] for values, _ in block.rows])
        done("tokenizing")
        results = run.results(inputs, {})
        done("computing")
        answers = [run.answer(inputs.describe(k), results, k) for k in range(len(places))]
        ids = {"id": [block.first + k for k in range(len(answers))]}
        table = table_of(columns_of(answers, top is not None), ids, {"id": pa.int64()}, ARGUMENTS.method, settings,
                         hash_of(block))
        done("columns")
        out.write(name, table)
        done("writing")
    return seconds, sum(path.stat().st_size for path in Path(folder).iterdir())


def main():
    dataset.FOLDER.mkdir(parents=True, exist_ok=True)
    words = dataset.make_texts(dataset.model_folder("minilm"))
    print("| model | " + " | ".join(STEPS) + " | processor s, 1,000 rows | GB, million rows | GB, top 20 |")
    print("|---|" + "---:|" * (len(STEPS) + 3))
    for name in ARGUMENTS.models.split(","):
        model = name if name in hw.models() else dataset.model_folder(name)
        texts = words if name != "bert" else words[:max(50, len(words) // 8)]
        with tempfile.TemporaryDirectory() as folder:
            rows, few = f"{folder}/rows.parquet", f"{folder}/few.parquet"
            pq.write_table(pa.table({"text": texts}), rows)
            pq.write_table(pa.table({"text": texts[:20]}), few)
            attribute(few, f"{folder}/warm", model, None)
            seconds, size = attribute(rows, f"{folder}/all", model, None)
            _, small = attribute(rows, f"{folder}/top", model, 20) if name != "bert" else (None, math.nan)
        total = sum(seconds.values())
        print(f"| {name} | " + " | ".join(f"{100 * seconds[step] / total:.1f} %" for step in STEPS)
              + f" | {1000 * total / len(texts):.2f} | {size / len(texts) / 1000:.2f} | {small / len(texts) / 1000:.2f} |", flush=True)


if __name__ == "__main__":
    main()
