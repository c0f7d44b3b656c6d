"""A PyTorch model and its tokenizer: texts of like lengths run together, under a capture."""
from __future__ import annotations

from typing import Any, Iterator, Sequence

import numpy as np
import torch

from ..arrays import to_numpy
from ..dataset import fingerprint
from ..errors import Error
from ..torch import capture
from ..torch.recording import check_model
from .row import Answer, answer_of, not_a_text
from .settings import Settings

TOKENS_AT_ONCE = 16384  # with padding
TEXTS_AT_ONCE = 256


class LiveModel:
    """Runs where the model is, without gradients."""

    def __init__(self, model: torch.nn.Module, settings: Settings, tokenizer: Any):
        check_model(model)
        if tokenizer is None or not callable(tokenizer):
            raise Error("`tokenizer`: was not given, expected that of the PyTorch model; for example "
                        "AutoTokenizer.from_pretrained(...)")
        if settings.method == "relevance":
            raise Error("`method` relevance: is not there for a PyTorch model, expected rollout, flow, average, raw or "
                        "gradient; save the model with save_pretrained and give the folder")
        if settings.against:
            raise Error("`against`: is for model directories; save the model with save_pretrained and give the folder")
        self.module, self.settings = model.eval(), settings
        self.tokenizer: Any = tokenizer
        self.name = str(getattr(getattr(model, "config", None), "name_or_path", "") or type(model).__name__)
        self.longest: int | None = getattr(getattr(model, "config", None), "max_position_embeddings", None)
        if getattr(tokenizer, "pad_token", None) is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token

    @property
    def content(self) -> str:
        return fingerprint(self.module)

    def use_device(self, rank: int) -> None:
        """The GPU of a worker."""
        if torch.cuda.is_available():
            self.module.to(f"cuda:{rank % torch.cuda.device_count()}")

    def encoded(self, texts: Sequence[Any]) -> tuple[dict[int, dict[str, Any]], dict[int, str]]:
        """The encodings of the texts that can run, and what is wrong with the others, by number."""
        wrong = {k: error for k, text in enumerate(texts) if (error := not_a_text(text))}
        good = [k for k in range(len(texts)) if k not in wrong]
        found: dict[int, dict[str, Any]] = {}
        if not good:
            return found, wrong
        cut = dict(truncation=True, max_length=self.longest) if self.settings.truncate and self.longest else {}
        all_of: Any = self.tokenizer([texts[k] for k in good], return_offsets_mapping=True, return_special_tokens_mask=True,
                                **cut)
        for at, k in enumerate(good):
            one = {name: column[at] for name, column in all_of.items()}
            if all(one["special_tokens_mask"]):
                wrong[k] = f"{self.name}: the text has no tokens of its own, expected at least one; give a longer text"
            elif self.longest is not None and len(one["input_ids"]) > self.longest:
                wrong[k] = (f"{self.name}: the text has {len(one['input_ids'])} tokens, expected at most {self.longest}, "
                            "the positions of the model; shorten it, or cut it with `truncate`")
            else:
                found[k] = one
        return found, wrong

    def tokens(self, texts: Sequence[Any]) -> list[int | str]:
        found, wrong = self.encoded(texts)
        return [wrong[k] if k in wrong else len(found[k]["input_ids"]) for k in range(len(texts))]

    def answers(self, texts: Sequence[Any]) -> list[Answer]:
        found, wrong = self.encoded(texts)
        answers = {k: Answer(error=error) for k, error in wrong.items()}
        for some in by_length({k: len(one["input_ids"]) for k, one in found.items()}):
            try:
                answers |= self.run({k: found[k] for k in some}, texts)
            except Error as error:
                if len(some) == 1:
                    answers[some[0]] = Answer(error=str(error))
                    continue
                for k in some:  # one of them is wrong, and the others are not
                    try:
                        answers |= self.run({k: found[k]}, texts)
                    except Error as own:
                        answers[k] = Answer(error=str(own))
        return [answers[k] for k in range(len(texts))]

    def run(self, encoded: dict[int, dict[str, Any]], texts: Sequence[Any]) -> dict[int, Answer]:
        """The answers for some texts, in one pass of the model."""
        inputs = self.tokenizer.pad([{name: one[name] for name in self.tokenizer.model_input_names if name in one}
                                     for one in encoded.values()], return_tensors="pt", padding=True)
        device = next(self.module.parameters()).device
        inputs = {name: tensor.to(device) for name, tensor in inputs.items()}
        words: dict[str, Any] = dict(self.settings.options)
        if self.settings.method == "gradient":
            with capture(self.module) as seen:
                self.module(**inputs)
            target: Any = int(self.settings.target) if self.settings.target.isdigit() else self.settings.target
            result = seen.gradient(target, rule=self.settings.rule, row=self.settings.row, **words)
        else:
            with torch.no_grad(), capture(self.module) as seen:
                self.module(**inputs)
            row = self.settings.row or ("-1" if seen._as_source().example()["causal"] else "0")
            method = getattr(seen, self.settings.method)
            more = dict(layer=self.settings.layer) if self.settings.method == "raw" else {}
            result = method(row=as_number(row), **more, **words)
        answers = {}
        for at, (k, one) in enumerate(encoded.items()):
            item = result.item(at)
            values, rows = item.matrix(), list(item.rows)
            if len(rows) != 1:
                shown = item.shown_row()
                values, rows = values[shown:shown + 1], [rows[shown]]
            answers[k] = answer_of(one["input_ids"], self.tokenizer.convert_ids_to_tokens(one["input_ids"]),
                                   in_bytes(texts[k], one["offset_mapping"]), np.array(to_numpy(values[0])),
                                   row=None if rows[0] == "mean" else int(rows[0]), target=None, probability=None,
                                   top=self.settings.top)
        return answers


def as_number(row: str) -> int | str:
    return int(row) if row.lstrip("-").isdigit() else row


def by_length(lengths: dict[int, int]) -> Iterator[list[int]]:
    """The texts in groups, from the shortest to the longest, so that there is little padding."""
    group: list[int] = []
    for k in sorted(lengths, key=lambda k: (lengths[k], k)):
        if group and (len(group) == TEXTS_AT_ONCE or (len(group) + 1) * lengths[k] > TOKENS_AT_ONCE):
            yield group
            group = []
        group.append(k)
    if group:
        yield group


def in_bytes(text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in characters as places in bytes of UTF-8."""
    if text.isascii():
        return [(int(begin), int(end)) for begin, end in places]
    at = [0]
    for character in text:
        at.append(at[-1] + len(character.encode()))
    return [(at[begin], at[end]) for begin, end in places]
