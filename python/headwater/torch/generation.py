"""Captures of generate() and of encoder-decoder models, as the attention that `headwater.generation` and
`headwater.encoder_decoder` take from outputs.
"""
from __future__ import annotations

from typing import Any, Mapping, Sequence, Sized

import torch
from torch import Tensor

from ..arrays import Kind, NumPyArray, to_numpy
from ..encoder_decoder import EncoderDecoder, Maps, compose
from ..errors import Error
from ..image import ImageTokens, named as named_images
from ..kinds import ArrayIn, Mask
from ..steps import Map, Step, rows_of_text, whole_rows
from ..generated import Generation, follow, places_of, prompt_of
from .blocks import Positions
from .images import places_of as image_places
from .padding import mask_of, masked_keys, real_positions, told_mask
from .record import Record
from .recording import Recording
from .stacks import Stack, choose, encoders, listed, reads_encoder
from .texts import (Text, Token, Words, check_places, check_rows, cut, ids_of_run, layers_each, prompt_of_text, returned_row,
                    texts_of, words_of_text)


def steps_of(text: Text, places: list[int]) -> list[Step]:
    def map_of(record: Record, place: int) -> Map:
        return lambda fuse: map_rows(record, place, fuse, None)

    return [Step(records[0].queries, [map_of(record, place) for record in records], run.one.before)
            for run, records, place in zip(text.runs, text.layers, places)]


def map_rows(record: Record, place: int, fuse: str, columns: Positions) -> NumPyArray:
    rows: NumPyArray = record.map(place, fuse, range(record.queries), None, columns, nan="keep").cpu().numpy()
    return rows  # rows of padding may hold NaN; the other rows are checked later


def generation(seen: Recording, prompt: Sequence[str] | None, generated: Sequence[str] | None, attention_mask: Mask | None,
               item: int | None, position: str, beam_indices: ArrayIn | None, call: int | None,
               words: Mapping[str, Any]) -> Generation:
    """Generation of a captured model.generate()."""
    words = dict(words)
    stacks = seen._stacks()
    if encoders(stacks, stacks, seen.model) and reads_encoder(stacks):
        raise Error(f"{type(seen.model).__name__}: is an encoder-decoder model, whose prompt is read by the encoder; "
                    "ask .encoder_decoder()")
    text = texts_of(seen, choose(stacks, words.pop("stack", None), seen.model), call)
    if len(text.runs) == 1 and text.made is None:
        raise Error(f"{type(seen.model).__name__}: generate() was not run, expected it, or a loop of passes, inside the "
                    "capture; run it there, or ask .rollout() of this pass")
    first = text.first
    places = rows_of(text, item, beam_indices)
    row = returned_row(text, places, item, beam_indices is not None)
    found = words_of_text(text, places, row)
    m = prompt_of_text(text, found, row)
    found = cut(text, found, m)
    given: Any = attention_mask if attention_mask is not None else seen._attention_mask
    if given is not None:
        rows = len(given) if getattr(given, "ndim", 2) > 1 or not len(given) or isinstance(given[0], Sized) else 1
        mask: Tensor | None = mask_of(given, rows, m, first.device)[places[0] * rows // first.batch]
    else:
        masks = prompt_mask(text, m)
        mask = None if masks is None else masks[places[0] * len(masks) // first.batch]
    real = None if mask is None or bool(mask.all()) else mask.nonzero()[:, 0]
    count = None if row is None else len(found.tokens) - m
    kept = list(range(m)) if real is None else real.tolist()
    prompt = names_of_tokens(seen, [found.tokens[j] for j in kept]) if prompt is None else prompt
    generated = names_of_tokens(seen, found.tokens[m:]) if generated is None and row is not None else generated
    ids = prompts_of(text, found, m)
    images = [] if ids is None else images_of(text, ids, places[0] * len(ids) // first.batch, real, seen.model)
    if prompt is None and images:
        prompt = [str(j) for j in range(len(kept))]
    if images and prompt is not None:
        prompt = named_images(list(prompt), images)
    out = follow(steps_of(text, places), Kind(first.kept), prompt, generated, None if mask is None else to_numpy(mask),
                 position, words, m, count)
    out._source = type(seen.model).__name__
    out.images = images
    out.notes += found.notes
    return out


def rows_of(text: Text, item: int | None, beam_indices: ArrayIn | None) -> list[int]:
    """The row of a text in each pass."""
    if beam_indices is None:
        check_rows(text)
        places = places_of(None, item, len(text.runs), text.first.batch)
    else:
        places = places_of(beam_indices, item, len(text.runs) - text.earlier, text.first.batch)
        places = places[:1] * text.earlier + places
    check_places(text, places)
    return places


def names_of_tokens(seen: Recording, tokens: Sequence[Token]) -> list[str] | None:
    """The tokenizer's names of tokens, and the places of those that the model was not given as ids."""
    if seen._tokenizer is None or all(token is None for token in tokens):
        return None
    names = iter(seen._tokenizer.convert_ids_to_tokens([token for token in tokens if token is not None]))
    return [str(place) if token is None else str(next(names)) for place, token in enumerate(tokens)]


def prompts_of(text: Text, words: Words, m: int) -> Tensor | None:
    """The ids [B, m] of the prompts of a batch: those that generate() was given, those that the first pass read, or what
    came before the texts.
    """
    if text.made is not None and text.made.ids is not None and text.made.ids.shape[1] == m:
        return text.made.ids
    ids = ids_of_run(text.runs[0])
    if ids is not None and ids.shape[1] >= m:
        return ids[:, :m]
    return text.sequences[:, :m] if text.sequences is not None and not words.first and text.sequences.shape[1] >= m else None


def images_of(text: Text, ids: Tensor, place: int, real: Positions, model: torch.nn.Module) -> list[ImageTokens]:
    """The images of a prompt, which is a row of `ids`. generate() may read them before the first pass, and is told of them."""
    told = [*text.told, *text.runs[0].entries[0].told]
    return image_places(ids, told, getattr(model, "config", None), [real if row == place else None for row in range(len(ids))])[place]


def prompt_mask(text: Text, m: int) -> Tensor | None:
    """The mask [B, m] of the prompt: what generate() or a pass was given, or what attention did not see."""
    given = None if text.made is None else text.made.mask
    if given is not None and given.shape[1] == m:
        return given.to(text.first.device) != 0
    for run in text.runs:
        for told in run.entries[0].told:
            given = told.get("attention_mask")
            if isinstance(given, Tensor) and given.ndim == 2 and given.shape[1] >= m:
                return told_mask([{"attention_mask": given[:, :m]}], text.first.batch, m, text.first.device)
    unseen = masked_keys(text.first)
    return ~unseen[:, :m] if unseen is not None and unseen.shape[1] >= m else None


def sides_of(seen: Recording) -> tuple[Stack, Stack, Stack]:
    """Encoder, decoder and cross attention."""
    stacks = seen._stacks()
    encoder = encoders([stack for stack in stacks if not stack.across], stacks, seen.model)
    across = [stack for stack in stacks if stack.across]
    decoder = [stack for stack in stacks if stack not in encoder and not stack.across and "decoder" in stack.name]
    if not encoder or not across or not decoder:
        raise Error(f"{type(seen.model).__name__}: is not an encoder-decoder model, expected encoder, decoder and cross "
                    "attention; use .rollout() instead")
    if len(encoder) + len(across) + len(decoder) > 3:
        raise Error(f"{type(seen.model).__name__}: has more than an encoder, a decoder and their cross attention, "
                    f"expected one of each; use .rollout() with `stack`:{listed(stacks)}")
    return encoder[0], decoder[0], across[0]


def encoder_decoder(seen: Recording, source_tokens: Sequence[str] | None, target_tokens: Sequence[str] | None,
                    attention_mask: Mask | None, decoder_attention_mask: Mask | None, item: int | None,
                    beam_indices: ArrayIn | None, call: int | None, words: Mapping[str, Any]) -> EncoderDecoder:
    """EncoderDecoder of a captured forward pass, or of a captured generate()."""
    encoder, decoder, across = sides_of(seen)
    text = texts_of(seen, decoder, call)
    passes = [run.one for run in text.runs]
    cross = [run for run in across.runs if run.one in passes]
    within = set(seen._frames.lineage(passes[0].generate))
    own = [run for run in encoder.runs if run.one in passes]
    own = own or [run for run in encoder.runs if run.one.generate in within and run.one.root != ""]
    if len(own) != 1 or len(cross) != len(text.runs):
        raise Error(f"{type(seen.model).__name__}: its encoder ran {len(own)} times and its cross attention "
                    f"{len(cross)} times for {len(text.runs)} steps of the decoder, expected one and as many; capture one forward "
                    "pass, or one generate()")
    source, between = layers_each(seen, own)[0], layers_each(seen, cross)
    first, batch = source[0], text.first.batch
    places = rows_of(text, item, beam_indices)
    prompt = prompt_of(places, batch, first.kept)
    given = attention_mask if attention_mask is not None else seen._attention_mask
    real = real_positions(first, own[0].entries[0].told, given)[0][prompt]
    row = returned_row(text, places, item, beam_indices is not None)
    # A decoder begins with a token of its own, which may also be an end token.
    found = cut(text, words_of_text(text, places, row), 1)
    begins, news = [run.one.before for run in text.runs], [records[0].queries for records in text.layers]
    chosen = rows_of_text(begins, news)[:found.rows]
    if decoder_attention_mask is not None or len(text.runs) == 1 and text.made is None:
        target = real_positions(text.first, text.runs[0].entries[0].told, decoder_attention_mask)[0][places[0]]
    else:
        target = None
    wanted = None if target is None else target.cpu().numpy()

    def stacked(each: list[list[Record]], columns: Positions, square: bool) -> Maps:
        def make(layer: int, fuse: str) -> NumPyArray:
            rows = whole_rows([map_rows(records[layer], place, fuse, columns) for records, place in zip(each, places)],
                              begins, chosen, square)
            rows = rows if wanted is None else rows[wanted]
            return rows[:, wanted] if wanted is not None and square else rows
        return make

    def encoded(layer: int, fuse: str) -> NumPyArray:
        n = first.queries if real is None else len(real)
        map: NumPyArray = source[layer].map(prompt, fuse, range(n), real, real).cpu().numpy()
        return map

    if source_tokens is None and (ids := ids_of_run(own[0])) is not None:
        source_tokens = names_of_tokens(seen, (ids[prompt] if real is None else ids[prompt][real.to(ids.device)]).tolist())
    if target_tokens is None:
        made = found.tokens[:len(chosen)]
        target_tokens = names_of_tokens(seen, made if wanted is None else [made[j] for j in wanted])
    out = compose(encoded, len(source), stacked(text.layers, None, True), stacked(between, real, False),
                  len(between[0]), Kind(first.kept), source_tokens, target_tokens, words)
    out.notes += found.notes
    return out

