"""Opens anything that holds attention as a source that the engine reads."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping, Sequence, TypeAlias, TypedDict

import numpy as np

from . import _engine
from .arguments import DEFAULTS, OF_CAPTURES
from .arrays import Array, Kind, NumPyArray, common_device, for_engine, is_array, on_cpu, refuse_unreadable, to_numpy
from .errors import Error
from .image import ImageTokens
from .kinds import AnyPath, Ids, Images, Mask, Texts, Tokens
from .values import id_list, image_paths, readable, text_list
from .protocols import Computed, DLPackArray, Indexed, Recorded, WithAttentions, WithLogits, WithStates


class Source:
    """Attention of one input or of a batch: what `headwater.open` returns and every method takes.

    It has `len(source)` items, their `tokens`, and the number of `layers` and `heads`. Nothing is read until a method
    asks for it.
    """

    def __init__(self, inputs: _engine.Inputs, kind: Kind, name: str, batch: bool | None = None,
                 images: list[list[ImageTokens]] | None = None):
        self.inputs = inputs
        self.images = images or []  # of each item, of a vision-language model
        self.kind = kind
        self.name = name
        self.notes: list[str] = []  # how arrays were read, if another way was possible
        self.batch = len(inputs) > 1 if batch is None else batch

    def __len__(self) -> int:
        return len(self.inputs)

    def describe(self, item: int = 0) -> dict[str, Any]:
        """What is known about an item before it is read."""
        return self.inputs.describe(item)

    @property
    def tokens(self) -> list[str] | list[list[str]]:
        """The tokens of the input, without padding; of a batch, a list for each item."""
        lists: list[list[str]] = [self.describe(item)["tokens"] for item in range(len(self))]
        return lists if self.batch else lists[0]

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return int(self.describe()["layers"])

    @property
    def heads(self) -> list[int]:
        """How many heads each layer has."""
        return list(self.describe()["heads"])

    @property
    def reading(self) -> str:
        """How the arrays were read, in one line."""
        return self.inputs.reading

    def __repr__(self) -> str:
        return f"<headwater.Source {self.name}: {len(self)} item(s), {self.reading}>"


Attention: TypeAlias = (AnyPath | NumPyArray | DLPackArray | Sequence[Any] | Mapping[str, Any]
                        | WithAttentions | Recorded | Source)


def models() -> dict[str, Path]:
    """The models that ship with headwater, by name."""
    return {name: Path(folder) for name, folder in _engine.models().items()}


def open(source: Attention, *, tokens: Tokens | None = None, attention_mask: Mask | None = None, axes: str = "",
         sums: str = "checked", nan: str = "error", text: Texts | None = None, prompt: Texts | None = None,
         text_pair: str | None = None, ids: Ids | None = None, image: Images | None = None, against_text: str | None = None,
         against_image: AnyPath | None = None, truncate: bool = False, ignore_code: bool = False, name: str | None = None,
         stack: str | None = None, call: int | None = None, missing: str = "error", repeated: str = "error") -> Source:
    """Opens a path, arrays, a list of layers, the output of a Hugging Face model, or a model directory.

    Arrays are [n, n], [L, n, n], [L, H, n, n] or [L, B, H, n, n]; a list has one array a layer, each [n, n],
    [H, n, n] or [B, H, n, n]. `axes` names other orders. `attention_mask` is [n] or [B, n]; positions where it is 0
    are cropped. `tokens` is a list of n words, or one such list for each item. `sums='any'` accepts rows that do not
    sum to 1, `nan='identity'` replaces rows that hold NaN. A model directory, or the name of a model that ships, needs
    `text` (one or several), `text_pair`, `prompt` (one or several: as text, for a model that predicts the next word,
    without a token that the tokenizer adds at the end), `ids` or `image`; `truncate` cuts long texts. `against_text`
    and `against_image` make the similarity to another input the output that gradient and relevance ask about. A name may
    also be that of a model in the local Hugging Face cache. `ignore_code` runs a model whose folder has code of its
    own, without that code. `stack` and `call` choose among the stacks and calls that a capture saw.
    `missing='residual'` treats layers whose attention could not be recorded as passing everything through,
    `repeated='layers'` takes the calls of one module as layers. Raises headwater.Error.
    """
    if isinstance(source, Source):
        return source
    inputs_of_model: dict[str, Any] = dict(text=text, prompt=prompt, text_pair=text_pair, ids=ids, image=image,
                           against_text=against_text, against_image=against_image)
    if isinstance(source, Recorded):
        for word, value in (inputs_of_model | dict(axes=axes or None)).items():
            if value is not None:
                raise Error(f"`{word}`: was given with a capture, which has its own input; leave it out")
        if sums != "checked":
            raise Error("`sums`: was given with a capture, whose rows are a model's own; leave it out")
        return source._as_source(tokens=tokens, attention_mask=attention_mask, nan=nan, stack=stack, call=call,
                                 missing=missing, repeated=repeated)
    refuse_capture_words(dict(stack=stack, call=call, missing=missing, repeated=repeated))
    if isinstance(source, (str, os.PathLike)):
        opened = open_path(os.fspath(source), **inputs_of_model, truncate=truncate, ignore_code=ignore_code,
                           tokens=tokens, axes=axes, sums=sums, nan=nan)
        if len(opened) == 0:
            raise Error(f"{opened.name}: is a model and has no input to run on; give `text`, `ids` or `image`")
        return opened
    if callable(getattr(source, "named_modules", None)):
        raise Error(f"attention: is a PyTorch model ({type(source).__name__}), expected attention; run it inside `with "
                    "headwater.capture(model) as seen:`, then ask `seen`")
    for word, value in inputs_of_model.items():
        if value is not None:
            raise Error(f"`{word}`: was given beside attention in memory, expected a model directory; leave it out")
    layers = layers_of(source)
    if len(layers) == 1 and not is_array(source) and not axes:
        axes = {2: "nn", 3: "Hnn", 4: "BHnn"}.get(layers[0].ndim, "")  # one layer in a list, not one array of layers
    made = from_layers(layers, tokens=tokens, attention_mask=attention_mask, axes=axes, sums=sums, nan=nan,
                       name=name or "memory")
    if len(layers) == 1 and layers[0].ndim == 5 and not axes:
        made.notes.append(f"the array of 5 axes is read as {layers[0].shape[0]} layers, {layers[0].shape[1]} items; where "
                          "the items come first, say axes='BLHnn'")
    return made


def open_path(path: str, *, text: Texts | None = None, prompt: Texts | None = None, text_pair: str | None = None,
              ids: Ids | None = None, image: Images | None = None, against_text: str | None = None,
              against_image: AnyPath | None = None, truncate: bool = False, ignore_code: bool = False,
              tokens: Tokens | None = None, axes: str = "", sums: str = "checked", nan: str = "error") -> Source:
    """A file or a model. A model without an input has no items."""
    texts, prompts = text_list("text", text), text_list("prompt", prompt)
    for word, one in (("text_pair", text_pair), ("against_text", against_text)):
        text_list(word, one)
    inputs = _engine.open(path, texts=texts, pair=text_pair, ids=[] if ids is None else id_list(ids),
                          images=image_paths(image), truncate=truncate, axes=axes,
                          tokens=[readable("tokens", str(token)) for token in tokens or []], prompts=prompts,
                          ignore_code=ignore_code, against_text=against_text,
                          against_image=None if against_image is None else os.fspath(against_image), **read_words(sums, nan))
    given = text is not None or prompt is not None or ids is not None or image is not None
    several = not all(isinstance(one, (str, type(None))) for one in (text, prompt))
    batch = several or isinstance(image, (list, tuple)) if given else None
    return Source(inputs, Kind(), path, batch=batch)


def refuse_capture_words(words: Mapping[str, Any]) -> None:
    """Raises for keywords that choose among what a capture saw."""
    for word in OF_CAPTURES:
        if words.get(word, DEFAULTS.get(word)) != DEFAULTS.get(word):
            raise Error(f"`{word}`: is for captures only; leave it out")


class ReadWords(TypedDict):
    any_sums: bool
    nan_identity: bool


def read_words(sums: str, nan: str) -> ReadWords:
    for word, value, known in (("sums", sums, ("checked", "any")), ("nan", nan, ("error", "identity"))):
        if value not in known:
            raise Error(f"unknown {word} '{value}'; there are {known[0]} and {known[1]}")
    return ReadWords(any_sums=sums == "any", nan_identity=nan == "identity")


def layers_of(given: Any) -> list[Array]:
    """The layers of an array, a list of arrays, or a Hugging Face output."""
    first = given[0] if isinstance(given, (list, tuple)) and len(given) > 0 else given
    if isinstance(first, Computed):
        raise Error(f"attention: is a result of {first.method}, expected attention; give what the result was made from, or "
                    "compare results as arrays (a - b)")
    if is_array(given):
        return [given]
    attentions = given.attentions if isinstance(given, WithAttentions) else None
    if attentions is None and isinstance(given, dict):
        attentions = given.get("attentions")
    if attentions is not None:
        given = attentions
    elif isinstance(given, (WithLogits, WithStates)):
        raise Error("output: holds no attention, expected outputs.attentions; models return none under sdpa or flash "
                    "attention: use headwater.capture(model), or load the model with attn_implementation='eager' and "
                    "run it with output_attentions=True")
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


def from_layers(layers: list[Array], *, tokens: Tokens | None = None, attention_mask: Mask | None = None, axes: str = "",
                sums: str = "checked", nan: str = "error", name: str = "memory") -> Source:
    common_device(layers + ([attention_mask] if is_array(attention_mask) and _several(layers) else []), name)
    for layer in layers:
        refuse_unreadable(layer)
    kind = Kind(layers[0])
    mask = None if attention_mask is None else (to_numpy(attention_mask) != 0).astype(np.float32)
    lists = spread(token_lists(tokens), mask)
    inputs = _engine.from_arrays([for_engine(layer) for layer in layers], name=name, mask=mask, axes=axes,
                                 tokens=lists, **read_words(sums, nan))
    return Source(inputs, kind, name)


def spread(lists: list[list[str]], mask: NumPyArray | None) -> list[list[str]]:
    """Adds a place for each padded position to lists that name real positions only, as the engine expects."""
    if mask is None or mask.ndim != 2 or len(lists) not in (1, len(mask)):
        return lists
    out = []
    for words, real in zip(lists, mask):
        if len(words) != len(real) and len(words) == int(real.sum()):
            rest = iter(words)
            words = [next(rest) if one else "" for one in real]
        out.append(words)
    return out


def _several(layers: list[Array]) -> bool:
    return not all(on_cpu(layer) for layer in layers)


def token_lists(tokens: Tokens | None) -> list[list[str]]:
    """[] for none, one list for all items, or one for each."""
    if tokens is None:
        return []
    if isinstance(tokens, str) or not isinstance(tokens, Indexed):
        raise Error(f"`tokens` {tokens!r}: expected a list of words, or one for each item")
    if len(tokens) == 0:
        return []
    lists = tokens if isinstance(tokens[0], (list, tuple)) else [tokens]
    return [[readable("tokens", str(token)) for token in one] for one in lists]
