"""Attention that goes past transformers' registry beside parts that use it, and prompts that look both ways."""
import pytest
import torch
import transformers as hf
from models import ENDS, SIZES, TEXT, VISION, ids_and_mask, make
from test_image_grids import paligemma, pixels
from test_never_lies import GREEDY, LIMIT, captured, off

import headwater as hw


def git():
    torch.manual_seed(3)
    config = hf.GitConfig(vision_config=dict(VISION, image_size=32), **dict(SIZES, **ENDS))
    return hf.GitForCausalLM(config).eval(), dict(input_ids=torch.tensor([[5, 6, 7, 8]]), pixel_values=pixels())


def test_a_text_part_with_code_of_its_own_is_recorded_beside_a_vision_part():
    model, inputs = git()
    seen = captured(model, inputs)
    with torch.no_grad():
        truth = model(**inputs, output_attentions=True).attentions
    assert off(seen.rollout(), hw.rollout(truth).values) < LIMIT and seen.rollout().shape == (21, 21)
    assert seen.rollout(stack="image_encoder").shape == (17, 17)
    both = dict(input_ids=torch.tensor([[5, 6, 7, 8], [5, 6, 0, 0]]), attention_mask=torch.tensor([[1] * 4, [1, 1, 0, 0]]),
                pixel_values=torch.cat([pixels()] * 2))
    with torch.no_grad():
        truth = model(**both, output_attentions=True).attentions
    assert off(captured(model, both).rollout(), hw.rollout(truth).values) < LIMIT


def both_ways():
    model, inputs, _, _ = paligemma()
    return model.eval(), inputs


@pytest.mark.parametrize("make_model", [git, both_ways], ids=["git", "paligemma"])
@pytest.mark.parametrize("position", ["predicting", "own"])
def test_a_prompt_that_looks_both_ways_is_read_as_it_was(make_model, position):
    torch.manual_seed(3)
    model, inputs = make_model()
    m = inputs["input_ids"].shape[1]
    with torch.no_grad(), hw.capture(model) as seen:
        text = model.generate(**inputs, **GREEDY)[:, :-1]
    found = seen.generation(position=position)
    model.set_attn_implementation("eager")
    more = dict(inputs, input_ids=text)
    if "attention_mask" in inputs:
        kinds = torch.cat([inputs["token_type_ids"], torch.ones(1, text.shape[1] - m, dtype=torch.long)], 1)
        more |= dict(attention_mask=torch.ones_like(text), token_type_ids=kinds)
    with torch.no_grad():
        truth = model(**more, output_attentions=True).attentions
    before = truth[0].shape[-1] - text.shape[1]  # image tokens that the model puts before the text
    first = m + before - (position == "predicting")
    assert bool((truth[0][0, :, 0, 1] > 0).all()), "its prompt does not look both ways, so nothing is tested"
    assert off(found, hw.rollout(truth, by_layer=True).values[:, first:, :m + before].permute(1, 2, 0)) < LIMIT


def test_what_looks_beyond_the_prompt_is_still_refused():
    model, ids = make("BertForMaskedLM", "BertConfig", SIZES, attention="sdpa"), ids_and_mask("none")[0][:1, :6]
    with torch.no_grad(), hw.capture(model) as seen:
        for length in (4, 5, 6):
            model(input_ids=ids[:, :length])
    with pytest.raises(hw.Error, match="attend to later positions"):
        seen.generation()


class OwnAttention(torch.nn.Module):
    """Tells nobody what it looks at."""

    def forward(self, x):
        return x + torch.softmax(x @ x.transpose(1, 2), -1) @ x


class Layer(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner, self.beside_attention = inner, OwnAttention()

    def forward(self, hidden_states, *args, **words):
        return self.inner(self.beside_attention(hidden_states), *args, **words)


def test_another_attention_of_the_same_layers_is_not_left_out_in_silence():
    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0][:1]
    layers = model.model.layers
    for k in range(len(layers)):
        layers[k] = Layer(layers[k])
    seen = captured(model, dict(input_ids=ids))
    with pytest.raises(hw.Error, match=r"also ran attention that cannot be recorded: model.layers.0.beside_attention \(OwnAtt"):
        seen.rollout()
    found = seen.rollout(missing="residual")
    assert found.shape == (13, 13) and "is left out: model.layers.0.beside_attention" in found.notes[0]
