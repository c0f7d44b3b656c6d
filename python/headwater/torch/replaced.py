"""What stands in for methods of a model while a capture is open: its forward, generate() and what these two ask for."""
from __future__ import annotations

import functools
from typing import Any, Callable

import torch

from ..errors import Error
from . import switches
from .passes import Generated, arguments_of


def uncompiled_call(module: torch.nn.Module, compiled: Any) -> Callable[[Any], torch.nn.Module]:
    """What generate() asks for a compiled forward, and gets the module instead."""
    return lambda config: module


def refused_batch(module: torch.nn.Module, generate_batch: Callable[..., Any]) -> Callable[..., Any]:
    """generate_batch() of a captured model, which would put several texts into one row and pages of a cache."""
    @functools.wraps(generate_batch)
    def call(*args: Any, **words: Any) -> Any:
        raise Error(f"{type(module).__name__}: generate_batch() mixes its texts in one row and keeps their keys in pages, "
                    "expected generate(); call that, or write the texts first and capture a forward pass over each")

    return call


def watched_forward(model: torch.nn.Module, forward: Callable[..., Any]) -> Callable[..., Any]:
    """A model's forward that says when it begins and ends, however it is called."""
    @functools.wraps(forward)
    def call(*args: Any, **words: Any) -> Any:
        captures = [capture for capture in switches.open_captures if capture.model is model]
        for capture in captures:
            capture._frames.enter(model, args, words)
        out, failed = None, True
        try:
            out = forward(*args, **words)
            failed = False
            return out
        finally:
            for capture in reversed(captures):
                capture._ended(capture._frames.leave(model, out, failed), out)

    return call


@functools.lru_cache(maxsize=1024)
def replaced_of(kind: Any) -> list[str]:
    """Which methods of a class are replaced while a capture is open."""
    return [name for name in REPLACED if callable(getattr(kind, name, None))]


def prompt_of(args: tuple[Any, ...], words: dict[str, Any]) -> torch.Tensor | None:
    """The ids that generate() was given; None if it was given something else."""
    for ids in (*args[:1], words.get("inputs"), words.get("input_ids")):
        if isinstance(ids, torch.Tensor) and ids.ndim == 2 and not ids.is_floating_point():
            return ids.detach()
    return None


def ends_of(module: torch.nn.Module, words: dict[str, Any]) -> tuple[int, ...]:
    """The tokens at which generate() ends a text."""
    for one in (words, words.get("generation_config"), getattr(module, "generation_config", None)):
        ends = one.get("eos_token_id") if isinstance(one, dict) else getattr(one, "eos_token_id", None)
        if ends is not None:
            return tuple(torch.as_tensor(ends).reshape(-1).tolist())
    return ()


def counted_generate(module: torch.nn.Module, generate: Callable[..., Any]) -> Callable[..., Any]:
    """generate() that marks the passes that it makes. Some call the generate() of a part, whose passes are its own."""
    @functools.wraps(generate)
    def call(*args: Any, **words: Any) -> Any:
        mask = words.get("attention_mask")
        threads, made = [], []
        for capture in switches.sharing(module):
            thread = capture._frames.thread
            one = Generated(prompt_of(args, words), mask if isinstance(mask, torch.Tensor) and mask.ndim == 2 else None,
                            ends=ends_of(module, words), told=arguments_of(module, (), words), inside=thread.generate)
            threads.append((thread, thread.generate))
            made.append(one)
            thread.generate = len(capture._frames.generated)
            capture._frames.generated.append(one)
        try:
            out = generate(*args, **words)
            sequences = out.get("sequences") if isinstance(out, dict) else getattr(out, "sequences", out)
            if isinstance(sequences, torch.Tensor) and sequences.ndim == 2 and not sequences.is_floating_point():
                for one in made:
                    one.sequences = sequences.detach()
            return out
        finally:
            for thread, before in threads:
                thread.generate = before

    return call


REPLACED = {"get_compiled_call": uncompiled_call, "generate": counted_generate, "generate_batch": refused_batch}
