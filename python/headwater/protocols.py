"""The attributes that headwater reads of other libraries' objects, and no more."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Protocol, Sequence, Unpack, runtime_checkable

if TYPE_CHECKING:
    from torch import Tensor

    from .arguments import AskedWords, CaptureWords, OptionWords
    from .encoder_decoder import EncoderDecoder
    from .generated import Generation
    from .kinds import ArrayIn, DataFrame, Given, Mask, ModuleRules, Target
    from .result import Attribution
    from .source import Source
    from .torch.maps import Maps


@runtime_checkable
class DLPackArray(Protocol):
    """An array of any library that lends its memory by DLPack."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


@runtime_checkable
class WithAttentions(Protocol):
    """What a Hugging Face model returns: one array a layer; of generate(), one tuple of them a step."""

    attentions: Any


@runtime_checkable
class WithThreeStacks(Protocol):
    """What a Hugging Face encoder-decoder model returns."""

    encoder_attentions: Any
    decoder_attentions: Any
    cross_attentions: Any


@runtime_checkable
class Computed(Protocol):
    """A result of a method, which is an array but not attention."""

    method: str
    notes: Any


@runtime_checkable
class Tabular(Protocol):
    """A result that makes its own table, as the Summary of dataset.py does, which imports torch."""

    def to_pandas(self) -> DataFrame: ...


class Tokenizer(Protocol):
    """Names tokens by their ids, as the tokenizers of transformers do."""

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]: ...


@runtime_checkable
class WithLogits(Protocol):
    """What a Hugging Face model with a head returns."""

    logits: Any


@runtime_checkable
class WithStates(Protocol):
    """What a Hugging Face model without a head returns."""

    last_hidden_state: Any


@runtime_checkable
class Described(Protocol):
    """The config of a Hugging Face model."""

    def to_dict(self) -> dict[str, Any]: ...


@runtime_checkable
class Columns(Protocol):
    """A dictionary of columns, or what behaves like one."""

    def keys(self) -> Iterable[str]: ...


@runtime_checkable
class Listed(Protocol):
    """An array of any library that makes Python's numbers of its own."""

    def tolist(self) -> Any: ...


@runtime_checkable
class Indexed(Protocol):
    """A list, a tuple, an array, or what behaves like one."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> Any: ...


class TextTokenizer(Tokenizer, Protocol):
    """Also makes a model's input of a text."""

    def __call__(self, text: str, text_pair: str | None = None, *, return_tensors: str) -> Mapping[str, Tensor]: ...


@runtime_checkable
class Paged(Protocol):
    """A result that has a page, and a short form for places that show none."""

    def _page(self, *, only_data: bool = False) -> str: ...

    def _spans(self) -> str: ...


@runtime_checkable
class Recorded(Protocol):
    """A capture, as the methods see it without importing torch."""

    def _asked_fuse(self, words: Given) -> dict[str, Any]: ...

    def _on_device(self, **asked: Unpack[AskedWords]) -> bool: ...

    def _as_source(self, **asked: Unpack[AskedWords]) -> Source: ...

    def _as_maps(self, **asked: Unpack[AskedWords]) -> Maps: ...

    def gradient(self, target: Target = "best", *, rule: str = "gradient", layer: int | None = None,
                 position: int | None = None, **words: Unpack[CaptureWords]) -> Attribution: ...

    def relevance(self, target: Target = "best", *, against: str | int | None = None, rule: str = "frozen",
                  row: int | str | None = None, by_layer: bool = False, heads: bool = False, edges: int | None = None,
                  steps: int | None = None, baseline: str | int = "", rules: ModuleRules | None = None, item: int | None = None,
                  **asked: Unpack[AskedWords]) -> Attribution: ...

    def generation(self, *, prompt: Sequence[str] | None = None, generated: Sequence[str] | None = None,
                   attention_mask: Mask | None = None, item: int | None = None, position: str = "predicting",
                   beam_indices: ArrayIn | None = None, call: int | None = None, **words: Unpack[OptionWords]) -> Generation: ...

    def encoder_decoder(self, *, source_tokens: Sequence[str] | None = None,
                        target_tokens: Sequence[str] | None = None, attention_mask: Mask | None = None,
                        decoder_attention_mask: Mask | None = None, item: int | None = None,
                        beam_indices: ArrayIn | None = None, call: int | None = None, **words: Unpack[OptionWords]) -> EncoderDecoder: ...
