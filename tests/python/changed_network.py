"""The rules of relevance in PyTorch: the forward pass stays as it is, and parts of it are detached or scaled.

Any transformers model, in double. Norms, activations and gates are found by what they call; attention by the
interface that transformers has for it. Nothing here is shared with the engine.
"""
import re
from contextlib import contextmanager

import torch
import transformers
from torch.overrides import TorchFunctionMode

COMPOSED = re.compile(r"(NewGELU|FastGELU|QuickGELU|GELUTanh|AccurateGELU|ClippedGELU|LaplaceActivation)")


def half(x):
    """The same number, with half of its gradient."""
    return x / 2 + (x / 2).detach()


def by_secant(x, y):
    """f(x)/x as a constant; at 0 the slope does not matter, since x is 0."""
    ratio = torch.where(x == 0, torch.zeros_like(x), y / torch.where(x == 0, torch.ones_like(x), x))
    return x * ratio.detach()


class Changed(TorchFunctionMode):
    """Replaces functions that are not linear while it is on."""

    ACTIVATIONS = {torch.nn.functional.gelu, torch.nn.functional.silu, torch.nn.functional.relu, torch.tanh, torch.relu,
                   torch.Tensor.tanh, torch.nn.functional.tanh}

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        keywords = keywords or {}
        if function is torch.nn.functional.layer_norm:
            return self.layer_norm(*arguments, **keywords)
        out = function(*arguments, **keywords)
        return by_secant(arguments[0], out) if function in self.ACTIVATIONS else out

    @staticmethod
    def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
        centred = x - x.mean(-1, keepdim=True)
        deviation = (centred.pow(2).mean(-1, keepdim=True) + eps).sqrt()
        return centred / deviation.detach() * weight + bias


def rms_norm(module):
    from_one = type(module).__name__.startswith("Gemma")
    epsilon = module.eps if from_one else module.variance_epsilon

    def forward(x):
        weight = 1 + module.weight if from_one else module.weight
        return weight * x / (x.pow(2).mean(-1, keepdim=True) + epsilon).sqrt().detach()
    return forward


def composed(module):
    old = type(module).forward

    def forward(x):
        with torch._C.DisableTorchFunction():
            return by_secant(x, old(module, x))
    return forward


def gated(module):
    """down(act(gate) * up), or the same with both in one, as DINOv2 and Phi-3 have it."""
    def forward(x):
        if hasattr(module, "gate_up_proj"):
            gate, up = module.gate_up_proj(x).chunk(2, dim=-1)
            return module.down_proj(half(module.activation_fn(gate) * up))
        if hasattr(module, "weights_in"):
            gate, up = module.weights_in(x).chunk(2, dim=-1)
            return module.weights_out(half(torch.nn.functional.silu(gate) * up))
        return module.down_proj(half(module.act_fn(module.gate_proj(x)) * module.up_proj(x)))
    return forward


class Attention:
    """Keeps values and outputs of every head, for edges and shares."""

    def __init__(self):
        self.rule, self.kept = None, []

    def __call__(self, module, query, key, value, mask, scaling=None, dropout=0.0, **rest):
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        scores = query @ key.transpose(-1, -2)
        if self.rule == "attnlrp":
            scores = half(scores)
        scores = scores * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        if mask is not None:
            scores = scores + mask[..., :key.shape[-2]]
        weights = scores.softmax(-1)
        if self.rule == "frozen":
            weights = weights.detach()
        mixed = half(weights @ value) if self.rule == "attnlrp" else weights @ value
        mixed.retain_grad()
        self.kept.append((weights, value, mixed))
        return mixed.transpose(1, 2).contiguous(), weights


def with_distances(module):
    """MPNet's attention, which does not go through the interface: distances are added like a mask."""
    def forward(x, attention_mask=None, position_bias=None, output_attentions=False, **rest):
        shape = (*x.shape[:-1], -1, module.attention_head_size)
        query, key, value = (part(x).view(shape).transpose(1, 2) for part in (module.q, module.k, module.v))
        mask = position_bias if attention_mask is None else position_bias + attention_mask
        mixed, weights = ATTENTION(module, query, key, value, mask, scaling=module.attention_head_size ** -0.5)
        return module.o(mixed.reshape(*x.shape[:-1], -1)), weights
    return forward


ATTENTION = Attention()
transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS.register("changed", ATTENTION)
transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS.register("changed", transformers.masking_utils.eager_mask)

LAYERS = re.compile(r"(DecoderLayer|TransformerBlock|GPT2Block|"
                    r"(Bert|Roberta|Camembert|MPNet|Albert|Electra|GPTNeoX|ViT|DeiT|Dinov2|Dinov2WithRegisters)Layer)$")


def layers_of(model):
    return [module for module in model.modules() if LAYERS.search(type(module).__name__)]


@contextmanager
def changed(model, rule):
    """The model with the rule in place; None leaves every derivative as it is."""
    ATTENTION.rule, ATTENTION.kept = rule, []
    model.set_attn_implementation("changed")
    touched = [(module, with_distances(module)) for module in model.modules()
               if type(module).__name__ == "MPNetSelfAttention"]
    if rule:
        for module in model.modules():
            name = type(module).__name__
            if name.endswith("RMSNorm"):
                touched.append((module, rms_norm(module)))
            elif COMPOSED.search(name):
                touched.append((module, composed(module)))
            elif any(hasattr(module, part) for part in ("gate_proj", "weights_in", "gate_up_proj")):
                touched.append((module, gated(module)))
    for module, forward in touched:
        module.forward = forward
    try:
        if rule:
            with Changed():
                yield
        else:
            yield
    finally:
        for module, _ in touched:
            del module.forward
        model.set_attn_implementation("eager")
