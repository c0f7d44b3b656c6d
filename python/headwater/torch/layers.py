"""The layers of a run: one record each, or an error that says why they are not one map for each layer."""
from __future__ import annotations

import torch

from ..errors import Error
from .by_hand import listed_by_hand
from .mixing import beside, mixes
from .passing_on import PassingOn
from .quiet import NUMBER
from .record import Record
from .stacks import Run, config_of
from .without_attention import mixing_otherwise


def layers_of(run: Run, modules: dict[str, torch.nn.Module], missing: str, repeated: str,
              partial: bool) -> tuple[list[Record], list[str], list[str]]:
    """The records of a run's layers, their names, and notes. Raises if they are not one map for each layer.

    `partial`: only some modules are recorded, because the user said which.
    """
    name = run.stack.name
    check_repeats(run, modules, repeated)
    check_order(run)
    layers: list[tuple[str, str, Record | None]] = [(entry.name, entry.kind, entry.record) for entry in run.entries]
    if not partial:
        layers = with_silent(run, layers, modules)
    gone = [(layer, kind) for layer, kind, record in layers if record is None]
    first = next((record for _, _, record in layers if record is not None), None)
    if gone and (missing != "residual" or first is None):
        what = ", ".join(f"{layer} ({kind})" for layer, kind in gone[:6]) + (" and more" if len(gone) > 6 else "")
        way = "`missing`='residual' treats them as passing everything through" if first is not None else \
            "load the model with attn_implementation='eager', or choose another stack"
        raise Error(f"capture: {len(gone)} of the {len(layers)} layers of '{name}' ran without attention that can be "
                    f"recorded: {what}; {way}")
    assert first is not None
    notes = []
    if gone:
        what = ", ".join(layer for layer, _ in gone)
        notes.append(f"{len(gone)} layers without recordable attention are treated as passing everything through: {what}")
    if not partial:
        notes += unseen_beside(run, missing)
    notes += noted_beside(run, modules) + noted_axes(run)
    records = [record if record is not None else PassingOn(first) for _, _, record in layers]
    return records, [layer for layer, _, _ in layers], notes


def unseen_beside(run: Run, missing: str) -> list[str]:
    """Raises if layers have another attention that could not be recorded, or notes it if that was allowed."""
    own = {call[0] for call in map(run.layer_call, run.entries) if call is not None and run.stack.container is not None}
    known = set(map(id, run.entries))
    left = [f"{entry.name} ({entry.kind})" for entry in run.one.entries if entry.record is None and not entry.across and
            id(entry) not in known and (call := run.layer_call(entry)) is not None and call[0] in own]
    if left and missing != "residual":
        what = ", ".join(left[:6]) + (" and more" if len(left) > 6 else "")
        raise Error(f"capture: layers of '{run.stack.name}' also ran attention that cannot be recorded: {what}; "
                    "`missing`='residual' leaves it out")
    return [f"attention that cannot be recorded is left out: {', '.join(left)}"] if left else []


def by_hand_beside(run: Run, everywhere: bool, missing: str) -> list[str]:
    """Raises if the call of a run's parent also computed attention that nothing could record, or notes it if that was
    allowed. `everywhere`: also if another part of the model did, before the run's last layer, as where nobody chose between
    them. What comes later, such as heads that pool the tokens, is no part of a rollout.
    """
    last = max(k for k, entry in enumerate(run.one.entries) if entry is run.entries[-1])
    what = listed_by_hand(one for one in run.one.by_hand
                          if run.owner in one.path or everywhere and one.after <= last)
    if not what:
        return []
    if missing != "residual":
        raise Error(f"capture: attention ran beside '{run.stack.name}' that is computed by other steps than torch's attention and "
                    f"cannot be recorded: {what}; `missing`='residual' leaves it out")
    return [f"attention that cannot be recorded is left out: {what}"]


def noted_beside(run: Run, modules: dict[str, torch.nn.Module]) -> list[str]:
    """A note if layers with attention also mix tokens in another way."""
    entries = [entry for entry in run.entries if entry.record is not None]
    calls = [call for call in map(run.layer_call, entries) if call is not None and call[1] in modules]
    layers = [modules[name] for name in dict.fromkeys(name for _, name in calls)]
    names = beside(layers, {entry.kind for entry in entries})
    if names:
        return [f"layers of '{run.stack.name}' also mix tokens by {', '.join(names)}, which attention does not show"]
    if run.size is None or not calls:
        return []
    found = mixing_otherwise(layers, entries[0].entering.get(calls[0][0]), run.size[0])
    names = [name for name in dict.fromkeys(name for _, name in calls) if modules[name] in found]
    what = ", ".join(names[:6]) + (" and more" if len(names) > 6 else "")
    return [f"layers of '{run.stack.name}' also mix tokens by something that attention does not show: {what}"] if names else []


def noted_axes(run: Run) -> list[str]:
    """A note if attention ran along what may be the batch of a model's ids or mask, as layers do that want the batch second."""
    entry = next((entry for entry in run.entries if entry.record is not None), None)
    if entry is None or entry.record is None or entry.record.batch == entry.record.queries or run.one.before:
        return []
    size = entry.record.batch, entry.record.queries
    for told in entry.told:
        for name in ("input_ids", "attention_mask"):
            given = told.get(name)
            if isinstance(given, torch.Tensor) and given.ndim == 2:
                return [] if tuple(given.shape) != size[::-1] else [
                    f"{entry.name} ran along the first axis of '{name}' ({size[1]} x {size[0]}); if that is the batch, it attends "
                    "among texts, not tokens: its layers want the batch as second axis"]
    return []


def check_repeats(run: Run, modules: dict[str, torch.nn.Module], repeated: str) -> None:
    """Raises if a module ran more than once in a run, except where a model shares its layers."""
    frames = [entry.frame for entry in run.entries]
    names = [entry.name for entry in run.entries]
    if repeated == "layers" or len(set(names)) == len(names):
        return
    count = getattr(config_of(run.stack, modules), "num_hidden_layers", None)
    if len(set(frames)) == len(frames) and count == len(frames):
        return
    often = max(set(names), key=names.count)
    raise Error(f"capture: {often} called attention {names.count(often)} times in one call of the model, expected "
                "once; if these are layers, say `repeated`='layers'; if it was called for several inputs, or for pieces of "
                "one, run the model once for each")


def check_order(run: Run) -> None:
    """Raises if layers were given the same tensors, as branches are, so that none reads what another wrote."""
    found = next((entry for entry in run.entries if entry.twin), None)
    if found is not None and found.record is not None and any(entry.name.startswith(f"{found.twin}.") or
                                                              entry.name == found.twin for entry in run.entries):
        raise Error(f"capture: {found.name} was given the same input as {found.twin}, expected what that returned: they run "
                    "side by side, so their maps cannot be multiplied; choose one with `pattern` when you capture")


def with_silent(run: Run, layers: list[tuple[str, str, Record | None]],
                modules: dict[str, torch.nn.Module]) -> list[tuple[str, str, Record | None]]:
    """The layers, and those that ran between them without any attention, in the order they ran."""
    container = run.stack.container
    if container is None:
        return layers
    calls = [run.layer_call(entry) for entry in run.entries]
    seen = {call[0] for call in calls if call is not None}
    kinds = {type(modules[call[1]]) for call in calls if call is not None and call[1] in modules}
    silent, length = [], run.size[0] if run.size is not None else 0
    for owner, number, name, shape in run.one.layers:
        inside = name.startswith(container + ".") if container else True
        if owner == run.owner and number not in seen and inside and NUMBER.fullmatch(name[len(container):].lstrip(".")):
            module = modules.get(name)
            if module is not None and (type(module) in kinds or mixes(module, shape, length)):
                silent.append((number, (name, type(module).__name__, None)))
    if not silent:
        return layers
    order: list[tuple[int, tuple[str, str, Record | None]]] = [
        (call[0] if call is not None else 0, layer) for call, layer in zip(calls, layers)]
    return [layer for _, layer in sorted([*order, *silent], key=lambda pair: pair[0])]


def check_shapes(run: Run, records: list[Record], names: list[str], copies: int | None) -> None:
    """Raises if the records are not one [B, n, n] each with the same B and n, or are windows of something longer.

    `copies`: how many copies of the hidden states a layer is given (Gemma 3n predicts some from others).
    """
    odd = next(((name, record) for name, record in zip(names, records) if record.queries != record.keys), None)
    stack = run.stack.name
    if odd is not None and run.one.before:
        raise Error(f"capture: this call of '{stack}' holds {odd[1].queries} tokens after {run.one.before} in a cache, "
                    "expected a forward pass over all tokens; ask .generation() for generated text, or choose "
                    "another `call`")
    if odd is not None:
        raise Error(f"capture: {odd[0]} has {odd[1].queries} queries over {odd[1].keys} keys, expected equal numbers; its "
                    "keys are pooled or come from elsewhere, so its layers cannot be multiplied")
    sizes = sorted({(record.batch, record.queries) for record in records})
    if len(sizes) > 1:
        found = " and ".join(f"{batch} x {length}" for batch, length in sizes)
        raise Error(f"capture: the layers of '{stack}' have {found} items x tokens, expected the same in each; choose "
                    "some with `pattern` when you capture")
    batch, length = sizes[0]
    for entry in run.entries:
        call = run.layer_call(entry)
        shape = entry.entering.get(call[0]) if call is not None else None
        if shape is not None and len(shape) == 3 and entry.record is not None and among_channels(entry.record):
            raise Error(f"capture: {entry.name} looks like attention among {length} channels, expected tokens; its heads are "
                        f"{length} wide, and there are as many tokens: run it with another number of them to find out")
        if shape is not None and entry.record is not None and not fits(shape, batch, length) and \
                not (len(shape) == 4 and copies == shape[0] and fits(shape[1:], batch, length)):
            raise Error(f"capture: {entry.name} attended within {batch} x {length} items x tokens, but its layer was "
                        f"given {list(shape)}: attention within windows or frames gives no map over all tokens; "
                        "headwater cannot join them")


def among_channels(record: Record) -> bool:
    """Whether what a layer attends among may be the numbers of a head: as many as tokens, side by side in memory."""
    query = record.query
    return query is not None and query.shape[-1] == query.shape[-2] > 1 and query.stride(-2) == 1 != query.stride(-1)


def fits(shape: tuple[int, ...], batch: int, length: int) -> bool:
    """Whether hidden states of this shape are `batch` items of `length` tokens."""
    if len(shape) == 3:
        return (batch, length) in (shape[:2], (shape[1], shape[0]))
    if len(shape) == 2:
        return batch == 1 and length == shape[0]
    if len(shape) == 4:  # pictures, channels last or first
        return batch == shape[0] and length in (shape[1] * shape[2], shape[2] * shape[3])
    return True
