"""A model run in the changed network of relevance: a torch function mode that stands between the model and torch.

What is linear in the rows of the tokens runs as it is. Norms, activations, products and attention run with the backward
passes of backward.py. Constants that are added become leaves of the graph, so that what they take can be counted.
Whatever gets past this mode is found afterwards by graph.py, which refuses every step that it does not know.
"""
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator

import torch
from torch.overrides import TorchFunctionMode

from .handlers import EARLY, HANDLERS
from .network import Network, detached, is_stream, tensors, without_parameters


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

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.network.quiet:
            return function(*args, **kwargs)
        handler = HANDLERS.get(function)
        if handler is None and len(args) == 1 and not kwargs:  # most are shapes and types
            out = function(*args)
            return detached(out) if isinstance(args[0], torch.nn.Parameter) else out
        given = (*args, *kwargs.values())
        if not any(is_stream(one) for one in tensors(given)) and not (handler in EARLY and self.network.searching):
            out = function(*args, **kwargs)
            parameters = any(isinstance(one, torch.nn.Parameter) for one in tensors(given))
            return detached(out) if parameters else out
        args = without_parameters(args) if type(args) is tuple else args
        kwargs = {name: without_parameters(value) for name, value in kwargs.items()}
        return function(*args, **kwargs) if handler is None else handler(self.network, function, *args, **kwargs)
