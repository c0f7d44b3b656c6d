"""A capture on a GPU: is it right, what does it cost: bench/capture_gpu.py [--device cuda] [--small] [PART...]

Parts: arrays families generation gradient refused rollout metrics bert. Lines of JSON; results are compared before
anything is timed, and `ok` says whether they agree. Seconds are wall time, the least of several runs; memory is the
peak of a run beyond what was held before it. The usual way, in the same run, is eager attention with
output_attentions=True and then the tutorial's class, or plain code for the metrics. --small takes tiny sizes, --device
cpu goes without a GPU.
"""
import argparse
import json
import os
import sys
import time
import traceback
from pathlib import Path

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/python_package"), str(ROOT / "tests/python")]

import torch
import transformers
from models import EAGER_ONLY, IMAGES, T5, TEXT, ids_and_mask, make
from tutorial import AttentionRollout

import headwater as hw

RUNS = 3
GB = 1e9


class Bench:
    def __init__(self, device, small):
        self.device, self.small, self.failed = torch.device(device), small, 0

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
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            work()
            self.wait()
            gb = (torch.cuda.max_memory_allocated() - before) / GB
        seconds = []
        for _ in range(runs):
            self.wait()
            begun = time.perf_counter()
            work()
            self.wait()
            seconds.append(time.perf_counter() - begun)
        return round(min(seconds), 4), gb and round(gb, 3)


def largest(a, b):
    return float((torch.as_tensor(a).float().cpu() - torch.as_tensor(b).float().cpu()).abs().max())


# -- is it right


def arrays(bench):
    """Tensors on the device in and out, against the engine on the CPU."""
    torch.manual_seed(0)
    layers = [torch.softmax(2 * torch.randn(2, 3, 40, 40), -1) for _ in range(4)]
    there = [layer.to(bench.device) for layer in layers]
    mask = torch.ones(2, 40)
    mask[1, 30:] = 0
    for name, words in (("rollout", {}), ("rollout", dict(preset="tutorial")), ("rollout", dict(preset="vit-explain")),
                        ("rollout", dict(row=3)), ("rollout", dict(by_layer=True, item=0)), ("average", {}),
                        ("raw", dict(layer=1)), ("rollout", dict(fuse="max", residual=0.3, layers="1:3", sums="any")),
                        ("flow", dict(item=1, row=0))):
        ours, theirs = getattr(hw, name)(there, **words), getattr(hw, name)(layers, **words)
        error = largest(ours.values, theirs.values)
        bench.say("arrays", method=name, words=words, error=error,
                  ok=error < 2e-6 and ours.values.device.type == bench.device.type)
    ours = hw.rollout(there, attention_mask=mask.to(bench.device), sums="any")
    theirs = hw.rollout(layers, attention_mask=mask, sums="any")
    bench.say("arrays", method="rollout", words="padded",
              ok=all(largest(a, b) < 2e-6 for a, b in zip(ours, theirs, strict=True)))
    ours, theirs = hw.metrics(there), hw.metrics(layers)
    bench.say("arrays", method="metrics", ok=all(abs(ours[key] - theirs[key]) < 1e-5 for key in theirs))
    panels, expected = hw.compare(there, by="fuse", item=0), hw.compare(layers, by="fuse", item=0)
    bench.say("arrays", method="compare", device=str(panels[0].values.device),
              ok=all(largest(a.values, b.values) < 2e-6 for a, b in zip(panels, expected))
              and panels[0].values.device.type == bench.device.type)
    found = hw.AttentionRollout().compute_rollout(there)
    bench.say("arrays", method="tutorial", ok=found.device.type == bench.device.type
              and largest(found, AttentionRollout().compute_rollout(there)) < 2e-6)
    stacked = hw.rollout(torch.stack(there))
    bench.say("arrays", method="stacked", ok=largest(stacked.values, hw.rollout(layers).values) < 2e-6)
    result = hw.rollout(there, item=0, tokens=[str(k) for k in range(40)])
    result.save("/tmp/headwater-gpu.json")
    bench.say("arrays", method="result", ok=len(result.top(3)) == 3 and "<svg" in result._repr_html_()
              and result.numpy().shape == (40, 40) and torch.from_dlpack(result).device.type == bench.device.type)


def family(bench, name, kind, inputs, crops, dtype, limit):
    model = make(*kind).to(bench.device, dtype)
    with torch.no_grad():
        references = model(**inputs, output_attentions=True).attentions
        for attention in (["eager"] if name in EAGER_ONLY else ["eager", "sdpa"]):
            model.set_attn_implementation(attention)
            plain = model(**inputs)[0]
            with hw.capture(model) as seen:
                out = model(**inputs)[0]
            error = max(largest(ours, theirs[item].float().mean(0)[crop, crop])
                        for item, crop in enumerate(crops) for ours, theirs in zip(seen.maps(item=item), references))
            rolled = seen.rollout()
            sums = max(float((rolled[item].sum(-1) - 1).abs().max()) for item in range(len(crops)))
            changed = float((out - plain).abs().max() / plain.abs().max())
            bench.say("families", model=name, dtype=str(dtype)[6:], attention=attention, how=seen.how, error=error,
                      sums=sums, output_changed=changed, device=str(rolled[0].device),
                      ok=error < limit and sums < 1e-4 and changed < limit
                      and rolled[0].device.type == bench.device.type)


def families(bench):
    """Every family against eager on the device: float32 to 1e-5, bfloat16 to what its 8 bits allow."""
    for dtype, limit in ((torch.float32, 1e-5), (torch.bfloat16, 5e-2)):
        for side in ("right", "left"):
            ids, mask, where = ids_and_mask(side)
            inputs = dict(input_ids=ids.to(bench.device), attention_mask=mask.to(bench.device))
            for name, kind in TEXT.items():
                attempt(bench, f"families {name} {side}", family, name, kind, inputs, (slice(None), where), dtype,
                        limit)
        pixels = torch.randn(2, 3, 24, 24, generator=torch.Generator().manual_seed(2)).to(bench.device, dtype)
        for name, kind in IMAGES.items():
            attempt(bench, f"families {name}", family, name, kind, dict(pixel_values=pixels),
                    (slice(None), slice(None)), dtype, limit)


def generation(bench):
    """Rows of generate() against the rollout of the whole text; an encoder-decoder against its eager output."""
    for name in ("gpt2", "llama", "gpt_oss"):
        model = make(*TEXT[name]).to(bench.device)
        ids = ids_and_mask("right")[0][:1].to(bench.device)
        with torch.no_grad():
            with hw.capture(model) as seen:
                out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=5, min_new_tokens=5,
                                     do_sample=False, output_attentions=True, return_dict_in_generate=True)
            whole = model(input_ids=out.sequences[:, :-1], output_attentions=True).attentions
        expected = hw.rollout(whole, by_layer=True, sums="any").values[:, 12:, :13].permute(1, 2, 0)
        errors = [largest(found.M, expected) for found in (hw.generation(out), seen.generation())]
        bench.say("generation", model=name, errors=errors, ok=max(errors) < 1e-5)
    model = make(*T5).to(bench.device)
    ids, mask, _ = ids_and_mask("right")
    inputs = dict(input_ids=ids.to(bench.device), attention_mask=mask.to(bench.device),
                  decoder_input_ids=ids[:, :6].to(bench.device))
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
        model.set_attn_implementation("sdpa")
        with hw.capture(model) as seen:
            model(**inputs)
    ours, theirs = hw.encoder_decoder(out, attention_mask=mask, item=1), seen.encoder_decoder(item=1)
    error = max(largest(ours.source, theirs.source), largest(ours.target, theirs.target))
    bench.say("generation", model="t5 encoder-decoder", error=error, device=str(theirs.source.device),
              ok=error < 1e-5 and theirs.source.device.type == bench.device.type)


def gradient(bench):
    """A (x) dA by the model's own backward, flash kernels among them, against autograd through eager attention."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    ids = ids_and_mask("right")[0].to(bench.device)
    kind = TEXT["llama"]
    kind = (kind[0], kind[1], dict(kind[2], hidden_size=128))  # heads of 32: what flash kernels take
    model = make(*kind).to(bench.device)
    out = model(input_ids=ids, output_attentions=True)
    found = torch.autograd.grad(out.logits[:, -1, 7].sum(), out.attentions)
    expected = torch.stack([(a * g).clamp(min=0).mean(1).detach() for a, g in zip(out.attentions, found)]).mean(0)
    model.set_attn_implementation("sdpa")
    cases = [("float32", torch.float32, None, 1e-4)]
    if bench.device.type == "cuda":
        cases.append(("bfloat16 flash", torch.bfloat16, SDPBackend.FLASH_ATTENTION, 0.1))
    for name, dtype, backend, limit in cases:
        model.to(dtype)
        with hw.capture(model) as seen:
            if backend is None:
                model(input_ids=ids)
            else:
                with sdpa_kernel([backend]):
                    model(input_ids=ids)
        ours = seen.gradient(7).values
        error = largest(ours, expected) / float(expected.max())
        bench.say("gradient", case=name, relative_error=error, device=str(ours.device),
                  parameters_untouched=all(one.grad is None for one in model.parameters()), ok=error < limit)


def refused(bench):
    """Tensors of two devices are an error with a sentence."""
    layers = [torch.softmax(torch.randn(2, 5, 5), -1) for _ in range(3)]
    mixed = [layers[0], layers[1].to(bench.device if bench.device.type == "cuda" else "meta"), layers[2]]
    for given in (mixed, mixed[1:], mixed[::-1]):
        for method in (hw.rollout, hw.average, hw.metrics, hw.flow):
            try:
                method(given)
                bench.say("refused", method=method.__name__, ok=False, message="nothing was raised")
            except hw.Error as wrong:
                bench.say("refused", method=method.__name__, message=str(wrong), ok="expected one device" in str(wrong))


# -- what it costs


def decoder(bench, dtype, **shape):
    torch.manual_seed(0)
    words = dict(vocab_size=1000, max_position_embeddings=32768, initializer_range=0.05, use_cache=False) | shape
    with torch.device(bench.device):
        model = transformers.Qwen2Model(transformers.Qwen2Config(**words))
    return model.to(dtype).eval()


def usual(model, ids):
    model.set_attn_implementation("eager")
    with torch.no_grad():
        layers = model(input_ids=ids, output_attentions=True).attentions
        return AttentionRollout(discard_ratio=0).compute_rollout(layers)


def plain(model, ids):
    model.set_attn_implementation("sdpa")
    with torch.no_grad():
        model(input_ids=ids)


def ours(model, ids, **words):
    model.set_attn_implementation("sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids)
    return seen.rollout(**words).values


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
    limit = torch.cuda.memory_reserved() + 0.4 * gb * GB
    model.forward = noting
    torch.cuda.set_per_process_memory_fraction(limit / total)
    try:
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


PARTS = dict(arrays=arrays, families=families, generation=generation, gradient=gradient, refused=refused,
             rollout=rollout, metrics=metrics, bert=bert)


def attempt(bench, name, work, *args):
    """A part that fails is said, and the others go on."""
    try:
        work(bench, *args)
    except Exception as wrong:
        bench.say(name, ok=False, error=f"{type(wrong).__name__}: {wrong}"[:300],
                  where=traceback.format_exc().splitlines()[-6:])
        if bench.device.type == "cuda":
            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    words = parser.parse_args()
    unknown = [part for part in words.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part '{unknown[0]}'; there are {' '.join(PARTS)}")
    torch.backends.cuda.matmul.allow_tf32 = False
    bench = Bench(words.device, words.small)
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
