"""A model in PyTorch as the page of a server asks it."""
from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any, Callable

import torch

from .. import _engine
from ..errors import Error
from ..protocols import TextTokenizer
from ..serving import check
from .capturing import Capture, capture

METHODS = ("rollout", "flow", "raw", "average", "gradient", "compare")
NUMBERS: dict[str, Callable[[str], Any]] = {"layer": int, "residual": float, "discard": float}
MISSING = ("keep", "against", "other")  # options that a capture does not have
Progress = Callable[[str, int, int], bool]


class LiveModel:
    """Answers questions about a text: one pass of the model in a capture, then the method."""

    def __init__(self, model: torch.nn.Module, tokenizer: TextTokenizer | None, name: str | None):
        if not isinstance(model, torch.nn.Module):
            raise Error(f"serve: is given a {type(model).__name__}, expected a PyTorch model, or the names of models")
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
        methods = [{"name": method, "options": [word for word in options if word not in MISSING]}
                   for method, options in _engine.server_methods() if method in METHODS]
        model = {"name": self.name, "about": f"{made}, in PyTorch", "sees": "text", "writes": False, "targets": targets,
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
        for word in MISSING:
            if word in options:
                raise Error(f"`{word}`: a model in PyTorch does not have it; leave it out")
        words = {word: NUMBERS.get(word, str)(value) for word, value in options.items()}
        check(progress, "pass", 0, 1)
        seen = self.run(question["text"], question["pair"], method == "gradient")
        check(progress, "pass", 1, 1)
        if method == "flow":
            words["progress"] = lambda done, total: check(progress, "pair", done, total)
        if method == "gradient":
            target = words.pop("target", "best")
            words["target"] = int(target) if target.lstrip("-").isdigit() else target
        if method == "compare":
            words.setdefault("by", "method")
        result = getattr(seen, method)(**words)
        return str(result._page(only_data=True))

    def run(self, text: str, pair: str | None, gradients: bool) -> Capture:
        """The model's pass over a text."""
        inputs = self.tokenizer(text, pair, return_tensors="pt") if pair else self.tokenizer(text, return_tensors="pt")
        device = next(self.model.parameters()).device
        with capture(self.model, tokenizer=self.tokenizer) as seen, nullcontext() if gradients else torch.no_grad():
            self.model(**{word: value.to(device) for word, value in inputs.items()})
        return seen
