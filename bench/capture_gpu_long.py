"""Long texts on a GPU, for bench/capture_gpu.py: the rollout of one row by headwater's kernels, by torch's operations,
and of all rows; each with the forward pass that it needs.

28 layers, 12 heads, 2 key heads of 128 numbers, bfloat16, causal, random weights. Memory is the peak beyond the weights.
Ends with a table: seconds, memory, and how many plain forward passes the time is worth, beside the goal.
"""
import torch
from capture_gpu_ways import decoder, ours, plain, usual

import headwater as hw
from headwater.torch import away, kernels

# n: forward passes that one row, and all rows, may take
GOALS = {2048: (1.3, 1.6), 8192: (1.3, 2.2), 16384: (1.35, 4.5), 32768: (1.4, 10), 65536: (1.4, None),
         131072: (1.4, None)}
EAGER_UP_TO, TORCH_UP_TO, ALL_UP_TO = 8192, 32768, 32768  # longer ones take minutes, or more memory than there is
HOST_FROM = 32768
TORCH_ERROR = 5e-4  # of the largest number: torch's way is off by 1.4e-4 at 16384 against double precision, ours by 9e-7
HEAD = "| n | forward | row | goal | Q and K on the host | row, torch | all rows | goal | eager, all rows |"


def by_torch(work):
    before = kernels.allow(False)
    try:
        return work()
    finally:
        kernels.allow(before)


def on_the_host(work):
    """As if the GPU's memory were short."""
    before, away.is_short = away.is_short, lambda record: True
    try:
        return work()
    finally:
        away.is_short = before


def cell(cost, forward):
    return "-" if cost is None else f"{cost[0]:.3f} s, {cost[0] / forward:.2f}x" + \
        (f", {cost[1]:.2f} GB" if cost[1] is not None else "")


def one_length(bench, n, model):
    """A line of the table, once the rows agree."""
    ids = torch.randint(0, 1000, (1, n), device=bench.device, generator=torch.Generator(bench.device).manual_seed(n))
    runs = 1 if n > 40000 else 3
    row = ours(model, ids, row=-1)
    facts = dict(n=n, mass=float(row.sum()), same_bits=bool(torch.equal(row, ours(model, ids, row=-1))))
    if n <= TORCH_UP_TO:
        other = by_torch(lambda: ours(model, ids, row=-1))
        facts["error"] = float((row - other).abs().max() / other.abs().max())
    bench.say("long", way="checked", **facts, ok=abs(facts["mass"] - 1) < 1e-3 and facts["same_bits"]
              and facts.get("error", 0) < TORCH_ERROR)
    forward = bench.cost(lambda: plain(model, ids), runs)
    few = bench.cost(lambda: ours(model, ids, row=-1), runs)
    host = on_the_host(lambda: bench.cost(lambda: ours(model, ids, row=-1), runs)) if n >= HOST_FROM else None
    if host is not None:
        other = on_the_host(lambda: ours(model, ids, row=-1))
        bench.say("long", way="on the host", n=n, ok=bool(torch.equal(row, other)))
    slow = by_torch(lambda: bench.cost(lambda: ours(model, ids, row=-1), 1)) if n <= TORCH_UP_TO else None
    every = bench.cost(lambda: ours(model, ids), runs) if n <= ALL_UP_TO else None
    eager = None
    if n <= EAGER_UP_TO:
        eager = bench.cost(lambda: usual(model, ids), 1)
    for way, cost in (("forward", forward), ("row", few), ("row, host", host), ("row, torch", slow), ("all rows", every), ("eager", eager)):
        if cost is not None:
            bench.say("long", n=n, way=way, seconds=cost[0], gb=cost[1], of_forward=round(cost[0] / forward[0], 2))
    goal_row, goal_all = GOALS.get(n, (None, None))
    return (f"| {n} | {forward[0]:.3f} s | {cell(few, forward[0])} | {goal_row or '-'} | {cell(host, forward[0])} | "
            f"{cell(slow, forward[0])} | "
            f"{cell(every, forward[0])} | {goal_all or '-'} | {cell(eager, forward[0])} |")


def long(bench):
    """One row at every length: seconds, memory, and forward passes."""
    shape = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                 intermediate_size=64) if bench.small else \
        dict(hidden_size=1536, num_hidden_layers=28, num_attention_heads=12, num_key_value_heads=2,
             intermediate_size=8960, max_position_embeddings=131072)
    model = decoder(bench, torch.bfloat16, **shape)
    bench.say("long", gpu=hw.info()["gpu"])
    table = [HEAD, "|---" * HEAD.count(" | ") + "|---|"]
    for n in bench.lengths or ((32, 64) if bench.small else GOALS):
        table.append(one_length(bench, n, model))
    print("\n".join(table), flush=True)
