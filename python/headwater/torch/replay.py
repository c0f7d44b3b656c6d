"""Runs a recorded pass again in the changed network, for one item, and reads the rows that relevance starts from.

The rows of a token are what enters the first layer; if a norm or a linear map comes right before it, what enters that:
word, position and type together, or a patch and its position. Layers are checkpointed when their activations would take
much memory.
"""
from __future__ import annotations

import inspect
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Sequence, TypeAlias

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ..errors import Error
from ..kinds import ModuleRules
from .attended import Parts
from .changed import changing
from .memory import cut
from .network import Network, is_stream, step_number, tensors
from .parts import Forward, Stand, attention_kernels, leaves, rule_of
from .passes import Call

# The arguments of a call: those without a name, and those with one.
Positional: TypeAlias = list[Any]
Named: TypeAlias = dict[str, Any]
Alter: TypeAlias = Callable[[Stand, Positional, Named], tuple[Positional, Named]]
MOST_KEPT = 1 << 30  # bytes of activations without checkpoints, by a guess


@dataclass
class Found:
    """What a pass shows while it runs."""

    rows: Tensor | None = None
    others: list[Tensor] = field(default_factory=list)
    modules: list[tuple[int, int, str]] = field(default_factory=list)
    layers: list[Tensor] = field(default_factory=list)


@dataclass
class Replay:
    """A pass that was run again."""

    output: Any
    rows: Tensor  # the leaf
    others: list[Tensor]  # rows of other stacks that do not come from these
    network: Network
    end: int  # the number of the first step after the model's own
    modules: list[tuple[int, int, str]] | None
    layers: list[Tensor]  # what each layer returned
    number: int  # of the leaf, among those that rows may be


@contextmanager
def replayed(model: torch.nn.Module, call: Call, item: int, items: int, length: int, rule: str, start: str,
             starts: Sequence[str], rules: ModuleRules, positions: Tensor | None,
             keep_layers: bool, watched: bool, parts: Parts | None = None,
             instead: tuple[int, Tensor] | None = None, alter: Alter | None = None) -> Iterator[Replay]:
    """The pass, run again. Ask for gradients inside: a checkpoint runs layers once more, in the same network.

    `start` is the list of layers whose rows are wanted, `starts` all such lists of the model. `positions`: the only
    tokens whose logits are needed, if the model can be told so. `watched`: note which steps each module made, which
    takes time. `parts` gets what heads and edges take. `instead`: other values for the leaf of this number. `alter`
    changes the arguments of the pass.
    """
    away = next((name for name, one in model.named_parameters() if one.device.type == "meta"), None)
    if away is not None:
        raise Error(f"relevance: the weight '{away}' is on the meta device: accelerate loads it only while its layer runs, "
                    "expected weights that stay; load the model without offloading")
    network = Network(rule, length, parts)
    network.instead = instead
    stand = Stand()
    names = {module: name for name, module in model.named_modules()}
    found = Found()
    try:
        leaves(stand, network, names)
        rule_of(stand, network, names, rules)
        attention_kernels(stand, network)
        layers = list(model.get_submodule(start).children())
        saves = checkpoints(layers, length)
        if saves or parts is not None:
            for layer in layers:
                stand.forward(layer, lambda own: as_layer(network, own, saves))
        if watched:
            watch(stand, network, names, found)
        for name in starts:
            first_rows(stand, network, model.get_submodule(name), found, name == start)
        if keep_layers:
            for layer in layers:
                stand.hook(layer.register_forward_hook(lambda module, args, out: keep(found.layers, out)))
        root = model.get_submodule(call.root)
        with torch.inference_mode(False), torch.enable_grad():
            args, words = prepared(root, call, item, items, positions)
            if alter is not None:
                args, words = alter(stand, args, words)
            with changing(network):
                output = root(*args, **words)
            network.recording = network.searching = False
            if parts is not None:
                parts.counting = False
            if found.rows is None:
                raise Error(f"relevance: '{start}' did not run, expected its first layer; choose another `stack`")
            yield Replay(output, found.rows, found.others, network, step_number(),
                         found.modules if watched else None, found.layers,
                         next((k for k, one in enumerate(network.leaves) if one is found.rows), -1))
    finally:
        stand.clear()


def prepared(module: torch.nn.Module, call: Call, item: int, items: int,
             positions: Tensor | None) -> tuple[Positional, Named]:
    """The arguments of a pass for one item, without gradients, and without a cache."""
    def plain(value: Any) -> Any:
        if isinstance(value, Tensor):
            value = value.clone() if value.is_inference() else value
            return value.detach()  # also where it has no gradient: rows become a leaf in place
        return value

    numbered = {str(k): value for k, value in enumerate(call.args)}
    one = {**numbered, **call.words}
    one = one if items == 1 else cut(one, item, item + 1, items)
    args = [plain(one[str(k)]) for k in range(len(call.args))]
    words = {name: plain(value) for name, value in one.items() if name not in numbered}
    known = inspect.signature(module.forward).parameters
    taken = list(known)[:len(args)]
    any_word = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    caches = "use_cache" in known or any_word and hasattr(getattr(module, "config", None), "use_cache")
    if caches and "use_cache" not in taken:
        words["use_cache"] = False
    if positions is not None and "logits_to_keep" in known and "logits_to_keep" not in taken:
        words["logits_to_keep"] = positions
    return args, words



def first_rows(stand: Stand, network: Network, layers: torch.nn.Module, found: Found, wanted: bool) -> None:
    """Makes what enters the first layer of a list a leaf of the graph."""
    begun: list[bool] = []

    def enter(module: torch.nn.Module, args: tuple[Any, ...],
              words: Named) -> tuple[tuple[Any, ...], Named] | None:
        if begun or not network.recording:
            return None
        begun.append(True)
        name = None if args else "hidden_states" if "hidden_states" in words else next(iter(words), None)
        x = args[0] if args else words.get(str(name))
        if not isinstance(x, Tensor) or not x.is_floating_point():
            if wanted:
                raise Error(f"relevance: the first layer ({type(module).__name__}) is not given rows of tokens first, "
                            "which headwater cannot follow")
            return None
        if wanted:
            network.searching = False
        if id(x) in network.roots and wanted:
            found.rows = network.roots[id(x)][1]
            return None
        if is_stream(x) and not wanted:
            return None
        with network.paused():
            # The tensor itself where it can be: the model may use it again later.
            if wanted and network.plain:
                leaf = network.leaf(x)
            else:
                leaf = x.detach().requires_grad_() if x.requires_grad else x.requires_grad_()
        if wanted:
            found.rows = leaf
        else:
            found.others.append(leaf)
        return None if leaf is x else ((leaf, *args[1:]), words) if args else (args, {**words, str(name): leaf})

    for layer in layers.children():
        stand.hook(layer.register_forward_pre_hook(enter, with_kwargs=True))


def keep(layers: list[Tensor], out: object) -> None:
    rows = next(tensors(out if isinstance(out, (tuple, list)) else [out]), None)
    if rows is not None:
        layers.append(rows)


def as_layer(network: Network, own: Forward, saves: bool) -> Forward:
    """A layer that knows its number, and with `saves` keeps only what enters it."""
    def forward(*args: Any, **words: Any) -> Any:
        number = network.layers
        network.layers += 1

        def run(*given: Any) -> Any:
            with changing(network), network.in_layer(number):
                return own(*given, **words)

        return checkpoint(run, *args, use_reentrant=False, preserve_rng_state=False) if saves else run(*args)

    return forward


def checkpoints(layers: Sequence[torch.nn.Module], length: int) -> bool:
    """Whether the activations of all layers would take more than MOST_KEPT: each matrix of weights gives two rows of
    its width for every token, by a guess.
    """
    each = sum(2 * parameter.shape[0] * parameter.element_size() for layer in layers for parameter in layer.parameters()
               if parameter.ndim == 2)
    return each * length > MOST_KEPT


def watch(stand: Stand, network: Network, names: Mapping[torch.nn.Module, str], found: Found) -> None:
    """Notes with which numbers of steps the call of each module begins and ends."""
    stack: list[int] = []

    def enter(module: torch.nn.Module, args: object) -> None:
        if network.recording:
            stack.append(step_number())

    def leave(module: torch.nn.Module, args: object, out: object) -> None:
        if network.recording and stack:
            found.modules.append((stack.pop(), step_number(), names[module]))

    for module in names:
        stand.hook(module.register_forward_pre_hook(enter))
        stand.hook(module.register_forward_hook(leave))
