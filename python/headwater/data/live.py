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
from .rolled import Rolled, roll
from .row import Answer, answer_of, not_a_text
from .settings import Settings

# Texts, and tokens with padding; the passes of a GPU last longer than what Python does for each.
AT_ONCE = {"cpu": (256, 16384), "cuda": (1024, 32768)}
FAILURES = (Error, RuntimeError, IndexError)  # of a single text, or because too many ran at once
BROKEN: Any = getattr(torch, "AcceleratorError", ())  # the GPU can run nothing any more


class LiveModel:
    """Runs where the model is, without gradients."""

    def __init__(self, model: torch.nn.Module, settings: Settings, tokenizer: Any):
        check_model(model)
        if tokenizer is None or not callable(tokenizer):
            raise Error("`tokenizer`: was not given, expected that of the PyTorch model; for example "
                        "AutoTokenizer.from_pretrained(...)")
        if settings.rule == "integrated":
            raise Error("`rule` integrated: is for model directories, expected frozen or attnlrp; save the model with "
                        "save_pretrained and give the folder")
        if settings.against and settings.method != "relevance":
            raise Error("`against`: is there for method relevance, or for model directories; save the model with "
                        "save_pretrained and give the folder")
        self.module, self.settings = model.eval(), settings
        self.tokenizer: Any = tokenizer
        self.name = str(getattr(getattr(model, "config", None), "name_or_path", "") or type(model).__name__)
        self.longest = longest_of(model)
        if getattr(tokenizer, "pad_token", None) is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token

    @property
    def content(self) -> str:
        return fingerprint(self.module)

    @property
    def device(self) -> torch.device:
        return next(self.module.parameters()).device

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
        waiting: list[tuple[dict[int, dict[str, Any]], Rolled | None]] = []
        for some in by_length({k: len(one["input_ids"]) for k, one in found.items()}, self.device):
            group = {k: found[k] for k in some}
            waiting.append((group, self.rolled(group) if self.device.type != "cpu" else None))
            if len(waiting) > 1:  # the device does the next texts in the meantime
                answers |= self.finished(*waiting.pop(0), texts)
        for group, rows in waiting:
            answers |= self.finished(group, rows, texts)
        return [answers[k] for k in range(len(texts))]

    def rolled(self, encoded: dict[int, dict[str, Any]]) -> Rolled | None:
        """The rows of some texts on their way; None if they have to be answered in another way."""
        if self.settings.method != "rollout":
            return None
        try:
            with torch.no_grad(), capture(self.module) as seen:
                self.module(**self.padded(list(encoded.values())))
            return roll(seen, [one["input_ids"] for one in encoded.values()], self.settings, self.names_of)
        except FAILURES as failure:
            if isinstance(failure, BROKEN):
                raise
            return None  # answered() finds the text that fails

    def finished(self, encoded: dict[int, dict[str, Any]], rolled: Rolled | None, texts: Sequence[Any]) -> dict[int, Answer]:
        values = None if rolled is None else rolled.values()
        if rolled is None or values is None:
            return self.answered(encoded, texts)
        rows = [None] * len(values) if rolled.places is None else rolled.places.tolist()
        return {k: self.answer(one, texts[k], values[at], rows[at]) for at, (k, one) in enumerate(encoded.items())}

    def answered(self, encoded: dict[int, dict[str, Any]], texts: Sequence[Any]) -> dict[int, Answer]:
        """The answers for some texts, including those that fail."""
        try:
            return self.run(encoded, texts)
        except FAILURES as failure:
            if isinstance(failure, BROKEN):
                raise
            if len(encoded) == 1:
                return {k: Answer(error=said(self.name, failure)) for k in encoded}
        numbers = list(encoded)  # too many at once, or one that fails
        halves = numbers[:len(numbers) // 2], numbers[len(numbers) // 2:]
        return {k: one for half in halves for k, one in self.answered({k: encoded[k] for k in half}, texts).items()}

    def run(self, encoded: dict[int, dict[str, Any]], texts: Sequence[Any]) -> dict[int, Answer]:
        """The answers for some texts, in one pass of the model."""
        inputs = self.padded(list(encoded.values()))
        words: dict[str, Any] = dict(self.settings.options)
        output: Any = None
        if self.settings.asks_output:
            with capture(self.module, tokenizer=self.tokenizer) as seen:
                output = self.module(**inputs)
            asked = self.settings
            row = None if asked.row is None else as_number(asked.row)
            if asked.method == "gradient":
                result = seen.gradient(as_number(asked.target), rule=asked.rule, row=row, **words)
            else:
                result = seen.relevance(as_number(asked.target), against=as_number(asked.against), rule=asked.rule, row=row)
        else:
            with torch.no_grad(), capture(self.module, tokenizer=self.tokenizer) as seen:
                self.module(**inputs)
            row = self.settings.row or ("-1" if seen._as_source().describe()["causal"] else "0")
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
            name, probability = None, None
            if output is not None:
                mask = inputs.get("attention_mask")
                real = None if mask is None else mask[at].nonzero()[:, 0]
                name, probability = target_of(item, output, at, real, self.settings.method)
            answers[k] = self.answer(one, texts[k], np.array(to_numpy(values[0])),
                                     None if rows[0] == "mean" else int(rows[0]), name, probability)
        return answers

    def padded(self, encoded: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """What the model reads, on its device. With padding on the left, positions would depend on the batch."""
        tokenizer, names = self.tokenizer, [name for name in self.tokenizer.model_input_names if name in encoded[0]]
        fills = {"input_ids": tokenizer.pad_token_id or 0, "attention_mask": 0,
                 "token_type_ids": getattr(tokenizer, "pad_token_type_id", 0)}
        if not set(names) <= set(fills):
            inputs = tokenizer.pad([{name: one[name] for name in names} for one in encoded], return_tensors="pt",
                                   padding=True, padding_side="right")
            return {name: tensor.to(self.device) for name, tensor in inputs.items()}
        rows = {name: np.full((len(encoded), max(len(one[name]) for one in encoded)), fills[name]) for name in names}
        for name, matrix in rows.items():
            for row, one in zip(matrix, encoded):
                row[:len(one[name])] = one[name]
        return {name: torch.from_numpy(matrix).to(self.device) for name, matrix in rows.items()}

    def names_of(self, ids: Sequence[int]) -> list[str]:
        names: list[str] = self.tokenizer.convert_ids_to_tokens(ids)
        return names

    def answer(self, one: dict[str, Any], text: str, values: Any, row: int | None, target: str | None = None,
               probability: float | None = None) -> Answer:
        return answer_of(one["input_ids"], self.names_of(one["input_ids"]), in_bytes(text, one["offset_mapping"]), values,
                         row=row, target=target, probability=probability, top=self.settings.top)


def longest_of(model: torch.nn.Module) -> int | None:
    """How many tokens a text may have, if the model says so: as many as it has positions. RoBERTa and its relatives count
    them from the number after that of padding."""
    most: int | None = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    for name, module in model.named_modules():
        if name.rsplit(".", 1)[-1] == "position_embeddings" and isinstance(module, torch.nn.Embedding):
            own = module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
            most = own if most is None else min(most, own)
    return most


def said(name: str, failure: Exception) -> str:
    """What failed, in one line: ours as it is, PyTorch's with the name of the model."""
    if isinstance(failure, Error):
        return str(failure)
    line = next(iter(str(failure).splitlines()), "") or type(failure).__name__
    return f"{name}: cannot run this text ({line}); try it in the model itself"


def target_of(item: Any, output: Any, at: int, real: torch.Tensor | None, method: str) -> tuple[str, float | None]:
    """The name of the output that item `at` was asked about, and its probability, if it has one.

    `real` are the positions that are no padding. Relevance counts rows among these, gradient among all.
    """
    target = item.target if method == "gradient" else item.relevance["target"]
    side = str(target["name"]).split(":")[0]
    logits = getattr(output, f"{side}_logits", None) if side in ("start", "end") else None
    number = target.get("id")
    if logits is not None:
        line, number = logits[at] if real is None else logits[at][real], target["row"]
    else:
        logits = getattr(output, "logits", output)
        if not isinstance(logits, torch.Tensor) or number is None or number < 0:
            return str(target["name"]), None
        place = target.get("row")
        if logits.ndim == 3 and method == "relevance" and real is not None:
            place = int(real[place])
        line = logits[at] if logits.ndim == 2 else logits[at, place]
    if len(line) < 2:
        return str(target["name"]), None  # one number is no choice
    return str(target["name"]), float(line.detach().double().softmax(-1)[number])


def as_number(row: str) -> int | str:
    return int(row) if row.lstrip("-").isdigit() else row


def by_length(lengths: dict[int, int], device: torch.device) -> Iterator[list[int]]:
    """The texts in groups, from the shortest to the longest, so that there is little padding."""
    texts, tokens = AT_ONCE.get(device.type, AT_ONCE["cuda"])
    group: list[int] = []
    for k in sorted(lengths, key=lambda k: (lengths[k], k)):
        if group and (len(group) == texts or (len(group) + 1) * lengths[k] > tokens):
            yield group
            group = []
        group.append(k)
    if group:
        yield group


def in_bytes(text: str, places: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Places in characters as places in bytes of UTF-8."""
    if text.isascii():
        return places
    at = [0]
    for character in text:
        at.append(at[-1] + len(character.encode()))
    return [(at[begin], at[end]) for begin, end in places]
