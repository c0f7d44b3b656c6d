"""Attention out of a running PyTorch model, without eager attention and without heads x n x n."""
from __future__ import annotations

import re
import sys
from typing import Any

import torch

from .. import _engine
from .._engine import Error
from ..arrays import Kind
from ..device import Stack
from ..source import Source, token_lists
from . import eager, interface, patch
from .padding import arguments_of, lengths, names_of, real_positions
from .record import Record

WAYS = ("interface", "sdpa", "eager")
CROSS = re.compile(r"cross|encdec|encoder_attn|multihead_attn", re.IGNORECASE)


def capture(model: Any, *, how: str | None = None, fuse: str = "mean", pattern: str | None = None,
            tokenizer: Any = None, attention_mask: Any = None, keep: str = "inputs") -> "Capture":
    """Records the attention of `model` while it runs: `with headwater.capture(model) as seen: model(**inputs)`.

    `how`: 'interface' (transformers' registry), 'sdpa' (a patch of scaled_dot_product_attention), 'eager' (hooks on
    modules that return their weights); by itself the first that serves the model, and `seen.how` tells. `pattern` is
    a regular expression; only modules whose whole name it matches are recorded. `tokenizer` names the tokens by the
    model's input_ids. `attention_mask` [B, n] says what is padding where the model is not told. `keep='inputs'`
    keeps Q and K of each layer, any `fuse` can be asked for later, and memory is linear in n; `keep='maps'` keeps
    one n x n map a layer, fused by `fuse`.

    Inside, the model's output, its backward pass and its speed paths stay what they are; without gradients, in float32
    on the CPU, the engine may compute attention in place of sdpa, and the output is the same within rounding. Raises
    headwater.Error.
    """
    return Capture(model, how=how, fuse=fuse, pattern=pattern, tokenizer=tokenizer, attention_mask=attention_mask,
                   keep=keep)


def check_model(model: Any) -> None:
    if not isinstance(model, torch.nn.Module):
        raise Error(f"capture of {type(model).__name__}: expected a PyTorch model, a torch.nn.Module; give the model "
                    "itself")


class Pass:
    """One call of the model: its records, and what is padding in it."""

    def __init__(self, told: dict[str, Any]):
        self.told = told
        self.records: list[Record] = []
        self.sights: dict[Any, Any] = {}
        self.output: Any = None


class Capture:
    """What a model's attention was; open as a context manager, then ask: rollout, flow, average, raw, metrics,
    compare, gradient, generation, encoder_decoder.
    """

    def __init__(self, model: Any, *, how: str | None, fuse: str, pattern: str | None, tokenizer: Any,
                 attention_mask: Any, keep: str):
        check_model(model)
        if how is not None and how not in WAYS:
            raise Error(f"unknown how '{how}'; there are {', '.join(WAYS)}")
        if keep not in ("inputs", "maps"):
            raise Error(f"unknown keep '{keep}'; there are inputs and maps")
        _engine.Options(fuse=fuse)
        self.model, self.fuse, self.tokenizer, self.keep_what = model, fuse, tokenizer, keep
        self.how: str | None = how
        self.names = {module: name for name, module in model.named_modules()}
        self.chosen = self._choose(pattern)
        self.attention_mask = attention_mask
        self.passes: list[Pass] = []
        self.running: list[Any] = []
        self.handles: list[Any] = []
        self.restore: list[tuple[Any, str, Any]] = []
        self.listener: Any = None  # called with each record instead of keeping it
        self.asked = False
        self._depth = 0
        self._ways: list[str] = []

    def _choose(self, pattern: str | None) -> set[Any] | None:
        if pattern is None:
            return None
        try:
            wanted = re.compile(pattern)
        except re.error as wrong:
            raise Error(f"pattern '{pattern}': is no regular expression ({wrong}); see docs/python.md") from None
        chosen = {module for module, name in self.names.items() if wanted.fullmatch(name)}
        if not chosen:
            near = [name for module, name in self.names.items() if "att" in type(module).__name__.lower() and name]
            there = ", ".join(near[:12] or list(filter(None, self.names.values()))[:12])
            raise Error(f"pattern '{pattern}': matches no module, expected the whole name of some; there are {there}"
                        f"{' and more' if len(near) > 12 else ''}")
        self.matched = chosen
        return {inner for module in chosen for inner in module.modules()}

    # -- recording

    def __enter__(self) -> "Capture":
        way = self.how
        if way is None and interface.usable(self.model):
            way = "interface"
        try:
            self.handles.append(self.model.register_forward_pre_hook(self._before, with_kwargs=True, prepend=True))
            self.handles.append(self.model.register_forward_hook(self._after, always_call=True))
            if way == "interface":
                if not interface.usable(self.model):
                    raise Error(f"{type(self.model).__name__}: does not use transformers' attention interface; leave "
                                "out how")
                interface.begin(self)
            if way in (None, "sdpa"):
                patch.begin(self)
            if way in (None, "eager"):
                modules = list(self.matched) if self.chosen is not None else eager.likely(self)
                eager.begin(self, modules, ask=True)
        except BaseException:
            self._stop()
            raise
        self._way = way
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._stop()
        if kind is None and not any(one.records for one in self.passes) and self.listener is None:
            raise Error(self.nothing())

    def _stop(self) -> None:
        interface.end(self)
        patch.end(self)
        while self.handles:
            self.handles.pop().remove()
        while self.restore:
            owner, name, value = self.restore.pop()
            if value is None:
                owner.__dict__.pop(name, None)
            else:
                setattr(owner, name, value)
        self.running.clear()

    def nothing(self) -> str:
        name = type(self.model).__name__
        if not self.passes:
            return f"capture of {name}: the model was not run, expected a call inside the with block; call it there"
        there = [f"{inner} ({type(module).__name__})" for module, inner in self.names.items()
                 if "att" in type(module).__name__.lower()]
        return (f"{name}: no attention was seen, expected scaled_dot_product_attention or modules that return weights; "
                f"{'there are ' + ', '.join(there[:6]) if there else 'it has no module called attention'}")

    def _before(self, module: Any, args: Any, kwargs: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self.passes.append(Pass(arguments_of(module, args, kwargs)))

    def _after(self, module: Any, args: Any, out: Any) -> Any:
        self._depth = max(0, self._depth - 1)
        if self._depth == 0 and self.passes:
            if torch.is_grad_enabled():
                self.passes[-1].output = out
            if self.asked and not self.passes[-1].told.get("output_attentions"):
                for name in ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions"):
                    if getattr(out, name, None) is not None:
                        setattr(out, name, None)  # nobody but this capture asked for them
        return None

    def wants(self, module: Any) -> bool:
        return module in self.names and (self.chosen is None or module in self.chosen)

    def asked_for_weights(self, words: dict[str, Any]) -> bool:
        """Whether somebody wants the heads' weights from the model itself."""
        told = self.passes[-1].told.get("output_attentions") if self.passes else None
        return bool(words.get("output_attentions") or told or
                    getattr(getattr(self.model, "config", None), "output_attentions", False))

    def current(self) -> Pass:
        """The call of the model that is going on."""
        if not self.passes:
            self.passes.append(Pass({}))
        return self.passes[-1]

    def keep(self, record: Record, module: Any) -> None:
        current = self.current()
        if record.name or self.keep_what == "maps" or self.listener is not None:
            record = Record(**record.__dict__)
        record.name = self.names[module]
        record.sights = current.sights
        way = "interface" if self._way == "interface" else "eager" if record.weights is not None else "sdpa"
        if not self._ways and self.how is None:
            self.how = way
        multihead = isinstance(module, torch.nn.MultiheadAttention)
        if self._way is None and way != (self._ways or [way])[0] and not multihead:
            return  # the same attention, seen a second time on its way out
        self._ways.append(way)
        if self.keep_what == "maps" and record.weights is None:
            record = self._fused(record)
        if self.listener is not None:
            self.listener(record, current)
        else:
            current.records.append(record)

    def _fused(self, record: Record) -> Record:
        maps = [record.map(item, self.fuse, range(record.queries), None, None) for item in range(record.batch)]
        return Record(name=record.name, weights=torch.stack(maps), fuse=self.fuse, heads_of_weights=record.heads)

    # -- what was recorded

    def call(self, call: int = -1) -> Pass:
        there = [one for one in self.passes if one.records]
        if not there:
            raise Error(self.nothing())
        if not -len(there) <= call < len(there):
            raise Error(f"capture: has no call {call}, expected 0 to {len(there) - 1}; choose another")
        return there[call]

    def self_attention(self, call: int = -1) -> list[Record]:
        """The records of tokens over themselves; of an encoder-decoder model those of the encoder."""
        records = [record for record in self.call(call).records if not CROSS.search(record.name)]
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
                        "each; choose some with pattern=")
        return square

    def on_device(self) -> bool:
        return any(one.records for one in self.passes) and self.self_attention()[0].device.type != "cpu"

    def _parts(self, tokens: Any, call: int, records: list[Record] | None,
               attention_mask: Any = None) -> tuple[Any, ...]:
        one = self.call(call)
        records = self.self_attention(call) if records is None else records
        first = records[0]
        told = self.attention_mask if self.attention_mask is not None else one.told.get("attention_mask")
        told = told if attention_mask is None else attention_mask
        real = real_positions(told, first.batch, first.queries, first.device)
        named = names_of(one.told.get("input_ids"), self.tokenizer, real, first.queries)
        return records, real, self._tokens(tokens, real, first, named)

    def _tokens(self, tokens: Any, real: list[Any], first: Record, named: Any) -> list[list[str]]:
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
            if len(words) == first.queries and real[item] is not None:
                words = [words[j] for j in real[item].tolist()]
            if len(words) != size:
                raise Error(f"capture: {len(words)} tokens were given, expected {size}, one for each position of "
                            f"item {item}; give those of the same input")
            out.append(words)
        return out

    def _rows(self, records: list[Record], real: list[Any]) -> Any:
        def rows(item: int, layer: int, fuse: str, first: int, count: int) -> Any:
            return records[layer].map(item, fuse, range(first, first + count), real[item], real[item])
        return rows

    def as_source(self, *, tokens: Any = None, attention_mask: Any = None, call: int = -1) -> Source:
        """The capture as a source that the engine reads, map by map."""
        records, real, names = self._parts(tokens, call, None, attention_mask)
        rows = self._rows(records, real)
        if records[0].device.type != "cpu":
            device_rows = rows
            rows = lambda *words: device_rows(*words).cpu()
        name = type(self.model).__name__
        inputs = _engine.from_rows(rows, names, [record.heads for record in records], name, records[0].queries,
                                   records[0].causal)
        return Source(inputs, Kind(torch.empty(0, device=records[0].device)), name)

    def as_stack(self, *, tokens: Any = None, attention_mask: Any = None, call: int = -1) -> Stack:
        records, real, names = self._parts(tokens, call, None, attention_mask)

        def lower(item: int) -> bool:
            return all(record.looks_back(item, real[item]) for record in records)

        return Stack(self._rows(records, real), names, [record.heads for record in records], type(self.model).__name__,
                     records[0].device, records[0].queries, len(names) > 1, lower=lower,
                     coarse=all(record.is_half for record in records))

    @property
    def layers(self) -> list[str]:
        """The names of the modules whose attention was recorded in the last call, in the order in which they ran."""
        return [record.name for record in self.call().records]

    # -- methods

    def _ask(self, method: str, words: dict[str, Any]) -> Any:
        from .. import methods
        words.setdefault("fuse", None if self.keep_what == "inputs" or "head" in words else self.fuse)
        return getattr(methods, method)(self, **words)

    def rollout(self, **words: Any) -> Any:
        """headwater.rollout of what was recorded; tokens= names the tokens, call= chooses among calls of the model."""
        return self._ask("rollout", words)

    def flow(self, **words: Any) -> Any:
        return self._ask("flow", words)

    def average(self, **words: Any) -> Any:
        return self._ask("average", words)

    def raw(self, **words: Any) -> Any:
        return self._ask("raw", words)

    def metrics(self, **words: Any) -> Any:
        return self._ask("metrics", words)

    def compare(self, **words: Any) -> Any:
        return self._ask("compare", words)

    def maps(self, *, fuse: str = "mean", item: int = 0, call: int = -1) -> list[Any]:
        """The fused maps of an item, a tensor [n, n] for each layer: raw, nothing added."""
        records, real, _ = self._parts(None, call, None)
        if not -len(real) <= item < len(real):
            raise Error(f"capture: has no item {item}, expected 0 to {len(real) - 1} (or -1 for the last); choose "
                        "another")
        item = range(len(real))[item]
        return [record.map(item, fuse, range(lengths(real, record.queries)[item]), real[item], real[item])
                for record in records]

    def gradient(self, target: Any = "best", **words: Any) -> Any:
        """Attention times its gradient for an output: see headwater.capturing.gradient."""
        from .gradient import gradient
        return gradient(self, target, **words)

    def generation(self, **words: Any) -> Any:
        """Rollout rows of every token that generate() made, over the prompt: headwater.generation."""
        from ..generated import of_capture
        return of_capture(self, **words)

    def encoder_decoder(self, **words: Any) -> Any:
        """Decoder rows over target and source tokens: headwater.encoder_decoder."""
        from ..trios import of_capture
        return of_capture(self, **words)

    def __repr__(self) -> str:
        seen = sum(len(one.records) for one in self.passes)
        return f"<headwater.Capture of {type(self.model).__name__}: {seen} attention calls, {self.how}>"
