"""What relevance of a capture says where the sum does not hold, or where a part was taken as something it may not be."""
import pytest
import torch
import transformers as hf
from models import SIZES

import headwater as hw

IDS = torch.arange(5, 12)[None]


def seen_by(model, *inputs):
    with torch.no_grad(), hw.capture(model) as seen:
        model(*inputs)
    return seen


@pytest.fixture(scope="module")
def classified():
    torch.manual_seed(1)
    return seen_by(hf.BertForSequenceClassification(hf.BertConfig(**SIZES, num_labels=3)).eval(), IDS)


@pytest.mark.parametrize("target", [lambda out: out.logits[0].softmax(-1)[0], lambda out: out.logits[0, 0] + 5,
                                    lambda out: out.logits[0].log_softmax(-1)[0], lambda out: out.logits[0, 0] ** 2,
                                    lambda out: out.logits[0, 0] * out.logits[0, 1]])
def test_a_function_that_is_not_linear_is_noted_with_the_rest(classified, target):
    found = classified.relevance(target)
    told = found.relevance
    rest = told["output"] - told["sum"] - told["biases"]
    assert len(found.notes) == 1 and "the function is not linear" in found.notes[0]
    assert float(found.notes[0].split("(rest ")[1].split(")")[0]) == pytest.approx(rest, rel=1e-3, abs=1e-5)


def test_a_linear_function_is_not(classified):
    assert classified.relevance(lambda out: 2 * out.logits[0, 0] - out.logits[0, 1]).notes == []


class Layer(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        self.inner = inner

    def forward(self, x):
        return x + self.attention(x, x, x, need_weights=False)[0] * 0.5 + self.inner(x)


class Stacked(torch.nn.Module):
    def __init__(self, make):
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.ModuleList([Layer(make()), Layer(make())])
        self.out = torch.nn.Linear(8, 3)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x.mean(1))


X = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(4))


def test_a_softmax_that_is_not_attentions_is_named():
    mlp = seen_by(Stacked(lambda: torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Softmax(-1))).eval(), X)
    note, = [one for one in mlp.relevance(0).notes if "softmax" in one]
    assert "layers.0.inner.1 (Softmax), layers.1.inner.1 (Softmax)" in note
    assert not any("softmax" in one for one in mlp.relevance(0, rule="attnlrp").notes)
    plain = seen_by(Stacked(lambda: torch.nn.Linear(8, 8)).eval(), X)
    assert plain.relevance(0).notes == []


class Pair(torch.nn.Module):
    def forward(self, x):
        return x, x


class First(torch.nn.Sequential):
    def forward(self, x):
        return super().forward(x)[0]


def test_rules_that_are_none_are_answered_in_a_sentence():
    seen = seen_by(Stacked(lambda: First(Pair())).eval(), X)
    with pytest.raises(hw.Error, match="expected rules by the names or classes"):
        seen.relevance(0, rules="linear")
    with pytest.raises(hw.Error, match="the module returns a tuple, expected one tensor"):
        seen.relevance(0, rules={Pair: "factor"})


def test_nan_is_named():
    model = Stacked(lambda: torch.nn.Linear(8, 8)).eval()
    with torch.no_grad():
        model.out.weight[0, 0] = float("nan")
    with pytest.raises(hw.Error, match="output holds NaN"):
        seen_by(model, X).relevance(1)


def test_a_capture_fuses_as_it_was_told():
    torch.manual_seed(1)
    model = hf.BertModel(hf.BertConfig(**SIZES)).eval()
    with torch.no_grad(), hw.capture(model, fuse="max") as told, hw.capture(model) as seen:
        model(IDS)
    assert torch.equal(told.rollout().values, seen.rollout(fuse="max").values)
    assert torch.equal(hw.rollout(told).values, seen.rollout(fuse="max").values)
    assert torch.equal(told.rollout(fuse="mean").values, seen.rollout().values)
    assert torch.equal(told.rollout(head=1).values, seen.rollout(head=1).values)
    assert torch.equal(told.maps()[0], seen.maps(fuse="max")[0])


def test_generation_asks_which_text_and_whether_there_is_one():
    torch.manual_seed(1)
    model = hf.GPT2LMHeadModel(hf.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=90, bos_token_id=1,
                                             eos_token_id=2)).eval()
    ids = IDS.repeat(2, 1)
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=3, min_new_tokens=3, do_sample=False)
    with pytest.raises(hw.Error, match="holds a batch of 2 texts, expected one; choose it with item=K"):
        seen.generation()
    assert len(seen.generation(item=1).generated) == 3
    assert "3 calls of the model by 1 generate()" in str(seen)
    with pytest.raises(hw.Error, match=r"generate\(\) was not run"):
        seen_by(model, IDS).generation()
