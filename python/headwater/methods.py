"""The methods, on anything that holds attention."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Mapping, Sequence, Unpack

from . import _engine, arrays
from .arguments import (ASKED, DEFAULTS, NOT_BY_HEAD, NOT_OF_METRICS, NOT_OF_RAW, OPTIONS, READING, ModelWords, RunWords,
                        SourceWords, Words, make_options, one_row, refuse, row_words, spelled_out, split)
from .errors import Error
from .kinds import Target, Texts
from .protocols import Recorded
from .result import Attribution, Comparison, Metrics
from .source import Attention, Source, layers_of, open, open_path
from .values import target_text

KNOWN = (*SourceWords.__annotations__, "item")


def meant(attention: Attention, words: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keywords, with the fusion that a capture was given."""
    return attention._asked_fuse(words) if isinstance(attention, Recorded) else words


def refuse_similarity(words: Mapping[str, Any]) -> None:
    for word in ("against_text", "against_image"):
        if words.get(word) is not None:
            raise Error(f"`{word}`: makes a similarity the output, which only gradient and relevance ask about; leave it out")


def opened(attention: Attention, words: Mapping[str, Any], *,
           of_output: bool = False) -> tuple[Source, list[int], bool, _engine.Options]:
    """The source, the chosen items, whether the result has an axis for a batch, and the options."""
    if not of_output:
        refuse_similarity(words)
    options, rest = split(meant(attention, words), KNOWN)
    item = rest.pop("item", None)
    source = open(attention, **rest)
    items = list(range(len(source))) if item is None else [int(item)]
    return source, items, source.batch if item is None else False, options


def attribution(results: _engine.Results, source: Source, items: list[int], batch: bool,
                words: Mapping[str, Any]) -> Attribution:
    """What the engine gave for the chosen items."""
    images = [source.images[k] for k in items] if source.images else []
    return Attribution(results, source.kind, batch=batch, one_row=one_row(words), images=images,
                       notes=source.notes)


def for_device(attention: Attention, words: Mapping[str, Any]) -> dict[str, Any] | None:
    """The keywords for torch, if the attention is on a GPU and torch supports all of them; else None."""
    if not arrays.lies_on_device(attention, {word: value for word, value in words.items() if word in ASKED}):
        return None
    if not isinstance(attention, Recorded):
        for layer in layers_of(attention):
            arrays.refuse_unreadable(layer)
    words = meant(attention, words)
    more = ASKED if isinstance(attention, Recorded) else ()
    known = {word: value for word, value in words.items() if word in OPTIONS or word in READING or word in more}
    rest = ((word, value) for word, value in words.items() if word not in known)
    default = all(value is None or isinstance(value, (str, bool)) and value == DEFAULTS.get(word)
                  for word, value in rest)
    return known if default else None


def on_device(method: str, attention: Attention, words: Mapping[str, Any], *, by_layer: bool = False,
              layer: int = -1) -> Attribution | None:
    """The result computed on a GPU. None if the engine must do it, or must say what is wrong."""
    known = for_device(attention, words)
    if known is None:
        return None
    from .torch.device import device_method
    try:
        return device_method(method, attention, by_layer=by_layer, layer=layer, **known)
    except (IndexError, ValueError):
        return None


@spelled_out
def rollout(attention: Attention, *, by_layer: bool = False, embed_layers: bool = False,
            **words: Unpack[Words]) -> Attribution:
    """Attention rollout: R = A_(L-1) ... A_0, how much of each output token comes from each input token.

    The result is [n, n] for one input, [n] with a row, [B, n, n] for a batch (a list if lengths differ). With
    `by_layer` it has one such matrix for each top layer, [L, n, n]. With `embed_layers` its page has the map of each
    layer, to change layers and residual there.
    """
    if not embed_layers and (found := on_device("rollout", attention, words, by_layer=by_layer)) is not None:
        return found
    source, items, batch, options = opened(attention, words)
    results = _engine.rollout(source.inputs, items, options, by_layer, embed_layers)
    return attribution(results, source, items, batch, words)


@spelled_out
def average(attention: Attention, *, embed_layers: bool = False, **words: Unpack[Words]) -> Attribution:
    """The mean over layers of the prepared matrices, which some texts call attention flow: [n, n].

    With `embed_layers` its page has the map of each layer.
    """
    if not embed_layers and (found := on_device("average", attention, words)) is not None:
        return found
    source, items, batch, options = opened(attention, words)
    return attribution(_engine.average(source.inputs, items, options, embed_layers), source, items, batch, words)


@spelled_out
def raw(attention: Attention, *, layer: int = -1, **words: Unpack[Words]) -> Attribution:
    """One layer with its heads fused and nothing added: [n, n].

    Options are fuse ('mean', 'max', 'min', 'head:K') or head=K, and row; those that prepare layers are refused. The
    remaining keywords are those of `headwater.open`. Raises headwater.Error.
    """
    refuse(words, "raw", NOT_OF_RAW)
    if (found := on_device("raw", attention, words, layer=layer)) is not None:
        return found
    source, items, batch, options = opened(attention, words)
    return attribution(_engine.raw(source.inputs, items, layer, options), source, items, batch, words)


@spelled_out
def flow(attention: Attention, *, column: int | None = None, by_layer: bool = False, every_layer: bool = False,
         normalise: bool = False, certify: bool = False, cut: bool = False, embed_layers: bool = False,
         progress: Callable[[int, int], None] | None = None, **words: Unpack[Words]) -> Attribution:
    """Attention flow: the exact maximum flow from each output token to each input token, [n, n] float64.

    `column` chooses one input token. `by_layer` gives a matrix for each top layer (`every_layer` is its older name).
    `normalise` divides rows by their sums. `certify` checks every value again. `cut`, with one `row` and one `column`,
    adds the attention weights that limit the flow as `result.cut`. With `embed_layers` its page has the map of each
    layer. `progress(settled, pairs)` is called now and then.
    """
    source, items, batch, options = opened(attention, words)
    results = _engine.flow(source.inputs, items, options, column, by_layer or every_layer, normalise, certify, cut,
                           progress, embed_layers)
    return attribution(results, source, items, batch, words)


@spelled_out
def gradient(attention: Attention, *, target: Target = "best", against: str | int = "", rule: str = "gradient",
             layer: int | None = None, **words: Unpack[Words]) -> Attribution:
    """Gradient x attention for an output of a model: [n, n].

    Takes a model directory, which runs here (with text, ids or image), or a capture. `target` is 'best', or the number
    or name of a class or token; the logit of `against` is subtracted. `rule` is 'gradient', 'gradient-rollout' or
    'chefer'. `layer` chooses one layer.
    """
    if isinstance(attention, Recorded):
        if against != "":
            raise Error("`against`: is for model directories; for a capture give a function as `target` instead")
        given: dict[str, Any] = dict(words)
        return attention.gradient(target, rule=rule, layer=layer, **given)
    if layer is not None:
        refuse(words, "gradient with `layer`", {"layers": "leave one of the two out"})
        words["layers"] = f"{layer}:{layer + 1 if layer != -1 else ''}"
    source, items, batch, options = opened(attention, words, of_output=True)
    results = _engine.gradient(source.inputs, items, options, rule, target_text("target", target),
                               target_text("against", against))
    return attribution(results, source, items, batch, words)


@spelled_out
def relevance(attention: Attention, *, target: Target = "best", against: str | int = "", rule: str = "frozen",
              row: int | str | None = None, by_layer: bool = False, heads: bool = False, edges: int | None = None,
              steps: int | None = None, baseline: str | int = "", **words: Unpack[ModelWords]) -> Attribution:
    """Which input tokens an output of a model comes from, for and against: [n], signed; [B, n] for a batch.

    Takes a model directory, which runs here (with text, prompt, ids or image), or a capture. `target` is 'best', or the
    number or name of a class or token; the logit of `against` is subtracted. `row` is the token whose logit is meant, where
    every token has some. `rule` is 'frozen' (attention weights are constants; the values and what biases take sum to
    the logit), 'attnlrp' (relevance also passes through queries and keys) or 'integrated' (integrated gradients in
    `steps` steps from `baseline`: 'mask', 'zero' or a word). `by_layer` gives [1 + L, n]: the input, then after each
    layer. The result's `relevance` has the target, the output, the sum and what biases take; with `heads`, the share
    of each head as `result.heads` [L, H]; with `edges=K`, what each output token of layer K took from each input
    token as `result.edges` [n, n]. The remaining keywords are those of `headwater.open`. Raises headwater.Error.
    """
    if isinstance(attention, Recorded):
        more: dict[str, Any] = dict(words)
        return attention.relevance(target, against=against, rule=rule, row=row, by_layer=by_layer, heads=heads,
                                   edges=edges, steps=steps, baseline=baseline, **more)
    source, items, batch, _ = opened(attention, words, of_output=True)
    asked = "" if row is None else row_words(row)
    results = _engine.relevance(source.inputs, items, rule, target_text("target", target),
                                target_text("against", against),
                                asked if isinstance(asked, str) else ",".join(asked),
                                by_layer, heads, edges, steps, str(baseline))
    return Attribution(results, source.kind, batch=batch, one_row=True)


@spelled_out
def metrics(attention: Attention, *, layer: int = -1, **words: Unpack[Words]) -> Metrics:
    """Eight numbers over all real rows of the batch.

    They are mean_attention, max_attention, attention_entropy and attention_concentration of layer `layer`,
    rollout_max, rollout_entropy, batch_size and seq_length. The preset is 'metrics' unless another is given.
    """
    refuse(words, "metrics", NOT_OF_METRICS)
    words.setdefault("preset", "metrics")
    if (known := for_device(attention, words)) is not None:
        from .torch.device import device_metrics
        try:
            return device_metrics(attention, layer=layer, **known)
        except (IndexError, ValueError):
            pass  # the engine raises with the reason
    source, _, _, options = opened(attention, words)
    results = _engine.metrics(source.inputs, options, layer)
    return Metrics(results)


@spelled_out
def compare(attention: Attention, other: Attention | None = None, *, by: str | None = None, layer: int = -1,
            values: Sequence[float] = (), layers_shown: Sequence[int] = (), **words: Unpack[Words]) -> Comparison:
    """Results side by side: by 'layer', 'evolution', 'discard', 'fuse', 'head', 'method' or 'input', or of two models.

    By 'head' is a panel of raw attention for each head of each layer, by 'input' one of rollout for each item of a batch,
    such as texts that differ in a word. `values` are the shares of by 'discard', `layers_shown` the layers of by
    'evolution'. With two sources the comparison is by 'model', on one input. Otherwise `item` says which one of a batch.
    """
    refuse_similarity(words)
    if layer != -1 and (other is not None or by not in ("layer", None)):
        raise Error(f"`layer` {layer}: is for a comparison by 'layer'; leave it out")
    if by == "head":
        refuse(words, "compare by 'head'", NOT_BY_HEAD)
    options, rest = split(meant(attention, words), KNOWN)
    item = rest.pop("item", None)
    if other is not None:
        if by not in (None, "model"):
            raise Error(f"`by` '{by}': takes one source, and two were given; by 'model' takes two")
        first, second = open(attention, **rest), open(other, **rest)
        results = _engine.compare_models(first.inputs, second.inputs, options)
        return Comparison(results, first.kind, "model", one_row=one_row(words))
    if by is None:
        raise Error("compare: no 'by' was given, expected layer, evolution, discard, fuse, head, method or input; for "
                    "example by='discard'")
    source = open(attention, **rest)
    if by == "input":
        if item is not None or list(values) or list(layers_shown):
            raise Error("compare by 'input': takes all items with one method; leave `item`, `values` and `layers_shown` out")
        results = _engine.compare_inputs(source.inputs, list(range(len(source))), options)
        return Comparison(results, source.kind, by, one_row=one_row(words))
    if source.batch and item is None:
        raise Error(f"{source.name}: holds a batch of {len(source)}, expected one item; choose it with item=K")
    results = _engine.compare(source.inputs, [int(item or 0)], by, options, layer, [float(one) for one in values],
                              [int(one) for one in layers_shown])
    return Comparison(results, source.kind, by, one_row=one_row(words))


@spelled_out
def run(model: Attention, text: Texts | None = None, *, method: str = "rollout",
        **words: Unpack[RunWords]) -> Attribution:
    """Runs a model directory, or a model that ships, on a text and returns its attribution.

    `headwater.run("verb-number", "The keys to the cabinet")` is its rollout. `method` is 'rollout', 'flow', 'average',
    'raw' or 'relevance'.
    """
    known: dict[str, Callable[..., Attribution]] = dict(rollout=rollout, flow=flow, average=average, raw=raw,
                                                    relevance=relevance)
    if method not in known:
        raise Error(f"unknown method '{method}'; there are {', '.join(known)}")
    return known[method](model, text=text, **words)


@spelled_out
def info(attention: Attention | None = None, *, item: int = 0, **words: Unpack[SourceWords]) -> dict[str, Any]:
    """What is known about a source: tokens, layers and heads, how it was read, the instruction set in use.

    Of a model without an input, what is known about the model. Without a source, what is known about this machine.
    Under `gpu` it says whose kernels run on the first GPU, headwater's or torch's, and why; of a capture on a GPU too.
    The keywords are those of `headwater.open`. Raises headwater.Error.
    """
    if attention is None:
        return {"headwater": _engine.version(), "kernel": _engine.kernel(), "gpu": gpu_info()}
    if isinstance(attention, (str, os.PathLike)) and words.keys() <= {"ignore_code"}:
        source = open_path(os.fspath(attention), ignore_code=words.get("ignore_code", False))
        if len(source) == 0 and item != 0:
            raise Error(f"{source.name}: is a model without an input and has no item {item}; leave `item` out")
    else:
        source = open(attention, **words)
    found: dict[str, Any] = json.loads(_engine.info(source.inputs, item).json())
    if isinstance(attention, Recorded):
        found["gpu"] = gpu_info()
    return found


def gpu_info() -> dict[str, str]:
    """Whose kernels run on the first GPU, and why."""
    try:
        from .torch import kernels
    except ImportError:
        return {"kernels": "none", "why": "PyTorch is not installed"}
    return kernels.info()
