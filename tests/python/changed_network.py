"""The rules of relevance in PyTorch: the forward pass stays as it is, and parts of it are detached or scaled.

Any transformers model, in double. Norms, activations and gates are found by what they call; attention by the
interface that transformers has for it. Nothing here is shared with the engine.
"""
import math
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
        return centred / deviation.detach() * weight + (0 if bias is None else bias)


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
    """down(act(gate) * up), or the same with both in one, as DINOv2, Phi-3 and ModernBERT have it."""
    def forward(x):
        if hasattr(module, "wi_1"):
            return module.wo(half(module.act(module.wi_0(x)) * module.wi_1(x)))
        if hasattr(module, "Wi"):
            gate, up = module.Wi(x).chunk(2, dim=-1)
            return module.Wo(half(module.act(gate) * up))
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

    def __call__(self, module, query, key, value, mask, scaling=None, dropout=0.0, softcap=None,
                 position_bias=None, **rest):
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        scores = query @ key.transpose(-1, -2)
        if self.rule == "attnlrp":
            scores = half(scores)
        scores = scores * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        for added in (mask, position_bias):
            if added is not None:
                scores = scores + added[..., :key.shape[-2]]
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


def disentangled(module):
    """DeBERTa's attention: what distances add is linear in queries and in keys, and their own rows are constants."""
    def forward(x, attention_mask, output_attentions=False, query_states=None, relative_pos=None, rel_embeddings=None):
        shape = (*x.shape[:-1], module.num_attention_heads, -1)
        query, key, value = (part(x).view(shape).transpose(1, 2)
                             for part in (module.query_proj, module.key_proj, module.value_proj))
        scale = 1 / math.sqrt(query.shape[-1] * (1 + ("c2p" in module.pos_att_type) + ("p2c" in module.pos_att_type)))
        bias = None
        if module.relative_attention:
            span, n = module.pos_ebd_size, x.shape[1]
            bucket = (relative_pos.reshape(n, n).long() + span).clamp(0, 2 * span - 1)
            bias = 0
            rows = lambda part: part(rel_embeddings[:2 * span]).detach().view(2 * span, shape[2], -1).transpose(0, 1)
            picked = lambda scores, index: scores.gather(-1, index.expand(*scores.shape[:2], n, n))
            if "c2p" in module.pos_att_type:
                own = module.key_proj if module.share_att_key else module.pos_key_proj
                bias = bias + picked(query @ rows(own).transpose(-1, -2), bucket) * scale
            if "p2c" in module.pos_att_type:
                own = module.query_proj if module.share_att_key else module.pos_query_proj
                bias = bias + picked(key @ rows(own).transpose(-1, -2), bucket.T).transpose(-1, -2) * scale
        mixed, weights = ATTENTION(module, query, key, value, bias, scaling=scale)
        return mixed.reshape(*x.shape[:-1], -1), weights
    return forward


OWN_ATTENTION = {"MPNetSelfAttention": with_distances, "DisentangledSelfAttention": disentangled}

ATTENTION = Attention()
transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS.register("changed", ATTENTION)
transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS.register("changed", transformers.masking_utils.eager_mask)

LAYERS = re.compile(r"(DecoderLayer|EncoderLayer|TransformerBlock|GPT2Block|T5Block|"
                    r"(Bert|Roberta|Camembert|MPNet|Albert|Electra|DebertaV2|GPTNeoX|ViT|DeiT|Dinov2|"
                    r"Dinov2WithRegisters)Layer)$")


def layers_of(model):
    return [module for module in model.modules() if LAYERS.search(type(module).__name__)]


@contextmanager
def changed(model, rule):
    """The model with the rule in place; None leaves every derivative as it is."""
    ATTENTION.rule, ATTENTION.kept = rule, []
    model.set_attn_implementation("changed")
    touched = [(module, OWN_ATTENTION[type(module).__name__](module)) for module in model.modules()
               if type(module).__name__ in OWN_ATTENTION]
    if rule:
        for module in model.modules():
            name = type(module).__name__
            if name.endswith("RMSNorm") or name == "T5LayerNorm":
                touched.append((module, rms_norm(module)))
            elif COMPOSED.search(name):
                touched.append((module, composed(module)))
            elif any(hasattr(module, part) for part in ("gate_proj", "weights_in", "gate_up_proj", "Wi", "wi_1")):
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
