"""Integrated gradients of a running PyTorch model: the derivative itself, along the way from a baseline to the input.

    R_j = (x_j - x'_j) . mean over the steps of dy/dx_j at x' + a (x - x'),  a in the middle of each step

x are the rows of the tokens (replay.py), x' those of the baseline: the same pass with other tokens, up to its first layer.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, ContextManager, TypeAlias, TypeGuard

import torch
from torch import Tensor

from ..errors import Error
from ..kinds import Target
from .parts import Stand
from .passes import Call
from .output_names import word_number
from .relevance_target import Chosen, Logit
from .replay import Alter, Named, Positional, Replay

if TYPE_CHECKING:
    from .recording import Recording

Run: TypeAlias = Callable[[tuple[int, Tensor] | None, Alter | None], ContextManager[Replay]]
Choose: TypeAlias = Callable[[Replay, Target, "str | int | None"], Chosen]


@dataclass
class Integrated:
    input: Tensor
    chosen: Chosen
    at_baseline: float
    baseline: str


def integrated(seen: Recording, call: Call, run: Run, choose: Choose, target: Target,
               against: str | int | None, steps: int, baseline: str | int) -> Integrated:
    """`run` runs the pass again, with other rows or other arguments; `choose` finds the target in its output."""
    with run(None, None) as first, torch.no_grad():
        chosen = choose(first, target, against)
        rows, number = first.rows.detach().clone(), first.number
    name, alter = altered(seen, call, baseline)
    with run(None, alter) as other:
        begin = other.rows.detach().clone()
    if begin.shape != rows.shape or other.number != number:
        raise Error("relevance: the baseline has a different number of rows than the input, expected the same number; give another `baseline`")
    wide = torch.float64 if rows.dtype == torch.float64 else torch.float32
    way = rows.to(wide) - begin.to(wide)
    again: tuple[Target, str | int | None] = target, against
    if not callable(target):
        again = fixed(chosen.target), None if chosen.against is None else fixed(chosen.against)

    def between(share: float) -> tuple[int, Tensor]:
        return number, (begin.to(wide) + share * way).to(rows.dtype)

    total = torch.zeros_like(way)
    for step in range(steps):
        with run(between((step + 0.5) / steps), None) as one:
            grad, = torch.autograd.grad(choose(one, *again).y, [one.rows], allow_unused=True)
        if grad is None:
            raise Error("relevance: the output does not depend on the rows of the tokens; choose another `target` or "
                        "`stack`")
        total += grad.to(wide) / steps
    with run(between(0.0), None) as one, torch.no_grad():
        rest = float(choose(one, *again).y)
    return Integrated((way * total).sum(-1).flatten(), chosen, rest, name)


def fixed(logit: Logit) -> str | int:
    """The same output in another pass."""
    return logit[0] if logit[0].startswith(("start:", "end:")) else logit[1]


def altered(seen: Recording, call: Call, baseline: str | int) -> tuple[str, Alter]:
    """What the baseline is called, and how it changes the arguments of the pass."""
    def alter(stand: Stand, args: Positional, words: Named) -> tuple[Positional, Named]:
        ids = next(filter(is_ids, [*args, *words.values()]), None)
        if ids is None:
            return without_numbers(args, words, str(baseline))
        given = given_of(seen, ids)
        if number is None:
            find: Any = getattr(seen.model, "get_input_embeddings", lambda: None)
            table = find()
            if not isinstance(table, torch.nn.Module):
                raise Error("`baseline` zero: the model has no get_input_embeddings(), expected it to say where words "
                            "enter; give a token's number")
            stand.hook(table.register_forward_hook(
                lambda module, args, out: out.masked_fill(given[..., None], 0) if out.shape[:2] == given.shape else out))
            return args, words
        other = ids.masked_fill(given, number)
        return [other if value is ids else value for value in args], \
            {name: other if value is ids else value for name, value in words.items()}

    tokenizer = seen._tokenizer
    pictures = not any(map(is_ids, [*call.args, *call.words.values()]))
    number: int | None = None
    if baseline == "zero" or pictures and baseline in ("", "zero"):
        return "zero", alter
    if baseline in ("", "mask"):
        found = getattr(tokenizer, "mask_token_id", None)
        if found is None:
            raise Error("relevance: the capture knows no mask token, expected one for the `baseline` mask of integrated "
                        "gradients; give `baseline` 'zero' or a token, or capture with tokenizer=...")
        number = int(found)
    else:
        number = int(baseline) if str(baseline).isdigit() else word_number(seen, str(baseline), "baseline")
    words = getattr(tokenizer, "convert_ids_to_tokens", None)
    return str(number) if words is None else words([number])[0], alter


def is_ids(value: object) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.dtype in (torch.long, torch.int) and value.ndim == 2


def without_numbers(args: Positional, words: Named, baseline: str) -> tuple[Positional, Named]:
    """An image, or rows of the caller's own: zeros."""
    if baseline not in ("", "zero"):
        raise Error(f"`baseline` '{baseline}': the model was given no token ids, expected 'zero'; leave it out")
    plain = [torch.zeros_like(one) if isinstance(one, Tensor) and one.is_floating_point() and one.ndim > 2 else one
             for one in args]
    return plain, {name: torch.zeros_like(one) if isinstance(one, Tensor) and one.is_floating_point() and one.ndim > 2 and
                   "mask" not in name else one for name, one in words.items()}


def given_of(seen: Recording, ids: Tensor) -> Tensor:
    """Which tokens are the text's own: all but the special ones at its ends, where the tokenizer is known."""
    tokenizer = seen._tokenizer
    special = set(getattr(tokenizer, "all_special_ids", [])) - {getattr(tokenizer, "mask_token_id", None)}
    given = torch.ones_like(ids, dtype=torch.bool)
    for row, line in zip(given, ids.tolist()):
        for places in (range(len(line)), reversed(range(len(line)))):
            for place in places:
                if line[place] not in special:
                    break
                row[place] = False
    return given
