"""Captured attention against eager's, family by family: error 1e-5 in float32, and the model's output as it was."""
import numpy as np
import pytest
import torch
from models import EAGER_ONLY, IMAGES, TEXT, ids_and_mask, make

import headwater as hw
from headwater.torch import interface

LIMIT = 1e-5


def implementations(name):
    return ["eager"] if name in EAGER_ONLY else ["eager", "sdpa"]


def eager(model, inputs):
    with torch.no_grad():
        return model(**inputs, output_attentions=True).attentions


def captured(model, inputs):
    with torch.no_grad():
        plain = model(**inputs)[0]
        with hw.capture(model) as seen:
            out = model(**inputs)[0]
    return seen, float((out - plain).abs().max() / plain.abs().max())


def fused(heads, how):
    return dict(mean=heads.mean(0), max=heads.amax(0), min=heads.amin(0))[how] if how != "head:1" else heads[1]


def check(model, inputs, where, references):
    seen, changed = captured(model, inputs)
    by_interface = interface.usable(model)  # T5 from transformers 5.15 on, ModernBERT after 5.0
    assert seen.how == ("interface" if by_interface else "eager") and len(seen.layers) == len(references)
    assert changed <= 2e-6
    assert max(float(layer[0].max()) for layer in references) > 0.3, "attention is too uniform to tell anything"
    for how in ("mean", "max", "min", "head:1") if by_interface else ("mean",):
        for item, crop in ((0, slice(None)), (1, where)):
            for ours, theirs in zip(seen.maps(fuse=how, item=item), references):
                assert (ours - fused(theirs[item], how)[crop, crop]).abs().max() < LIMIT
    return seen


@pytest.mark.parametrize("side", ["right", "left", "none"])
@pytest.mark.parametrize("name", TEXT)
def test_text_model_gives_eager_attention(name, side, device):
    model = make(*TEXT[name]).to(device)
    ids, mask, where = ids_and_mask(side)
    ids, mask = ids.to(device), mask.to(device)
    inputs = dict(input_ids=ids, attention_mask=mask)
    references = eager(model, inputs)
    for attention in implementations(name):
        model.set_attn_implementation(attention)
        seen = check(model, inputs, where, references)
        expected = hw.rollout(references, attention_mask=mask, sums="any")
        for ours, theirs in zip(seen.rollout(), expected):
            assert (ours - theirs).abs().max() < LIMIT
        assert torch.equal(seen.rollout(item=1).values, seen.rollout()[1])


@pytest.mark.parametrize("name", IMAGES)
def test_vision_model_gives_eager_attention(name, device):
    model = make(*IMAGES[name]).to(device)
    inputs = dict(pixel_values=torch.randn(2, 3, 24, 24, generator=torch.Generator().manual_seed(2)).to(device))
    references = eager(model, inputs)
    for attention in implementations(name):
        model.set_attn_implementation(attention)
        check(model, inputs, slice(None), references)


@pytest.mark.parametrize("word, without", [("gemma2", "softcap"), ("gpt_oss", "sinks"), ("t5", "bias"),
                                           ("mistral", "mask")])
def test_what_changes_scores_matters_in_these_models(word, without):
    """So that the tests above could fail: without it the maps are far off."""
    model = make(*TEXT[word])
    if not interface.usable(model):
        pytest.skip("this transformers computes it in a file of its own")
    ids, mask, _ = ids_and_mask("right")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    record = seen._answer().records[0]
    right = record.map(0, "mean", range(13), None, None)
    setattr(record, without, None)
    record.causal = without == "mask"
    assert (right - record.map(0, "mean", range(13), None, None)).abs().max() > 1e-2


def test_a_batch_gives_what_its_items_give_one_by_one():
    model = make(*TEXT["bert"], attention="sdpa")
    ids, mask, where = ids_and_mask("right")
    with torch.no_grad(), hw.capture(model) as both:
        model(input_ids=ids, attention_mask=mask)
    with torch.no_grad(), hw.capture(model) as alone:
        model(input_ids=ids[1:, where])
    assert np.abs(both.rollout(item=1).numpy() - alone.rollout().numpy()).max() < LIMIT


def test_bfloat16_models_are_captured():
    model = make(*TEXT["llama"], attention="sdpa").to(torch.bfloat16)
    ids, mask, _ = ids_and_mask("right")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    rows = seen.rollout()[0].sum(-1)
    assert rows.dtype == torch.float32 and (rows - 1).abs().max() < 1e-5
