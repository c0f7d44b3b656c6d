"""What the changed network does in place of torch's functions: handler(network, function, *args, **keywords)."""
from __future__ import annotations

from typing import Any, Callable, Sequence, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from ..errors import Error
from . import backward
from .attended import WEIGHTS
from .backward import Function, Gated, slope_of
from .network import FROM, Network, detached, is_stream, step_number, tensors

BUILTIN: Any = getattr(torch._C, "_nn")
sdpa = BUILTIN.scaled_dot_product_attention
Handler: TypeAlias = Callable[..., Any]
Original: TypeAlias = Callable[..., Any]  # a function of torch's


def on_dropout(network: Network, function: Original, input: Tensor, p: float = 0.5, training: bool = True,
               inplace: bool = False, **words: Any) -> Tensor:
    if words.get("train", training) and p:
        raise Error("relevance: the model runs with dropout, expected none; call model.eval() first")
    return input


def on_linear(network: Network, function: Original, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    input, root = network.rooted(input)
    if bias is not None and input.requires_grad and not bias.requires_grad:
        bias = network.constant(bias)
    return network.follow(function(input, weight, bias), root)


def on_convolution(network: Network, function: Original, input: Tensor, weight: Tensor, bias: Tensor | None = None,
                   *rest: Any, **words: Any) -> Any:
    if bias is not None and input.requires_grad and not bias.requires_grad:
        bias = network.constant(bias)
    return function(input, weight, bias, *rest, **words)


def on_addmm(network: Network, function: Original, input: Tensor, mat1: Tensor, mat2: Tensor, **words: Any) -> Any:
    if not input.requires_grad and (mat1.requires_grad or mat2.requires_grad):
        input = network.constant(input)
    return function(input, mat1, mat2, **words)


def on_sum(network: Network, function: Original, input: Any, other: Any, **words: Any) -> Any:
    """x + c: the constant takes its share. Under attnlrp only biases do: what is added to scores is none."""
    def side(value: Any, across: object) -> Any:
        if is_stream(value) or not isinstance(across, Tensor):
            return value
        if not isinstance(value, Tensor):
            value = torch.tensor(float(value), dtype=across.dtype, device=across.device)
        elif not value.is_floating_point():
            value = value.to(across.dtype)
        small = value.numel() in (1, across.shape[-1] if across.ndim else 1)
        return network.constant(value) if network.frozen or small else value

    if any(one.is_complex() for one in tensors((input, other))):
        return function(input, other, **words)
    written = function in IN_PLACE  # its first argument stays what it is
    return function(input if written else side(input, other), side(other, input), **words)


def on_layer_norm(network: Network, function: Original, input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
                  bias: Tensor | None = None, eps: float = 1e-5, *rest: Any, **words: Any) -> Any:
    input, root = network.rooted(input)
    if not input.requires_grad:
        return function(input, normalized_shape, weight, bias, eps)
    axes = tuple(range(-len(normalized_shape), 0))
    with torch.no_grad():
        y, _, rstd = torch.native_layer_norm(input, list(normalized_shape), weight, bias, eps)
        size = 1 / rstd.to(torch.promote_types(rstd.dtype, torch.float32))
    leaf = None if bias is None else network.constant(bias)
    return network.follow(network.normed(input, leaf, lambda: y, weight, size, axes, True), root)


def on_rms_norm(network: Network, function: Original, input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
                eps: float | None = None, **words: Any) -> Any:
    input, root = network.rooted(input)
    if not input.requires_grad:
        return function(input, normalized_shape, weight, eps)
    axes = tuple(range(-len(normalized_shape), 0))
    with torch.no_grad():
        y = function(input, normalized_shape, weight, eps)
        size = size_of(input, axes, torch.finfo(input.dtype).eps if eps is None else eps, False)
    return network.follow(network.normed(input, None, lambda: y, weight, size, axes, False), root)


def size_of(x: Tensor, axes: tuple[int, ...], epsilon: float, centred: bool) -> Tensor:
    """What a norm divides by, in float32 at least, [..., 1]."""
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    if centred:
        return (torch.var(x.to(dtype), axes, correction=0, keepdim=True) + epsilon).sqrt()
    count = torch.Size([x.shape[axis] for axis in axes]).numel()
    length: Tensor = torch.linalg.vector_norm(x, dim=axes, keepdim=True, dtype=dtype)
    return (length.square() / count + epsilon).sqrt()


def on_activation(slope: Function | None) -> Handler:
    def handler(network: Network, function: Original, input: Any, *args: Any, **words: Any) -> Any:
        if not is_stream(input) or words.get("inplace") or any(is_stream(one) for one in (*args, *words.values())):
            return function(input, *args, **words)

        def same(x: Tensor) -> Tensor:
            y: Tensor = function(x, *args, **words)
            return y

        return network.secant(input, same, slope or slope_of(same))

    return handler


def on_power(network: Network, function: Original, input: Any, exponent: Any, **words: Any) -> Any:
    """x ** 2 as in a squared ReLU; any other power has no slope at 0 or depends on more than x."""
    if not is_stream(input) or words or not isinstance(exponent, (int, float)) or exponent < 1:
        return function(input, exponent, **words)

    def same(x: Tensor) -> Tensor:
        y: Tensor = function(x, exponent)
        return y

    return network.secant(input, same, slope_of(same))


def on_gelu(network: Network, function: Original, input: Tensor, *, approximate: str = "none") -> Tensor:
    slope = backward.of_gelu if approximate == "none" else backward.of_tanh_gelu
    return network.secant(input, lambda x: function(x, approximate=approximate), slope)


def on_softmax(network: Network, function: Original, *args: Any, **words: Any) -> Tensor:
    if network.frozen:
        if network.recording and not over_tokens(network, *args, **words):
            network.softmaxes.append(step_number())
        return weights(network, detached(function(*args, **words)))
    with network.as_it_is():
        return weights(network, function(*args, **words))


def weights(network: Network, out: Tensor) -> Tensor:
    """Marks attention weights, if heads or edges are requested."""
    if network.parts is not None:
        setattr(out, WEIGHTS, True)
    return out


def over_tokens(network: Network, input: Tensor, dim: int | None = -1, *rest: Any, **words: Any) -> bool:
    """Whether a softmax divides something among tokens, as attention does: [B, H, n, n], or over n of them."""
    axis = words.get("axis", dim)
    return input.ndim >= 4 or input.ndim == 3 and input.shape[-1] == input.shape[-2] or \
        input.shape[-1 if axis is None else axis] == network.length


def on_product(network: Network, function: Original, input: Any, other: Any, **words: Any) -> Any:
    """A gate, x u: both sides get half of their gradient."""
    if not is_stream(input) or not is_stream(other):
        root = network.roots.get(id(input)) if network.searching else None  # a mask after the embeddings' norm
        return network.follow(function(input, other, **words), None if root is None else root[1])
    for x, u in ((input, other), (other, input)):
        found = getattr(x, FROM, None)
        if found is not None and x.shape == u.shape and x.dtype == u.dtype and not words:
            return Gated.apply(found[0], u, x.detach(), found[1])
    return network.halved(lambda: function(input, other, **words))


def on_matrix_product(network: Network, function: Original, *args: Any, **words: Any) -> Any:
    """Both sides get half of their gradient, as in attention. Under frozen, no such product is known."""
    if network.frozen or sum(map(is_stream, tensors((*args, *words.values())))) < 2:
        out = function(*args, **words)
    else:
        out = network.halved(lambda: function(*args, **words))
    number = network.local.layer
    if network.parts is not None and number is not None and len(args) == 2 and getattr(args[0], WEIGHTS, False):
        return network.parts.of_weights(number, out, *args)
    return out


def on_added_matrix_product(network: Network, function: Original, input: Tensor, *args: Any, **words: Any) -> Any:
    if is_stream(input):
        return function(input, *args, **words)
    return on_matrix_product(network, function, input, *args, **words)


def on_attention(network: Network, function: Original, query: Tensor, key: Tensor, value: Tensor,
                 attn_mask: Tensor | None = None, dropout_p: float = 0.0, **words: Any) -> Any:
    if dropout_p:
        raise Error("relevance: the model runs with dropout, expected none; call model.eval() first")
    query, key, value, attn_mask = shares(network, query, key, value, attn_mask)
    with network.as_it_is():
        out = function(query, key, value, attn_mask=attn_mask, **words)
    number = network.local.layer
    if network.parts is None or number is None or query.ndim != 4:
        return out
    return network.parts.of_kernel(number, out, query, key, value, attn_mask, words.get("is_causal", False),
                                   words.get("scale"))


def shares(network: Network, query: Tensor, key: Tensor, value: Tensor,
           mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Queries, keys and values with the gradients that the rule gives them, around any kernel of attention."""
    if network.frozen:
        return query.detach(), key.detach(), value, mask.detach() if isinstance(mask, Tensor) else mask
    if is_stream(mask):
        raise Error("relevance: attention's scores have a part that depends on the tokens beside queries and keys, "
                    "which `rule` attnlrp does not know; use rule='frozen'")
    query, key = (network.scaled(one, 0.25) if is_stream(one) else one for one in (query, key))
    return query, key, network.scaled(value, 0.5) if is_stream(value) else value, mask


def every(handler: Handler, *names: str) -> dict[Original, Handler]:
    """The handler for the functions of these names, in torch, in torch.nn.functional and as methods."""
    places = (torch, F, torch.Tensor, BUILTIN, torch.special)
    return {getattr(place, name): handler for name in names for place in places if hasattr(place, name)}


HANDLERS: dict[Original, Handler] = {
    **every(on_dropout, "dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d",
            "dropout2d", "dropout3d"),
    **every(on_linear, "linear"),
    **every(on_convolution, "conv1d", "conv2d", "conv3d"),
    **every(on_addmm, "addmm"),
    **every(on_sum, "add", "sub", "subtract", "rsub", "__add__", "__radd__", "__iadd__", "__sub__", "__rsub__",
            "__isub__", "add_", "sub_"),
    F.layer_norm: on_layer_norm, torch.layer_norm: on_layer_norm,
    F.rms_norm: on_rms_norm, torch.rms_norm: on_rms_norm,
    **every(on_softmax, "softmax", "_safe_softmax"),
    **every(on_product, "mul", "multiply", "__mul__", "__rmul__", "__imul__"),
    **every(on_matrix_product, "matmul", "bmm", "mm", "einsum", "__matmul__", "__rmatmul__"),
    **every(on_added_matrix_product, "baddbmm"),
    sdpa: on_attention, F.scaled_dot_product_attention: on_attention,
    **every(on_gelu, "gelu"),
    **every(on_activation(backward.of_silu), "silu"),
    **every(on_activation(backward.of_relu), "relu"),
    **every(on_activation(None), "tanh", "relu6", "leaky_relu", "elu", "selu", "celu", "mish", "hardswish", "hardtanh",
            "softsign", "square"),
    **every(on_power, "pow", "__pow__"),
}
IN_PLACE = (torch.Tensor.__iadd__, torch.Tensor.__isub__, torch.Tensor.add_, torch.Tensor.sub_)
SAME = frozenset(every(on_dropout, "to", "type", "type_as", "float", "half", "bfloat16", "double", "contiguous", "clone",
                       "dropout"))  # attention weights keep their mark
EARLY = (on_linear, on_layer_norm, on_rms_norm, on_dropout)  # also for what does not depend on rows yet
