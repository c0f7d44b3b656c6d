"""Attribution with Ray Data: a model in each of two actors, a folder of Parquet out.

    pip install ".[data]" "ray[data]"
    python ray_data.py ROWS.parquet OUT/

On a cluster, `size` is the number of actors, `num_cpus` and `threads` the cores of each; all together must be fewer than
there are, because reading and writing take some. Ray gives the rows of an actor that dies to another one, and starts a new
actor.
"""
import sys

import ray

import headwater as hw


def main(rows: str, out: str, attributor: type[hw.Attributor] = hw.Attributor) -> None:
    data = ray.data.read_parquet(rows)
    data = data.map_batches(
        attributor,
        fn_constructor_args=["verb-number", "rollout"],
        fn_constructor_kwargs=dict(row="cls", keep=["id", "label"], threads=1),
        batch_format="pyarrow",
        batch_size=50,
        compute=ray.data.ActorPoolStrategy(size=2),
        num_cpus=0.5,  # so that it also runs on two cores
    )
    data.write_parquet(out)
    print(f"{ray.data.read_parquet(out).count()} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])
