"""What the harness runs: every command on small inputs, and what each writes when nothing goes wrong."""
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HEADWATER = os.environ.get("HEADWATER", str(ROOT / "build/release/bin/headwater"))
sys.path.insert(0, str(ROOT / "tests/python"))

from attention import softmax_rows
from serving import Client, answer
from watch import Watch

PACKAGE = importlib.util.find_spec("headwater") is not None
SENTENCE = "The keys to the cabinet"


@dataclass
class Command:
    """A command line in which IN and OUT stand for folders, and what it gives when nothing goes wrong."""

    words: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    printed: bytes = b""
    answer: bytes = b""  # of a server
    seconds: float = 0.0  # that it takes when nothing goes wrong
    work: float = 0.0  # its seconds of processor time

    def __str__(self):
        return " ".join(self.words)

    def serves(self):
        return self.words[0] == "serve"

    def in_python(self):
        """Whether it is a command of the Python package."""
        return self.words[0] in ("attribute", "summarise")

    def is_slow(self):
        """Whether fewer trials of it must do."""
        return self.in_python() or self.words[0] == "demo"

    def draws(self):
        return any(name.endswith((".png", ".svg", ".pdf")) for name in self.files)

    def line(self, inputs, outputs):
        program = [sys.executable, "-m", "headwater.data.command"] if self.in_python() else [HEADWATER]
        return [*program, *(word.replace("IN/", f"{inputs}/").replace("OUT/", f"{outputs}/") for word in self.words)]


LINES = [
    "rollout IN/a.npy -o OUT/x.json",
    "rollout IN/a.npy --row 3",
    "rollout IN/a.npz -o OUT/x.npz -o OUT/x.npy",
    "rollout IN/a.json -o OUT/x.svg",
    "rollout IN/a.safetensors -o OUT/x.png",
    "rollout IN/a.npy -o OUT/x.pdf",
    "rollout IN/a.npy --discard 0.2 -o OUT/x.html",
    "rollout verb-number --text SENTENCE --row cls",
    "rollout IN/model --text SENTENCE -o OUT/x.json",
    "rollout IN/old --text SENTENCE --row cls",
    "rollout shapes --image IN/image.png --row cls -o OUT/x.png",
    "flow IN/a.npy -o OUT/x.json",
    "flow IN/a.npy --threads 1000 -o OUT/x.json",
    "raw IN/a.npy --layer 1 -o OUT/x.npy",
    "average IN/a.npy -o OUT/x.json",
    "metrics IN/a.npy -o OUT/x.json",
    "compare IN/a.npy --by method -o OUT/x.json",
    "compare IN/a.npy --by discard -o OUT/x.svg",
    "gradient verb-number --text SENTENCE -o OUT/x.json",
    "relevance verb-number --text SENTENCE -o OUT/x.json",
    "relevance facts --prompt PROMPT -o OUT/x.svg",
    "generate facts --prompt PROMPT --count 1 -o OUT/x.json",
    "evaluate verb-number --limit 2 --method rollout,frozen -o OUT/x.json",
    "info IN/a.npz",
    "info verb-number --text SENTENCE",
    "models",
    "demo --folder OUT/",
    "completion bash",
    "--help",
    "serve verb-number --port 0",
    "attribute verb-number IN/rows.jsonl -o OUT/ --block 4 --threads 2",
    "attribute verb-number IN/rows.parquet -o OUT/ --method rollout --row 0 --keep label",
    "summarise IN/done --least 1 -o OUT/x.json",
    "rollout IN/none.npy",
    "rollout IN/a.npy --residual 3",
]
PROMPT = "The blue kite went from the attic to the chest. Question: where is the blue kite? Answer:"


def make_inputs(folder):
    random = np.random.default_rng(5)
    attention = softmax_rows(random, (3, 2, 24, 24)).astype("f4")
    np.save(folder / "a.npy", attention)
    np.savez(folder / "a.npz", **{f"layer_{k}": layer for k, layer in enumerate(attention)})
    (folder / "a.json").write_text('{"attentions": %s}' % attention[:, :, :6, :6].round(3).tolist())
    header = b'{"layer.0":{"dtype":"F32","shape":[2,24,24],"data_offsets":[0,4608]}}'
    header += b" " * (-len(header) % 8)
    (folder / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + attention[0].tobytes())
    texts = [f"The key{'s' * (k % 2)} to the cabinet {'is' if k % 3 else 'are'} here" for k in range(10)]
    (folder / "rows.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    import pyarrow
    import pyarrow.parquet
    pyarrow.parquet.write_table(pyarrow.table({"text": texts, "label": list(range(10))}), folder / "rows.parquet")
    if not PACKAGE:
        print("attribute and summarise are not tried: the Python package is not installed; make test does", flush=True)
        LINES[:] = [line for line in LINES if not Command(line.split()).in_python()]
    done = Command("attribute verb-number IN/rows.jsonl -o IN/done --block 4".split())
    if PACKAGE:
        subprocess.run(done.line(folder, folder), check=True, stderr=subprocess.DEVNULL, env=environment())
    shutil.copytree(ROOT / "models/verb-number", folder / "model")
    make_old_model(folder / "old")
    from PIL import Image
    Image.fromarray(random.integers(0, 255, (32, 32, 3), dtype="u1")).save(folder / "image.png")


def make_old_model(folder):
    """The same model with its weights in a file that PyTorch wrote."""
    import torch
    from safetensors.torch import load_file
    shutil.copytree(ROOT / "models/verb-number", folder)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def environment(**more):
    """What the command sees of ours: no colours, no width of a terminal, no cache of models."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "HEADWATER_MODELS", "PYTHONPATH") if name in os.environ}
    return kept | {"LC_ALL": "C.UTF-8", "HF_HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"} | more


def result(command, inputs, place):
    """What a run gives when nothing goes wrong: its exit status, files, standard output, and the answer of a server."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    process = subprocess.Popen(command.line(inputs, place), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                               start_new_session=True)
    shown = said = b""
    with Watch(process.pid, asleep=60, work=600):
        if command.serves():
            client = Client(process)
            client.find()
            said = answer(client.host, client.token)
            client.end()
        else:
            shown, _ = process.communicate()
    return process.returncode, {path.name: path.read_bytes() for path in place.iterdir()}, shown, said


def children_worked():
    """Seconds of processor time of all that has ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def prepared(inputs, scratch, wanted="", share=slice(None)):
    """The commands whose line has `wanted` in it, with what they give when nothing goes wrong. Fails if two runs differ."""
    out = []
    for line in LINES[share]:
        command = Command([{"SENTENCE": SENTENCE, "PROMPT": PROMPT}.get(word, word) for word in line.split()])
        if wanted not in str(command):
            continue
        # In the trials' own folder: a page names the files of its command line.
        first = result(command, inputs, scratch / "out")
        begun, worked = time.monotonic(), children_worked()
        second = result(command, inputs, scratch / "out")
        command.seconds, command.work = time.monotonic() - begun, children_worked() - worked
        if first != second:
            raise SystemExit(f"two runs of the same line differ: {command}")
        if first[0] not in (0, 1, 2):
            raise SystemExit(f"ends with {first[0]} before any fault: {command}")
        _, command.files, command.printed, command.answer = first
        out.append(command)
    return out
