"""What a question to a capture is about: the layers of one stack in one call, their real positions and tokens."""
from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Mapping, Unpack

import torch
from torch import Tensor

from .. import _engine
from ..arguments import AskedWords
from ..arrays import Kind
from ..errors import Error
from ..image import ImageTokens, named
from ..source import Source, read_words
from .away import move_away
from .images import places_of
from .kernels import Batch, Layer, lies_as_a_batch, multiplies_pairs, sums_to_one
from .maps import Maps, Rows
from .padding import ids_of, is_causal, names_of, real_positions, words_of
from .blocks import Positions
from .record import Record, need_numbers
from .rows import Rows as FewRows, fold
from .layers import by_hand_beside, check_shapes, layers_of
from .stacks import Run, choose, config_of, run_of

if TYPE_CHECKING:
    from .recording import Recording

Mended = dict[tuple[int, int], dict[int, int]]  # of item and layer: how many heads of each row were replaced


@dataclass
class Answer:
    """Records of self attention, [B, n, n] each."""

    name: str
    run: Run
    records: list[Record]
    layers: list[str]
    real: list[Positions]  # of each item
    tokens: list[list[str]]  # of each item
    notes: list[str]
    nan: str
    images: list[list[ImageTokens]]  # of each item

    @property
    def device(self) -> torch.device:
        """Where maps go: layers may lie on several devices, and those of a GPU win."""
        devices = [record.device for record in self.records]
        return next((one for one in devices if one.type != "cpu"), devices[0])

    def rows(self, mended: Mended | None = None) -> Rows:
        """Makes maps. `mended` gets the rows that NaN made the identity's."""
        device, found = self.device, {} if mended is None else mended
        positions: dict[tuple[int, torch.device], Positions] = {}

        def rows(item: int, layer: int, fuse: str, first: int, count: int) -> Tensor:
            record, keep = self.records[layer], self.real[item]
            if keep is not None and not len(keep):
                raise Error(f"{self.name}: item {item} is all padding, expected a token; leave it out, or ask for the "
                            "others with `item`")
            if keep is not None and keep.device != record.device:
                keep = positions.setdefault((item, record.device), keep.to(record.device))
            counts = found.setdefault((item, layer), {})
            return record.map(item, fuse, range(first, first + count), keep, keep, self.nan, counts).to(device)

        return rows

    def notes_of(self, mended: Mended, item: int) -> list[str]:
        """The notes on an item's result, once its maps are made. Counting starts again for the next result."""
        own = [place for place in mended if place[0] == item]
        count = sum(sum(mended.pop(place).values()) for place in own)
        return self.notes + ([f"{count} row(s) of heads with NaN or infinite weights became identity rows"] if count
                             else [])

    @property
    def heads(self) -> list[int]:
        return [record.heads for record in self.records]

    @property
    def length(self) -> int:
        return self.records[0].queries

    def source(self) -> Source:
        """For the engine, which reads it map by map."""
        mended: Mended = {}
        made = self.rows(mended)

        def rows(item: int, layer: int, fuse: str, first: int, count: int) -> Tensor:
            return made(item, layer, fuse, first, count).cpu()

        longest = max(range(len(self.tokens)), key=lambda item: len(self.tokens[item]))
        real = self.real[longest]
        causal = is_causal(self.records[0], longest, real if real is None else real.to(self.records[0].device))
        inputs = _engine.from_rows(rows, [words or ["<padding>"] for words in self.tokens], self.heads, self.name,
                                   self.length, causal, partial(self.notes_of, mended))
        return Source(inputs, Kind(torch.empty(0, device=self.device)), self.name, images=self.images)

    def maps(self) -> Maps:
        """For torch, on a device."""
        if self.device.type == "cuda":
            need_numbers(self.records)  # kernels use queries and keys without checks

        def lower(item: int) -> bool:
            return all(record.looks_back(item, self.real[item]) for record in self.records)

        mended: Mended = {}

        def folded(item: int, layer: int, rows: FewRows, options: Mapping[str, Any], as_it_is: bool,
                   given: bool) -> FewRows | None:
            record, keep = self.records[layer], self.real[item]
            keep = keep if keep is None else keep.to(record.device)
            return fold(record, item, keep, rows, options, as_it_is, given)

        def kernel(item: int, layer: int) -> Layer:
            record, keep = self.records[layer], self.real[item]
            return Layer(record, item, keep if keep is None else keep.to(record.device))

        def batch(items: range, layer: int, padding: Tensor | None) -> Layer:
            return Batch(self.records[layer], items, padding)

        one_place = len({record.device for record in self.records}) == 1
        sums = one_place and self.device.type == "cuda" and all(map(sums_to_one, self.records))
        return Maps(self.rows(mended), [words or ["<padding>"] for words in self.tokens], self.heads, self.name, self.device,
                    self.length, len(self.tokens) > 1, **({"lower": lower} if one_place else {}),
                    coarse=all(record.is_half for record in self.records), notes=partial(self.notes_of, mended),
                    images=self.images, real=self.real, make_room=partial(move_away, self.records, self.run.entries),
                    batches=batch if sums and all(map(lies_as_a_batch, self.records)) else None,
                    fold=folded if self.device.type == "cuda" else None,
                    kernels=kernel if sums and multiplies_pairs(self.device) else None)


def layers_asked(seen: Recording, whole: bool = True, **asked: Unpack[AskedWords]) -> tuple[Run, list[Record], list[str], list[str]]:
    """The run that a question is about, with the records and the names of its layers, and notes. `whole`: all attention of the
    layers must have been recorded.
    """
    missing, repeated = asked.get("missing") or "error", asked.get("repeated") or "error"
    for word, value, other in (("missing", missing, "residual"), ("repeated", repeated, "layers")):
        if value not in ("error", other):
            raise Error(f"unknown {word} '{value}'; there are error and {other}")
    stack = choose(seen._stacks(), asked.get("stack"), seen.model)
    run = run_of(stack, asked.get("call"), seen.model)
    modules = {name: module for module, name in seen._names.items()}
    records, layers, notes = layers_of(run, modules, missing, repeated, seen._chosen is not None)
    check_shapes(run, records, layers, getattr(config_of(run.stack, modules), "altup_num_inputs", None))
    if whole and seen._chosen is None:
        notes += by_hand_beside(run, asked.get("stack") is None and len(seen._stacks()) == 1, missing)
    return run, records, layers, notes


def answer_of(seen: Recording, whole: bool = True, **asked: Unpack[AskedWords]) -> Answer:
    nan = asked.get("nan") or "error"
    read_words("checked", nan)
    run, records, layers, notes = layers_asked(seen, whole, **asked)
    first = next(entry for entry in run.entries if entry.record is not None)
    assert first.record is not None
    if any(record.dropout for record in records):
        notes.append("the model ran with dropout; these are its probabilities before dropout")
    given = asked.get("attention_mask")
    given = seen._attention_mask if given is None else given
    real, noted = real_positions(first.record, first.told, given)
    ids = ids_of(first.told, first.record.batch, first.record.queries)
    tokens = words_of(asked.get("tokens"), real, first.record.queries, names_of(ids, seen._tokenizer, real))
    images = places_of(ids, first.told, getattr(seen.model, "config", None), real)
    if asked.get("tokens") is None:
        tokens = [named(words, places) for words, places in zip(tokens, images)]
    return Answer(type(seen.model).__name__, run, records, layers, real, tokens, [*notes, *noted], nan, images)

