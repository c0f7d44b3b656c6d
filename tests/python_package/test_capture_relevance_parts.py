"""Heads, edges and integrated gradients of captured models: equal to the engine on the same folders, and to autograd."""

import numpy as np
import pytest
import torch
import transformers as hf
from families import IMAGES, TEXT, make

import headwater as hw
from headwater.torch import replay

SOME = ("bert-classifier", "distilbert-classifier", "albert-classifier", "mpnet-classifier", "gpt2", "llama",
        "mistral-classifier")
IDS = torch.randint(4, 71, (1, 23), generator=torch.Generator().manual_seed(1))


def error(ours, theirs):
    theirs = np.asarray(theirs)
    return float(np.abs(np.asarray(ours) - theirs).max() / np.abs(theirs).max())


def asked(name):
    return dict(target=1, against=0) if "classifier" in name else dict(target=7, against=12, row=5)


def captured(model, **inputs):
    with torch.no_grad(), hw.capture(model) as seen:
        model(**inputs)
    return seen


@pytest.fixture(scope="module", params=SOME)
def saved(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    model = make(*TEXT[request.param][:3])
    model.save_pretrained(folder)
    return request.param, folder, model


@pytest.mark.parametrize("attention, rule, saves", [("eager", "frozen", True), ("eager", "attnlrp", False),
                                                    ("sdpa", "frozen", False), ("sdpa", "attnlrp", True)])
def test_heads_and_edges_are_those_of_the_engine(saved, attention, rule, saves, monkeypatch):
    name, folder, model = saved
    monkeypatch.setattr(replay, "checkpoints", lambda layers, length: saves)
    if "mpnet" not in name:
        model.set_attn_implementation(attention)
    ours = captured(model, input_ids=IDS).relevance(rule=rule, heads=True, edges=-1, **asked(name))
    theirs = hw.relevance(folder, ids=IDS[0].tolist(), rule=rule, heads=True, edges=-1, **asked(name))
    assert ours.heads.shape == theirs.heads.shape and ours.edges.shape == (23, 23)
    assert error(ours.heads, theirs.heads) < 1e-4 and error(ours.edges, theirs.edges) < 1e-4
    assert ours.relevance["edges_layer"] == theirs.relevance["edges_layer"]
    assert float(ours.edges.sum()) == pytest.approx(float(ours.heads[-1].sum()), rel=1e-3, abs=1e-4)
    assert error(ours.numpy(), theirs.numpy()) < 2e-4


@pytest.mark.parametrize("baseline", ["zero", "9"])
def test_integrated_gradients_are_those_of_the_engine(saved, baseline, monkeypatch):
    name, folder, model = saved
    monkeypatch.setattr(replay, "checkpoints", lambda layers, length: baseline == "9")
    ours = captured(model, input_ids=IDS).relevance(rule="integrated", steps=6, baseline=baseline, **asked(name))
    theirs = hw.relevance(folder, ids=IDS[0].tolist(), rule="integrated", steps=6, baseline=baseline, **asked(name))
    assert error(ours.numpy(), theirs.numpy()) < 2e-4
    for word in ("output", "baseline_output", "sum"):
        assert ours.relevance[word] == pytest.approx(theirs.relevance[word], rel=1e-3, abs=1e-4)
    assert "6 steps from" in " ".join(ours.notes) and ours.options["steps"] == 6


def test_integrated_gradients_equal_plain_autograd_and_are_complete():
    model = make(*TEXT["gpt2"][:3]).double()
    seen = captured(model, input_ids=IDS)
    found = seen.relevance(3, rule="integrated", steps=200, baseline="zero")
    words = model.get_input_embeddings()(IDS).detach()
    total = torch.zeros_like(words)
    for step in range(200):
        rows = (words * (step + 0.5) / 200).requires_grad_()
        total += torch.autograd.grad(model(inputs_embeds=rows).logits[0, -1, 3], rows)[0] / 200
    assert error(found.numpy(), (words * total)[0].sum(-1)) < 1e-5
    facts = found.relevance
    assert facts["sum"] == pytest.approx(facts["output"] - facts["baseline_output"], rel=0.05, abs=0.05)


def test_an_image_starts_from_its_mean_colour():
    name = next(one for one, entry in IMAGES.items() if entry[0] == "ViTForImageClassification")
    model = make(*IMAGES[name][:3])
    pixels = torch.randn(1, 3, *IMAGES[name][3], generator=torch.Generator().manual_seed(1))
    seen = captured(model, pixel_values=pixels)
    found = seen.relevance(1, rule="integrated", steps=400)
    zero = model(pixel_values=torch.zeros_like(pixels)).logits[0, 1].detach()
    assert found.relevance["baseline_output"] == pytest.approx(float(zero), rel=1e-4, abs=1e-5)
    assert found.relevance["sum"] == pytest.approx(found.relevance["output"] - float(zero), rel=0.05, abs=0.02)
    with pytest.raises(hw.Error, match="no token ids"):
        seen.relevance(1, rule="integrated", baseline="9")


def test_what_does_not_go_together_is_refused():
    seen = captured(make(*TEXT["bert-classifier"][:3]), input_ids=IDS)
    for words, why in ((dict(edges=9), "has no layer 9"), (dict(steps=3), "`steps`: is not part of `rule` frozen"),
                       (dict(baseline="zero"), "`baseline`: is not part"), (dict(rule="integrated"), "knows no mask token"),
                       (dict(rule="integrated", heads=True), "`heads`: is not part of `rule` integrated"),
                       (dict(rule="integrated", by_layer=True), "`by_layer`"), (dict(rule="x"), "unknown rule"),
                       (dict(rule="integrated", steps=0, baseline="zero"), "expected 1 to 100000")):
        with pytest.raises(hw.Error, match=why):
            seen.relevance(1, **words)


def test_a_layer_with_two_attentions_refuses_heads():
    torch.manual_seed(0)
    config = hf.BertConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, vocab_size=71,
                           num_labels=2, attn_implementation="sdpa")
    model = hf.BertForSequenceClassification(config).eval()
    once = model.bert.encoder.layer[1].attention.forward

    def twice(hidden, *args, **words):
        return once(once(hidden, *args, **words)[0], *args, **words)

    model.bert.encoder.layer[1].attention.forward = twice
    seen = captured(model, input_ids=IDS)
    with pytest.raises(hw.Error, match="calls 2 attentions"):
        seen.relevance(1, heads=True, repeated="layers")
