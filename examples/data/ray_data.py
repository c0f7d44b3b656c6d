"""Attribution with Ray Data: two actors, each with the model open, and Parquet at the end.

    pip install "headwater[data]" "ray[data]"
    python ray_data.py ROWS.parquet OUT/

Ray starts an actor again if its process dies, and gives it the batch that was lost once more.
"""
import sys

import ray

import headwater as hw


def main(rows: str, out: str) -> None:
    ray.init(num_cpus=3, include_dashboard=False)
    results = ray.data.read_parquet(rows).map_batches(
        hw.Attributor,  # made once in each actor, called with batches
        fn_constructor_args=("verb-number",),
        fn_constructor_kwargs=dict(method="relevance", keep=["id", "label"]),
        batch_format="pyarrow", batch_size=64, num_cpus=1, compute=ray.data.ActorPoolStrategy(size=2))
    results.write_parquet(out)
    print(f"{ray.data.read_parquet(out).count()} rows in {out}")


if __name__ == "__main__":
    main(*sys.argv[1:])
