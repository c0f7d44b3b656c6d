"""Captures of generate() and of encoder-decoder models, as the attention that `headwater.generation` and
`headwater.encoder_decoder` take from outputs.
"""
from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ..arrays import Kind, NumPyArray, to_numpy
from ..encoder_decoder import EncoderDecoder, Maps, compose
from ..errors import Error
from ..generated import Generation, Map, Step, follow, mask_of, places_of, prompt_of
from .padding import Positions, real_positions
from .record import Record
from .recording import CROSS, Recording


def generation(seen: Recording, prompt: Sequence[str] | None, generated: Sequence[str] | None, item: int, position: str,
               beam_indices: Any, words: Mapping[str, Any]) -> Generation:
    """Generation of a captured model.generate()."""
    passes = [one for one in seen._passes if one.records]
    if not passes:
        seen._call()
    steps = [[record for record in one.records if not CROSS.search(record.name)] for one in passes]
    first = steps[0][0]
    places = places_of(beam_indices, item, len(steps), first.batch)
    check_places([records[0] for records in steps], places)

    def map_of(record: Record, place: int) -> Map:
        return lambda fuse: rows_of(record, place, fuse, None)

    maps = [Step(records[0].queries, [map_of(record, place) for record in records])
            for records, place in zip(steps, places)]
    told = passes[0].told
    mask = seen._attention_mask if seen._attention_mask is not None else told.get("attention_mask")
    if mask is not None and mask.shape[-1] != first.queries:
        mask = None
    mask = mask_of(mask, prompt_of(places, first.batch, mask))
    if prompt is None and seen._tokenizer is not None and told.get("input_ids") is not None:
        ids = to_numpy(told["input_ids"][places[0]])
        prompt = seen._tokenizer.convert_ids_to_tokens((ids if mask is None else ids[mask]).tolist())
    return follow(maps, Kind(first.kept), prompt, generated, mask, position, words)


def rows_of(record: Record, place: int, fuse: str, columns: Positions) -> NumPyArray:
    rows: NumPyArray = record.map(place, fuse, range(record.queries), None, columns).cpu().numpy()
    return rows


def check_places(records: list[Record], places: list[int]) -> None:
    """Raises if the keys of a step are not those of the step before: then another text took over the row."""
    for k in range(1, len(places)):
        before, now = records[k - 1], records[k]
        if before.key is None or now.key is None or now.keys != before.keys + now.queries:
            continue
        if not bool((now.key[places[k], :, before.keys - 1] == before.key[places[k - 1], :, -1]).all()):
            raise Error("capture: its texts changed places between steps, as in a beam search; give the beam_indices "
                        "that generate(..., return_dict_in_generate=True, output_scores=True) returned, or use "
                        "num_beams=1")


def sides_of(seen: Recording) -> dict[str, list[list[Record]]]:
    """The records of encoder, decoder and cross attention, a list for each call of the model."""
    sides: dict[str, list[list[Record]]] = dict(encoder=[], decoder=[], cross=[])
    for one in seen._passes:
        found: dict[str, list[Record]] = dict(encoder=[], decoder=[], cross=[])
        for record in one.records:
            side = "encoder" if "encoder" in record.name.split(".") else "decoder"
            found["cross" if CROSS.search(record.name) else side].append(record)
        for side, records in found.items():
            if records:
                sides[side].append(records)
    if not all(sides.values()):
        raise Error(f"{type(seen.model).__name__}: is no encoder-decoder model, expected encoder, decoder and cross "
                    "attention; use .rollout() instead")
    return sides


def encoder_decoder(seen: Recording, source_tokens: Sequence[str] | None, target_tokens: Sequence[str] | None, item: int,
                    beam_indices: Any, words: Mapping[str, Any]) -> EncoderDecoder:
    """EncoderDecoder of a captured forward pass, or of a captured generate()."""
    sides = sides_of(seen)
    told = next(one.told for one in reversed(seen._passes) if one.records)
    first = sides["encoder"][-1][0]
    mask = seen._attention_mask if seen._attention_mask is not None else told.get("attention_mask")
    batch = sides["decoder"][0][0].batch
    places = places_of(beam_indices, item, len(sides["decoder"]), batch)
    check_places([records[0] for records in sides["decoder"]], places)
    item = prompt_of(places, batch, first.kept)
    if mask is not None and mask.ndim == 2:
        mask = mask[prompt_of(places, batch, mask)]
    real = real_positions(mask, 1, first.queries, first.device)[0]

    def stacked(side: str, columns: Positions) -> Maps:
        def make(layer: int, fuse: str) -> NumPyArray:
            rows = [rows_of(records[layer], place, fuse, columns) for records, place in zip(sides[side], places)]
            width = max(row.shape[1] for row in rows)
            return np.concatenate([np.pad(row, [(0, 0), (0, width - row.shape[1])]) for row in rows])
        return make

    def encoder(layer: int, fuse: str) -> NumPyArray:
        n = first.queries if real is None else len(real)
        map: NumPyArray = sides["encoder"][-1][layer].map(item, fuse, range(n), real, real).cpu().numpy()
        return map

    return compose(encoder, len(sides["encoder"][-1]), stacked("decoder", None), stacked("cross", real),
                   len(sides["cross"][0]), Kind(first.kept), source_tokens, target_tokens, words)
