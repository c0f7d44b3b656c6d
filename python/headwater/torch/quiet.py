"""Modules that can never call attention, by their code: norms, activations, feed-forward blocks.

A capture watches the calls of all others. Watching costs Python's time for each call, which is longer than a GPU's for a
short text.
"""
from __future__ import annotations

import builtins
import dis
import math
import re
from functools import lru_cache
from types import FunctionType
from typing import Any, Mapping

import torch

from .mixing import OF_TORCH

# A layer's number, which may follow a word of its own: 0, encoder_layer_0.
NUMBER = re.compile(r"(?:(?<=\.)|^)(?:\w*(?:layer|block)_)?\d+(?=\.|$)")
MATHS = (torch, torch.nn, torch.nn.functional, math)
ANYTHING = (getattr, eval, exec, __import__, globals, locals, vars)  # what can name a function without its name
LOUD = re.compile("attention|attn|softmax|matmul|bmm|einsum|sdpa", re.IGNORECASE)  # what attention is made of


def watched(names: Mapping[torch.nn.Module, str]) -> list[torch.nn.Module]:
    """The modules of a model whose calls matter: those that may call attention, or modules that do, and those with a number
    for a name, which may be layers, with attention or without. In doubt all.
    """
    known: dict[torch.nn.Module, bool] = {}
    torchs = {kind: is_torchs(kind) for kind in set(map(type, names))}
    return [module for module, name in names.items() if
            (is_layer_of_torch(module, name) if torchs[type(module)] and not module._modules else
             not is_quiet(module, names, known))]


def is_layer_of_torch(module: torch.nn.Module, name: str) -> bool:
    """Whether a module may be a layer of a stack, such as a convolution among blocks of attention."""
    return isinstance(module, OF_TORCH) and is_numbered(name)


def is_numbered(name: str) -> bool:
    """Whether a module is one of several in a list, by its name."""
    last = name.rpartition(".")[2]
    return last.isdigit() or last[-1:].isdigit() and NUMBER.fullmatch(last) is not None


def is_leaf_of_torch(module: torch.nn.Module) -> bool:
    """Whether a module is one of torch's own layers: linear, norm, dropout."""
    return not module._modules and is_torchs(kind_of(module))


def kind_of(module: torch.nn.Module) -> Any:
    """Its class, as lru_cache takes it."""
    return type(module)


@lru_cache(maxsize=1024)
def is_torchs(kind: Any) -> bool:
    return kind.__module__.startswith("torch.nn.modules.") and not LOUD.search(kind.__name__)


def is_quiet(module: torch.nn.Module, names: Mapping[torch.nn.Module, str], known: dict[torch.nn.Module, bool]) -> bool:
    """Whether a module and all within it do arithmetic of torch's alone, and none has a number for a name."""
    found = known.get(module)
    if found is None:
        found = known[module] = is_leaf_of_torch(module) or has_quiet_code(kind_of(module)) and \
            not is_numbered(names.get(module, "0")) and \
            not any([callable(value) and not is_functional(value) for name, value in vars(module).items() if name[0] != "_"]) and \
            all([is_quiet(one, names, known) for one in module._modules.values() if one is not None])
    return found


def is_functional(value: Any) -> bool:
    """Whether it is a function of torch.nn.functional that is no part of attention, such as gelu."""
    name = getattr(value, "__name__", None)
    return isinstance(name, str) and getattr(torch.nn.functional, name, None) is value and not LOUD.search(name)


@lru_cache(maxsize=1024)
def has_quiet_code(kind: Any) -> bool:
    return is_torchs(kind) or not LOUD.search(kind.__name__) and kind.__call__ is torch.nn.Module.__call__ and \
        is_quiet_function(kind, kind.forward, frozenset())


def is_arithmetic(found: object, name: str) -> bool:
    """Whether what a global name stands for is one of MATHS, a constant or a plain function of Python's own."""
    if isinstance(found, (int, float, str, torch.dtype)) or any(found is one for one in MATHS):
        return True
    return found is not None and found is getattr(builtins, name, None) and found not in ANYTHING


def is_quiet_function(kind: type[torch.nn.Module], function: object, callers: frozenset[FunctionType]) -> bool:
    """Whether a function of a class names only arithmetic, and methods of the class that do the same."""
    if not isinstance(function, FunctionType) or function.__closure__ or hasattr(function, "__wrapped__"):
        return False  # a decorator can do anything
    callers |= {function}
    for step in dis.get_instructions(function):
        name = step.argval
        if not isinstance(name, str) or not step.opname.startswith(("LOAD_", "IMPORT_")):
            continue
        if LOUD.search(name) or step.opname.startswith("IMPORT_") or step.opname in ("LOAD_DEREF", "LOAD_CLOSURE"):
            return False
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found = function.__globals__.get(name, getattr(builtins, name, None))
            if not is_arithmetic(found, name):
                return False
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            method = getattr(kind, name, None)  # of self, if the name is said of self
            own = getattr(torch.nn.Module, name, None)
            if isinstance(method, property) or isinstance(method, FunctionType) and method is not own and \
                    method not in callers and not is_quiet_function(kind, method, callers):
                return False
    return True
