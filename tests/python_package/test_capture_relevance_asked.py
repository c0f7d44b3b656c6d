"""Relevance of captured models: what is asked, what is answered, and what is refused."""
import json
import pickle

import numpy as np
import pytest
import torch
from families import TEXT, make
from models import TEXT as MORE
from models import ids_and_mask
from models import make as made

import headwater as hw
from headwater.torch import replay
from headwater.torch.probe import kind_of

RULES = ("frozen", "attnlrp")


def error(ours, theirs):
    return float(np.abs(np.asarray(ours) - np.asarray(theirs)).max() / max(np.abs(np.asarray(theirs)).max(), 1e-9))


def classifier(**more):
    model = make("BertForSequenceClassification", "BertConfig", dict(TEXT["bert-classifier"][2], num_labels=3, **more))
    model.set_attn_implementation("sdpa")
    return model


def captured(model, **inputs):
    with torch.no_grad(), hw.capture(model) as seen:
        model(**inputs)
    return seen


IDS = torch.randint(5, 70, (1, 11), generator=torch.Generator().manual_seed(2))


def test_a_result_is_one_of_relevance():
    seen = captured(classifier(), input_ids=IDS)
    found = seen.relevance()
    facts = found.relevance
    assert found.method == "relevance" and found.has_signs and found.shape == (11,) and found.rows == [0]
    assert facts["rule"] == "frozen" and facts["target"]["name"].startswith("LABEL_")
    assert facts["sum"] + facts["biases"] == pytest.approx(facts["output"], rel=1e-4) and found.notes == []
    assert json.loads(found.to_json())["values"][0] == pytest.approx(found.numpy().tolist())
    assert pickle.loads(pickle.dumps(found)) == found and len(found.top(3)) == 3
    assert hw.relevance(seen) == found
    contrast = seen.relevance(0, against=1)
    parts = seen.relevance(0).numpy() - seen.relevance(1).numpy()
    assert error(contrast.numpy(), parts) < 1e-4
    assert contrast.relevance["target"]["against"]["id"] == 1
    assert error(seen.relevance(lambda out: out.logits[0, 0]).numpy(), seen.relevance(0).numpy()) < 1e-6
    assert seen.relevance("LABEL_2") == seen.relevance(2)


def test_the_model_is_left_as_it_was():
    model = classifier()
    before = {name: parameter.clone() for name, parameter in model.state_dict().items()}
    with hw.capture(model) as seen:
        loss = model(input_ids=IDS).logits.sum()
    seen.relevance()
    assert not any("forward" in vars(module) for module in model.modules())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    loss.backward()
    assert any(parameter.grad is not None for parameter in model.parameters())
    with pytest.raises(hw.Error):
        seen.relevance(rules={"bert.encoder.layer.0": "magic"})
    assert not any("forward" in vars(module) for module in model.modules())


def test_a_batch_gives_what_its_items_give_and_padding_is_cropped():
    model = made(*MORE["llama"], attention="sdpa")
    ids, mask, where = ids_and_mask("right")
    both = captured(model, input_ids=ids, attention_mask=mask).relevance(7)
    assert [len(one) for one in both.values] == [13, 9]
    alone = captured(model, input_ids=ids[1:, where]).relevance(7)
    assert error(both.item(1).numpy(), alone.numpy()) < 1e-4
    assert both.item(1).relevance["output"] == pytest.approx(alone.relevance["output"], rel=1e-4)
    assert both.item(1).rows == alone.rows == [8]


def test_checkpoints_change_nothing(monkeypatch):
    for name in ("llama", "gpt2", "qwen3"):
        seen = captured(made(*MORE[name], attention="sdpa"), input_ids=IDS)
        for rule in RULES:
            whole = seen.relevance(7, rule=rule, by_layer=True)
            with monkeypatch.context() as patch:
                patch.setattr(replay, "MOST_KEPT", 0)
                parts = seen.relevance(7, rule=rule, by_layer=True)
            assert torch.equal(whole.values, parts.values) and whole.relevance == parts.relevance


def test_a_capture_may_keep_nothing():
    model = made(*MORE["llama"], attention="sdpa")
    with torch.no_grad(), hw.capture(model, keep="nothing") as seen:
        model(input_ids=IDS)
    assert seen.relevance(7) == captured(model, input_ids=IDS).relevance(7)
    for method in (seen.rollout, seen.flow, seen.raw, seen.metrics, seen.maps):
        with pytest.raises(hw.Error, match="kept no attention"):
            method()


def test_an_encoder_and_a_decoder():
    from models import T5
    model = made(*T5, attention="sdpa").double()
    seen = captured(model, input_ids=IDS, decoder_input_ids=IDS[:, :4])
    found = seen.relevance(7)
    assert found.shape == (11,) and "token 3 of the decoder" in found.notes[0] and "another stack" in found.notes[1]
    decoder = seen.relevance(7, stack="decoder.block.*.layer.0.SelfAttention")
    total = found.relevance["sum"] + decoder.relevance["sum"] + found.relevance["biases"]
    assert total == pytest.approx(found.relevance["output"], rel=1e-5)


class Odd(torch.nn.Module):
    """Layers with a part that no rule knows."""

    def __init__(self, part):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True) for _ in range(2)])
        self.part, self.head = part, torch.nn.Linear(8, 3)

    def forward(self, x):
        for layer in self.layers:
            x = self.part(layer(x))
        return self.head(x[:, 0])


class Skips(Odd):
    """What enters the first layer is used again after the last."""

    def forward(self, x):
        x = start = x * 1.5
        for layer in self.layers:
            x = layer(x)
        return self.head((x + start).mean(1))


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Custom(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.cumsum(-1)

    @staticmethod
    def backward(ctx, grad):
        return grad.flip(-1).cumsum(-1).flip(-1)


@pytest.mark.parametrize("function, sentence", [
    (torch.exp, r"part \(Calls\) computes exp"),
    (lambda x: x / (x.sum(dim=-1, keepdim=True) + 9), r"part \(Calls\) computes a division"),
    (lambda x: x @ x.transpose(-1, -2) @ x, r"part \(Calls\) computes a product"),
    (Custom.apply, r"part \(Calls\) computes custom"),
    (lambda x: torch.nn.functional.dropout(x, 0.5), "runs with dropout"),
    (torch.sigmoid, r"part \(Calls\) computes sigmoid"),
    (lambda x: torch.nn.functional.glu(torch.cat([x, x.flip(-1)], -1)), r"part \(Calls\) computes glu"),
    (lambda x: x.cos(), r"part \(Calls\) computes cos"),
    (lambda x: x.flip(-1).clamp(-1, 1), r"part \(Calls\) computes clamp"),
    (lambda x: x.mul_(x.flip(-1).clone()), r"part \(Calls\) computes a product"),
    (lambda x: x.flip(-1).abs() ** 0.5, r"part \(Calls\) computes"),
    (lambda x: 2 ** x.flip(-1), r"part \(Calls\) computes pow"),
    (lambda x: x.flip(-1) ** -1, r"part \(Calls\) computes (pow|reciprocal)"),
])
def test_a_part_that_the_rules_do_not_know_is_refused_by_its_name(function, sentence):
    torch.manual_seed(0)
    model = Odd(Calls(function)).eval()
    x = torch.randn(1, 5, 8)
    with torch.no_grad(), hw.capture(model) as seen:
        torch.manual_seed(1)
        model(x)
    torch.manual_seed(1)
    with pytest.raises(hw.Error, match=sentence):
        seen.relevance(1)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("square", [lambda x: x.square(), lambda x: x ** 2, lambda x: x.pow(2), lambda x: torch.pow(x, 2.0)])
def test_a_squared_relu_within_a_module_is_an_activation(square, rule):
    torch.manual_seed(0)
    model, x = Odd(Calls(lambda x: square(x.flip(-1).relu()))).double().eval(), torch.randn(1, 5, 8).double()
    found = captured(model, x=x).relevance(1, rule=rule)
    model.part = Calls(lambda x: x.flip(-1) * x.flip(-1).relu().detach())  # relu(x)^2 / x is relu(x)
    assert error(found.numpy(), captured(model, x=x).relevance(1, rule=rule).numpy()) < 1e-6


def test_rows_that_are_used_again_later_count_there_too():
    torch.manual_seed(0)
    model, x = Skips(torch.nn.Identity()).double().eval(), torch.randn(1, 5, 8).double()
    with torch.no_grad(), hw.capture(model) as seen:
        model(x)
    facts = seen.relevance(1).relevance
    assert facts["sum"] + facts["biases"] == pytest.approx(facts["output"], rel=1e-9) and not x.requires_grad


def test_rules_say_what_a_part_is():
    torch.manual_seed(0)
    model, x = Odd(Calls(lambda x: x + torch.exp(x) * 0.01)).eval(), torch.randn(1, 5, 8)
    with torch.no_grad(), hw.capture(model) as seen:
        model(x)
    with pytest.raises(hw.Error, match="exp"):
        seen.relevance(1)
    named, by_class = seen.relevance(1, rules={"part": "linear"}), seen.relevance(1, rules={Calls: "linear"})
    assert named == by_class and named != seen.relevance(1, rules={"par*": "factor"})
    with pytest.raises(hw.Error, match="does not depend on the rows"):
        seen.relevance(1, rules={"part": "constant"})
    with pytest.raises(hw.Error, match="no module is 'nobody'"):
        seen.relevance(1, rules={"nobody": "linear"})


def test_dropout_caches_and_outputs_that_change_are_refused():
    with torch.no_grad(), hw.capture(classifier().train()) as seen:
        seen.model(input_ids=IDS)
    with pytest.raises(hw.Error, match="eval"):
        seen.relevance(0)
    model = made(*MORE["llama"], attention="sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(IDS, max_new_tokens=2, do_sample=False)
    with pytest.raises(hw.Error, match="step of generate"):
        seen.relevance(7, call=0)
    seen = captured(model, input_ids=IDS)
    model.lm_head.weight.data.mul_(2)
    with pytest.raises(hw.Error, match="another output when it is run again"):
        seen.relevance(7)


@pytest.mark.parametrize("words, sentence", [
    (dict(target=9), "there is no `target` 9"),
    (dict(target="nobody"), "is not a class"),
    (dict(target=1, against=1), "is the target itself"),
    (dict(rule="frozne"), "unknown rule 'frozne'"),
    (dict(rule="integrated"), "knows no mask token"),
    (dict(item=4), "has no item 4"),
    (dict(target=lambda out: 3.0), "one number that depends"),
    (dict(target=lambda out: out.logits), "one number that depends"),
])
def test_bad_questions_are_answered_in_a_sentence(words, sentence):
    seen = captured(classifier(), input_ids=IDS)
    with pytest.raises(hw.Error, match=sentence):
        seen.relevance(**words)


def test_words_that_relevance_does_not_have_are_refused():
    seen = captured(classifier(), input_ids=IDS)
    with pytest.raises(TypeError, match="fuse"):
        seen.relevance(fuse="max")
    with hw.capture(seen.model) as again:
        seen.model(input_ids=IDS)
        with pytest.raises(hw.Error, match="still open"):
            again.relevance()


def test_a_row_must_be_said_where_nothing_says_it():
    seen = captured(made("BertForMaskedLM", *MORE["bert"][1:], attention="sdpa"), input_ids=IDS)
    with pytest.raises(hw.Error, match="choose it with `row`"):
        seen.relevance(7)
    assert seen.relevance(7, row=4).rows == [4]

    class Words:
        mask_token_id = int(IDS[0, 6])

        def convert_ids_to_tokens(self, ids):
            return [str(one) for one in ids]

        def convert_tokens_to_ids(self, token):
            return int(token)

    seen._tokenizer = Words()
    assert seen.relevance("7").rows == [6]


class Chosen(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self._name = name

    def forward(self, x):
        return getattr(torch.nn.functional, self._name)(x)


def test_activations_of_one_class_with_other_settings_are_not_mixed_up():
    kinds = [kind_of(Chosen(name), torch.Size((1, 5, 8))) for name in ("relu", "silu", "relu")]
    x = torch.linspace(-2, 2, 9, dtype=torch.float64)
    relu, silu, again = (kind.slope(x) for kind in kinds)
    assert torch.equal(relu, again) and torch.allclose(silu, torch.sigmoid(x)) and not torch.allclose(relu, silu)
