"""What ran while a capture was open: passes of the model, the calls of its modules, and which of them were attention.

A pass is the outermost call of the model, or of a part of it that is called on its own, as generate() calls an encoder.
Within a pass, a frame is one call of one module. Frames know the frame around them, so each attention call knows which
layer made it, and which call of which parent that layer belongs to. Every thread has frames of its own.
"""
from __future__ import annotations

import inspect
import re
import sys
import threading
import weakref
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Callable, Iterator, Mapping

import torch
from torch import Tensor

from .by_hand import ByHand, Watch, drop_recorded
from .quiet import is_numbered
from .record import Record

ATTENTION = ("attention", "attn")
NOT_ATTENTION = ("adapter", "norm", "output", "embed", "dropout", "pool", "mask", "rotary")
MASKS = ("attention_mask", "padding_mask")  # not 0: real
INVERTED = ("src_key_padding_mask", "tgt_key_padding_mask", "key_padding_mask")  # true, or below 0: padding
CROSS = re.compile(r"cross|encdec|encoder_attn|enc_attn|encoder_decoder_attn", re.IGNORECASE)
ACROSS = frozenset(("key_value_states", "encoder_hidden_states", "cross_attention_states"))  # what only cross attention is given
NAMES = frozenset((*MASKS, *INVERTED, "input_ids", "decoder_attention_mask", "output_attentions",
                   "image_grid_thw", "video_grid_thw", "image_sizes"))
ABSENT = object()


class Frame:
    """One call of a module."""

    __slots__ = ("module", "name", "args", "words", "number", "above", "inside", "first", "told", "_shape")

    def __init__(self, module: torch.nn.Module, name: str, args: tuple[Any, ...], words: dict[str, Any], number: int,
                 above: Frame | None, first: int):
        self.module, self.name, self.args, self.words = module, name, args, words
        self.number = number  # counts the calls of a capture
        self.above = above
        self.inside = False  # whether attention was noted in it
        self.first = first  # how many attention calls the pass had when it began
        self.told: dict[str, Any] | None = None
        self._shape: Any = ABSENT

    def out(self) -> Iterator[Frame]:
        """This frame, the one around it, and so on."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.above

    def tells(self) -> dict[str, Any]:
        """The arguments that say what the tokens are and which are padding."""
        if self.told is None:
            self.told = arguments_of(self.module, self.args, self.words)
        return self.told

    def shape(self) -> tuple[int, ...] | None:
        """The shape of the hidden states, or of whatever tensor the call was given first."""
        if self._shape is ABSENT:
            given: Any = self.args[0] if self.args else self.words.get("hidden_states")
            if not isinstance(given, Tensor):
                rest = [self.words.get("hidden_states"), *list(self.words.values())[:1]]
                given = next((one for one in rest if isinstance(one, Tensor)), None)
            self._shape = None if given is None else tuple(given.shape)
        shape: tuple[int, ...] | None = self._shape
        return shape


@dataclass
class Entry:
    """One attention call of a pass. `record` is None if its attention could not be recorded."""

    name: str
    kind: str  # the class of the module
    way: str
    frame: int  # the number of the call
    path: list[tuple[int, str]]  # numbers and names of the calls around it, the outermost first
    record: Record | None
    told: list[dict[str, Any]]  # by the calls around it, the innermost first
    entering: dict[int, tuple[int, ...]]  # the shape of what each of these calls was given, by its number
    across: bool  # cross attention
    twin: str = ""  # the layer beside its own that was given the very same tensors


@dataclass
class Call:
    """What a pass was given."""

    root: str  # the name of the module that was called
    args: tuple[Any, ...]
    words: dict[str, Any]


@dataclass(eq=False)
class Pass:
    """One call of the model, or of a part of it that was called on its own."""

    root: str
    before: int = 0  # positions that were in the cache when it began
    fixed: bool = False  # whether the cache has a fixed size, so that its tensors are written in place
    told: dict[str, Any] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    # calls of numbered modules: caller, own number, name, and the shape of what it was given
    layers: list[tuple[int, int, str, tuple[int, ...] | None]] = field(default_factory=list)
    sights: dict[Any, Any] = field(default_factory=dict)
    output: Any = None
    embedded: Tensor | None = None  # the input embeddings [B, n, d], with gradients
    failed: bool = False
    running: bool = True
    generate: int | None = None  # the number of the innermost generate() that made it
    caches: list[weakref.ref[Any]] = field(default_factory=list)  # the one that it was given, the one that it returned
    call: Call | None = None  # what it was given, unless generate() made it or a cache came with it
    glimpse: Tensor | None = None  # some numbers of its output
    given: dict[tuple[int, str], tuple[Frame, list[Any]]] = field(default_factory=dict)  # by caller and list: its last layer
    by_hand: list[ByHand] = field(default_factory=list)
    watch: Watch | None = None


@lru_cache(maxsize=1024)
def is_attention(kind: str) -> bool:
    """Whether a module is attention by the name of its class."""
    kind = kind.lower()
    return any(word in kind for word in ATTENTION) and not any(word in kind for word in NOT_ATTENTION)


def in_backward() -> bool:
    """Whether autograd is running: gradient checkpointing then calls layers a second time."""
    return bool(torch._C._current_graph_task_id() != -1)


def in_vmap() -> bool:
    """Whether torch.func.vmap is running, whose tensors are parts of a batch that nobody can keep."""
    if getattr(torch._C, "_functorch").peek_interpreter_stack() is None:
        return False
    from torch._functorch.pyfunctorch import retrieve_all_functorch_interpreters
    return any(one.key().name == "Vmap" for one in retrieve_all_functorch_interpreters())


known_parameters: dict[type[torch.nn.Module], tuple[str, ...]] = {}


def parameters_of(kind: type[torch.nn.Module]) -> tuple[str, ...]:
    """The names of the positional arguments of a class's forward."""
    if kind not in known_parameters:
        try:
            parameters = list(inspect.signature(kind.forward).parameters.values())[1:]
        except (TypeError, ValueError, AttributeError):  # AttributeError: what torch.jit made
            parameters = []
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        known_parameters[kind] = tuple(one.name for one in parameters if one.kind in positional)
    return known_parameters[kind]


def arguments_of(module: torch.nn.Module, args: tuple[Any, ...], words: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call that are in NAMES; a dictionary as first argument counts as keywords.

    A tokenizer's BatchEncoding is a mapping, but no dict.
    """
    found = {name: value for name, value in words.items() if name in NAMES and value is not None}
    if not args:
        return found
    if not isinstance(args[0], Tensor) and isinstance(args[0], Mapping):
        found |= {name: args[0][name] for name in NAMES if args[0].get(name) is not None}
    for name, value in zip(parameters_of(type(module)), args):
        if name in NAMES and value is not None:
            found[name] = value
    return found


def cache_of(module: torch.nn.Module, args: tuple[Any, ...], words: dict[str, Any]) -> Any:
    """The cache that a model is given, or None."""
    past = (dict(zip(parameters_of(type(module)), args)) | words).get("past_key_values")
    return past if callable(getattr(past, "get_seq_length", None)) else None


def cached(past: Any) -> tuple[int, bool]:
    """How many positions a cache holds, and whether its size is fixed."""
    if past is None:
        return 0, False
    inner = getattr(past, "self_attention_cache", past)
    fixed = any("Static" in type(layer).__name__ for layer in [inner, *getattr(inner, "layers", [])])
    try:
        return int(past.get_seq_length()), fixed
    except (ValueError, TypeError, IndexError, AttributeError):
        return 0, fixed


def remember_cache(one: Pass, past: Any) -> None:
    """Notes which cache a pass belongs to, without keeping it alive. Passes of one text share it."""
    try:
        one.caches.append(weakref.ref(past))
    except TypeError:  # it has slots
        pass


@dataclass
class Generated:
    """What generate() was given and returned."""

    ids: Tensor | None = None  # [B, m]
    mask: Tensor | None = None  # [B, m]
    sequences: Tensor | None = None
    ends: tuple[int, ...] = ()  # the tokens that end a text
    told: dict[str, Any] = field(default_factory=dict)  # its arguments that are in NAMES
    inside: int | None = None  # the number of the generate() that called it


class Thread:
    """Where a thread is in the model."""

    def __init__(self) -> None:
        self.frame: Frame | None = None
        self.current: Pass | None = None  # None: this thread runs nothing that the capture records
        self.deaf = 0  # above 0: attention calls are already being recorded
        self.generate: int | None = None


class Frames:
    """The passes of a model, kept up to date by `enter` and `leave`, which its modules call."""

    def __init__(self, names: dict[torch.nn.Module, str], wants: set[torch.nn.Module] | None,
                 mine: Callable[[], bool]):
        self._mine = mine  # whether the calls of the thread that asks are recorded
        self.names = names
        self.wants = wants  # the modules to record; None: all
        self.passes: list[Pass] = []
        self.opened_by = threading.get_ident()
        self.calls = 0
        self.generated: list[Generated] = []
        self._local = threading.local()
        self._numbered = {module for module, name in names.items() if is_numbered(name)}
        self._attention = {module for module in names if is_attention(type(module).__name__)}
        self.watches: Callable[[Pass, Call], Watch | None] = lambda one, call: None  # what watches a pass

    @property
    def thread(self) -> Thread:
        found: Thread | None = getattr(self._local, "thread", None)
        if found is None:
            found = self._local.thread = Thread()
        return found

    def lineage(self, number: int | None) -> list[int]:
        """The number of a generate(), of the one that called it, and so on."""
        found = []
        while number is not None:
            found.append(number)
            number = self.generated[number].inside
        return found

    def wanted(self, module: torch.nn.Module) -> bool:
        return module in self.names and (self.wants is None or module in self.wants)

    def enter(self, module: torch.nn.Module, args: tuple[Any, ...], words: dict[str, Any]) -> None:
        """Called when a module's forward begins."""
        name = self.names.get(module)
        if name is None:
            return  # a copy that DataParallel made
        thread = self.thread
        above = thread.frame
        self.calls += 1
        if above is None:
            thread.current = self._begin(module, args, words, thread) if self._mine() and not in_backward() else None
        current = thread.current
        frame = Frame(module, name, args, words, self.calls, above,
                      len(current.entries) if current is not None else 0)
        thread.frame = frame
        if current is not None and module in self._numbered:
            current.layers.append((above.number if above is not None else 0, frame.number, name, frame.shape()))

    def _begin(self, module: torch.nn.Module, args: tuple[Any, ...], words: dict[str, Any], thread: Thread) -> Pass:
        told = arguments_of(module, args, words)
        past = cache_of(module, args, words)
        one = Pass(self.names[module], *cached(past), told, generate=thread.generate)
        if past is not None:
            remember_cache(one, past)
        if thread.generate is None and words.get("past_key_values") is None:
            one.call = Call(one.root, args, words)
        self.passes.append(one)
        one.watch = self.watches(one, Call(one.root, args, words))
        return one

    def leave(self, module: torch.nn.Module, out: Any, failed: bool) -> Pass | None:
        """Called when a module's forward ends. Returns the pass that ends with it, if any."""
        thread = self.thread
        frame = thread.frame
        while frame is not None and frame.module is not module:
            frame = frame.above
        if frame is None:
            return None
        thread.frame = frame.above
        current = thread.current
        if current is not None:
            if failed:
                del current.entries[frame.first:]
                current.failed = current.failed or frame.above is None
            elif not frame.inside and module in self._attention and self.wanted(module):
                self._note(current, frame, self.names[module], type(module).__name__, "", None, False)
            if frame.above is not None:
                frame.above.inside = frame.above.inside or frame.inside
        frame.args, frame.words = (), {}
        if frame.above is None:
            thread.current = None
            if current is not None:
                current.running = False
                if current.watch is not None:
                    current.watch.end(failed)
                    current.watch = None
                    drop_recorded(current)
                if callable(getattr(past := getattr(out, "past_key_values", None), "get_seq_length", None)):
                    remember_cache(current, past)
                return current
        return None

    def note(self, module: torch.nn.Module, way: str, record: Record, across: bool = False) -> Pass | None:
        """Called when a module's attention was seen. Returns the pass that it belongs to; None if it is not recorded.
        """
        thread = self.thread
        frame, current = thread.frame, thread.current
        if frame is None or current is None:
            return None
        record.sights = current.sights
        self._note(current, frame, self.names[module], type(module).__name__, way, record, across)
        return current

    def _note(self, current: Pass, frame: Frame, name: str, kind: str, way: str, record: Record | None,
              across: bool) -> None:
        frame.inside = True
        around = list(frame.out())
        entering, twin = {}, ""
        for one in around:
            if (shape := one.shape()) is not None:
                entering[one.number] = shape
            if one.above is not None and one.module in self._numbered:
                beside = self._twin(current, one)
                twin = twin or beside
        across = across or is_cross(name) or \
            not ACROSS.isdisjoint(frame.words) and any(frame.words.get(word) is not None for word in ACROSS)
        if record is not None and current.fixed and not across:
            record.leave_cache(current.before)
        if record is not None:
            record.note_state()
        current.entries.append(Entry(name, kind, way, frame.number, [(one.number, one.name) for one in around[::-1]],
                                     record, [one.tells() for one in around], entering, across, twin))

    def _twin(self, current: Pass, layer: Frame) -> str:
        """The layer before, if it was given the very same tensors: then it runs beside this one, and not before it."""
        assert layer.above is not None
        place, given = (layer.above.number, layer.name.rpartition(".")[0]), given_to(layer)
        before = current.given.get(place)
        if before is None or before[0] is not layer:
            current.given[place] = layer, given
        if before is None or before[0] is layer or before[0].name == layer.name or not given or len(given) != len(before[1]):
            return ""
        same = all(one() is not None and one() is other() and version == now
                   for (one, version), (other, now) in zip(before[1], given))
        return before[0].name if same else ""


def glimpse_of(output: Any) -> Tensor | None:
    """A few numbers of an output: the logits of each item, or of its last token."""
    logits = getattr(output, "logits", output)
    if not isinstance(logits, Tensor) or logits.ndim not in (2, 3) or not logits.is_floating_point():
        return None
    return (logits if logits.ndim == 2 else logits[:, -1]).detach().clone()


def given_to(frame: Frame) -> list[tuple[weakref.ref[Tensor], int]]:
    """The tensors that a call was given, with how often they were written to; none if it may have been given more."""
    given = [one for one in (*frame.args, *frame.words.values()) if one is not None]
    if not all(isinstance(one, (Tensor, bool, int, float, str)) for one in given):
        return []
    found = [one for one in given if isinstance(one, Tensor)]
    return [] if any(one.is_inference() for one in found) else [(weakref.ref(one), one._version) for one in found]


@lru_cache(maxsize=1024)
def is_cross(name: str) -> bool:
    """Whether a module is cross attention by its name."""
    return CROSS.search(".".join(name.split(".")[-2:])) is not None


def raised(out: Any) -> bool:
    """Whether a hook that is always called was called because of an exception."""
    return out is None and sys.exc_info()[0] is not None
