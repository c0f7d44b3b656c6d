"""Relevance against lxt's AttnLRP and captum's integrated gradients, as tools/golden_relevance.py recorded them."""
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf

import headwater as hw

FOLDER = Path(__file__).resolve().parents[1] / "golden/relevance"
NAMES = sorted(path.name for path in FOLDER.iterdir())


def error(ours, theirs):
    return float(np.abs(np.asarray(ours) - theirs).max() / np.abs(theirs).max())


def facts_of(name):
    facts = json.loads((FOLDER / name / "relevance.json").read_text())
    return facts, dict(ids=facts["ids"], target=facts["target"])


def test_all_families_of_lxt_are_there():
    assert NAMES == ["bert", "gemma3", "gpt2", "llama", "qwen2", "qwen3"]


@pytest.mark.parametrize("name", NAMES)
def test_attnlrp_is_that_of_lxt(name):
    facts, asked = facts_of(name)
    found = hw.relevance(FOLDER / name, rule="attnlrp", **asked)
    assert error(found.numpy(), facts["attnlrp"]) < 1e-5
    assert found.relevance["output"] == pytest.approx(facts["output"], rel=1e-5)
    kind = json.loads((FOLDER / name / "config.json").read_text())["architectures"][0]
    model = getattr(hf, kind).from_pretrained(FOLDER / name).eval()
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=torch.tensor([facts["ids"]]))
    assert error(seen.relevance(facts["target"], rule="attnlrp").numpy(), facts["attnlrp"]) < 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_integrated_gradients_are_those_of_captum(name):
    facts, asked = facts_of(name)
    found = hw.relevance(FOLDER / name, rule="integrated", steps=facts["steps"], baseline="zero", **asked)
    assert error(found.numpy(), facts["integrated"]) < 1e-4
