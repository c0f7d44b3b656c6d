"""Gradient x attention of captured models, against autograd through eager attention."""
import pytest
import torch
from models import SIZES, TEXT, ids_and_mask, make

import headwater as hw

MODELS = {
    "classifier": ("BertForSequenceClassification", "BertConfig", dict(SIZES, num_labels=3)),
    "gpt2": TEXT["gpt2"],
    "llama": TEXT["llama"],
    "gemma2": TEXT["gemma2"],
}


def autograd(model, ids, target):
    """(A (x) dA)^+ of every layer, mean over heads: [B, n, n] each."""
    out = model(input_ids=ids, output_attentions=True)
    logits = out.logits if out.logits.ndim == 2 else out.logits[:, -1]
    y = logits.max(-1).values if target == "best" else logits[:, target]
    found = torch.autograd.grad(y.sum(), out.attentions)
    return [(a * g).clamp(min=0).mean(1).detach() for a, g in zip(out.attentions, found)]


def captured(name, ids):
    model = make(*MODELS[name]).to(ids.device)
    if name != "gemma2":
        model.set_attn_implementation("sdpa")
    with hw.capture(model) as seen:
        model(input_ids=ids)
    return seen


@pytest.mark.parametrize("target", ["best", 1])
@pytest.mark.parametrize("name", MODELS)
def test_gradient_equals_autograd_through_eager(name, target, device):
    ids = ids_and_mask("right")[0].to(device)
    expected = autograd(make(*MODELS[name]).to(device), ids, target)
    seen = captured(name, ids)
    scale = max(float(one.max()) for one in expected)
    mean = torch.stack(expected).mean(0)
    assert (seen.gradient(target).values - mean).abs().max() < 1e-5 * scale
    assert (seen.gradient(target, layer=1, item=0).values - expected[1][0]).abs().max() < 1e-5 * scale
    total = torch.eye(13, device=device).repeat(2, 1, 1)
    for one in expected:
        total = total + one @ total
    assert (seen.gradient(target, rule="chefer").values - total).abs().max() < 1e-5 * float(total.max())
    rolled = hw.rollout([one[:, None] for one in expected], sums="any", fuse="mean")
    assert (seen.gradient(target, rule="gradient-rollout").values - rolled.values).abs().max() < 1e-4


def test_the_models_own_gradients_stay_untouched_and_usable():
    ids, _, _ = ids_and_mask("right")
    model = make(*MODELS["classifier"], attention="sdpa")
    with hw.capture(model) as seen:
        loss = model(input_ids=ids).logits.sum()
    seen.gradient(0)
    assert all(parameter.grad is None for parameter in model.parameters())
    loss.backward()
    assert any(parameter.grad is not None for parameter in model.parameters())


def test_a_function_may_say_what_is_differentiated_and_rows_be_chosen():
    ids, _, _ = ids_and_mask("right")
    seen = captured("classifier", ids)
    by_function = seen.gradient(lambda out: out.logits[:, 2], row=0)
    assert by_function.shape == (2, 13) and torch.equal(by_function.values, seen.gradient(2).values[:, 0])
    assert torch.equal(hw.gradient(seen, target=2).values, seen.gradient(2).values)
    assert len(by_function.top(3)) == 2


def test_padding_is_cropped_and_the_last_real_token_is_meant():
    ids, mask, where = ids_and_mask("right")
    model = make(*TEXT["llama"], attention="sdpa")
    with hw.capture(model) as both:
        model(input_ids=ids, attention_mask=mask)
    with hw.capture(model) as alone:
        model(input_ids=ids[1:, where])
    ours, theirs = both.gradient(7, item=1).values, alone.gradient(7).values
    assert (ours - theirs).abs().max() < 1e-5 * float(theirs.max())


def test_encoders_of_torch_have_gradients_too():
    torch.manual_seed(0)
    model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 2, 8, batch_first=True), 2,
                                        enable_nested_tensor=False).eval()
    x = torch.randn(1, 5, 16)
    with hw.capture(model) as seen:
        model(x)
    assert seen.how == "sdpa" and float(seen.gradient(lambda out: out[:, 0, 0]).values.max()) > 0


@pytest.mark.parametrize("prepare, call, sentence", [
    (torch.no_grad, lambda seen: seen.gradient(), "ran without gradients"),
    (torch.enable_grad, lambda seen: seen.gradient(9), "there is no `target` 9, expected 0 to 2"),
    (torch.enable_grad, lambda seen: seen.gradient(rule="magic"), "unknown rule 'magic'"),
    (torch.enable_grad, lambda seen: seen.gradient(residual=0.1), "takes no residual"),
    (torch.enable_grad, lambda seen: seen.gradient(layer=5), "has no layer 5"),
])
def test_bad_questions_are_answered_in_a_sentence(prepare, call, sentence):
    model = make(*MODELS["classifier"], attention="sdpa")
    with prepare(), hw.capture(model) as seen:
        model(input_ids=torch.tensor([[5, 6, 7]]))
    with pytest.raises(hw.Error, match=sentence):
        call(seen)


def test_dropout_is_refused():
    model = make("BertForSequenceClassification", "BertConfig", SIZES, attention="sdpa").train()
    with hw.capture(model) as seen:
        model(input_ids=torch.tensor([[5, 6, 7]]))
    with pytest.raises(hw.Error, match="dropout"):
        seen.gradient(0)
