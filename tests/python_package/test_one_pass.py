"""The engine's attention in place of sdpa: when it serves, what it gives, and when torch computes as ever."""
import os
import signal
import threading

import pytest
import torch
import torch.nn.functional as F
from models import TEXT, ids_and_mask, make
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

import headwater as hw

SERVED = ["bert", "gpt2", "llama", "mistral"]  # mistral looks back through a window


def counted(monkeypatch):
    """How often torch's own attention runs from here on."""
    calls, stood = [], F.scaled_dot_product_attention

    def attention(*args, **words):
        calls.append(args)
        return stood(*args, **words)

    monkeypatch.setattr(F, "scaled_dot_product_attention", attention)
    return calls


def run(model, side="none", length=13, **words):
    ids, mask, _ = ids_and_mask(side, length=length)
    with hw.capture(model, **words) as seen:
        out = model(input_ids=ids, attention_mask=mask)[0]
    return seen, out


@pytest.mark.parametrize("name", SERVED)
def test_output_and_maps_come_without_sdpa(name, monkeypatch):
    model = make(*TEXT[name])
    ids, mask, _ = ids_and_mask("none")
    with torch.no_grad():
        expected = model(input_ids=ids, attention_mask=mask, output_attentions=True)
        model.set_attn_implementation("sdpa")
        calls = counted(monkeypatch)
        seen, out = run(model)
    assert not calls and all(record.mean is not None for record in seen._answer().records)
    assert (out - expected[0]).abs().max() <= 2e-6 * expected[0].abs().max()
    for item in (0, 1):
        for fuse in ("mean", "max", "head:1"):
            for ours, theirs in zip(seen.maps(fuse=fuse, item=item), expected.attentions):
                heads = theirs[item]
                wanted = dict(mean=heads.mean(0), max=heads.amax(0)).get(fuse, heads[1])
                assert (ours - wanted).abs().max() < 1e-6


def test_the_map_is_the_one_that_queries_and_keys_give_later():
    with torch.no_grad():
        seen, _ = run(make(*TEXT["llama"], attention="sdpa"))
    record = seen._answer().records[0]
    made = record.map(1, "mean", range(3, 9), None, None)
    record.mean = None
    assert torch.equal(made, record.map(1, "mean", range(3, 9), None, None))


def test_a_method_leaves_the_maps_as_they_were():
    with torch.no_grad():
        seen, _ = run(make(*TEXT["bert"], attention="sdpa"))
    before, first = [one.clone() for one in seen.maps()], seen.rollout().values.clone()
    assert torch.equal(seen.rollout().values, first)
    assert all(torch.equal(*pair) for pair in zip(seen.maps(), before))


@pytest.mark.parametrize("keep", ["inputs", "maps"])
def test_any_number_of_threads_gives_the_same_bytes(keep):
    model, before = make(*TEXT["bert"], attention="sdpa"), torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            with torch.no_grad():
                ids = torch.arange(5, 69)[None]
                with hw.capture(model, keep=keep) as seen:
                    model(input_ids=ids)
            found.append(seen.maps()[0])
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


def test_a_forked_child_can_ask_what_its_parent_captured():
    """torch's threads do not come along, and whoever waits for them waits for ever."""
    words = dict(hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32, vocab_size=300)
    with torch.no_grad(), hw.capture(make("BertModel", "BertConfig", words, attention="sdpa")) as seen:
        seen.model(input_ids=torch.arange(5, 255)[None])
    assert all(record.mean is not None for record in seen._answer().records)
    expected = seen.rollout().numpy()
    child = os.fork()
    if child == 0:
        os._exit(0 if (seen.rollout().numpy() == expected).all() else 1)
    late = threading.Timer(60, os.kill, (child, signal.SIGKILL))
    late.start()
    status = os.waitpid(child, 0)[1]
    late.cancel()
    assert status == 0


def test_a_nan_in_the_model_stays_one():
    model = make(*TEXT["bert"], attention="sdpa")
    with torch.no_grad():
        model.encoder.layer[1].attention.self.key.bias[3] = float("nan")
        seen, out = run(model)
    assert out.isnan().all()
    with pytest.raises(hw.Error, match="layer.1.attention.self: row 0 of item 0 holds a number that is not finite"):
        seen.rollout()


def in_half(model):
    return model.to(torch.bfloat16)


def in_training(model):
    return model.train()


@pytest.mark.parametrize("words, prepare", [(dict(side="right"), None), (dict(length=65), None), (dict(), in_half),
                                            (dict(), in_training)])
def test_torch_computes_where_the_engine_does_not_serve(words, prepare, monkeypatch):
    model = make(*TEXT["bert"], attention="sdpa")
    model = prepare(model) if prepare else model
    ids, mask, _ = ids_and_mask(words.get("side", "none"), length=words.get("length", 13))
    with torch.no_grad():
        torch.manual_seed(1)
        plain = model(input_ids=ids, attention_mask=mask)[0]
        calls = counted(monkeypatch)
        torch.manual_seed(1)
        seen, out = run(model, **words)
    assert len(calls) == len(seen.layers) and all(record.mean is None for record in seen._answer().records)
    assert torch.equal(out, plain)


def test_torch_computes_where_gradients_are_wanted(monkeypatch):
    calls = counted(monkeypatch)
    model = make(*TEXT["bert"], attention="sdpa")
    seen, out = run(model)
    assert len(calls) == len(seen.layers) and out.requires_grad


def test_torch_computes_under_autocast(monkeypatch):
    calls = counted(monkeypatch)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        seen, _ = run(make(*TEXT["llama"], attention="sdpa"))
    assert len(calls) == len(seen.layers)


def test_an_attention_that_somebody_registered_as_sdpa_is_called(monkeypatch):
    stood, calls = ALL_ATTENTION_FUNCTIONS["sdpa"], []

    def mine(*args, **words):
        calls.append(args)
        return stood(*args, **words)

    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS._global_mapping, "sdpa", mine)
    with torch.no_grad():
        seen, _ = run(make(*TEXT["bert"], attention="sdpa"))
    assert len(calls) == len(seen.layers)
