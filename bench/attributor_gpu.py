"""Texts a second of headwater.Attributor around a PyTorch model on a GPU, against the model's forward pass alone.

    python bench/attributor_gpu.py [--device cuda] [--count 2048] [--rounds 3] [--small]

A BERT of base size with random weights and a tokenizer that ships, so nothing is downloaded; sentences of 25 tokens on
average. Both sides begin with texts: plain is tokenizing, padding and the forward pass with sdpa attention, sorted by
length, in batches of 32 and in the Attributor's own groups; its row of [CLS] is copied back. The Attributor gives the
rollout of [CLS] with tokens and places. Rows are compared with eager attention and the product of its layers first. Lines
of JSON; `ratio` is Attributor / plain in the same groups (goal .8), the median over rounds in which all take turns. --small
with --device cpu tries the script itself.
"""
import argparse
import json
import random
import statistics
import sys
import time

import numpy as np
import torch
import transformers

import headwater as hw
from headwater.data.live import by_length

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--device", default="cuda")
parser.add_argument("--count", type=int, default=2048)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--small", action="store_true")
ARGUMENTS = parser.parse_args()
BATCH, GOAL = 32, 0.8
LARGEST_ERROR = {torch.float32: 1e-4, torch.bfloat16: 2e-2}
TOKENIZER = transformers.AutoTokenizer.from_pretrained(hw.models()["verb-number"])


def make_model(dtype):
    torch.manual_seed(0)
    small = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
    config = transformers.BertConfig(num_labels=2, initializer_range=0.05, **(small if ARGUMENTS.small else {}))
    return transformers.BertForSequenceClassification(config).to(ARGUMENTS.device, dtype).eval()


def make_texts():
    words = sorted(word for word in TOKENIZER.get_vocab() if word.isalpha())
    pick = random.Random(0)
    return [" ".join(pick.choices(words, k=min(64, max(2, round(pick.gauss(23, 11)))))) for _ in range(ARGUMENTS.count)]


def encoded(texts):
    return TOKENIZER(texts, return_tensors="pt", padding=True).to(ARGUMENTS.device)


def plain(model, texts, groups):
    """[CLS] after the last layer, of each text."""
    out = [None] * len(texts)
    for some in groups:
        with torch.inference_mode():
            rows = model.base_model(**encoded([texts[k] for k in some])).last_hidden_state[:, 0].float().cpu().numpy()
        for k, row in zip(some, rows):
            out[k] = row
    return out


def expected(model, texts):
    """The rollout of [CLS] by eager attention, text by text."""
    model.set_attn_implementation("eager")
    out = []
    for text in texts:
        with torch.inference_mode():
            layers = model(**encoded([text]), output_attentions=True).attentions
        row = None
        for layer in reversed(layers):
            fused = 0.5 * layer[0].float().mean(0) + 0.5 * torch.eye(layer.shape[-1], device=layer.device)
            fused = fused / fused.sum(-1, keepdim=True)
            row = fused[:1] if row is None else row @ fused
        out.append(row[0].cpu().numpy())
    model.set_attn_implementation("sdpa")
    return out


def wait():
    if ARGUMENTS.device != "cpu":
        torch.cuda.synchronize()


def seconds(work):
    wait()
    begin = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - begin


def measure(dtype, texts):
    model = make_model(dtype)
    sizes = [len(ids) for ids in TOKENIZER(texts)["input_ids"]]
    ordered = sorted(range(len(texts)), key=sizes.__getitem__)
    batches = [ordered[at:at + BATCH] for at in range(0, len(ordered), BATCH)]
    groups = list(by_length(dict(enumerate(sizes)), torch.device(ARGUMENTS.device)))
    few = texts[:48]
    attribute = hw.Attributor(model, "rollout", row=0, tokenizer=TOKENIZER)
    found = attribute({"text": few})["values"]
    error = max(float(np.abs(row - other).max()) for row, other in zip(found, expected(model, few), strict=True))
    works = {"plain, batches of 32": lambda: plain(model, texts, batches),
             "plain, the same groups": lambda: plain(model, texts, groups),
             "tokenizing alone": lambda: [encoded([texts[k] for k in some]) for some in groups],
             "headwater, rollout of [CLS]": lambda: attribute({"text": texts})}
    for work in works.values():
        work()
    taken = {name: [] for name in works}
    for _ in range(ARGUMENTS.rounds):
        for name, work in works.items():
            taken[name].append(seconds(work))
    ours = taken["headwater, rollout of [CLS]"]
    ratio, ratio_32 = (statistics.median(theirs / own for theirs, own in zip(taken[name], ours))
                       for name in ("plain, the same groups", "plain, batches of 32"))
    rates = {name: round(len(texts) / min(each)) for name, each in taken.items()}
    ok = error <= LARGEST_ERROR[dtype]
    print(json.dumps(dict(dtype=str(dtype).removeprefix("torch."), texts=len(texts), tokens=sum(sizes), groups=len(groups),
                          error=error, ok=ok, texts_a_second=rates, ratio=round(ratio, 3),
                          ratio_to_batches_of_32=round(ratio_32, 3), goal=GOAL, reached=ratio >= GOAL)), flush=True)
    return ok


def main():
    name = torch.cuda.get_device_name() if ARGUMENTS.device != "cpu" else "cpu"
    print(json.dumps(dict(device=name, torch=torch.__version__, transformers=transformers.__version__,
                          kernels=hw.info()["gpu"]["kernels"])), flush=True)
    texts = make_texts()
    results = [measure(dtype, texts) for dtype in LARGEST_ERROR]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
