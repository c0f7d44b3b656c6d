"""Queries and keys in the host's memory, for texts whose layers do not all fit on the GPU.

While the model runs, a layer's Q and K are copied to pinned memory beside the computation. A method gets them back layer
by layer, and the next layer's copy begins when it takes one, so that at most two layers are on the GPU.
"""
from __future__ import annotations

from typing import Any, Iterable

import torch
from torch import Tensor

from .memory import free_bytes, is_out_of_memory
from .passes import Entry
from .record import Record

LARGE = 64 << 20  # bytes of a layer's queries: below, a look at the free memory costs more than it can save
# Free memory that stays for the model, in sizes of a layer's queries: its widest activations take about 20.
ROOM = 24

_streams: dict[torch.device, torch.cuda.Stream] = {}


def stream_of(device: torch.device) -> torch.cuda.Stream:
    """A stream for copies alone."""
    if device not in _streams:
        _streams[device] = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    return _streams[device]


def is_short(record: Record) -> bool:
    """Whether the device has too little memory left to keep a record's queries and keys there."""
    size = record.q.numel() * record.q.element_size()
    return record.q.is_cuda and size >= LARGE and free_bytes(record.device) < ROOM * size + (1 << 30)


def put_away(record: Record) -> Record:
    """The record, or one like it whose queries and keys are in the host's memory if the device's is short."""
    if record.query is None or record.key is None or record.value is not None or record.q.requires_grad or \
            not is_short(record):
        return record
    try:
        return Away(record)
    except RuntimeError as wrong:
        if not is_out_of_memory(wrong):
            raise
        return record  # the host has no memory either


def move_away(records: list[Record], entries: Iterable[Entry]) -> bool:
    """Moves the queries and keys of records on a GPU to the host's memory, also where `entries` keep them. Whether any
    went.
    """
    moved = False
    for place, record in enumerate(records):
        if isinstance(record, Away) or record.query is None or record.key is None or record.value is not None or \
                not record.query.is_cuda:
            continue
        records[place] = away = Away(record)
        away.note_state()
        moved = True
        for entry in entries:
            entry.record = away if entry.record is record else entry.record
    if moved:
        torch.cuda.empty_cache()
    return moved


class Away(Record):
    """A record whose queries and keys are in the host's memory."""

    def __init__(self, record: Record):
        query, key = record.q.detach(), record.k.detach()
        nothing = torch.zeros((), dtype=query.dtype, device=query.device)
        fields: dict[str, Any] = dict(record.__dict__)
        fields |= dict(query=nothing.expand(query.shape), key=nothing.expand(key.shape))
        super().__init__(**fields)
        self._stream = stream_of(query.device)
        self._stream.wait_stream(torch.cuda.current_stream(query.device))
        with torch.cuda.stream(self._stream):
            self._host = [self._copied(query), self._copied(key)]
        self._there: tuple[Tensor, Tensor, torch.cuda.Event] | None = None
        self._all: list[Away] = self.sights.setdefault("away", [])  # of this pass, in the order they ran
        self._all.append(self)

    def _copied(self, tensor: Tensor) -> Tensor:
        host = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, pin_memory=True)
        host.copy_(tensor, non_blocking=True)
        tensor.record_stream(self._stream)
        return host

    def _begin(self) -> tuple[Tensor, Tensor, torch.cuda.Event]:
        """Starts the copy to the device."""
        if self._there is None:
            with torch.cuda.stream(self._stream):
                query, key = (host.to(self.device, non_blocking=True) for host in self._host)
                event = torch.cuda.Event()  # type: ignore[no-untyped-call]
                event.record(self._stream)
            self._there = query, key, event
        return self._there

    def _fetched(self) -> tuple[Tensor, Tensor]:
        """Queries and keys on the device. Layers are taken from one end to the other, so the next one is known."""
        at = next(k for k, one in enumerate(self._all) if one is self)
        came_from_below = at > 0 and self._all[at - 1]._there is not None and \
            (at + 1 == len(self._all) or self._all[at + 1]._there is None)
        query, key, event = self._begin()
        after = at + 1 if came_from_below else at - 1
        for k, one in enumerate(self._all):
            if k not in (at, after):
                one._there = None
        if 0 <= after < len(self._all):
            self._all[after]._begin()
        current = torch.cuda.current_stream(self.device)
        current.wait_event(event)
        query.record_stream(current)
        key.record_stream(current)
        return query, key

    @property
    def q(self) -> Tensor:
        return self._fetched()[0]

    @property
    def k(self) -> Tensor:
        return self._fetched()[1]

    @property
    def keys(self) -> int:
        assert self.key is not None
        return self.key.shape[-2]

    def leave_cache(self, before: int) -> None:
        """The keys are already a copy."""
