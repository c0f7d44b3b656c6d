"""What a capture does while the model runs: it hooks the model, keeps records, and gives them to the methods."""
from __future__ import annotations

import re
from types import TracebackType
from typing import Any, Callable, Self, Sequence

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from .. import _engine
from ..arrays import Kind
from ..errors import Error
from ..protocols import Tokenizer
from ..source import Source, token_lists
from . import eager, interface, patch
from .padding import Positions, arguments_of, lengths, names_of, real_positions
from .record import Record
from .stack import Rows, Stack

WAYS = ("interface", "sdpa", "eager")
CROSS = re.compile(r"cross|encdec|encoder_attn|multihead_attn", re.IGNORECASE)


def check_model(model: object) -> None:
    if not isinstance(model, torch.nn.Module):
        raise Error(f"capture of {type(model).__name__}: expected a PyTorch model, a torch.nn.Module; give the model "
                    "itself")


class Pass:
    """One call of the model: what it was told of tokens and padding, its records, its output."""

    def __init__(self, told: dict[str, Any]):
        self.told = told
        self.records: list[Record] = []
        self.sights: dict[Any, Any] = {}
        self.output: Any = None


class Recording:
    """The attention of a model while it runs: a context manager around its calls."""

    def __init__(self, model: torch.nn.Module, *, how: str | None = None, fuse: str = "mean",
                 pattern: str | None = None, tokenizer: Tokenizer | None = None, attention_mask: Any = None,
                 keep: str = "inputs"):
        check_model(model)
        if how is not None and how not in WAYS:
            raise Error(f"unknown how '{how}'; there are {', '.join(WAYS)}")
        if keep not in ("inputs", "maps"):
            raise Error(f"unknown keep '{keep}'; there are inputs and maps")
        _engine.Options(fuse=fuse)
        self.model, self._fuse, self._tokenizer, self._keep_what = model, fuse, tokenizer, keep
        self.how: str | None = how
        self._names = {module: name for name, module in model.named_modules()}
        self._chosen = self._choose(pattern)
        self._attention_mask = attention_mask
        self._passes: list[Pass] = []
        self._running: list[torch.nn.Module] = []  # the modules in their forward, the innermost last
        self._handles: list[RemovableHandle] = []
        self._restore: list[tuple[Any, str, Any]] = []  # owner, attribute, what it was; None: it was not set
        self._listener: Callable[[Record, Pass], None] | None = None  # takes each record, which is then not kept
        self._way: str | None = None
        self._asked = False
        self._depth = 0
        self._ways: list[str] = []

    def _choose(self, pattern: str | None) -> set[torch.nn.Module] | None:
        self._matched: set[torch.nn.Module] = set()
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
        if way is None and interface.usable(self.model):
            way = "interface"
        try:
            self._handles.append(self.model.register_forward_pre_hook(self._before, with_kwargs=True, prepend=True))
            self._handles.append(self.model.register_forward_hook(self._after, always_call=True))
            if way == "interface":
                if not interface.usable(self.model):
                    raise Error(f"{type(self.model).__name__}: does not use transformers' attention interface; leave "
                                "`how` out")
                interface.begin(self)
            if way in (None, "sdpa"):
                patch.begin(self)
            if way in (None, "eager"):
                modules = list(self._matched) if self._chosen is not None else eager.likely(self)
                eager.begin(self, modules, ask=True)
        except BaseException:
            self._stop()
            raise
        self._way = way
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._stop()
        if kind is None and not any(one.records for one in self._passes) and self._listener is None:
            raise Error(self._nothing())

    def _stop(self) -> None:
        interface.end(self)
        patch.end(self)
        while self._handles:
            self._handles.pop().remove()
        while self._restore:
            owner, name, value = self._restore.pop()
            if value is None:
                owner.__dict__.pop(name, None)
            else:
                setattr(owner, name, value)
        self._running.clear()

    def _nothing(self) -> str:
        name = type(self.model).__name__
        if not self._passes:
            return f"capture of {name}: the model was not run inside the with block; call it there"
        there = [f"{inner} ({type(module).__name__})" for module, inner in self._names.items()
                 if "att" in type(module).__name__.lower()]
        return (f"{name}: no attention was seen, expected scaled_dot_product_attention or modules that return weights; "
                f"{'there are ' + ', '.join(there[:6]) if there else 'it has no module named attention'}")

    def _before(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._depth += 1
        if self._depth == 1:
            self._passes.append(Pass(arguments_of(module, args, kwargs)))

    def _after(self, module: torch.nn.Module, args: tuple[Any, ...], out: Any) -> None:
        self._depth = max(0, self._depth - 1)
        if self._depth == 0 and self._passes:
            if torch.is_grad_enabled():
                self._passes[-1].output = out
            if self._asked and not self._passes[-1].told.get("output_attentions"):
                for name in ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions"):
                    if getattr(out, name, None) is not None:
                        setattr(out, name, None)  # only this capture asked for them

    def _wants(self, module: torch.nn.Module) -> bool:
        return module in self._names and (self._chosen is None or module in self._chosen)

    def _asked_for_weights(self, words: dict[str, Any]) -> bool:
        """Whether the caller wants the model to return its weights."""
        told = self._passes[-1].told.get("output_attentions") if self._passes else None
        return bool(words.get("output_attentions") or told or
                    getattr(getattr(self.model, "config", None), "output_attentions", False))

    def _current(self) -> Pass:
        """The call of the model that is running."""
        if not self._passes:
            self._passes.append(Pass({}))
        return self._passes[-1]

    def _keep(self, record: Record, module: torch.nn.Module) -> None:
        current = self._current()
        if record.name or self._keep_what == "maps" or self._listener is not None:
            record = Record(**record.__dict__)
        record.name = self._names[module]
        record.sights = current.sights
        way = "interface" if self._way == "interface" else "eager" if record.weights is not None else "sdpa"
        if not self._ways and self.how is None:
            self.how = way
        multihead = isinstance(module, torch.nn.MultiheadAttention)
        if self._way is None and way != (self._ways or [way])[0] and not multihead:
            return  # the same attention, seen a second time
        self._ways.append(way)
        if self._keep_what == "maps" and record.weights is None:
            record = self._fused(record)
        if self._listener is not None:
            self._listener(record, current)
        else:
            current.records.append(record)

    def _fused(self, record: Record) -> Record:
        maps = [record.map(item, self._fuse, range(record.queries), None, None) for item in range(record.batch)]
        return Record(name=record.name, weights=torch.stack(maps), fuse=self._fuse, heads_of_weights=record.heads)

    # -- what was recorded

    def _call(self, call: int = -1) -> Pass:
        there = [one for one in self._passes if one.records]
        if not there:
            raise Error(self._nothing())
        if not -len(there) <= call < len(there):
            raise Error(f"capture: has no call {call}, expected 0 to {len(there) - 1}; choose another")
        return there[call]

    def _self_attention(self, call: int = -1) -> list[Record]:
        """The records of self attention; of an encoder-decoder model, the encoder's."""
        records = [record for record in self._call(call).records if not CROSS.search(record.name)]
        square = [record for record in records if record.queries == record.keys]
        if not square:
            raise Error("capture: holds single steps of generate() only, expected a forward pass over all tokens; ask "
                        ".generation() for them")
        sizes = {record.queries for record in square}
        if len(sizes) > 1 or getattr(getattr(self.model, "config", None), "is_encoder_decoder", False):
            side = [record for record in square if "encoder" in record.name.split(".")]
            if side:
                return side
        if len(sizes) > 1:
            raise Error(f"capture: its layers have {', '.join(map(str, sorted(sizes)))} tokens, expected as many in "
                        "each; choose some with `pattern`")
        return square

    def _on_device(self) -> bool:
        return any(one.records for one in self._passes) and self._self_attention()[0].device.type != "cpu"

    def _parts(self, tokens: Sequence[Any] | None, call: int,
               attention_mask: Any = None) -> tuple[list[Record], list[Positions], list[list[str]]]:
        """The records of self attention, the real positions of each item, and the tokens of each item."""
        one = self._call(call)
        records = self._self_attention(call)
        first = records[0]
        told = self._attention_mask if self._attention_mask is not None else one.told.get("attention_mask")
        told = told if attention_mask is None else attention_mask
        real = real_positions(told, first.batch, first.queries, first.device)
        named = names_of(one.told.get("input_ids"), self._tokenizer, real, first.queries)
        return records, real, self._tokens(tokens, real, first, named)

    def _tokens(self, tokens: Sequence[Any] | None, real: list[Positions], first: Record,
                named: list[list[str]] | None) -> list[list[str]]:
        sizes = lengths(real, first.queries)
        lists = token_lists(tokens)
        if not lists:
            return named or [[str(j) for j in range(size)] for size in sizes]
        if len(lists) not in (1, first.batch):
            raise Error(f"capture: {len(lists)} lists of tokens were given, expected {first.batch}, one for each "
                        "item; give one list, or one for each")
        out = []
        for item, size in enumerate(sizes):
            words = lists[item if len(lists) > 1 else 0]
            keep = real[item]
            if len(words) == first.queries and keep is not None:
                words = [words[j] for j in keep.tolist()]
            if len(words) != size:
                raise Error(f"capture: {len(words)} tokens were given, expected {size}, one for each position of "
                            f"item {item}; give those of the same input")
            out.append(words)
        return out

    def _rows(self, records: list[Record], real: list[Positions]) -> Rows:
        def rows(item: int, layer: int, fuse: str, first: int, count: int) -> Tensor:
            return records[layer].map(item, fuse, range(first, first + count), real[item], real[item])
        return rows

    def _as_source(self, *, tokens: Any = None, attention_mask: Any = None, call: int = -1) -> Source:
        """The capture as a source that the engine reads, map by map."""
        records, real, names = self._parts(tokens, call, attention_mask)
        device_rows = self._rows(records, real)

        def rows(item: int, layer: int, fuse: str, first: int, count: int) -> Tensor:
            return device_rows(item, layer, fuse, first, count).cpu()

        name = type(self.model).__name__
        inputs = _engine.from_rows(rows, names, [record.heads for record in records], name, records[0].queries,
                                   records[0].causal)
        return Source(inputs, Kind(torch.empty(0, device=records[0].device)), name)

    def _as_stack(self, *, tokens: Any = None, attention_mask: Any = None, call: int = -1) -> Stack:
        """The capture as maps on its device."""
        records, real, names = self._parts(tokens, call, attention_mask)

        def lower(item: int) -> bool:
            return all(record.looks_back(item, real[item]) for record in records)

        return Stack(self._rows(records, real), names, [record.heads for record in records], type(self.model).__name__,
                     records[0].device, records[0].queries, len(names) > 1, lower=lower,
                     coarse=all(record.is_half for record in records))

    @property
    def layers(self) -> list[str]:
        """The names of the modules whose attention was recorded in the last call, in the order they ran."""
        return [record.name for record in self._call().records]

    def __repr__(self) -> str:
        seen = sum(len(one.records) for one in self._passes)
        return f"<headwater.Capture of {type(self.model).__name__}: {seen} attention calls, {self.how}>"
