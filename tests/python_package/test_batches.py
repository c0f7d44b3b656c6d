"""Rollout of a batch at once, as a GPU gets it: here a plain formula takes the kernels' place on the CPU. test_gpu_batches.py
does the same with the kernels.
"""
import pytest
import torch
from models import TEXT, ids_and_mask, make

import headwater as hw
from headwater.torch import answer, batches, device
from headwater.torch.device import device_method

LIMIT = 2e-6


class Formula:
    """A layer of a batch as batches.py asks for it."""

    asked = 0

    def __init__(self, record, items, padding):
        Formula.asked += 1
        self.record, self.causal, self.window = record, record.causal if record.mask is None else False, record.window
        self.heads, self.n = record.heads, record.queries
        some = slice(items.start, items.stop)
        query, key = record.q[some].float(), record.k[some].float()
        scores = query @ key.repeat_interleave(self.heads // key.shape[1], 1).mT * record.scale
        if record.mask is not None:
            mask = record.mask[some] if len(record.mask) > 1 else record.mask
            scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
        elif record.causal:
            scores = scores.masked_fill(torch.ones(self.n, self.n, dtype=torch.bool).triu(1), -torch.inf)
        self.probabilities = scores.softmax(-1)
        if padding is not None:
            self.probabilities.masked_fill_(padding[:, None, :, None], 0)

    def _fused(self, fuse, residual):
        map = self.probabilities.mean(1) if fuse == "mean" else self.probabilities[:, int(fuse[5:])]
        return (1 - residual) * map + residual * torch.eye(self.n)

    def map(self, fuse, rows, given, residual):
        assert rows == range(self.n)
        return self._fused(fuse, residual)

    def times(self, weights, fuse, begin, end, given, residual):
        assert bool((weights[..., :begin] == 0).all()) and bool((weights[..., end:] == 0).all())
        return weights @ self._fused(fuse, residual)

    def row_sums(self, fuse, given):
        return None


@pytest.fixture(params=["llama", "bert"])
def model(request):
    model = make(*TEXT[request.param])
    model.set_attn_implementation("sdpa")
    return model


def batched(monkeypatch, kind=Formula):
    """Has captures on the CPU go through their layers as those on a GPU do."""
    maps = answer.Answer.maps

    def with_batches(self):
        found = maps(self)
        found.batches = lambda items, layer, padding: kind(self.records[layer], items, padding)
        return found

    monkeypatch.setattr(answer.Answer, "maps", with_batches)


def captured(model, side):
    ids, mask, _ = ids_and_mask(side)
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    return seen


WORDS = [{}, dict(row=0), dict(row=-1), dict(row=[2, 0, 1]), dict(row="mean"), dict(residual=0), dict(head=-1, residual=0.2),
         dict(row=0, preset="metrics"), dict(preset="metrics"), dict(layers="1:2"), dict(item=1), dict(item=-1, row=1)]


@pytest.mark.parametrize("side", ["none", "right", "left"])
def test_a_batch_at_once_is_its_items_one_by_one(monkeypatch, model, side):
    seen = captured(model, side)
    for words in WORDS:
        want = device_method("rollout", seen, **words)
        with monkeypatch.context() as patched:
            batched(patched)
            patched.setattr(device, "roll", lambda *given: pytest.fail(f"an item alone: {words}"))
            found = device_method("rollout", seen, **words)
        assert found.notes == want.notes and found.rows == want.rows
        for one, other in zip(found.values, want.values, strict=True):
            assert one.shape == other.shape and float((one - other).abs().max()) < LIMIT, words


def test_large_batches_go_in_turns(monkeypatch, model):
    seen = captured(model, "right")
    want = device_method("rollout", seen)
    batched(monkeypatch)
    monkeypatch.setattr(batches, "NUMBERS", 1)
    before = Formula.asked
    found = device_method("rollout", seen)
    assert Formula.asked - before == len(seen.layers) * len(found.values)
    for one, other in zip(found.values, want.values, strict=True):
        assert float((one - other).abs().max()) < LIMIT


@pytest.mark.parametrize("words", [dict(fuse="max"), dict(discard=0.1), dict(by_layer=True)], ids=str)
def test_what_needs_maps_goes_item_by_item(monkeypatch, model, words):
    seen = captured(model, "right")
    batched(monkeypatch, lambda *given: pytest.fail("a batch was asked"))
    device_method("rollout", seen, **words)


@pytest.mark.parametrize("share", [0.99, float("nan")])
@pytest.mark.parametrize("words", [{}, dict(row=0)], ids=["all", "row"])
def test_rows_that_do_not_sum_to_1_go_item_by_item(monkeypatch, model, share, words):
    seen = captured(model, "right")
    want = device_method("rollout", seen, **words)

    class Wrong(Formula):
        def _fused(self, fuse, residual):
            return super()._fused(fuse, residual) * share

    batched(monkeypatch, Wrong)
    for one, other in zip(device_method("rollout", seen, **words).values, want.values, strict=True):
        assert torch.equal(one, other)


def test_an_item_of_padding_alone_is_the_error_that_it_was(monkeypatch, model):
    batched(monkeypatch)
    ids, _, _ = ids_and_mask("none")
    with torch.no_grad(), hw.capture(model, attention_mask=torch.tensor([[1]] + [[0]] * (len(ids) - 1)).expand(len(ids), ids.shape[1])) as seen:
        model(input_ids=ids)
    with pytest.raises(hw.Error, match="is all padding"):
        device_method("rollout", seen)
