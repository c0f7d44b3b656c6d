"""Attention that models compute by steps of their own, in modules whose names say nothing, beside attention that is recorded: an
error names it.
"""
import math
import sys
import types
from collections import OrderedDict

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import headwater as hw

LIMIT = 1e-5
X = torch.randn(2, 7, 32, generator=torch.Generator().manual_seed(4))


def off(a, b):
    return float((torch.as_tensor(a).float() - torch.as_tensor(b).float()).abs().max())


class Shuffle(nn.Module):
    """Mixes tokens by a function of queries, keys and values [B, H, n, d]."""

    def __init__(self, mix):
        super().__init__()
        self.mix = mix
        self.inside, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        nn.init.normal_(self.inside.weight, std=0.2)

    def heads(self, x):
        return [part.unflatten(-1, (4, 8)).transpose(1, 2) for part in self.inside(x).chunk(3, -1)]

    def forward(self, x):
        return self.out(self.mix(*self.heads(x)).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, *mixes):
        super().__init__()
        self.first, self.second = Shuffle(mixes[0]), Shuffle(mixes[1]) if len(mixes) > 1 else None
        self.gate, self.feed = nn.Linear(32, 7), nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))

    def forward(self, x):
        x = x + self.first(x)
        x = x + self.second(x) if self.second is not None else x
        return x + self.feed(x)


class Stack(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        torch.manual_seed(2)
        self.blocks = nn.ModuleList(Block(*mixes) for mixes in layers)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def recorded(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def scores(q, k):
    return q @ k.mT / math.sqrt(8)


def with_sink(q, k, v):
    sink = torch.zeros(*q.shape[:3], 1)
    return torch.softmax(torch.cat([scores(q, k), sink], -1), -1)[..., :-1] @ v


def divided(q, k, v):
    weights = scores(q, k).exp()
    return (weights / weights.sum(-1, keepdim=True)).matmul(v)


def divided_later(q, k, v):
    weights = torch.exp(scores(q, k))
    return weights @ v / weights.sum(-1, keepdim=True)


def in_chunks(q, k, v):
    return torch.cat([scores(some, k).softmax(-1) @ v for some in q.split(3, 2)], 2)


def flattened(q, k, v):
    q, k, v = (one.flatten(0, 1) for one in (q, k, v))
    weights = F.dropout(nn.Softmax(-1)(torch.baddbmm(torch.zeros(8, 7, 7), q, k.mT)), 0.1, False)
    return torch.bmm(weights, v).unflatten(0, (2, 4))


def linear(q, k, v):
    return q.softmax(-1) @ (k.softmax(-2).mT @ v)


def from_the_right(q, k, v):
    return (v.mT @ scores(k, q).softmax(-2)).mT


BY_HAND = {
    "softmax": lambda q, k, v: torch.softmax(scores(q, k), -1) @ v,
    "method": lambda q, k, v: scores(q, k).softmax(dim=-1).to(v.dtype) @ v,
    "einsum": lambda q, k, v: torch.einsum("bhij,bhjd->bhid", F.softmax(torch.einsum("bhid,bhjd->bhij", q, k), -1), v),
    "aten": lambda q, k, v: torch.matmul(torch.ops.aten.softmax.int(scores(q, k), -1), v),
    "operator": lambda q, k, v: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)[0],
    **{one.__name__: one for one in (with_sink, divided, divided_later, in_chunks, flattened, linear, from_the_right)}}


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("inside", [False, True])
def test_attention_by_hand_is_named(name, inside):
    own = BY_HAND[name]
    model = Stack([recorded], [recorded, own] if inside else [own], [recorded])
    part = "blocks.1.second" if inside else "blocks.1"
    for _ in range(2):  # the second pass is like the first
        with torch.no_grad(), hw.capture(model) as seen:
            model(X)
        with pytest.raises(hw.Error, match=rf"can(not)? be recorded: .*{part}"):
            seen.rollout()
    found = seen.rollout(missing="residual", item=0)
    assert any(part in note for note in found.notes) and "cannot be recorded in blocks.1." in str(seen)


class Mixer(Shuffle):
    """A name that says it mixes tokens, as those of convolutions and recurrences beside attention do."""


def test_a_softmax_counts_whatever_the_name_says():
    for mix in (BY_HAND["softmax"], divided):
        model = Stack([recorded, mix])
        model.blocks[0].second.__class__ = Mixer
        with torch.no_grad(), hw.capture(model) as seen:
            model(X)
        with pytest.raises(hw.Error, match=r"blocks.0.second \(Mixer\)"):
            seen.rollout()


def test_attention_by_hand_between_layers_is_named():
    class Between(Stack):
        def __init__(self):
            super().__init__([recorded], [recorded])
            self.middle = Shuffle(BY_HAND["softmax"])

        def forward(self, x):
            return self.blocks[1](self.middle(self.blocks[0](x)))

    model = Between()
    with torch.no_grad(), hw.capture(model) as seen:
        model(X)
    with pytest.raises(hw.Error, match=r"cannot be recorded: middle \(Shuffle\); `missing`='residual'"):
        seen.rollout()


def test_a_head_that_pools_the_tokens_after_the_layers_is_no_part_of_them():
    class Pools(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.ask = Stack([recorded], [recorded]), nn.Linear(32, 3)

        def forward(self, x):
            x = self.encoder(x)
            return self.ask(x).mT.softmax(-1) @ x

    with torch.no_grad(), hw.capture(Pools()) as seen:
        seen.model(X)
    assert seen.rollout().shape == (2, 7, 7) and seen.rollout().notes == []


def test_attention_by_hand_alone_is_named():
    model = Stack([BY_HAND["softmax"]])
    with torch.no_grad(), pytest.raises(hw.Error, match=r"of their own: blocks.0.first \(Shuffle\)"), hw.capture(model):
        model(X)


def test_torchs_attention_under_any_name_is_recorded():
    other = types.ModuleType("a_file_without_models")
    other.attend = F.scaled_dot_product_attention
    sys.modules[other.__name__] = other
    kept = [other.attend]
    ways = [lambda q, k, v: other.attend(q, k, v), lambda q, k, v, own=other.attend: own(q, k, v),
            lambda q, k, v: kept[0](q, k, v), recorded]
    model = Stack(*([way] for way in ways))
    truth, x = [], X
    with torch.no_grad():
        for block in model.blocks:
            q, k, _ = block.first.heads(x)
            truth.append(torch.softmax(scores(q, k), -1))
            x = block(x)
    for _ in range(2):
        with torch.no_grad(), hw.capture(model) as seen, hw.capture(model) as other_one:
            out = model(X)
        assert off(out, x) < LIMIT and len(seen.layers) == 4
        assert off(seen.rollout(item=1).values, hw.rollout(truth, item=1).values) < LIMIT
        assert off(other_one.rollout(item=1).values, hw.rollout(truth, item=1).values) < LIMIT


# -- what looks like it, and is not


class Routed(Block):
    """Softmaxes of experts and classes, as many as tokens; a table that is read by a softmax."""

    def __init__(self):
        super().__init__(recorded)
        self.table = nn.Parameter(torch.randn(7, 32))
        self.experts = nn.ModuleList(nn.Linear(32, 32) for _ in range(7))

    def forward(self, x):
        x = super().forward(x)
        shares = self.gate(x).softmax(-1)
        top, which = shares.topk(2)
        made = torch.stack([expert(x) for expert in self.experts], -1)
        x = x + torch.einsum("bne,bnde->bnd", shares, made) + (shares[..., None, :] @ made.mT).squeeze(-2)
        x = x + shares @ self.table + top.sum(-1, keepdim=True) * x
        return x * x.softmax(-1) * (-x.exp()).exp()


def test_routers_tables_and_gates_are_no_attention():
    model = Stack([recorded])
    model.blocks.append(Routed())
    with torch.no_grad(), hw.capture(model) as seen:
        model(X)
    assert seen.rollout().shape == (2, 7, 7) and seen.rollout().notes == []


def test_a_pass_like_one_without_is_not_watched_again():
    class Counts(Stack):
        calls = 0

        def forward(self, x):
            Counts.calls += torch._C._len_torch_function_stack()
            return super().forward(x)

    model = Counts([recorded])
    with torch.no_grad(), hw.capture(model):
        model(X)
        model(X)
    assert Counts.calls == 1 and torch._C._len_torch_function_stack() == 0
    model.blocks.append(Block(BY_HAND["softmax"]))
    with torch.no_grad(), hw.capture(model) as seen:
        model(X)
    assert Counts.calls == 2
    with pytest.raises(hw.Error, match="blocks.1"):
        seen.rollout()


def test_a_pass_that_stops_leaves_no_watch_behind():
    class Stops(Stack):
        def forward(self, x):
            super().forward(x)
            raise KeyboardInterrupt

    model = Stops([recorded])
    with torch.no_grad(), pytest.raises(KeyboardInterrupt), hw.capture(model):
        model(X)
    assert torch._C._len_torch_function_stack() == 0


def test_relevance_needs_no_record_of_it():
    model = Stack([recorded, BY_HAND["softmax"]], [recorded])
    with torch.no_grad(), hw.capture(model) as seen:
        model(X)
    assert seen.relevance(lambda out: out[:, 0, 0].sum()).shape == (2, 7)


# -- layers that mix tokens beside attention, by no attention: a note


class Feature(nn.Module):
    def forward(self, x):
        q, k, v = (F.elu(one) + 1 for one in x.chunk(4, -1)[:3])
        return (q @ (k.mT @ v)).repeat(1, 1, 4)


class Learned(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Linear(7, 7)

    def forward(self, x):
        return self.tokens(x.mT).mT


class Pooled(nn.Module):
    def forward(self, x):
        return x.mean(1, keepdim=True).expand_as(x)


class Rolled(nn.Module):
    def forward(self, x):
        return x.roll(1, 1)


class Recurs(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.GRU(32, 32, batch_first=True)

    def forward(self, x):
        return self.inner(x)[0]


@pytest.mark.parametrize("kind", [Feature, Learned, Pooled, Rolled, Recurs])
def test_mixing_beside_attention_is_noted(kind):
    model = Stack([recorded], [recorded, recorded], [recorded]).eval()
    model.blocks[1].second = kind()
    with torch.no_grad(), hw.capture(model) as seen:
        model(X)
    assert seen.rollout().notes == ["layers of 'blocks' also mix tokens by something that attention does not show: blocks.1"]


class OfTorch(nn.Module):
    def __init__(self, weights, first):
        super().__init__()
        self.inner, self.weights, self.first = nn.MultiheadAttention(32, 4, batch_first=first), weights, first

    def forward(self, x):
        return x + self.inner(x, x, x, need_weights=self.weights)[0]


@pytest.mark.parametrize("layer", [lambda: Block(recorded), lambda: OfTorch(True, True), lambda: OfTorch(False, True),
                                   lambda: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)])
def test_layers_that_mix_tokens_by_attention_alone_have_no_note(layer):
    model = Stack()
    model.blocks.extend([layer(), layer()])
    with torch.no_grad(), hw.capture(model.eval()) as seen:
        model(X)
    assert seen.rollout().shape == (2, 7, 7) and seen.rollout().notes == []


class Ids(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.words, self.layers = nn.Embedding(9, 32), nn.ModuleList([OfTorch(False, first), OfTorch(False, first)])

    def forward(self, input_ids):
        x = self.words(input_ids)
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.mark.parametrize("first", [True, False])
def test_attention_among_the_texts_of_a_batch_is_noted(first):
    model = Ids(first)
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=torch.arange(14).view(2, 7) % 9)
    found = seen.rollout()
    assert found.shape == ((2, 7, 7) if first else (7, 2, 2))
    assert ("among texts, not tokens" in " ".join(found.notes)) != first


# -- layers whose numbers follow a word, as torchvision's encoder_layer_0


def test_layers_named_by_a_word_and_a_number_are_one_stack():
    names = [f"encoder_layer_{k}" for k in range(3)]
    model = nn.Sequential(OrderedDict((name, Block(recorded)) for name in names))
    truth, x = [], X
    with torch.no_grad():
        for block in model:
            q, k, _ = block.first.heads(x)
            truth.append(torch.softmax(scores(q, k), -1))
            x = block(x)
        with hw.capture(model) as seen:
            model(X)
    assert seen.layers == [f"{name}.first" for name in names]
    assert off(seen.rollout(item=1).values, hw.rollout(truth, item=1).values) < LIMIT
    model.encoder_layer_1 = Learned()
    with torch.no_grad(), hw.capture(model) as seen:
        model(X)
    with pytest.raises(hw.Error, match=r"1 of the 3 layers .* encoder_layer_1 \(Learned\)"):
        seen.rollout()
