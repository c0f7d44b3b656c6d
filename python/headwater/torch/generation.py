"""Captures of generate() and of encoder-decoder models, as the attention that `headwater.generation` and
`headwater.encoder_decoder` take from outputs.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import torch
from torch import Tensor

from ..arrays import Kind, NumPyArray, to_numpy
from ..encoder_decoder import EncoderDecoder, Maps, compose
from ..errors import Error
from ..image import named as named_images
from ..steps import Map, Step, rows_of_text, whole_rows
from ..generated import Generation, follow, places_of, prompt_of, within
from .images import places_of as image_places
from .padding import ids_of, mask_of, masked_keys, real_positions, told_mask
from .blocks import Positions
from .record import Record
from .recording import Recording
from .layers import check_shapes, layers_of
from .stacks import Run, Stack, choose, config_of, encoders, listed


@dataclass
class Text:
    """The runs that wrote one text, or one batch of texts, and what generate() was given and returned."""

    runs: list[Run]
    layers: list[list[Record]]
    prompt: int | None = None
    mask: Tensor | None = None
    sequences: Tensor | None = None
    ends: tuple[int, ...] = ()

    @property
    def first(self) -> Record:
        return self.layers[0][0]


def written(text: Text, row: int, first: int) -> tuple[Tensor | None, list[str]]:
    """The tokens of one returned text, of which generate() wrote those from `first` on, and what to note.

    generate() fills up a text that ended before others of its batch. What comes after the end is nobody's word.
    """
    if text.sequences is None:
        return None, []
    tokens = text.sequences[row]
    for place in range(first, len(tokens) - 1):
        if int(tokens[place]) in text.ends and bool((tokens[place + 1:] == tokens[-1]).all()):
            return tokens[:place + 1], [f"the text ended {len(tokens) - 1 - place} token(s) before the longest of its batch"]
    return tokens, []


def texts_of(seen: Recording, stack: Stack, call: int | None) -> Text:
    """The runs of one generate(), or of one loop that somebody wrote."""
    generates = sorted({run.one.generate for run in stack.runs if run.one.generate is not None})
    if generates:
        number = one_of(generates, call, seen, stack, "generate()")
        runs = [run for run in stack.runs if run.one.generate == number]
        made = seen._frames.generated[number]
        return Text(runs, layers_each(seen, runs), made.prompt, made.mask, made.sequences, made.ends)
    loops: list[list[Run]] = []
    for run in stack.runs:
        if loops and goes_on(loops[-1][-1], run):
            loops[-1].append(run)
        else:
            loops.append([run])
    runs = loops[one_of(list(range(len(loops))), call, seen, stack, "texts")]
    return Text(runs, layers_each(seen, runs))


def one_of(numbers: list[int], call: int | None, seen: Recording, stack: Stack, what: str) -> int:
    if call is None and len(numbers) > 1:
        raise Error(f"{type(seen.model).__name__}: the capture holds {len(numbers)} {what}, expected one to be chosen; "
                    f"choose it with `call` (0 to {len(numbers) - 1}):{listed([stack])}")
    call = -1 if call is None else call
    if not -len(numbers) <= call < len(numbers):
        raise Error(f"capture: has no call {call}, expected 0 to {len(numbers) - 1} of {what}; choose another")
    return numbers[call]


def goes_on(before: Run, now: Run) -> bool:
    """Whether a run goes on with the text of the run before: by its cache, or by the ids that it reads again."""
    if before.size is None or now.size is None:
        return False
    if now.one.before:
        return now.one.before <= before.one.before + before.size[0]
    old, new = ids_of_run(before), ids_of_run(now)
    return old is not None and new is not None and old.shape[0] == new.shape[0] and \
        new.shape[1] > old.shape[1] and torch.equal(new[:, :old.shape[1]], old)


def ids_of_run(run: Run) -> Tensor | None:
    first = run.records[0]
    return ids_of(run.entries[0].told, first.batch, first.queries)


def layers_each(seen: Recording, runs: list[Run]) -> list[list[Record]]:
    """The records of each run. Those of self attention over all positions are checked as those of a rollout."""
    modules = {name: module for module, name in seen._names.items()}
    out = []
    for run in runs:
        records, names, _ = layers_of(run, modules, "error", "error", seen._chosen is not None)
        if not run.stack.across and not run.one.before:
            check_shapes(run, records, names, getattr(config_of(run.stack, modules), "altup_num_inputs", None))
        out.append(records)
    return out


def steps_of(text: Text, places: list[int]) -> list[Step]:
    def map_of(record: Record, place: int) -> Map:
        return lambda fuse: map_rows(record, place, fuse, None)

    return [Step(records[0].queries, [map_of(record, place) for record in records], run.one.before)
            for run, records, place in zip(text.runs, text.layers, places)]


def map_rows(record: Record, place: int, fuse: str, columns: Positions) -> NumPyArray:
    rows: NumPyArray = record.map(place, fuse, range(record.queries), None, columns, nan="keep").cpu().numpy()
    return rows  # rows of padding may hold NaN; what is left is checked later


def generation(seen: Recording, prompt: Sequence[str] | None, generated: Sequence[str] | None, attention_mask: Any,
               item: int | None, position: str, beam_indices: Any, call: int | None,
               words: Mapping[str, Any]) -> Generation:
    """Generation of a captured model.generate()."""
    words = dict(words)
    stacks = seen._stacks()
    if encoders(stacks, stacks, seen.model) and any(stack.across for stack in stacks):
        raise Error(f"{type(seen.model).__name__}: is an encoder-decoder model, whose prompt is read by the encoder; "
                    "ask .encoder_decoder()")
    text = texts_of(seen, choose(stacks, words.pop("stack", None), seen.model), call)
    if len(text.runs) == 1 and text.runs[0].one.generate is None:
        raise Error(f"{type(seen.model).__name__}: generate() was not run, expected it, or a loop of passes, inside the "
                    "capture; run it there, or ask .rollout() of this pass")
    first, entry = text.first, text.runs[0].entries[0]
    places = places_of(beam_indices, item, len(text.runs), first.batch)
    check_ends(text, seen.model)
    check_places(text, places)
    ids = ids_of(entry.told, first.batch, first.queries)
    m = prompt_length(text, ids)
    if ids is not None and ids.shape[1] < m and text.sequences is not None and len(text.sequences) == len(ids):
        ids = text.sequences[:, :m]  # the first pass read a part of the prompt
    given = attention_mask if attention_mask is not None else seen._attention_mask
    if given is not None:
        rows = len(given) if getattr(given, "ndim", 2) > 1 or not len(given) or hasattr(given[0], "__len__") else 1
        mask: Tensor | None = mask_of(given, rows, m, first.device)[places[0] * rows // first.batch]
    else:
        told = prompt_mask(text, m)
        mask = None if told is None else told[places[0] * len(told) // first.batch]
    row = 0
    if text.sequences is not None:
        row = within(item, len(text.sequences)) if beam_indices is not None else places[0] * len(text.sequences) // first.batch
    whole, ended = written(text, row, text.prompt or 0)
    count = None if whole is None else len(whole) - (text.prompt or 0)
    kept = None if mask is None else to_numpy(mask)
    if seen._tokenizer is not None:
        name = seen._tokenizer.convert_ids_to_tokens
        if prompt is None and ids is not None:
            own = to_numpy(ids[places[0]][:m])
            prompt = name((own if kept is None else own[kept]).tolist())
        if generated is None and whole is not None:
            generated = name(whole[(text.prompt or 0):].tolist())
    config = getattr(seen.model, "config", None)
    real = None if mask is None or bool(mask.all()) else mask.nonzero()[:, 0]
    each = [real if row == places[0] else None for row in range(0 if ids is None else len(ids))]
    images = image_places(None if ids is None else ids[:, :m], entry.told, config, each)[places[0]] if each else []
    if prompt is None and images:
        prompt = [str(j) for j in range(m if real is None else len(real))]
    if images and prompt is not None:
        prompt = named_images(list(prompt), images)
    out = follow(steps_of(text, places), Kind(first.kept), prompt, generated, kept, position, words, m, count)
    out.images = images
    out.notes += ended
    return out


def prompt_length(text: Text, ids: Tensor | None) -> int:
    """How many positions the prompt has. The first pass may read a part of it, or guesses of what comes next."""
    first = text.first.queries
    if text.prompt is None:
        return first
    return text.prompt if ids is not None else max(text.prompt, first)


def prompt_mask(text: Text, m: int) -> Tensor | None:
    """The mask [B, m] of the prompt: what generate() or a pass was given, or what attention did not see."""
    if text.mask is not None and text.mask.shape[1] == m:
        return text.mask.to(text.first.device) != 0
    for run in text.runs:
        for told in run.entries[0].told:
            given = told.get("attention_mask")
            if isinstance(given, Tensor) and given.ndim == 2 and given.shape[1] >= m:
                return told_mask([{"attention_mask": given[:, :m]}], text.first.batch, m, text.first.device)
    unseen = masked_keys(text.first)
    return ~unseen[:, :m] if unseen is not None and unseen.shape[1] >= m else None


def check_ends(text: Text, model: torch.nn.Module) -> None:
    """Raises for models such as XLM, which write each token at a mask that no later pass reads again."""
    mask = getattr(getattr(model, "config", None), "mask_token_id", None)
    ids = [ids_of_run(run) for run in text.runs]
    if mask is not None and text.prompt is not None and all(
            one is not None and bool((one[:, -1] == mask).all()) and one.shape[1] > text.prompt for one in ids):
        raise Error(f"{type(model).__name__}: writes each token at a mask after the text, which later passes do not read, "
                    "expected tokens that are read where they are written; ask for the rollout of a pass")


def check_places(text: Text, places: list[int]) -> None:
    """Raises if a step goes on with another text than the step before: then another text took over the row."""
    for k in range(1, len(places)):
        before, now = text.layers[k - 1][0], text.layers[k][0]
        begin = text.runs[k].one.before
        if begin:
            end = text.runs[k - 1].one.before + before.queries
            if before.key is None or now.key is None or now.keys != begin + now.queries or before.keys != end:
                continue
            same = bool((now.key[places[k], :, begin - 1] == before.key[places[k - 1], :, begin - 1]).all())
        else:
            old, new = ids_of_run(text.runs[k - 1]), ids_of_run(text.runs[k])
            same = old is None or new is None or \
                torch.equal(new[places[k], :old.shape[1]], old[places[k - 1]][:new.shape[1]])
        if not same:
            raise Error("capture: its texts changed places between steps, as in a beam search; give the beam_indices "
                        "that generate(..., return_dict_in_generate=True, output_scores=True) returned, or use "
                        "num_beams=1")


def sides_of(seen: Recording) -> tuple[Stack, Stack, Stack]:
    """Encoder, decoder and cross attention."""
    stacks = seen._stacks()
    encoder = encoders([stack for stack in stacks if not stack.across], stacks, seen.model)
    across = [stack for stack in stacks if stack.across]
    decoder = [stack for stack in stacks if stack not in encoder and not stack.across and "decoder" in stack.name]
    if not encoder or not across or not decoder:
        raise Error(f"{type(seen.model).__name__}: is no encoder-decoder model, expected encoder, decoder and cross "
                    "attention; use .rollout() instead")
    if len(encoder) + len(across) + len(decoder) > 3:
        raise Error(f"{type(seen.model).__name__}: has more than an encoder, a decoder and their cross attention, "
                    f"expected one of each; use .rollout() with `stack`:{listed(stacks)}")
    return encoder[0], decoder[0], across[0]


def encoder_decoder(seen: Recording, source_tokens: Sequence[str] | None, target_tokens: Sequence[str] | None,
                    attention_mask: Any, decoder_attention_mask: Any, item: int | None, beam_indices: Any, call: int | None,
                    words: Mapping[str, Any]) -> EncoderDecoder:
    """EncoderDecoder of a captured forward pass, or of a captured generate()."""
    encoder, decoder, across = sides_of(seen)
    text = texts_of(seen, decoder, call)
    passes = [run.one for run in text.runs]
    cross = [run for run in across.runs if run.one in passes]
    generate = passes[0].generate
    own = [run for run in encoder.runs if run.one in passes or generate is not None and run.one.generate == generate]
    if len(own) != 1 or len(cross) != len(text.runs):
        raise Error(f"{type(seen.model).__name__}: its encoder ran {len(own)} times and its cross attention "
                    f"{len(cross)} times for {len(text.runs)} steps of the decoder, expected one and as many; capture one forward "
                    "pass, or one generate()")
    source, between = layers_each(seen, own)[0], layers_each(seen, cross)
    first, batch = source[0], text.first.batch
    places = places_of(beam_indices, item, len(text.runs), batch)
    check_places(text, places)
    prompt = prompt_of(places, batch, first.kept)
    given = attention_mask if attention_mask is not None else seen._attention_mask
    real = real_positions(first, own[0].entries[0].told, given)[0][prompt]
    row = places[0] * len(text.sequences) // batch if text.sequences is not None else 0
    whole, ended = written(text, row, 1)  # a decoder begins with a token of its own, which may be one that ends texts
    kept = len(whole) - 1 if whole is not None else None
    begins, news = [run.one.before for run in text.runs], [records[0].queries for records in text.layers]
    chosen = rows_of_text(begins, news)[:kept]
    if decoder_attention_mask is not None or len(text.runs) == 1 and generate is None:
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

    if seen._tokenizer is not None:
        source_tokens, target_tokens = named(seen, own[0], text, prompt, places[0], real, wanted, len(chosen),
                                             source_tokens, target_tokens)
    out = compose(encoded, len(source), stacked(text.layers, None, True), stacked(between, real, False),
                  len(between[0]), Kind(first.kept), source_tokens, target_tokens, words)
    out.notes += ended
    return out


def named(seen: Recording, encoder: Run, text: Text, item: int, place: int, real: Positions, target: NumPyArray | None,
          count: int, source_tokens: Sequence[str] | None,
          target_tokens: Sequence[str] | None) -> tuple[Sequence[str] | None, Sequence[str] | None]:
    """The tokenizer's names for source and target tokens that nobody named."""
    assert seen._tokenizer is not None
    name = seen._tokenizer.convert_ids_to_tokens
    ids = ids_of_run(encoder)
    if source_tokens is None and ids is not None:
        source_tokens = name((ids[item] if real is None else ids[item][real.to(ids.device)]).tolist())
    made = text.sequences[place * len(text.sequences) // text.first.batch] if text.sequences is not None else None
    if made is None and (own := ids_of_run(text.runs[0])) is not None and len(text.runs) == 1:
        made = own[place]
    if target_tokens is None and made is not None and len(made) >= count:
        row = to_numpy(made)[:count]
        target_tokens = name((row if target is None else row[target]).tolist())
    return source_tokens, target_tokens

