"""Which modules a capture need not watch: none that could call attention, however it is written."""
import functools

import pytest
import torch
import torch.nn.functional as F
import transformers
from models import TEXT, make
from torch import nn

import headwater as hw
from headwater.torch.quiet import watched


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))

    def scaled(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))

    def forward(self, x):
        return self.weight * self.scaled(x.to(torch.float32)).to(x.dtype)


class Feed(nn.Module):
    def __init__(self, inner=None):
        super().__init__()
        self.up, self.act, self.norm = nn.Linear(8, 8), inner or nn.SiLU(), Norm()

    def forward(self, x):
        return F.relu(self.act(self.up(self.norm(x))))


def mix(x):
    return F.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None])[:, 0]


def passed_on(forward):
    @functools.wraps(forward)
    def call(self, x):
        return forward(self, x)
    return call


def module(forward, **held):
    made = type("Part", (nn.Module,), {"forward": forward, "_help": lambda self, x: mix(x)})()
    for name, value in held.items():
        setattr(made, name, value)
    return made


LOUD = dict(
    a_function=module(lambda self, x: mix(x)),
    sdpa=module(lambda self, x: F.scaled_dot_product_attention(x, x, x)),
    a_method=module(lambda self, x: self._help(x)),
    held=module(lambda self, x: self.how(x), how=mix),
    held_sdpa=module(lambda self, x: self.how(x, x, x), how=F.scaled_dot_product_attention),
    held_softmax=module(lambda self, x: self.how(x, -1) @ x, how=F.softmax),
    by_hand=module(lambda self, x: torch.softmax(x @ x.mT, -1) @ x),
    decorated=module(passed_on(lambda self, x: x)),
    a_name=module(lambda self, x: getattr(F, "scaled_" + "dot_product_" + "attention")(x, x, x)),
    inside=Feed(module(lambda self, x: mix(x))),
    torchs=nn.MultiheadAttention(8, 2), layer=nn.TransformerEncoderLayer(8, 2))


@pytest.mark.parametrize("name", LOUD)
def test_what_may_call_attention_is_watched(name):
    model = nn.Sequential(Feed(), LOUD[name])
    names = {one: name for name, one in model.named_modules()}
    assert LOUD[name] in watched(names) and model in watched(names)


def test_arithmetic_is_not_watched():
    model = nn.ModuleDict(dict(feed=Feed(), norm=Norm(), rows=nn.Sequential(nn.Linear(8, 8))))
    names = {one: name for name, one in model.named_modules()}
    assert watched(names) == []


def test_numbered_modules_are_watched_for_they_may_be_layers():
    model = nn.ModuleList([Feed(), Feed()])
    names = {one: name for name, one in model.named_modules()}
    assert {names[one] for one in watched(names)} == {"", "0", "1"}


def test_norms_and_activations_of_transformers_are_not_watched():
    model = make(*TEXT["llama"])
    names = {one: name for name, one in model.named_modules()}
    kinds = {type(one).__name__ for one in watched(names)}
    assert "LlamaAttention" in kinds and "LlamaDecoderLayer" in kinds
    assert not kinds & {"LlamaRMSNorm", "LlamaMLP", "SiLUActivation", "Linear", "Embedding"}
    bert = {type(one).__name__ for one in watched({one: name for name, one in make(*TEXT["bert"]).named_modules()})}
    assert "BertSelfAttention" in bert and not bert & {"BertIntermediate", "GELUActivation", "BertOutput"}


def test_attention_without_a_telling_name_is_captured():
    class Mixer(nn.Module):
        def forward(self, x):
            return mix(x)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.core, self.feed = Norm(), Mixer(), Feed()

        def forward(self, x):
            return self.feed(x + self.core(self.norm(x)))

    model = nn.Sequential(Layer(), Layer())
    with torch.no_grad(), hw.capture(model) as seen:
        model(torch.randn(1, 5, 8))
    assert seen.layers == ["0.core", "1.core"] and seen.rollout().shape == (5, 5)


def test_every_class_of_transformers_that_is_not_watched_is_a_norm_or_the_like():
    """The rule reads code. This looks at what it says of the code that is there."""
    import importlib
    import pkgutil

    from headwater.torch.quiet import has_quiet_code
    wrong = []
    for family in ("bert", "llama", "gemma3", "t5", "bart", "deberta_v2", "longformer", "big_bird", "funnel", "xlnet",
                   "reformer", "fnet", "nystromformer", "mamba", "gpt_oss", "qwen3_next", "swin", "segformer", "whisper"):
        package = importlib.import_module(f"transformers.models.{family}")
        for one in pkgutil.iter_modules(package.__path__):
            if not one.name.startswith("modeling_"):
                continue
            code = importlib.import_module(f"{package.__name__}.{one.name}")
            wrong += [kind.__name__ for kind in vars(code).values() if isinstance(kind, type) and
                      issubclass(kind, nn.Module) and "ttention" in kind.__name__ and has_quiet_code(kind)]
    assert wrong == [] and transformers.__version__
