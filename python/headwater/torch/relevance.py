"""Relevance of a running PyTorch model: gradient x input in the changed network of docs/methods.md, by autograd.

The pass that a capture recorded is run again, item by item, in a network whose norms, activations, gates and attention
pass gradients back by the rules (changed.py). A step that the rules do not know raises (graph.py). No attention map is
needed: queries, keys and values get their shares around the model's own kernel.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Unpack

import torch
from torch import Tensor

from .. import _engine
from ..arguments import ASKED, AskedWords, make_options
from ..arrays import Kind
from ..errors import Error
from ..kinds import ModuleRules, Target
from . import switches
from .answer import Answer, answer_of
from .attended import Parts
from .device import DeviceAttribution
from .graph import Unnamed, judge, softmax_notes
from .integrated import integrated
from .passes import Call, glimpse_of
from .relevance_target import Chosen, Logit, check_row, choose, row_of
from .replay import Replay, replayed
from .stacks import Run

if TYPE_CHECKING:
    from .recording import Recording

RULES = ("frozen", "attnlrp", "integrated")
STEPS = 20
NOWHERE = "relevance: the output does not depend on the rows of the tokens; choose another `target` or `stack`"
MOST_LOST = {torch.float64: 1e-4, torch.float32: 1e-4}  # of the sum of all absolute values; half precision: 2e-2


@dataclass
class Question:
    """What is asked about every item."""

    target: Target
    against: str | int | None
    rule: str
    row: int | str | None
    by_layer: bool
    heads: bool
    edges: int | None
    steps: int | None
    baseline: str | int
    rules: ModuleRules

    def check(self) -> None:
        if self.rule not in RULES:
            raise Error(f"unknown rule '{self.rule}'; there are {', '.join(RULES)}")
        integrates = self.rule == "integrated"
        given = dict(by_layer=self.by_layer, heads=self.heads, edges=self.edges is not None, rules=bool(self.rules)) \
            if integrates else dict(steps=self.steps is not None, baseline=self.baseline != "")
        for word, there in given.items():
            if there:
                raise Error(f"`{word}`: is not part of `rule` {self.rule}, expected "
                            f"{'frozen or attnlrp' if integrates else 'integrated'}; leave it out")
        if self.steps is not None and not 1 <= self.steps <= 100_000:
            raise Error(f"`steps` {self.steps}: expected 1 to 100000; choose another")


def relevance(seen: Recording, question: Question, item: int | None,
              **asked: Unpack[AskedWords]) -> DeviceAttribution:
    """[n] for each item, with by_layer [1 + L, n]; a leading axis for a batch (a list if lengths differ)."""
    question.check()
    for word in asked:
        if word not in ASKED:
            raise TypeError(f"got an unexpected keyword argument '{word}'; there are {', '.join(ASKED)}")
    if seen in switches.open_captures:
        raise Error("relevance: the capture is still open, expected a closed one; ask after the with block")
    answer = answer_of(seen, whole=False, **asked)  # the pass runs again, and shows all steps
    run = answer.run
    count = len(answer.tokens)
    if item is not None and not -count <= item < count:
        raise Error(f"capture: has no item {item}, expected 0 to {count - 1} (or -1 for the last); choose another")
    items = range(count) if item is None else [range(count)[item]]
    if isinstance(question.target, (list, tuple)) and len(question.target) != count:
        raise Error(f"`target`: has {len(question.target)} targets, expected one for each of the {count} items; give as many")
    call = call_of(seen, run)
    start, starts = lists_of_layers(seen, run)
    results, values = _engine.Results(), []
    for k, one in enumerate(items):
        if not answer.tokens[one]:
            raise Error(f"capture: item {one} is all padding, expected a token; leave it out")
        wanted = question.target[one] if isinstance(question.target, (list, tuple)) else question.target
        values.append(of_item(seen, answer, call, start, starts, one, count, replace(question, target=wanted), results, k,
                              len(items)))
    batch = count > 1 and item is None
    kind = Kind(values[0])
    return DeviceAttribution(results, kind, batch=batch, values=kind.stack(values) if batch else values[0],
                             images=[answer.images[one] for one in items])


def call_of(seen: Recording, run: Run) -> Call:
    one = run.one
    if one.call is None or one.before or one.generate is not None:
        raise Error("relevance: this call of the model is a step of generate(), or has a cache, expected a forward "
                    "pass over all tokens; run the model on the whole text")
    return one.call


def lists_of_layers(seen: Recording, run: Run) -> tuple[str, list[str]]:
    """The list of layers whose rows are wanted, and all lists that ran in the same call of the model."""
    start = run.stack.container
    if start is None:
        raise Error(f"relevance: '{run.stack.name}' is not a list of layers, so where its tokens enter is not "
                    "known; put the layers in a torch.nn.ModuleList")
    others = [stack.container for stack in seen._stacks() if any(one.one is run.one for one in stack.runs)]
    return start, list(dict.fromkeys(one for one in [start, *others] if one is not None))


def of_item(seen: Recording, answer: Answer, call: Call, start: str, starts: list[str], item: int, count: int,
            question: Question, results: _engine.Results, k: int, items: int) -> Tensor:
    """The values of an item; the rest of its result is added to `results`."""
    length, layers, target = answer.length, len(answer.records), question.target
    decodes = any(entry.across for entry in answer.run.one.entries)
    can = getattr(seen.model, "can_generate", None)
    looks_back = answer.records[0].bare().looks_back(item, answer.real[item]) or can is not None and bool(can())
    row = question.row
    place = row_of(seen, answer, item, row, looks_back) if not decodes else (row if isinstance(row, int) else None)
    kept = None if place is None or callable(target) or decodes else sorted({place, length - 1})
    positions = None if kept is None else torch.tensor(kept, device=answer.device)
    if question.edges is not None and not -layers <= question.edges < layers:
        raise Error(f"capture: has no layer {question.edges}, expected 0 to {layers - 1} (or -1 for the last); choose "
                    "another")
    edges = None if question.edges is None else question.edges % layers

    def run(**more: Any) -> ContextManager[Replay]:
        return replayed(seen.model, call, item, count, length, question.rule, start, starts, question.rules, positions,
                        question.by_layer, **more)

    def chosen_in(one: Replay, target: Target, against: str | int | None) -> Chosen:
        told = kept if kept is not None and rows_of(one.output) == len(kept) else None
        at = (rows_of(one.output) or 1) - 1 if place is None and decodes and not callable(target) else place
        return choose(seen, one.output, target, against, at, told, length if not decodes else 0)

    def once(watched: bool) -> tuple[Found, Chosen]:
        parts = Parts(length, question.heads, edges) if question.heads or edges is not None else None
        with run(watched=watched, parts=parts) as one:
            check_row(one.output, target, question.row)
            check_same(seen, answer, item, one.output)
            chosen = chosen_in(one, target, question.against)
            kinds = {name: type(module).__name__ for module, name in seen._names.items()}
            judge(chosen.y, one.network.known, one.end, one.modules, kinds)
            if one.network.softmaxes:
                if one.modules is None:
                    raise Unnamed
                chosen.notes += softmax_notes(one.network.softmaxes, one.modules, kinds)
            found = back(one, chosen.y)
        if parts is not None:
            parts.check(layers, start)
            found.parts = parts
        return found, chosen

    if question.rule == "integrated":
        way = integrated(seen, call, lambda instead, alter: run(watched=False, instead=instead, alter=alter), chosen_in, target,
                         question.against, question.steps or STEPS, question.baseline)
        dtype = torch.float64 if way.input.dtype == torch.float64 else torch.float32
        found, chosen = Found(way.input, [], None, way.at_baseline, dtype, way.baseline), way.chosen
    else:
        try:
            found, chosen = once(False)
        except Unnamed:  # again, to say where
            found, chosen = once(True)
    return packed(answer, found, chosen, question, item, results, k, items)


def rows_of(output: object) -> int | None:
    """How many tokens there are logits for."""
    logits = getattr(output, "logits", output)
    return logits.shape[1] if isinstance(logits, Tensor) and logits.ndim == 3 else None


def check_same(seen: Recording, answer: Answer, item: int, output: object) -> None:
    """Raises if the pass gives something else than the recorded one, which depends on more than its arguments."""
    before, now = answer.run.one.glimpse, glimpse_of(output)
    if before is None or now is None:
        return
    if bool(torch.isnan(now).any()):
        raise Error("relevance: the model's output holds NaN, expected numbers; check its weights and inputs for NaN")
    before = before[item] if len(before) == len(answer.tokens) else before[0]
    size = before.float().abs().max()
    limit = 1e-3 if before.dtype in MOST_LOST else 5e-2
    if before.shape != now[0].shape or not bool((before.float() - now[0].float()).abs().max() <= limit * size):
        raise Error("relevance: the model gives another output when it is run again, expected the recorded one; call "
                    "model.eval(), leave its inputs and weights as they are, run the items of a batch one by one, and "
                    "ask inside the same torch.autocast")


@dataclass
class Found:
    """x . g of every token: of the input, and after each layer."""

    input: Tensor
    layers: list[Tensor]
    others: float | None  # what rows of other stacks take
    biases: float  # of integrated gradients, the output at the baseline
    dtype: torch.dtype
    baseline: str = ""
    parts: Parts | None = None


def back(run: Replay, y: Tensor) -> Found:
    if not y.requires_grad:
        raise Error(NOWHERE)
    products: dict[int, Tensor] = {}

    def at(layer: int, rows: Tensor) -> Callable[[Tensor], None]:
        return lambda grad: products.update({layer: product(rows, grad)})

    for layer, rows in enumerate(run.layers):
        rows.register_hook(at(layer, rows.detach()))  # type: ignore[no-untyped-call]
    constants = run.network.constants
    grads = torch.autograd.grad(y, [run.rows, *run.others, *constants], allow_unused=True)
    if grads[0] is None:
        raise Error(NOWHERE)
    with torch.no_grad():
        taken = [product(rows, grad).double().sum() for rows, grad in zip(run.others, grads[1:]) if grad is not None]
        rest = grads[1 + len(run.others):]
        biases = [torch.where(grad == 0, 0.0, constant.double() * grad.double()).sum()
                  for constant, grad in zip(constants, rest) if grad is not None]
        input = product(run.rows.detach(), grads[0])
    layers = [products.get(layer, torch.zeros_like(input)) for layer in range(len(run.layers))]
    return Found(input, layers, float(sum(one.to(y.device) for one in taken)) if taken else None,
                 float(sum(one.to(y.device) for one in biases)) if biases else 0.0, run.rows.dtype)


def product(rows: Tensor, grad: Tensor) -> Tensor:
    dtype = torch.float64 if rows.dtype == torch.float64 else torch.float32
    return (rows.to(dtype) * grad.to(dtype)).sum(-1).flatten()


def packed(answer: Answer, found: Found, chosen: Chosen, question: Question, item: int, results: _engine.Results, k: int,
           items: int) -> Tensor:
    """The values; adds a result with everything else."""
    by_layer = question.by_layer
    keep, tokens = answer.real[item], answer.tokens[item]
    lines = [found.input, *(found.layers if by_layer else [])]
    if any(line.numel() != answer.length for line in lines):
        raise Error(f"relevance: the first layer is given {found.input.numel()} rows for {answer.length} tokens, "
                    "expected as many; headwater cannot join them")
    if keep is not None:
        lines = [line[keep.to(line.device)] for line in lines]
    if not all(bool(torch.isfinite(line).all()) for line in lines):
        raise Error("relevance: a token's relevance is not finite, expected a number; check the model's weights, or run it in "
                    "float32 or bfloat16")
    total, output = float(lines[0].double().sum()), float(chosen.y.detach())
    notes = [*answer.notes, *noted(answer, found, chosen, question, total, output)]
    inside = any(entry.across for entry in answer.run.one.entries)
    target, against = (None if one is None else shown(one, keep) for one in (chosen.target, chosen.against))
    assert target is not None
    count = len(found.layers)
    results.add("relevance", make_options(), tokens, [0 if inside else max(target[2], 0)],
                [-1, *range(count)] if by_layer else [], answer.heads, notes, answer.name, k, items, len(tokens))
    steps = 0 if question.rule != "integrated" else question.steps or STEPS
    results.set_relevance(k, question.rule, target, against, output, total, found.biases, steps, found.baseline)
    if found.parts is not None:
        put_parts(found.parts, len(answer.records), keep, results, k)
    value = torch.stack(lines) if by_layer else lines[0]
    return value.float()


def put_parts(parts: Parts, layers: int, keep: Tensor | None, results: _engine.Results, k: int) -> None:
    if parts.heads:
        results.set_head_shares(k, parts.table(layers).float().cpu().numpy())
    if parts.layer is None:
        return
    edges = torch.zeros(parts.length, parts.length) if parts.edges is None else parts.edges.float().cpu()
    if keep is not None:
        edges = edges[keep.cpu()][:, keep.cpu()]
    results.set_edges(k, parts.layer, edges.contiguous().numpy())


def shown(logit: Logit, keep: Tensor | None) -> Logit:
    """A logit whose row counts the real tokens."""
    name, number, row, value = logit
    if keep is not None and row in keep.tolist():
        row = keep.tolist().index(row)
    return name, number, row, value


def noted(answer: Answer, found: Found, chosen: Chosen, question: Question, total: float, output: float) -> list[str]:
    notes = [*chosen.notes]
    if any(entry.across for entry in answer.run.one.entries):
        notes.append(f"the output is that of token {chosen.target[2]} of the decoder")
    if found.others is not None:
        notes.append(f"inputs from another stack, which are not these tokens, take {found.others:.6g}")
    if question.rule == "integrated":
        whole = output - found.biases
        name = found.baseline if found.baseline == "zero" else f"'{_engine.labels([found.baseline])[0]}'"
        more = "; more steps make it smaller" if abs(whole - total) > 0.05 * abs(whole) else ""
        notes.append(f"integrated gradients, {question.steps or STEPS} steps from {name}: the tokens sum to {total:.4g} and "
                     f"the output changes by {whole:.4g}; the difference, {total - whole:.2g}, is the error of the steps{more}")
    if question.rule != "frozen":
        return notes
    whole = total + found.biases + (found.others or 0.0)
    size = abs(found.biases) + abs(output) + float(found.input.double().abs().sum()) + abs(found.others or 0.0)
    if abs(whole - output) > MOST_LOST.get(found.dtype, 2e-2) * size:
        why = "the function is not linear in the model's output, or adds a constant" if callable(question.target) else \
            "constants that are not known as biases, parts that `rules` names, or rounding, took the rest"
        notes.append(f"tokens ({total:.6g}) and biases ({found.biases:.6g}) sum to {total + found.biases:.6g}, not to "
                     f"the output {output:.6g} (rest {output - whole:.6g}): {why}")
    return notes
