"""What a capture does while the model runs: it hooks the model, and keeps what its passes recorded."""
from __future__ import annotations

import functools
import re
import threading
from types import TracebackType
from typing import Any, Callable, Self, Unpack

import torch
from torch.utils.hooks import RemovableHandle

from ..arguments import DEFAULTS, AskedWords, make_options
from ..errors import Error
from ..protocols import Tokenizer
from ..source import Source
from . import eager, interface, patch, switches
from .answer import Answer, answer_of
from .by_hand import listed_by_hand, unwatched
from .maps import Maps
from .passes import Frames, Pass, glimpse_of, in_vmap, raised
from .quiet import kind_of, watched
from .record import Record
from .replaced import REPLACED, replaced_of, watched_forward
from .stacks import Layout, Stack, listed, stacks_of
from .watching import end_all, watching

WAYS = ("interface", "sdpa", "eager")
RETURNED = ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions")


def check_model(model: object) -> None:
    if not isinstance(model, torch.nn.Module):
        raise Error(f"capture of {type(model).__name__}: expected a PyTorch model, a torch.nn.Module; give the model "
                    "itself")
    if isinstance(model, torch.jit.ScriptModule):
        raise Error(f"capture of {type(model).__name__}: was compiled by torch.jit, which hides its attention, expected "
                    "the model that was compiled; capture and call that")


def uncompiled(model: torch.nn.Module) -> torch.nn.Module:
    """The model that torch.compile wrapped, or the model itself."""
    inner = getattr(model, "_orig_mod", None)
    return inner if isinstance(inner, torch.nn.Module) else model


class Recording:
    """The attention of a model while it runs: a context manager around its calls."""

    def __init__(self, model: torch.nn.Module, *, how: str | None = None, fuse: str = "mean",
                 pattern: str | None = None, tokenizer: Tokenizer | None = None, attention_mask: Any = None,
                 keep: str = "inputs"):
        check_model(model)
        if how is not None and how not in WAYS:
            raise Error(f"unknown how '{how}'; there are {', '.join(WAYS)}")
        if keep not in ("inputs", "maps", "nothing"):
            raise Error(f"unknown keep '{keep}'; there are inputs, maps and nothing")
        if tokenizer is not None and not callable(getattr(tokenizer, "convert_ids_to_tokens", None)):
            raise Error(f"`tokenizer`: is of type {type(tokenizer).__name__}, expected a tokenizer of transformers, or "
                        "anything with convert_ids_to_tokens")
        make_options(fuse=fuse)
        self._compiled = uncompiled(model) is not model
        self.model, self._fuse, self._tokenizer, self._keep_what = uncompiled(model), fuse, tokenizer, keep
        self.how: str | None = how
        self._names = {module: name for name, module in self.model.named_modules()}
        self._layout = Layout(self._names.values())
        self._matched: set[torch.nn.Module] = set()
        self._chosen = self._choose(pattern)
        self._attention_mask = attention_mask
        self._frames = Frames(self._names, self._chosen, self._mine)
        self._frames.watches = watching(self)
        self._handles: list[RemovableHandle] = []
        self._changed: list[tuple[Any, tuple[int, str]]] = []  # what switches.py replaced for this capture
        self._listener: Callable[[Record, str, Pass], None] | None = None  # takes each record, which is then not kept
        self._way: str | None = None
        self._asked = False
        self._found: list[Stack] | None = None
        self._last: tuple[dict[str, Any] | None, list[Stack], Answer] | None = None

    def _choose(self, pattern: str | None) -> set[torch.nn.Module] | None:
        if pattern is None:
            return None
        try:
            wanted = re.compile(pattern)
        except re.error as wrong:
            raise Error(f"`pattern` '{pattern}': is not a regular expression ({wrong}); see docs/python.md") from None
        chosen = {module for module, name in self._names.items() if wanted.fullmatch(name)}
        if not chosen:
            near = [name for module, name in self._names.items() if "att" in type(module).__name__.lower() and name]
            there = ", ".join(near[:12] or list(filter(None, self._names.values()))[:12])
            raise Error(f"`pattern` '{pattern}': matches no module's whole name; there are {there}"
                        f"{' and more' if len(near) > 12 else ''}")
        self._matched = chosen
        return {inner for module in chosen for inner in module.modules()}

    # -- recording

    def __enter__(self) -> Self:
        way = self.how
        usable = way in (None, "interface") and interface.usable(self.model, self._names)
        way = "interface" if usable else way
        self._frames.opened_by = threading.get_ident()
        self._way = way
        try:
            with switches.lock:
                switches.open_captures.append(self)
            if way in (None, "eager"):  # its hooks come before those that end a call
                modules = list(self._matched) if self._chosen is not None else eager.likely(self)
                eager.begin(self, modules)
            elif self.how is None:
                eager.begin_beside(self)
            self._hook()
            if way == "interface" and not usable:
                raise Error(f"{type(self.model).__name__}: does not use transformers' attention interface; leave `how` "
                            "out")
            if self.how in (None, "interface"):
                interface.begin(self)
            if self.how in (None, "sdpa"):
                patch.begin(self)
            if self._compiled or interface.implementation(self.model) != "flex_attention":
                switches.run_uncompiled(self, needed=self._compiled)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._stop()
        if kind is None and self._listener is None and not any(one.entries for one in self._frames.passes):
            raise Error(self._nothing())

    def _stop(self) -> None:
        with switches.lock:
            if self in switches.open_captures:
                switches.open_captures.remove(self)
        end_all(self._frames.passes)
        interface.end(self)
        patch.end(self)
        switches.run_compiled(self)
        while self._handles:
            self._handles.pop().remove()
        switches.restore(self)

    def _hook(self) -> None:
        """Lets every module that may call attention say when it runs, and the model also when forward() is called."""
        def enter(module: torch.nn.Module, args: tuple[Any, ...], words: dict[str, Any]) -> None:
            self._frames.enter(module, args, words)

        def leave(module: torch.nn.Module, args: tuple[Any, ...], out: Any) -> None:
            self._ended(self._frames.leave(module, out, raised(out)), out)

        alone = isinstance(self.model, torch.nn.MultiheadAttention)  # its forward is replaced already
        calling = set(watched(self._names))
        for module in self._names:
            if module in calling and (module is not self.model or alone):
                self._handles.append(module.register_forward_pre_hook(enter, with_kwargs=True))
                self._handles.append(module.register_forward_hook(leave, always_call=True))
            for name in replaced_of(kind_of(module)):
                switches.replace(self, module, name, functools.partial(REPLACED[name], module))
        self._watch_embeddings()
        if not alone:
            switches.replace(self, self.model, "forward", functools.partial(watched_forward, self.model))

    def _watch_embeddings(self) -> None:
        """Keeps the input embeddings of a pass that has gradients."""
        def keep(module: torch.nn.Module, args: tuple[Any, ...], out: Any) -> None:
            current = self._frames.thread.current
            if current is not None and isinstance(out, torch.Tensor) and out.requires_grad and out.ndim == 3:
                current.embedded = out

        find = getattr(self.model, "get_input_embeddings", None)
        try:
            embeddings = find() if find is not None else None
        except (NotImplementedError, AttributeError):
            embeddings = None  # models without one table of words say so in one of these ways
        if isinstance(embeddings, torch.nn.Module):
            self._handles.append(embeddings.register_forward_hook(keep))

    def _mine(self) -> bool:
        """Whether this thread's calls belong to this capture: it was opened here, or no other one was."""
        here = threading.get_ident()
        if self._frames.opened_by == here:
            return True
        return not any(other._frames.opened_by == here for other in switches.sharing(self.model) if other is not self)

    def _ended(self, one: Pass | None, out: Any) -> None:
        if one is None:
            return
        self._found = None
        if torch.is_grad_enabled():
            one.output = out
        if one.call is not None:
            one.glimpse = glimpse_of(out)
        if self._asked and not one.told.get("output_attentions"):
            for name in RETURNED:
                if getattr(out, name, None) is not None:
                    setattr(out, name, None)  # only this capture asked for them

    def _wants(self, module: torch.nn.Module) -> bool:
        """Whether a call of attention that this module makes now is to be recorded."""
        thread = self._frames.thread
        wanted = thread.current is not None and not thread.deaf and self._frames.wanted(module)
        if wanted and in_vmap():
            raise Error(f"{type(module).__name__}: runs under torch.func.vmap, expected plain tensors; capture the model on a "
                        "batch without vmap")
        return wanted

    def _asked_for_weights(self, words: dict[str, Any]) -> bool:
        """Whether the caller asked the model to return its weights."""
        current = self._frames.thread.current
        told = current.told.get("output_attentions") if current is not None else None
        return bool(words.get("output_attentions") or told or
                    getattr(getattr(self.model, "config", None), "output_attentions", False))

    @property
    def _keeps_inputs(self) -> bool:
        """Whether the queries and keys of records stay until a method asks."""
        return self._keep_what == "inputs" and self._listener is None

    def _keep(self, record: Record, module: torch.nn.Module, way: str, across: bool = False) -> None:
        if record.name or self._keep_what == "maps" or self._listener is not None:
            record = Record(**record.__dict__)
        record.name = self._names[module]
        if self.how is None:
            self.how = way
        if self._listener is None:
            if self._keep_what == "maps" and record.weights is None:
                record = self._fused(record)
            if self._keep_what == "nothing":
                record = record.bare()
            self._frames.note(module, way, record, across)
            return
        current = self._frames.note(module, way, record.bare(), across)
        if current is not None:
            record.sights = current.sights
            unwatched(self._listener)(record, self._layout.place(record.name).stack, current)

    @unwatched
    def _fused(self, record: Record) -> Record:
        maps = [record.map(item, self._fuse, range(record.queries), None, None, nan="keep")
                for item in range(record.batch)]
        return Record(name=record.name, weights=torch.stack(maps), fuse=self._fuse, heads_of_weights=record.heads,
                      mask=record.mask, causal=record.causal)

    # -- what was recorded

    def _nothing(self) -> str:
        name = type(self.model).__name__
        passes = self._frames.passes
        if passes and all(one.failed for one in passes):
            return f"capture of {name}: the model was stopped by an exception, expected a whole pass; run it again"
        if not passes:
            return f"capture of {name}: the model was not run inside the with block; call it there"
        if found := listed_by_hand(hand for one in passes for hand in one.by_hand):
            return f"{name}: no attention was recorded; these compute it by steps of their own: {found}"
        there = [f"{inner} ({type(module).__name__})" for module, inner in self._names.items()
                 if "att" in type(module).__name__.lower()]
        return (f"{name}: no attention was seen, expected scaled_dot_product_attention or modules that return weights; "
                f"{'there are ' + ', '.join(there[:6]) if there else 'it has no module named attention'}")

    def _stacks(self) -> list[Stack]:
        """All stacks that ran."""
        if self._found is None:
            self._found = stacks_of(self._frames.passes, self._layout)
        if not any(run.entries for stack in self._found for run in stack.runs):
            raise Error(self._nothing())
        return self._found

    def _answer(self, **asked: Unpack[AskedWords]) -> Answer:
        """The layers that a question is about: of one stack and one call. A method asks twice: where they are, and for
        them.
        """
        given = {word: value for word, value in asked.items() if value is not None and value != DEFAULTS.get(word)} \
            if asked.get("attention_mask") is None else None
        found = self._stacks()
        if given is None or self._last is None or self._last[:2] != (given, found):
            self._last = given, found, answer_of(self, **asked)
        return self._last[2]

    def _on_device(self, **asked: Unpack[AskedWords]) -> bool:
        return self._answer(**asked).device.type != "cpu"

    def _as_source(self, **asked: Unpack[AskedWords]) -> Source:
        """The capture as a source that the engine reads, map by map."""
        return self._answer(**asked).source()

    def _as_maps(self, **asked: Unpack[AskedWords]) -> Maps:
        """The capture as maps on its device."""
        return self._answer(**asked).maps()

    @property
    def layers(self) -> list[str]:
        """The names of the modules whose attention was recorded in the last call, in the order they ran."""
        last = next((one for one in reversed(self._frames.passes) if one.entries), None)
        if last is None:
            raise Error(self._nothing())
        return [entry.name for entry in last.entries if entry.record is not None]

    @property
    def stacks(self) -> list[str]:
        """The names of the stacks that ran, as `stack` takes them."""
        return [stack.name for stack in self._stacks()]

    def __str__(self) -> str:
        try:
            found = self._stacks()
        except Error as nothing:
            return str(nothing)
        passes = [one for one in self._frames.passes if not one.failed]
        broken = len(self._frames.passes) - len(passes)
        whole = [one for one in passes if one.root == ""]
        made = len({self._frames.lineage(one.generate)[-1] for one in passes if one.generate is not None})
        calls = f"{len(whole)} call{'s' if len(whole) != 1 else ''} of the model"
        calls += f" by {made} generate()" if made else ""
        parts = len(passes) - len(whole)
        calls += f", {parts} of its parts alone" if parts else ""
        head = f"capture of {type(self.model).__name__}: {calls}"
        return head + (f", {broken} stopped by an exception" if broken else "") + listed(found)

    def __repr__(self) -> str:
        seen = sum(len(one.entries) for one in self._frames.passes)
        return f"<headwater.Capture of {type(self.model).__name__}: {seen} attention calls, {self.how}>"
