"""Attribution with Hugging Face datasets: two processes, new columns beside the old ones.

    pip install ".[data]" datasets
    python datasets_map.py ROWS.parquet OUT.parquet
"""
import sys

import datasets

import headwater as hw


def main(rows: str, out: str) -> None:
    data = datasets.load_dataset("parquet", data_files=rows, split="train")
    attribute = hw.Attributor("verb-number", "rollout", row="cls", top=5, threads=1)
    data = data.map(attribute, batched=True, batch_size=100, num_proc=2, with_rank=True)
    data.to_parquet(out)
    print(f"{len(data)} rows with {', '.join(data.column_names)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
