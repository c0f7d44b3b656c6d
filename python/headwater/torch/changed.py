"""A model run in the changed network of relevance: a torch function mode that stands between the model and torch.

What is linear in the rows of the tokens runs as it is. Norms, activations, products and attention run with the backward
passes of backward.py. Constants that are added become leaves of the graph, so that what they take can be counted.
Whatever gets past this mode is found afterwards by graph.py, which refuses every step that it does not know.
"""
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, Mapping, Sequence

import torch
from torch.overrides import TorchFunctionMode

from .attended import WEIGHTS
from .handlers import EARLY, HANDLERS, SAME, Handler, Original, on_dropout, on_product
from .network import Network, detached, tensors, without_parameters


@contextmanager
def changing(network: Network) -> Iterator[None]:
    """Changes the network in this thread, once: autograd computes checkpoints in threads of its own."""
    if network.local.on:
        yield
        return
    network.local.on = True
    try:
        with Mode(network):
            yield
    finally:
        network.local.on = False


class Mode(TorchFunctionMode):
    def __init__(self, network: Network):
        super().__init__()
        self.network = network

    def __torch_function__(self, function: Original, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        network = self.network
        if network.local.quiet or network.plain and not network.searching:
            return function(*args, **kwargs) if kwargs else function(*args)
        handler = HANDLERS.get(function)
        if handler is None and len(args) == 1 and not kwargs:  # most are shapes and types
            out = function(*args)
            if network.parts is not None:
                remember(function, args, out)
            return detached(out) if isinstance(args[0], torch.nn.Parameter) else out
        kwargs = kwargs or {}
        stream = parameters = False
        for one in tensors((*args, *kwargs.values()) if kwargs else args):
            if isinstance(one, torch.nn.Parameter):
                parameters = True
            elif one.requires_grad:
                stream = True
        if not stream and not (handler in EARLY and network.searching):
            out = function(*args, **kwargs)
            if network.parts is not None:
                remember(function, args, out)
            return detached(out) if parameters else out
        if parameters:
            args = without_parameters(args) if type(args) is tuple else args
            kwargs = {name: without_parameters(value) for name, value in kwargs.items()}
        if handler is None or network.plain:
            out = followed(network, handler, function, args, kwargs) if network.plain else function(*args, **kwargs)
            if network.parts is not None:
                remember(function, args, out)
            return out
        return handler(network, function, *args, **kwargs)


def remember(function: Original, args: Sequence[object], out: object) -> None:
    """Attention weights in another type are still attention weights."""
    if function in SAME and getattr(args[0], WEIGHTS, False):
        setattr(out, WEIGHTS, True)


def followed(network: Network, handler: Handler | None, function: Original, args: Sequence[Any],
             kwargs: Mapping[str, Any]) -> Any:
    """Before the first layer, where nothing is changed: the rows that enter a norm or a linear map."""
    if handler not in EARLY or handler is on_dropout or not args:
        root = network.roots.get(id(args[0])) if handler is on_product and args else None
        return network.follow(function(*args, **kwargs), None if root is None else root[1])
    input, found = network.rooted(args[0])
    return network.follow(function(input, *args[1:], **kwargs), found)
