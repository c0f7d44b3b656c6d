"""From anything that holds attention to a source that the engine reads."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from . import _engine
from ._engine import Error
from .arrays import Kind, common_device, for_engine, is_array, on_cpu, to_numpy


class Source:
    """Attention of one input or of a batch: what `headwater.open` gives and every method takes.

    `len(source)` items; `tokens` of each; `layers` and `heads`; nothing is read before a method asks.
    """

    def __init__(self, inputs: _engine.Inputs, kind: Kind, name: str, batch: bool | None = None):
        self.inputs = inputs
        self.kind = kind
        self.name = name
        self.batch = len(inputs) > 1 if batch is None else batch

    def __len__(self) -> int:
        return len(self.inputs)

    def example(self, item: int = 0) -> dict[str, Any]:
        return self.inputs.example(item)

    @property
    def tokens(self) -> list[str] | list[list[str]]:
        """The tokens of the input; of a batch, a list for each item, padding cropped."""
        lists = [self.example(item)["tokens"] for item in range(len(self))]
        return lists if self.batch else lists[0]

    @property
    def layers(self) -> int:
        return self.example()["layers"]

    @property
    def heads(self) -> list[int]:
        return self.example()["heads"]

    @property
    def reading(self) -> str:
        return self.inputs.reading

    def __repr__(self) -> str:
        return f"<headwater.Source {self.name}: {len(self)} item(s), {self.reading}>"


def models() -> dict[str, Path]:
    """The models that ship with headwater, by name."""
    return {name: Path(folder) for name, folder in _engine.models().items()}


def open(source: Any, *, tokens: Sequence[Any] | None = None, attention_mask: Any = None, axes: str = "",
         sums: str = "checked", nan: str = "error", text: str | Sequence[str] | None = None,
         text_pair: str | None = None, ids: Sequence[int] | None = None,
         image: Any = None, truncate: bool = False, name: str | None = None, call: int | None = None) -> Source:
    """Attention from a path, arrays, a list of layers, what a Hugging Face model returned, or a model directory.

    Arrays: [n, n], [L, n, n], [L, H, n, n] or [L, B, H, n, n]; a list has one a layer, each [n, n], [H, n, n]
    or [B, H, n, n]. `attention_mask` is [n] or [B, n], not 0 = real: other positions are cropped. `tokens` is
    a list of n words, or one such list for each item. A model directory, or the name of a model that ships,
    takes `text` (one or several), `text_pair`, `ids` or `image`; a capture of several calls `call`. Raises
    headwater.Error.
    """
    if isinstance(source, Source):
        return source
    inputs_of_model = dict(text=text, text_pair=text_pair, ids=ids, image=image)
    if hasattr(source, "as_source"):  # a capture
        for word, value in (inputs_of_model | dict(axes=axes or None)).items():
            if value is not None:
                raise Error(f"{word}: was given beside a capture, expected none, it has seen what the model did; leave "
                            "it out")
        return source.as_source(tokens=tokens, attention_mask=attention_mask, call=-1 if call is None else call)
    if call is not None:
        raise Error("call: is for captures, expected none beside other attention; leave it out")
    if isinstance(source, (str, os.PathLike)):
        return _open_path(os.fspath(source), **inputs_of_model, truncate=truncate, tokens=tokens, axes=axes, sums=sums,
                          nan=nan)
    for word, value in inputs_of_model.items():
        if value is not None:
            raise Error(f"{word}: was given beside attention in memory, expected a model directory for it; leave it "
                        "out")
    layers = layers_of(source)
    if len(layers) == 1 and not is_array(source) and not axes:
        axes = {2: "nn", 3: "Hnn", 4: "BHnn"}.get(layers[0].ndim, "")  # a list of one layer, not an array of all
    return from_layers(layers, tokens=tokens, attention_mask=attention_mask, axes=axes, sums=sums, nan=nan,
                       name=name or "memory")


def _open_path(path: str, *, text: Any, text_pair: Any, ids: Any, image: Any, truncate: bool, tokens: Any, axes: str,
               sums: str, nan: str) -> Source:
    texts = [text] if isinstance(text, str) else list(text or [])
    images = [image] if isinstance(image, (str, os.PathLike)) else list(image or [])
    inputs = _engine.open(path, texts=texts, pair=text_pair, ids=[int(one) for one in ids or []],
                          images=[os.fspath(one) for one in images], truncate=truncate, axes=axes,
                          tokens=[str(token) for token in tokens or []], **read_words(sums, nan))
    if len(inputs) == 0:
        raise Error(f"{path}: is a model, expected something to run it on; give text, ids or image")
    given = text is not None or ids is not None or image is not None
    batch = not isinstance(text, (str, type(None))) or isinstance(image, (list, tuple)) if given else None
    return Source(inputs, Kind(), path, batch=batch)


def read_words(sums: str, nan: str) -> dict[str, bool]:
    for word, value, known in (("sums", sums, ("checked", "any")), ("nan", nan, ("error", "identity"))):
        if value not in known:
            raise Error(f"unknown {word} '{value}'; there are {known[0]} and {known[1]}")
    return dict(any_sums=sums == "any", nan_identity=nan == "identity")


def layers_of(given: Any) -> list[Any]:
    """The layers in what a caller has: an array, a list of them, or a Hugging Face output."""
    if is_array(given):
        return [given]
    attentions = getattr(given, "attentions", None)
    if attentions is None and isinstance(given, dict):
        attentions = given.get("attentions")
    if attentions is not None:
        given = attentions
    elif hasattr(given, "logits") or hasattr(given, "last_hidden_state"):
        raise Error("output: holds no attention, expected outputs.attentions; models return none under sdpa or flash "
                    "attention: use headwater.capture(model), or attn_implementation='eager' with "
                    "output_attentions=True")
    if isinstance(given, (list, tuple)):
        if len(given) == 0:
            raise Error("attentions: is empty, expected one array a layer; models return none under sdpa or flash "
                        "attention: use headwater.capture(model)")
        if all(is_array(layer) for layer in given):
            return list(given)
        if all(isinstance(layer, (list, tuple)) for layer in given) and not is_array(given[0][0]):
            return [np.asarray(layer, dtype=np.float32) for layer in given]
    kind = type(given).__name__
    raise Error(f"attention of type {kind}: expected a path, an array, a list of layers, a Hugging Face output or a "
                "capture; see docs/python.md")


def from_layers(layers: list[Any], *, tokens: Any = None, attention_mask: Any = None, axes: str = "",
                sums: str = "checked", nan: str = "error", name: str = "memory") -> Source:
    common_device(layers + ([attention_mask] if is_array(attention_mask) and _several(layers) else []), name)
    kind = Kind(layers[0])
    mask = None if attention_mask is None else (to_numpy(attention_mask) != 0).astype(np.float32)
    lists = spread(token_lists(tokens), mask)
    inputs = _engine.from_arrays([for_engine(layer) for layer in layers], name=name, mask=mask, axes=axes,
                                 tokens=lists, **read_words(sums, nan))
    return Source(inputs, kind, name)


def spread(lists: list[list[str]], mask: np.ndarray | None) -> list[list[str]]:
    """Lists without the padding's tokens, as the engine takes them: with."""
    if mask is None or mask.ndim != 2 or len(lists) not in (1, len(mask)):
        return lists
    out = []
    for words, real in zip(lists, mask):
        if len(words) != len(real) and len(words) == int(real.sum()):
            rest = iter(words)
            words = [next(rest) if one else "" for one in real]
        out.append(words)
    return out


def _several(layers: list[Any]) -> bool:
    return not all(on_cpu(layer) for layer in layers)


def token_lists(tokens: Any) -> list[list[str]]:
    """[] for none, one list for all items, or one for each."""
    if tokens is None or len(tokens) == 0:
        return []
    if isinstance(tokens[0], (list, tuple)):
        return [[str(token) for token in one] for one in tokens]
    return [[str(token) for token in tokens]]
