"""Answers the questions of a server's page with a PyTorch model."""
from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any, Callable

import torch

from .. import _engine
from ..errors import Error
from ..protocols import TextTokenizer
from ..serving import Progress, check
from .capturing import Capture, capture

METHODS = ("rollout", "flow", "raw", "average", "gradient", "relevance", "generate", "compare")
NUMBERS: dict[str, Callable[[str], Any]] = {"layer": int, "residual": float, "discard": float, "count": int}
# Options that a capture does not have.
MISSING: dict[str, tuple[str, ...]] = {"generate": ("explain", "rule"), "relevance": ()}
MISSING_ELSEWHERE = ("keep", "against", "other")
MOST_TOKENS = 500  # the most that a page may request


class LiveModel:
    """Answers questions about a text: one pass of the model in a capture, then the method."""

    def __init__(self, model: torch.nn.Module, tokenizer: TextTokenizer | None, name: str | None):
        if not isinstance(model, torch.nn.Module):
            raise Error(f"serve: was given a {type(model).__name__}, expected a PyTorch model, or the names of models")
        if tokenizer is None:
            raise Error("serve: has a PyTorch model without a tokenizer, expected both; for example "
                        "hw.serve(model, AutoTokenizer.from_pretrained(...))")
        self.model, self.tokenizer = model, tokenizer
        self.name = name or type(model).__name__

    def menu(self) -> str:
        """What can be asked, as the page reads it."""
        config = getattr(self.model, "config", None)
        classes = getattr(config, "id2label", None) or {}
        made = type(self.model).__name__
        targets = "For" in made or "LMHead" in made  # those of transformers with logits
        methods = [{"name": method, "options": [word for word in options if word not in missing(method)]}
                   for method, options in _engine.server_methods() if method in METHODS]
        writes = bool(getattr(self.model, "can_generate", lambda: False)()) and not getattr(config, "is_encoder_decoder", False)
        model = {"name": self.name, "about": f"{made}, in PyTorch", "sees": "text", "writes": writes, "targets": targets,
                 "layers": getattr(config, "num_hidden_layers", 0),
                 "classes": [str(classes[k]) for k in sorted(classes)][:200] if "Classification" in made else [],
                 "texts": [], "images": []}
        return json.dumps({"headwater": _engine.version(), "methods": methods, "files": False, "models": [model]})

    def answer(self, question: dict[str, Any], progress: Progress) -> str:
        """The data of the answer's page."""
        if question["text"] is None:
            raise Error("serve: the model takes a text, expected one; type it")
        method, options = question["method"], dict(question["options"])
        if method not in METHODS:
            raise Error(f"`method` {method}: a model in PyTorch does not have it, expected {', '.join(METHODS)}")
        for word in missing(method):
            if word in options:
                raise Error(f"`{word}`: a model in PyTorch does not have it; leave it out")
        words = {word: NUMBERS.get(word, str)(value) for word, value in options.items()}
        if method == "generate":
            result: Any = self.write(question["text"], words.pop("count", 20), progress).generation(**words)
            return str(result._page(only_data=True))
        check(progress, "pass", 0, 1)
        seen = self.run(question["text"], question["pair"], method == "gradient")
        check(progress, "pass", 1, 1)
        if method == "flow":
            words["progress"] = lambda done, total: check(progress, "pair", done, total)
        if method in ("gradient", "relevance"):
            for word in ("target", "against"):
                if word in words:
                    words[word] = number_or_name(words[word])
        if method == "relevance" and "row" in words:
            words["row"] = number_or_name(words["row"])
        if method == "compare":
            words.setdefault("by", "method")
        result = getattr(seen, method)(**words)
        return str(result._page(only_data=True))

    def write(self, text: str, count: int, progress: Progress) -> Capture:
        """The model's own continuation of a text, with its most likely tokens."""
        if not 1 <= count <= MOST_TOKENS:
            raise Error(f"`count` {count}: expected 1 to {MOST_TOKENS}; choose another")
        inputs = self.inputs(text, None)
        length = inputs["input_ids"].shape[1]

        def said(ids: torch.Tensor, _: Any, **__: Any) -> torch.Tensor:
            check(progress, "token", min(ids.shape[1] - length, count), count)
            return torch.zeros(len(ids), dtype=torch.bool, device=ids.device)

        check(progress, "token", 0, count)
        with capture(self.model, tokenizer=self.tokenizer) as seen, torch.no_grad():
            generate: Any = self.model.generate
            generate(**inputs, max_new_tokens=count, do_sample=False, num_beams=1, stopping_criteria=[said])
        return seen

    def inputs(self, text: str, pair: str | None) -> dict[str, torch.Tensor]:
        """What the model takes, on its device."""
        device = next(self.model.parameters()).device
        made = self.tokenizer(text, pair, return_tensors="pt") if pair else self.tokenizer(text, return_tensors="pt")
        return {word: value.to(device) for word, value in made.items()}

    def run(self, text: str, pair: str | None, gradients: bool) -> Capture:
        """The model's pass over a text."""
        inputs = self.inputs(text, pair)
        with capture(self.model, tokenizer=self.tokenizer) as seen, nullcontext() if gradients else torch.no_grad():
            self.model(**inputs)
        return seen


def missing(method: str) -> tuple[str, ...]:
    return MISSING.get(method, MISSING_ELSEWHERE)


def number_or_name(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text
