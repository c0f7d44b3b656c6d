"""Captures of code that users write themselves: functions that they register, masks, names and layers of their own. What is
recorded is what ran, or a sentence says why not.
"""
import pytest
import torch
import transformers as hf
from models import TEXT, ids_and_mask, make
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as fused
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

import headwater as hw

LIMIT = 1e-5


def off(a, b):
    return float((torch.as_tensor(a).float() - torch.as_tensor(b).float()).abs().max())


def eager(model, **inputs):
    model.set_attn_implementation("eager")
    with torch.no_grad():
        return model(**inputs, output_attentions=True).attentions


# -- functions that users register


def plain(module, query, key, value, mask, **words):
    return sdpa_attention_forward(module, query, key, value, mask, **words)


def sharper(module, query, key, value, mask, **words):
    return sdpa_attention_forward(module, query, key, value, mask, **{**words, "scaling": 1.1 * words["scaling"]})


def without_a_head(module, query, key, value, mask, **words):
    out, weights = sdpa_attention_forward(module, query, key, value, mask, **words)
    return out * torch.tensor([1.0, 0.0, 1.0, 1.0])[:, None], weights


def registered(function):
    hf.AttentionInterface.register("of_a_test", function)
    hf.AttentionMaskInterface.register("of_a_test", sdpa_mask)
    model = make(*TEXT["llama"])
    model.set_attn_implementation("of_a_test")
    return model


@pytest.mark.parametrize("side", ["none", "left", "right"])
def test_a_registered_function_that_computes_attention_is_captured(side):
    ids, mask, _ = ids_and_mask(side)
    truth, model = eager(make(*TEXT["llama"]), input_ids=ids, attention_mask=mask), registered(plain)
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    for item in range(2):
        assert off(seen.rollout(item=item).values, hw.rollout(truth, attention_mask=mask, item=item).values) < LIMIT


@pytest.mark.parametrize("function", [sharper, without_a_head])
def test_a_registered_function_that_computes_something_else_is_refused(function):
    model = registered(function)
    with torch.no_grad(), pytest.raises(hw.Error, match="'of_a_test'.*something else"), hw.capture(model):
        model(input_ids=ids_and_mask("none")[0])


# -- masks


@pytest.mark.parametrize("name", ["llama", "gemma2"])
def test_a_boolean_mask_under_eager_attention_counts_as_eager_attention_counts_it(name):
    ids, seen_by = ids_and_mask("none")[0], torch.ones(13, 13, dtype=torch.bool).tril().expand(2, 1, 13, 13)
    model = make(*TEXT[name])
    truth = eager(model, input_ids=ids, attention_mask=seen_by)
    assert float(truth[0][0, 0, 0, 5]) > 0, "eager attention adds it"
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=seen_by)
    assert off(seen.rollout(item=0).values, hw.rollout(truth, item=0).values) < LIMIT


# -- layers


class Own(nn.Module):
    """Attention under a name of one's own, in a block whose other names say nothing."""

    def __init__(self, attend):
        super().__init__()
        self.attend = attend
        self.inside, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        nn.init.normal_(self.inside.weight, std=0.4)

    def heads(self, x):
        return (part.unflatten(-1, (4, 8)).transpose(1, 2) for part in self.inside(x).chunk(3, -1))

    def forward(self, x):
        return x + self.out(self.attend(*self.heads(x)).transpose(1, 2).flatten(2))


def by_name(query, key, value):
    return fused(query, key, value)


def by_module(query, key, value):
    return nn.functional.scaled_dot_product_attention(query, key, value)


def among_channels(query, key, value):
    return fused(*(one.transpose(-1, -2) for one in (query, key, value))).transpose(-1, -2)


class Stack(nn.Module):
    def __init__(self, *attends):
        super().__init__()
        torch.manual_seed(2)
        self.blocks = nn.ModuleList(Own(attend) for attend in attends)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Branches(Stack):
    def forward(self, x):
        return sum(block(x) for block in self.blocks)


def numbers(n=7):
    return torch.randn(2, n, 32, generator=torch.Generator().manual_seed(4))


def test_sdpa_that_a_file_imported_by_name_is_recorded():
    model, x, truth = Stack(by_name, by_module, by_name), numbers(), []
    with torch.no_grad():
        with hw.capture(model) as seen, hw.capture(model.blocks[1]) as inner:
            model(x)
        with hw.capture(model) as again:
            model(x)
        for block in model.blocks:
            query, key, _ = block.heads(x)
            truth.append(torch.softmax(query @ key.mT / 8 ** 0.5, -1))
            x = block(x)
    for item in range(2):
        assert off(seen.rollout(item=item).values, hw.rollout(truth, item=item).values) < LIMIT
        assert off(again.rollout(item=item).values, hw.rollout(truth, item=item).values) < LIMIT
    assert off(inner.rollout(item=0).values, hw.rollout(truth[1:2], item=0).values) < LIMIT
    assert fused is nn.functional.scaled_dot_product_attention, "the name is what it was"


def test_layers_that_run_side_by_side_are_not_multiplied():
    model = Branches(by_module, by_module)
    with torch.no_grad(), hw.capture(model) as seen:
        model(numbers())
    with pytest.raises(hw.Error, match="blocks.1 was given the same input as blocks.0.*side by side"):
        seen.rollout(item=0)
    with torch.no_grad(), hw.capture(model, pattern="blocks.1") as seen:
        model(numbers())
    assert seen.rollout(item=0).shape == (7, 7)


def test_attention_among_as_many_channels_as_tokens_is_not_taken_for_tokens():
    model = Stack(among_channels, among_channels)
    for n in (7, 8):
        with torch.no_grad(), hw.capture(model) as seen:
            model(numbers(n))
        with pytest.raises(hw.Error, match="attended within|among 8 channels"):
            seen.rollout(item=0)
    with torch.no_grad(), hw.capture(Stack(by_module)) as seen:
        seen.model(numbers(8))
    assert seen.rollout(item=0).shape == (8, 8)


# -- tensors without numbers of their own


def test_vmap_is_refused():
    model = Stack(by_module)
    with torch.no_grad(), pytest.raises(hw.Error, match="vmap"), hw.capture(model):
        torch.func.vmap(model)(numbers()[:, None])


def test_the_meta_device_is_refused():
    with torch.device("meta"):
        model, x = Stack(by_module), torch.zeros(1, 7, 32)
    with torch.no_grad(), hw.capture(model) as seen:
        model(x)
    with pytest.raises(hw.Error, match="meta device"):
        seen.rollout()
