"""Which attention calls belong together: stacks of layers, and the runs of each stack.

    encoder.layer.0.attention.self, encoder.layer.1.attention.self, ...     the stack encoder.layer
    decoder.block.0.layer.0.SelfAttention, ...1.layer.0.SelfAttention, ...  decoder.block.*.layer.0.SelfAttention

The layers of a stack have the same name except for one number. A run is what one call of their parent made of them. A
parent that is called twice, for the two texts of a siamese model or for the steps of generate(), has two runs.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Sequence

import torch

from ..errors import Error
from .passes import Entry, Pass
from .quiet import NUMBER
from .record import Record

MOST = 12  # runs or stacks that an error lists


@dataclass(frozen=True)
class Place:
    """Where a module stands: the stack's name, the module that holds the layers, and what follows a layer's number."""

    stack: str
    container: str | None
    within: str


class Layout:
    """The places of a model's modules, by their names."""

    def __init__(self, names: Iterable[str]):
        self._names = list(names)
        self._places: dict[str, Place] = {}
        self._varying: dict[str, int] = {}  # by pattern: which of its numbers counts the layers

    def place(self, name: str) -> Place:
        if name not in self._places:
            self._places[name] = self._find(name)
        return self._places[name]

    def _find(self, name: str) -> Place:
        numbers = list(NUMBER.finditer(name))
        if not numbers:
            return Place(name, None, "")
        pattern = NUMBER.sub("*", name)
        if pattern not in self._varying:
            last = name.rpartition(".")[2]
            alike = [NUMBER.findall(one) for one in self._names
                     if (one.rpartition(".")[2] == last or NUMBER.fullmatch(last)) and NUMBER.sub("*", one) == pattern]
            varies = [k for k in range(len(numbers)) if len({one[k] for one in alike}) > 1]
            self._varying[pattern] = varies[-1] if varies else 0
        chosen = numbers[self._varying[pattern]]
        within = name[chosen.end() + 1:]
        container = name[:chosen.start()].rstrip(".")
        return Place(".".join(filter(None, (container, "*", within))), container, within)


@dataclass(eq=False)
class Run:
    """What one call of a parent made of a stack: its attention calls in the order of time."""

    stack: Stack
    one: Pass
    owner: int  # the number of the parent's call
    entries: list[Entry] = field(default_factory=list)

    @property
    def records(self) -> list[Record]:
        return [entry.record for entry in self.entries if entry.record is not None]

    @property
    def size(self) -> tuple[int, int] | None:
        """Queries and keys of its first record."""
        first = next(iter(self.records), None)
        return None if first is None else (first.queries, first.keys)

    def layer_call(self, entry: Entry) -> tuple[int, str] | None:
        """The call of the layer, right below the parent's."""
        numbers = [number for number, _ in entry.path]
        below = numbers.index(self.owner) + 1 if self.owner in numbers else 0
        return entry.path[below] if below < len(entry.path) else None

    def describe(self) -> str:
        size = self.size
        if size is None:
            return "no recordable attention"
        queries, keys = size
        batch = self.records[0].batch
        text = f"{queries} tokens" if queries == keys else f"{queries} queries over {keys} keys"
        ways = sorted({entry.way or "not recorded" for entry in self.entries})
        layers = len({entry.frame for entry in self.entries})
        calls = f" ({len(self.entries)} calls of attention)" if layers < len(self.entries) else ""
        hand = sorted({one.name for one in self.one.by_hand if self.owner in one.path})
        left = f", beside attention that cannot be recorded in {', '.join(hand[:6])}" if hand else ""
        return f"{text}, {batch} item{'s' if batch > 1 else ''}, {layers} layer{'s' if layers > 1 else ''}{calls}, by " \
            f"{' and '.join(ways)}{left}"


@dataclass(eq=False)
class Stack:
    """Layers that belong together, and their runs."""

    name: str
    container: str | None
    across: bool = False
    runs: list[Run] = field(default_factory=list)

    @property
    def square(self) -> bool:
        """Whether its queries are its keys, in a run that had nothing in a cache; or nobody knows."""
        sizes = [run.size for run in self.runs if run.one.before == 0]
        return any(size is None or size[0] == size[1] for size in sizes) or not sizes


def owner_of(entry: Entry, container: str | None) -> int:
    """The number of the innermost call around an entry whose module holds the container."""
    if container is None:
        return entry.path[-2][0] if len(entry.path) > 1 else 0
    found = 0
    for number, name in entry.path:
        if name == "" or name == container or container.startswith(name + "."):
            found = number
    return found


def stacks_of(passes: Sequence[Pass], layout: Layout) -> list[Stack]:
    """All stacks that ran, in the order of their first run."""
    stacks: dict[str, Stack] = {}
    for one in passes:
        if one.failed or one.running:
            continue
        runs: dict[tuple[str, int], Run] = {}
        for entry in one.entries:
            place = layout.place(entry.name)
            stack = stacks.setdefault(place.stack, Stack(place.stack, place.container))
            stack.across = stack.across or entry.across
            key = place.stack, owner_of(entry, place.container)
            if key not in runs:
                runs[key] = Run(stack, one, key[1])
                stack.runs.append(runs[key])
            runs[key].entries.append(entry)
    found = list(stacks.values())
    for stack in found:  # short names where they say enough
        alone = [other for other in found if other.container == stack.container]
        if len(alone) == 1 and stack.container:
            stack.name = stack.container
    return found


# -- which stack, which run


def listed(stacks: Sequence[Stack]) -> str:
    """Stacks and their runs for a person, in one line each."""
    lines = []
    for stack in stacks[:MOST]:
        lines.append(f"\n  stack '{stack.name}'{' (cross attention)' if stack.across else ''}")
        for k, run in enumerate(stack.runs):
            if k == MOST:
                lines.append(f"\n    and {len(stack.runs) - MOST} more calls")
                break
            step = f", after {run.one.before} in the cache" if run.one.before else ""
            lines.append(f"\n    call {k}: {run.describe()}{step}")
    return "".join(lines) + (f"\n  and {len(stacks) - MOST} more" if len(stacks) > MOST else "")


def choose(stacks: list[Stack], asked: str | None, model: torch.nn.Module) -> Stack:
    """The stack that was asked for, or the one that is meant beyond doubt."""
    if asked is not None:
        return named(stacks, asked)
    seen = {stack.container for stack in stacks if not stack.across and any(run.records for run in stack.runs)}
    # Where some layers of a list were recorded and others not, the others are missing, and no stack of their own.
    own = [stack for stack in stacks if not stack.across and
           (stack.container not in seen or any(run.records for run in stack.runs))]
    likely = [stack for stack in own if stack.square or stack.container is not None] or own or stacks
    if len(likely) == 1:
        check_encoder(likely[0], model)
        check_across(likely[0], stacks, model)
        return likely[0]
    for rule in (encoders, writers):
        found = rule(likely, stacks, model)
        if len(found) == 1:
            return found[0]
    raise Error(f"{type(model).__name__}: has several stacks of attention, expected one to be chosen; choose it with "
                f"`stack`:{listed(likely)}")


def check_encoder(only: Stack, model: torch.nn.Module) -> None:
    """Raises if only the decoder of an encoder-decoder model ran: who asks nothing more means the encoder."""
    parts = only.name.split(".")
    if getattr(getattr(model, "config", None), "is_encoder_decoder", False) and "decoder" in parts and \
            any(name.rpartition(".")[2] == "encoder" for name, _ in model.named_modules()):
        raise Error(f"{type(model).__name__}: only its decoder ran, expected the encoder too; capture the call that runs "
                    f"the encoder, or choose the decoder with `stack`:{listed([only])}")


def check_across(only: Stack, stacks: list[Stack], model: torch.nn.Module) -> None:
    """Raises if layers also attend to another input as long as their own, as those that compare two images do.

    Decoders attend to their encoder, and their self attention alone is what they return as attention.
    """
    others = [stack for stack in stacks if stack.across and stack.square and stack.container == only.container]
    if not others:
        return
    config = getattr(model, "config", None)
    if any(getattr(config, name, False) for name in ("is_encoder_decoder", "is_decoder", "add_cross_attention")):
        return
    layers = dict(model.named_modules()).get(only.container or "", model)
    if not any("Decoder" in type(layer).__name__ for layer in layers.children()):
        raise Error(f"{type(model).__name__}: its layers also attend from one input to another, expected self attention "
                    f"alone; choose a part with `stack`:{listed([only, *others])}")


def named(stacks: list[Stack], asked: str) -> Stack:
    exact = [stack for stack in stacks if stack.name == asked]
    parts = [stack for stack in stacks if f".{asked}." in f".{stack.name}."]
    inside = [stack for stack in stacks if asked and asked in stack.name]
    for found in (exact, [stack for stack in parts if not stack.across], parts,
                  [stack for stack in inside if not stack.across], inside):
        if len(found) == 1:
            return found[0]
        if found:
            raise Error(f"`stack` '{asked}': is part of several names, expected one; there are:{listed(found)}")
    raise Error(f"`stack` '{asked}': did not run; there are:{listed(stacks)}")


def reads_encoder(stacks: list[Stack]) -> bool:
    """Whether a decoder attends to something else; the Q-former of BLIP-2 does, whose decoder does not."""
    return any(stack.across and "decoder" in stack.name for stack in stacks)


def encoders(likely: list[Stack], stacks: list[Stack], model: torch.nn.Module) -> list[Stack]:
    """The encoder of a model that has an encoder and a decoder."""
    config = getattr(model, "config", None)
    if not getattr(config, "is_encoder_decoder", False) and not reads_encoder(stacks):
        return []
    if not any("decoder" in stack.name for stack in stacks):
        return []
    found = []
    for stack in likely:
        parts = stack.name.split(".")
        if any("encoder" in part for part in parts) and not any("decoder" in part for part in parts):
            found.append(stack)
    return found


def writers(likely: list[Stack], stacks: list[Stack], model: torch.nn.Module) -> list[Stack]:
    """The text stack of a model that writes text."""
    config: Any = getattr(model, "config", None)
    text = config.get_text_config(decoder=True) if hasattr(config, "get_text_config") else None
    if text is None:
        return []
    can = getattr(model, "can_generate", None)
    writes = bool(can()) if can is not None else False
    modules = dict(model.named_modules())
    speaks = any(name.rpartition(".")[2] == "language_model" for name in modules)
    if not writes and (text is config or not speaks):
        return []
    return [stack for stack in likely if type(config_of(stack, modules)) is type(text)]


def config_of(stack: Stack, modules: dict[str, torch.nn.Module]) -> Any:
    """The config of the innermost module around a stack that has one."""
    parts = (stack.container or stack.name).split(".")
    for k in range(len(parts), -1, -1):
        config = getattr(modules.get(".".join(parts[:k])), "config", None)
        if config is not None:
            return config
    return None


def run_of(stack: Stack, call: int | None, model: torch.nn.Module) -> Run:
    """The run that was asked for, or the only one."""
    runs = stack.runs
    if call is None and len(runs) == 1:
        return runs[0]
    if call is None:
        steps = any(run.one.before or run.one.generate is not None for run in runs)
        hint = ", or ask .generation() for the steps of generate()" if steps else ""
        raise Error(f"{type(model).__name__}: the stack '{stack.name}' ran {len(runs)} times, expected one call to be "
                    f"chosen; choose it with `call` (-1 is the last){hint}:{listed([stack])}")
    if not -len(runs) <= call < len(runs):
        raise Error(f"capture: has no call {call}, expected 0 to {len(runs) - 1}; choose another")
    return runs[call]
