"""Trained checkpoints, where a folder of data is at hand: HEADWATER_DATA names it, with stories260K/ and nano-gpt/."""
import base64
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf

from command import ROOT
from test_families import LIMIT, compare, ours

sys.path.insert(0, str(ROOT / "tools"))
from convert_checkpoint import convert  # noqa: E402


def data(name):
    path = Path(os.environ.get("HEADWATER_DATA", "no folder")) / name
    if not path.exists():
        pytest.skip(f"HEADWATER_DATA has no {name}")
    return path


def test_stories_as_transformers_reads_them(tmp_path):
    convert("llama2c", data("stories260K/stories260K.bin"), tmp_path)
    model = hf.LlamaForCausalLM.from_pretrained(tmp_path, attn_implementation="eager")
    ids = torch.tensor([[1, 403, 407, 261, 378, 31, 292, 285, 450, 366, 13, 77, 300, 501]])
    compare(tmp_path, model, dict(input_ids=ids), "ids", ",".join(map(str, ids[0].tolist())))


def test_sorting_model_as_its_authors_recorded_it(tmp_path):
    convert("minigpt", data("nano-gpt/gpt-nano-sort-model.json"), tmp_path)
    recorded = json.loads(data("nano-gpt/gpt-nano-sort-t0-partials.json").read_text())

    def numbers(name):
        entry = recorded[name]
        return np.frombuffer(base64.b64decode(entry["data"]), "<f4").reshape(entry["shape"])

    for item, ids in enumerate(numbers("idx").astype(int)):
        states = np.stack([numbers(name)[item] for name in ("x", "block0", "block1", "block2", "ln_f")])
        attention = np.zeros((3, 3, len(ids), len(ids)), np.float32)
        our_states, our_maps = ours(tmp_path, states, attention, "ids", ",".join(map(str, ids)))
        for ours_, theirs in zip(our_states, states):
            assert np.abs(ours_ - theirs).max() / np.abs(theirs).max() < LIMIT
        assert np.abs(our_maps[0] - numbers("attSm")[item]).max() < LIMIT
