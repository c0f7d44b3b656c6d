"""The methods, on anything that holds attention."""
from __future__ import annotations

import inspect
import json
from typing import Any, Callable

from . import _engine
from .arguments import WORDS, one_row, split
from .result import Attribution, Comparison, Metrics
from .source import Source, open

OPTIONS = """
    Options, the same words everywhere: preset ('paper', 'tutorial', 'vit-explain', 'metrics'), fuse ('mean',
    'max', 'min', 'head:K') or head=K, residual in [0, 1), discard in [0, 1), order, empty, divide, layers
    ('j:i', slice or range), row (a number, 'cls', 'last', 'mask', 'mean', 'all'). What the source is and how it
    is read: tokens, attention_mask, item, and the other words of `headwater.open`. Raises headwater.Error.
"""


def documented(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__doc__ = (function.__doc__ or "").rstrip() + "\n" + OPTIONS
    return function


def check_words(rest: dict[str, Any]) -> None:
    known = [*inspect.signature(open).parameters][1:] + ["item"]
    for word in rest:
        if word not in known:
            raise TypeError(f"got an unexpected keyword argument '{word}'; there are {', '.join([*WORDS, *known])}")


def opened(attention: Any, words: dict[str, Any]) -> tuple[Source, list[int], bool, _engine.Options]:
    """The source, its chosen items, whether the result has a batch axis, and the options."""
    options, rest = split(words)
    check_words(rest)
    item = rest.pop("item", None)
    source = open(attention, **rest)
    if item is None:
        return source, list(range(len(source))), source.batch, options
    return source, [int(item)], False, options


def on_device(method: str, attention: Any, words: dict[str, Any], **more: Any) -> Any:
    """What torch computes where the attention lies on a GPU. None where it does not, or where torch cannot: then the
    engine does it, or says what is wrong.
    """
    from . import device
    if any(word in words for word in ("axes", "nan", "name")) or not device.lies_on_device(attention):
        return None
    try:
        if method == "metrics":
            return device.device_metrics(attention, **more, **words)
        return device.device_method(method, attention, **more, **words)
    except (IndexError, ValueError):
        return None


@documented
def rollout(attention: Any, *, by_layer: bool = False, **words: Any) -> Attribution:
    """Attention rollout: R = A_(L-1) ... A_0, how much of each output token comes from each input token.

    [n, n] for one input, [n] with a row, [B, n, n] for a batch (a list where lengths differ); with `by_layer` one
    such matrix for each top layer, [L, n, n].
    """
    if (found := on_device("rollout", attention, words, by_layer=by_layer)) is not None:
        return found
    source, items, batch, options = opened(attention, words)
    results = _engine.rollout(source.inputs, items, options, by_layer)
    return Attribution(results, source.kind, batch=batch, one_row=one_row(words))


@documented
def average(attention: Any, **words: Any) -> Attribution:
    """The mean over layers of the prepared matrices, which some texts call attention flow: [n, n]."""
    if (found := on_device("average", attention, words)) is not None:
        return found
    source, items, batch, options = opened(attention, words)
    return Attribution(_engine.average(source.inputs, items, options), source.kind, batch=batch,
                       one_row=one_row(words))


@documented
def raw(attention: Any, *, layer: int = -1, **words: Any) -> Attribution:
    """One layer, its heads fused and nothing added: [n, n]."""
    if (found := on_device("raw", attention, words, layer=layer)) is not None:
        return found
    source, items, batch, options = opened(attention, words)
    return Attribution(_engine.raw(source.inputs, items, layer, options), source.kind, batch=batch,
                       one_row=one_row(words))


@documented
def flow(attention: Any, *, column: int | None = None, every_layer: bool = False, normalise: bool = False,
         certify: bool = False, progress: Callable[[int, int], None] | None = None, **words: Any) -> Attribution:
    """Attention flow: the exact maximum flow from each output token to each input token, [n, n] float64.

    `column`: one input token alone; `every_layer`: for each top layer; `normalise`: rows divided by their sums;
    `certify`: every value checked again; `progress(settled, pairs)` is told how far it is.
    """
    source, items, batch, options = opened(attention, words)
    results = _engine.flow(source.inputs, items, options, column, every_layer, normalise, certify, progress)
    return Attribution(results, source.kind, batch=batch, one_row=one_row(words))


@documented
def gradient(attention: Any, *, target: Any = "best", against: Any = "", rule: str = "gradient",
             layer: int | None = None, **words: Any) -> Attribution:
    """Gradient x attention for an output of a model: [n, n].

    Of a model directory run here (with text, ids or image), or of a capture. `target`: 'best', or the number or name of
    a class or token; `against` a second one, whose logit is subtracted. `rule`: 'gradient', 'gradient-rollout' or
    'chefer'. `layer`: one alone.
    """
    if hasattr(attention, "as_source"):
        if against:
            raise _engine.Error("against: is for model directories, expected a function as target of a capture; "
                                "leave it out")
        return attention.gradient(target, rule=rule, layer=layer, **words)
    if layer is not None:
        words["layers"] = f"{layer}:{layer + 1 if layer != -1 else ''}"
    source, items, batch, options = opened(attention, words)
    results = _engine.gradient(source.inputs, items, options, rule, str(target), str(against))
    return Attribution(results, source.kind, batch=batch, one_row=one_row(words))


@documented
def metrics(attention: Any, *, layer: int = -1, **words: Any) -> Metrics:
    """Eight numbers over all real rows of the batch: mean_attention, max_attention, attention_entropy,
    attention_concentration (of layer `layer`), rollout_max, rollout_entropy, batch_size, seq_length.
    """
    if (found := on_device("metrics", attention, words, layer=layer)) is not None:
        return found
    words.setdefault("preset", "metrics")
    source, _, _, options = opened(attention, words)
    results = _engine.metrics(source.inputs, options, layer)
    document = json.loads(results.json())
    return Metrics(document["metrics"], document["options"], document["notes"], results)


@documented
def compare(attention: Any, other: Any = None, *, by: str | None = None, layer: int = -1,
            **words: Any) -> Comparison:
    """Results side by side: by 'layer', 'evolution', 'discard', 'fuse' or 'method'; or two models' on one input.

    With two sources the comparison is by 'model'. A batch must say which `item`.
    """
    options, rest = split(words)
    check_words(rest)
    item = int(rest.pop("item", 0) or 0)
    if other is not None:
        if by not in (None, "model"):
            raise _engine.Error(f"compare: by '{by}' was given two sources, expected one; by 'model' takes two")
        first, second = open(attention, **rest), open(other, **rest)
        results = _engine.compare_models(first.inputs, second.inputs, options)
        return Comparison(results, first.kind, "model", one_row=one_row(words))
    if by is None:
        raise _engine.Error("compare: no 'by' was given, expected layer, evolution, discard, fuse or method; for "
                            "example by='discard'")
    source = open(attention, **rest)
    if source.batch and "item" not in words:
        raise _engine.Error(f"{source.name}: holds a batch of {len(source)}, expected one item; choose it with item=K")
    results = _engine.compare(source.inputs, [item], by, options, layer)
    return Comparison(results, source.kind, by, one_row=one_row(words))


@documented
def run(model: Any, text: Any = None, *, method: str = "rollout", **words: Any) -> Attribution:
    """Runs a model directory, or a model that ships, on a text and gives its attribution.

    `headwater.run("verb-number", "The keys to the cabinet")` is rollout; method: 'rollout', 'flow', 'average', 'raw'.
    """
    known: dict[str, Callable[..., Attribution]] = dict(rollout=rollout, flow=flow, average=average, raw=raw)
    if method not in known:
        raise _engine.Error(f"unknown method '{method}'; there are {', '.join(known)}")
    if text is not None:
        words["text"] = text
    return known[method](model, **words)


def info(attention: Any, *, item: int = 0, **words: Any) -> dict[str, Any]:
    """What is known of a source: its tokens, layers and heads, how it was read, the instruction set in use."""
    return json.loads(_engine.info(open(attention, **words).inputs, item).json())
