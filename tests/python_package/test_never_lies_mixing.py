"""Layers among those with attention that move something between tokens in another way are named, and others are not."""
import numpy as np
import pytest
import torch
from test_never_lies import LIMIT, captured, off

import headwater as hw


class Attends(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = torch.nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        return x + self.attn(x, x, x)[0]


class Spectrum(torch.nn.Module):
    def forward(self, x):
        return x + torch.fft.fft2(x).real


class Tokens(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(7, 7)

    def forward(self, x):
        return x + self.inner(x.transpose(1, 2)).transpose(1, 2)


class Shift(torch.nn.Module):
    def forward(self, x):
        return torch.cat([x[..., :8], x[..., 8:].roll(1, 1)], -1)


class Global(torch.nn.Module):
    def forward(self, x, scale=1.0):
        return x + scale * x.mean(1, keepdim=True)


class Needs(torch.nn.Module):
    """Nobody knows what it needs, so it cannot be tried."""

    def forward(self, x, more):
        return x + more


class Feeds(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner = torch.nn.LayerNorm(16), torch.nn.Linear(16, 16)

    def forward(self, x):
        return x + torch.nn.functional.gelu(self.inner(self.norm(x)))


class Stack(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.ModuleList([Attends(), kind(), Attends()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, torch.ones(())) if isinstance(layer, Needs) else layer(x)
            x = x[0] if isinstance(x, tuple) else x
        return x


class Convolves(torch.nn.Conv1d):
    def __init__(self):
        super().__init__(7, 7, 3, padding=1)


class Recurs(torch.nn.GRU):
    def __init__(self):
        super().__init__(16, 16, batch_first=True)


X = torch.randn(2, 7, 16, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("kind", [Spectrum, Tokens, Shift, Global, Needs, Convolves, Recurs])
def test_a_layer_that_mixes_tokens_without_attention_is_named(kind):
    seen = captured(Stack(kind).eval(), dict(x=X))
    with pytest.raises(hw.Error, match=rf"1 of the 3 layers of 'layers' ran without .* layers.1 \({kind.__name__}\)"):
        seen.rollout()
    found = seen.rollout(missing="residual", item=0)
    assert off(found, hw.rollout([map[None] for map in seen.maps(missing="residual")]).values) < LIMIT
    assert "layers.1" in found.notes[0] and len(seen.maps(missing="residual")) == 3


@pytest.mark.parametrize("kind", [Feeds, torch.nn.Identity, lambda: torch.nn.Dropout(0.5), lambda: torch.nn.LayerNorm(16)])
def test_a_layer_that_keeps_tokens_apart_is_none_of_the_rollout(kind):
    model = Stack(kind).eval()
    seen = captured(model, dict(x=X))
    truth, x = [], X
    with torch.no_grad():
        for layer in model.layers:
            if isinstance(layer, Attends):
                truth.append(layer.attn(x, x, x)[1].numpy()[:, None])
            x = layer(x)
    assert off(seen.rollout(), hw.rollout(truth).values) < LIMIT and seen.rollout().notes == []


def test_pictures_are_tried_with_their_channels_where_they_are():
    class Picture(torch.nn.Module):
        def __init__(self, last, wide):
            super().__init__()
            kinds = torch.nn.Identity(), torch.nn.GroupNorm(1, 8) if wide else torch.nn.Softmax(3 if last else 1)
            self.layers, self.last = torch.nn.ModuleList([Attends(), *kinds]), last
            self.layers[0].attn = torch.nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x):
            tokens = self.layers[0](x.flatten(1, 2) if self.last else x.flatten(2).transpose(1, 2))
            x = tokens.view(x.shape) if self.last else tokens.transpose(1, 2).reshape(x.shape)
            return self.layers[2](self.layers[1](x))

    for last, shape in ((True, (1, 3, 4, 8)), (False, (1, 8, 3, 4))):
        assert captured(Picture(last, False).eval(), dict(x=torch.randn(shape))).rollout().shape == (12, 12)
    with pytest.raises(hw.Error, match=r"layers.2 \(GroupNorm\)"):
        captured(Picture(False, True).eval(), dict(x=torch.randn(1, 8, 3, 4))).rollout()


@pytest.mark.parametrize("layer, mixed", [(torch.nn.Conv1d(7, 7, 3, padding=1), True), (torch.nn.Conv1d(7, 7, 1), False)])
def test_a_convolution_of_torchs_own_is_a_layer(layer, mixed):
    model = torch.nn.Sequential(Attends(), layer, Attends()).eval()
    with torch.no_grad(), hw.capture(model) as seen:
        model(X)
    if mixed:
        with pytest.raises(hw.Error, match=r"1 of the 3 layers .* 1 \(Conv1d\)"):
            seen.rollout()
    assert len(seen.maps(**(dict(missing="residual") if mixed else {}))) == 2 + mixed


def test_a_convolution_within_layers_is_noted():
    class Local(Attends):
        def __init__(self):
            super().__init__()
            self.local, self.linear = torch.nn.Conv1d(16, 16, 3, padding=1), torch.nn.Conv1d(16, 16, 1)

        def forward(self, x):
            return super().forward(x) + self.linear(self.local(x.transpose(1, 2))).transpose(1, 2)

    found = captured(Stack(Local).eval(), dict(x=X)).rollout()
    assert found.notes == ["layers of 'layers' also mix tokens by Conv1d, which attention does not show"]
    assert np.asarray(found).shape == (2, 7, 7)


def test_a_name_that_has_letters_of_another_in_it_is_not_noted():
    class OssMLP(torch.nn.Linear):
        """As GptOssMLP: no SSM."""

    class Block(Attends):
        def __init__(self):
            super().__init__()
            self.feed = OssMLP(16, 16)

        def forward(self, x):
            return self.feed(super().forward(x))

    assert captured(Stack(Block).eval(), dict(x=X)).rollout().notes == []
