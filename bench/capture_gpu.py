"""A capture on a GPU: is it right, what does it cost: bench/capture_gpu.py [--device cuda] [--small] [PART...]

Parts: arrays families generation gradient refused devices rollout long metrics bert batches. `long` prints a table last, with goals;
--lengths 2048,8192 chooses its lengths. Lines of JSON; results are compared before
anything is timed, and `ok` says whether they agree. Seconds are wall time, the least of several runs; memory is the
peak of a run beyond what was held before it. The usual way, in the same run, is eager attention with
output_attentions=True and then the tutorial's class, or plain code for the metrics. --small takes tiny sizes, --device
cpu goes without a GPU.
"""
import argparse
import gc
import json
import sys
import time

from capture_gpu_checks import CHECKS, attempt, largest  # first: it says where tests keep their models
from capture_gpu_long import long
from capture_gpu_ways import decoder, ours, plain, usual

import torch
import transformers

import headwater as hw

RUNS = 3
GB = 1e9


class Bench:
    def __init__(self, device, small, lengths=()):
        self.device, self.small, self.failed, self.lengths = torch.device(device), small, 0, lengths

    def say(self, part, **facts):
        ok = facts.get("ok", True)
        self.failed += not ok
        print(json.dumps(dict(part=part, **facts)), flush=True)

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def cost(self, work, runs=RUNS):
        """(seconds, GB): the least time, and the peak beyond what was held before, of the first run."""
        gb = None
        if self.device.type == "cuda":
            gc.collect()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            work()
            self.wait()
            gb = (torch.cuda.max_memory_allocated() - before) / GB
        seconds = []
        for _ in range(runs):
            gc.collect()  # the capture of the run before may still hold its tensors
            self.wait()
            begun = time.perf_counter()
            work()
            self.wait()
            seconds.append(time.perf_counter() - begun)
        return round(min(seconds), 4), gb and round(gb, 3)


def distance(a, b):
    """Rows are shares that sum to 1: the largest and the mean of half their absolute differences."""
    rows = (a - b).abs_().sum(-1) / 2
    return float(rows.max()), float(rows.mean())


def rollout(bench):
    """28 layers, bfloat16, causal: the whole rollout, and that of the last token."""
    shape = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                 intermediate_size=64) if bench.small else \
        dict(hidden_size=1536, num_hidden_layers=28, num_attention_heads=12, num_key_value_heads=2,
             intermediate_size=8960)
    model = decoder(bench, torch.bfloat16, **shape)
    for n in (32, 64) if bench.small else (2048, 8192, 16384):
        ids = torch.randint(0, 1000, (1, n), device=bench.device)
        facts = dict(n=n, layers=shape["num_hidden_layers"], heads=shape["num_attention_heads"])
        seconds, gb = bench.cost(lambda: plain(model, ids))
        bench.say("rollout", way="plain forward", seconds=seconds, gb=gb, **facts)
        try:
            expected = usual(model, ids)
        except torch.OutOfMemoryError as wrong:
            bench.say("rollout", way="eager", out_of_memory=str(wrong)[:90], **facts)
            expected = None
            torch.cuda.empty_cache()
        found = ours(model, ids)
        sums = float((found.sum(-1) - 1).abs().max())
        upper = float(found.triu(1).abs().max())
        worst, mean = distance(found, expected) if expected is not None else (None, None)
        bench.say("rollout", way="checked", row_sums=sums, above_diagonal=upper, worst_row=worst, mean_row=mean,
                  **facts, ok=sums < 1e-3 and upper == 0 and (worst is None or worst < 0.05))
        row = ours(model, ids, row=-1)
        bench.say("rollout", way="last row", error=largest(row, found[-1]), ok=largest(row, found[-1]) < 1e-4, **facts)
        known = expected is not None
        del expected, found, row
        mine = bench.cost(lambda: ours(model, ids))
        bench.say("rollout", way="capture", seconds=mine[0], gb=mine[1], of_forward=round(mine[0] / seconds, 2),
                  gb_beyond=gb is not None and round(mine[1] - gb, 3), **facts)
        last = bench.cost(lambda: ours(model, ids, row=-1))
        bench.say("rollout", way="capture, last row", seconds=last[0], gb=last[1], **facts)
        if known:
            theirs = bench.cost(lambda: usual(model, ids))
            bench.say("rollout", way="eager", seconds=theirs[0], gb=theirs[1],
                      gb_beyond=gb is not None and round(theirs[1] - gb, 3), **facts)


def usual_metrics(model, ids):
    """All layers held; the first as it is, the others with a residual."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        maps = [one.mean(1) for one in model(input_ids=ids, output_attentions=True).attentions]
    last, rolled = maps[-1], maps[0]
    for one in maps[1:]:
        one = 0.5 * one + 0.5 * torch.eye(one.shape[-1], device=one.device)
        rolled = torch.bmm(rolled, one / one.sum(-1, keepdim=True))
    rows = rolled / rolled.sum(-1, keepdim=True)
    return dict(mean_attention=last.mean(), max_attention=last.max(),
                attention_entropy=-(last * last.clamp_min(1e-12).log()).sum(-1).mean(),
                attention_concentration=last.amax(-1).mean(), rollout_max=rolled.max(),
                rollout_entropy=-(rows * rows.clamp_min(1e-12).log()).sum(-1).mean())


def metrics(bench):
    """The eight numbers of 28 layers, 32 items of 256 tokens, float32; then with too little memory."""
    shape = dict(hidden_size=64, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
                 intermediate_size=64) if bench.small else \
        dict(hidden_size=2048, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8,
             intermediate_size=6144)
    items, n = (4, 16) if bench.small else (32, 256)
    model = decoder(bench, torch.float32, **shape)
    ids = torch.randint(0, 1000, (items, n), device=bench.device)
    facts = dict(items=items, n=n, layers=shape["num_hidden_layers"], heads=shape["num_attention_heads"])

    def mine():
        model.set_attn_implementation("sdpa")
        return hw.compute_attention_attribution(model, dict(input_ids=ids))

    expected, found = {key: float(value) for key, value in usual_metrics(model, ids).items()}, mine()
    error = max(abs(found[key] - expected[key]) for key in expected)
    bench.say("metrics", way="checked", error=error, numbers=dict(found), ok=error < 2e-5, **facts)
    seconds, gb = bench.cost(lambda: plain(model, ids))
    bench.say("metrics", way="plain forward", seconds=seconds, gb=gb, **facts)
    for way, work in (("capture", mine), ("eager", lambda: usual_metrics(model, ids))):
        took = bench.cost(work)
        bench.say("metrics", way=way, seconds=took[0], gb=took[1], gb_beyond=gb is not None and round(took[1] - gb, 3),
                  **facts)
    if bench.device.type == "cuda":
        starved(bench, model, mine, found, gb, facts)


def starved(bench, model, mine, found, gb, facts):
    """A limit that two fifths of the batch's forward pass fit: pieces are halved until they do."""
    sizes, forward = [], model.forward

    def noting(*args, **words):
        sizes.append(len(words["input_ids"]))
        return forward(*args, **words)

    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 0.4 * gb * GB) / total)
    piece, ballast = 32 << 20, []
    model.forward = noting
    try:
        try:
            while True:  # what the allocator holds already is no limit to it: fill that first
                ballast.append(torch.empty(piece, dtype=torch.uint8, device=bench.device))
        except torch.OutOfMemoryError:
            del ballast[-int(0.4 * gb * GB / piece):]
        again = mine()
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
        del model.forward
    error = max(abs(again[key] - found[key]) for key in found)
    bench.say("metrics", way="too little memory", error=error, pieces=sizes, ok=error < 1e-5 and len(sizes) > 2,
              **facts)


def bert(bench):
    """BERT-base shape, one text."""
    words = dict(vocab_size=1000, max_position_embeddings=4096)
    if bench.small:
        words |= dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    with torch.device(bench.device):
        model = transformers.BertModel(transformers.BertConfig(**words), add_pooling_layer=False).eval()
    for n in (16, 32) if bench.small else (512, 2048):
        ids = torch.randint(0, 1000, (1, n), device=bench.device)
        error = largest(ours(model, ids), usual(model, ids))
        bench.say("bert", n=n, error=error, ok=error < 1e-5)
        for way, work in (("plain forward", plain), ("capture", ours), ("eager", usual)):
            seconds, gb = bench.cost(lambda: work(model, ids), runs=5)
            bench.say("bert", n=n, way=way, seconds=seconds, gb=gb)


def batches(bench):
    """BERT-base shape, 512 tokens, batches of 1 to 64: all rows, and that of the first token, in forward passes."""
    words = dict(vocab_size=1000, max_position_embeddings=512)
    if bench.small:
        words |= dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    for dtype in (torch.float32, torch.bfloat16):
        with torch.device(bench.device):
            model = transformers.BertModel(transformers.BertConfig(**words), add_pooling_layer=False).to(dtype).eval()
        for items in (1, 2) if bench.small else (1, 8, 64):
            n = 32 if bench.small else 512
            ids = torch.randint(0, 1000, (items, n), device=bench.device)
            facts = dict(items=items, dtype=str(dtype)[6:])
            found = ours(model, ids).reshape(items, n, n)
            error = max(largest(found[0], usual(model, ids[:1])), largest(found[-1], usual(model, ids[-1:])))
            bench.say("batches", error=error, ok=error < (1e-5 if dtype == torch.float32 else 1e-2), **facts)
            forward, gb = bench.cost(lambda: plain(model, ids), runs=5)
            bench.say("batches", way="plain forward", seconds=forward, gb=gb, **facts)
            for way, work in (("all rows", lambda: ours(model, ids)), ("a row", lambda: ours(model, ids, row=0))):
                seconds, gb = bench.cost(work, runs=5)
                bench.say("batches", way=way, seconds=seconds, gb=gb, of_forward=round(seconds / forward, 2), goal=1.2,
                          **facts)


PARTS = CHECKS | dict(rollout=rollout, long=long, metrics=metrics, bert=bert, batches=batches)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--lengths", default="", metavar="N,N", help="of the part long")
    words = parser.parse_args()
    unknown = [part for part in words.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part '{unknown[0]}'; there are {' '.join(PARTS)}")
    torch.backends.cuda.matmul.allow_tf32 = False
    bench = Bench(words.device, words.small, [int(n) for n in words.lengths.split(",") if n])
    name = torch.cuda.get_device_name() if words.device == "cuda" else "CPU"
    bench.say("machine", device=name, torch=torch.__version__, transformers=transformers.__version__,
              headwater=hw.__version__, python=sys.version.split()[0])
    for part in words.parts or PARTS:
        begun = time.perf_counter()
        attempt(bench, part, PARTS[part])
        bench.say("took", of=part, seconds=round(time.perf_counter() - begun, 1))
    bench.say("end", failed=bench.failed)
    return bench.failed > 0


if __name__ == "__main__":
    sys.exit(main())
