"""The texts of a capture: which passes wrote one, and which tokens it is made of.

What a caller gives is not always what is read. Whisper begins with tokens of its own, BLIP-2 puts an image before the
words, guidance reads another prompt in between, and a beam search writes several texts in one batch. So the passes say
what a text is, and what generate() returned must agree with them.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Sequence

import torch
from torch import Tensor

from ..errors import Error
from ..generated import within
from .layers import by_hand_beside, check_shapes, layers_of
from .padding import ids_of
from .passes import Generated
from .record import Record
from .recording import Recording
from .stacks import Run, Stack, config_of, listed

Token = int | None  # None: the model was not given its id
USE_BEAMS = ("give the beam_indices that generate(..., return_dict_in_generate=True, output_scores=True) returned, or use "
             "num_beams=1")


@dataclass
class Text:
    """The runs that wrote one text, or one batch of texts, and what generate() was given and returned."""

    runs: list[Run]
    layers: list[list[Record]]
    made: Generated | None = None
    told: list[dict[str, Any]] = field(default_factory=list)  # what that generate() and those around it were told
    earlier: int = 0  # how many of the runs filled the cache that generate() was given

    @property
    def first(self) -> Record:
        return self.layers[0][0]

    @property
    def sequences(self) -> Tensor | None:
        return None if self.made is None else self.made.sequences

    def read(self, places: Sequence[int]) -> list[Token]:
        """The token of each position, by the last pass that read it; `places` is the row of the text in each pass."""
        tokens: list[Token] = []
        for run, place in zip(self.runs, places):
            ids, begin = ids_of_run(run), run.one.before
            tokens[begin:] = [None] * run.records[0].queries if ids is None else ids[place].tolist()
        return tokens


@dataclass
class Words:
    """The tokens of one text."""

    tokens: list[Token]
    rows: int  # how many of its positions were read
    first: int = 0  # where what generate() returned begins
    ended: int = 0  # how many tokens were read or returned after its end, which are nobody's words

    @property
    def notes(self) -> list[str]:
        return [f"the text ended {self.ended} token(s) before the longest of its batch"] if self.ended else []


# -- which passes


def texts_of(seen: Recording, stack: Stack, call: int | None) -> Text:
    """The runs of one generate(), or of one loop that somebody wrote."""
    generates = sorted({run.one.generate for run in stack.runs if run.one.generate is not None})
    # A generate() inside another drafts for it, if both have passes of this stack.
    generates = [one for one in generates if not set(seen._frames.lineage(one)[1:]) & set(generates)]
    if not generates:
        loops = loops_of(stack.runs, False)
        runs = loops[one_of(list(range(len(loops))), call, seen, stack, "texts")]
        return Text(runs, layers_each(seen, runs))
    number = one_of(generates, call, seen, stack, "generate()")
    runs, made = [run for run in stack.runs if run.one.generate == number], seen._frames.generated[number]
    check_ends(runs, made, seen.model)
    runs = the_text(loops_of(runs, True), made, seen.model)
    layers, before = layers_each(seen, runs), stack.runs[:stack.runs.index(runs[0])] if runs[0].one.before else []
    earlier = [run for run in before if share_cache(run, runs[0]) and [one.batch for one in run.records[:1]] == [layers[0][0].batch]]
    runs, layers = earlier + runs, layers_each(seen, earlier) + layers
    if runs[0].one.before:
        raise Error(f"{type(seen.model).__name__}: generate() began after {runs[0].one.before} positions in a cache that "
                    "it was given, expected passes over the whole prompt; fill that cache inside the capture, or leave "
                    "past_key_values out")
    told = [seen._frames.generated[one].told for one in seen._frames.lineage(number)]
    return Text(runs, layers, made, told, len(earlier))


def one_of(numbers: list[int], call: int | None, seen: Recording, stack: Stack, what: str) -> int:
    if call is None and len(numbers) > 1:
        raise Error(f"{type(seen.model).__name__}: the capture holds {len(numbers)} {what}, expected one to be chosen; "
                    f"choose it with `call` (0 to {len(numbers) - 1}):{listed([stack])}")
    call = -1 if call is None else call
    if not -len(numbers) <= call < len(numbers):
        raise Error(f"capture: has no call {call}, expected 0 to {len(numbers) - 1} of {what}; choose another")
    return numbers[call]


def loops_of(runs: Sequence[Run], alike: bool) -> list[list[Run]]:
    """The runs by the text that they go on with. `alike`: where nothing tells texts apart, it is the same."""
    loops: list[list[Run]] = []
    for run in runs:
        known = reversed(loops) if alike else loops[-1:]
        loop = next((one for one in known if goes_on(one[-1], run, alike)), None)
        if loop is None:
            loops.append([run])
        else:
            loop.append(run)
    return loops


def goes_on(before: Run, now: Run, alike: bool) -> bool:
    """Whether a run goes on with the text of the run before: by its cache, or by the ids that it reads again."""
    if before.size is None or now.size is None:
        return alike
    known = bool(before.one.caches and now.one.caches)
    if now.one.before:
        return (not known or share_cache(before, now)) and now.one.before <= before.one.before + before.size[0]
    old, new = ids_of_run(before), ids_of_run(now)
    if old is None or new is None:
        return alike and (not known or share_cache(before, now))
    return old.shape[0] == new.shape[0] and new.shape[1] > old.shape[1] and \
        {tuple(row) for row in new[:, :old.shape[1]].tolist()} <= {tuple(row) for row in old.tolist()}


def share_cache(one: Run, other: Run) -> bool:
    return any(cache is twin for cache in one.one.caches for twin in other.one.caches)


def the_text(loops: list[list[Run]], made: Generated, model: torch.nn.Module) -> list[Run]:
    """The loop that wrote the text. Guidance reads another prompt at each step, and Whisper asks for the language first."""
    if made.ids is not None:
        loops = [loop for loop in loops if begins_with(loop[0], made.ids)] or loops
    loops = [loop for loop in loops if loop[0].one.caches] or loops
    longest = max(loops, key=len)  # the first of them: it chose the tokens
    several = [loop for loop in loops if len(loop) > 1 or len(loop) == len(longest)]  # MusicGen tries a pass first
    if len(several) > 1 and made.sequences is None:
        raise Error(f"{type(model).__name__}: generate() wrote {len(several)} texts and did not return their tokens alone, "
                    "expected one text, or tokens to tell which it returned; write each in a generate() of its own")
    return longest


def begins_with(run: Run, given: Tensor) -> bool:
    """Whether a run may have read the prompt that generate() was given, or a part of it."""
    ids = ids_of_run(run)
    if ids is None or run.one.before:
        return True
    length = min(ids.shape[1], given.shape[1])
    return torch.equal(ids[0, :length].to(given.device), given[0, :length])


def ids_of_run(run: Run) -> Tensor | None:
    first = next(iter(run.records), None)
    return None if first is None else ids_of(run.entries[0].told, first.batch, first.queries)


def layers_each(seen: Recording, runs: list[Run]) -> list[list[Record]]:
    """The records of each run. Those of self attention over all positions are checked as those of a rollout."""
    modules = {name: module for module, name in seen._names.items()}
    out = []
    for run in runs:
        records, names, _ = layers_of(run, modules, "error", "error", seen._chosen is not None)
        if seen._chosen is None:
            by_hand_beside(run, len(seen._stacks()) == 1, "error")
        if not run.stack.across and not run.one.before:
            check_shapes(run, records, names, getattr(config_of(run.stack, modules), "altup_num_inputs", None))
        out.append(records)
    return out


def check_ends(runs: list[Run], made: Generated, model: torch.nn.Module) -> None:
    """Raises for models such as XLM, which write each token at a mask that no later pass reads again."""
    mask = getattr(getattr(model, "config", None), "mask_token_id", None)
    ids = [ids_of_run(run) for run in runs]
    if mask is not None and made.ids is not None and all(
            one is not None and bool((one[:, -1] == mask).all()) and one.shape[1] > made.ids.shape[1] for one in ids):
        raise Error(f"{type(model).__name__}: writes each token at a mask after the text, which later passes do not read, "
                    "expected tokens that are read where they are written; ask for the rollout of a pass")


# -- which row of a batch


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
            raise Error(f"capture: its texts changed places between steps, as in a beam search; {USE_BEAMS}")


def returned_row(text: Text, places: Sequence[int], item: int | None, beams: bool) -> int | None:
    """The row of what generate() returned that a text is; None if nobody knows."""
    if text.sequences is None:
        return None
    count = len(text.sequences)
    return within(item, count) if beams else places[0] * count // text.first.batch


def check_rows(text: Text) -> None:
    """Raises if generate() returned some of the texts that its passes wrote, so that rows are no texts."""
    if text.sequences is not None and len(text.sequences) != text.first.batch:
        raise Error(f"capture: generate() wrote {text.first.batch} texts at a time and returned {len(text.sequences)}, so "
                    f"that its texts changed places between steps, as in a beam search; {USE_BEAMS}")
    prompts = None if text.made is None or text.made.ids is None else len(text.made.ids)
    if text.sequences is None and prompts is not None and prompts != text.first.batch:
        raise Error(f"capture: generate() wrote {text.first.batch} texts at a time for {prompts} prompt(s) and returned no "
                    "tokens, as sound is written with guidance, expected a text for each prompt; use guidance_scale=1, and "
                    "num_return_sequences=1")


# -- which tokens


def words_of_text(text: Text, places: Sequence[int], row: int | None) -> Words:
    """The tokens of a text: what its passes read, and the last one, which generate() returned and no pass read."""
    read = text.read(places)
    if row is None or text.sequences is None or text.made is None:
        return Words(read, len(read))
    given: list[Token] = text.sequences[row].tolist()
    spare, guessed = len(read) + 1 - len(given), has_guesses(text, places, read)
    if spare < 0 and len(places) < len(text.runs):  # a beam that ended early
        given, spare = given[:spare], 0
    starts = [spare, spare - 1] if not guessed else [0, *range(spare, 0, -1)] if read[0] is not None else range(spare, -1, -1)
    first = next((start for start in starts if start >= 0 and agree(read[start:], given, text.made.ends, guessed)), None)
    if first is None:
        raise Error("capture: the passes of a text did not read what generate() returned for it, as in a beam search, whose "
                    f"texts change places, or where pieces of a text are written one by one; {USE_BEAMS}, and write pieces in "
                    "a generate() each")
    if guessed:
        return Words(read[:first] + given, min(len(read), first + len(given) - 1), first)
    tokens = [token if token is not None or not 0 <= place - first < len(given) else given[place - first]
              for place, token in enumerate(read)] + given[len(read) - first:]
    return Words(tokens, len(read), first)


def has_guesses(text: Text, places: Sequence[int], read: Sequence[Token]) -> bool:
    """Whether the last pass read several new tokens, which may have been turned down."""
    last = text.runs[len(places) - 1]
    if len(places) > 1 or text.made is None or text.made.ids is None or read[0] is None:
        return last.one.before > 0 and last.records[0].queries > 1
    return len(read) > text.made.ids.shape[1]


def cut(text: Text, words: Words, begin: int) -> Words:
    """The words up to the first end among those from `begin` on, after which generate() fills up with the same token."""
    ends, tokens = text.made.ends if text.made is not None else (), words.tokens
    for place in range(begin, len(tokens) - 1):
        if tokens[place] in ends and len(set(tokens[place + 1:])) == 1:
            return Words(tokens[:place + 1], place, words.first, len(tokens) - 1 - place)
    return words


def prompt_of_text(text: Text, words: Words, row: int | None) -> int:
    """How many of the tokens are the prompt. The first pass may read a part of it, or guesses of what comes next."""
    if text.made is None or text.made.ids is None:
        return text.first.queries
    given = text.made.ids
    if row is None or text.sequences is None:
        return given.shape[1] if words.tokens[0] is not None else max(given.shape[1], text.first.queries)
    own = given[row * len(given) // len(text.sequences)].tolist()
    return words.first + (len(own) if text.sequences[row, :len(own)].tolist() == own else 0)


def agree(read: Sequence[Token], given: Sequence[Token], ends: Sequence[int], guessed: bool) -> bool:
    """Whether a returned text is what was read, and some of it is known. What follows its end may be anything."""
    known = 0
    for place, (token, other) in enumerate(zip(read, given)):
        if token is None or guessed and place == len(given) - 1:
            continue
        if token != other:
            return token in ends and len(set(given[place:])) == 1
        known += 1
    return known > 0 or not guessed
