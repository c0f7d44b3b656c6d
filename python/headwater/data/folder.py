"""A model directory, run by the engine."""
from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from .. import _engine
from ..errors import Error
from .row import Answer, answer_of, not_a_text
from .settings import Settings

CONTENT = (".json", ".txt", ".model", ".safetensors", ".bin")  # files that decide what a model computes


class FolderModel:
    """Opened once; the texts of a batch run together."""

    def __init__(self, name: str, settings: Settings, ignore_code: bool):
        self.name, self.settings = name, settings
        self.model = _engine.Model(name, ignore_code)
        try:
            if not self.model.reads_texts:
                raise Error(f"{name}: reads no texts (it is a model of images, or its folder has no tokenizer), expected one "
                            "that does; give another, or save its tokenizer beside it with save_pretrained")
            self._prepare()
        except Error as wrong:
            raise Error(self.named(str(wrong))) from None

    def named(self, message: str) -> str:
        """The engine's message, with the model's name as given and not the path where it is installed."""
        folder = str(self.model.folder).rstrip("/")
        return message.replace(folder + "/:", self.name + ":").replace(folder, self.name.rstrip("/"))

    def _prepare(self) -> None:
        settings, name = self.settings, self.name
        self._content = ""
        row = settings.row
        if settings.asks_output:
            self.model.check_target(settings.target, settings.against)
        elif row is None:
            row = "-1" if self.model.causal else "0"
        self.row = row
        self.options = settings.engine_options(row)
        self.options.range(self.model.layers, name)  # raises for layers that do not exist
        self._check_head()

    def _check_head(self) -> None:
        words = dict(self.settings.options)
        fuse = str(words.get("fuse") or "")
        head = int(words["head"]) if words.get("head") is not None else int(fuse[5:]) if fuse.startswith("head:") else 0
        if not -self.model.heads <= head < self.model.heads:
            raise Error(f"{self.name}: has no head {head}, expected 0 to {self.model.heads - 1} (or -1 for the last); "
                        "choose another")
        if not -self.model.layers <= self.settings.layer < self.model.layers:
            raise Error(f"{self.name}: has no layer {self.settings.layer}, expected 0 to {self.model.layers - 1} (or -1 "
                        "for the last); choose another")

    @property
    def content(self) -> str:
        if not self._content:
            self._content = content_of(Path(self.model.folder))
        return self._content

    def use_device(self, rank: int) -> None:
        """The engine runs on the processor, whatever the rank."""

    def opened(self, texts: Sequence[Any]) -> tuple[_engine.Inputs, list[int], dict[int, str]]:
        """The texts that can run, the number of each among all of them, and what is wrong with the others."""
        wrong = {k: error for k, text in enumerate(texts) if (error := not_a_text(text))}
        good = [k for k in range(len(texts)) if k not in wrong]
        failed: dict[int, str] = {}
        inputs = self.model.inputs([texts[k] for k in good], self.settings.truncate, failed)
        wrong |= {good[k]: self.named(error) for k, error in failed.items()}
        return inputs, [place for k, place in enumerate(good) if k not in failed], wrong

    def tokens(self, texts: Sequence[Any]) -> list[int | str]:
        inputs, places, wrong = self.opened(texts)
        found: dict[int, int | str] = {place: len(inputs.describe(k)["tokens"]) for k, place in enumerate(places)}
        return [(found | wrong)[k] for k in range(len(texts))]

    def answers(self, texts: Sequence[Any]) -> list[Answer]:
        inputs, places, wrong = self.opened(texts)
        failed: dict[int, str] = {}
        results = self.results(inputs, failed)
        answers = {place: Answer(error=error) for place, error in wrong.items()}
        at = 0
        for k, place in enumerate(places):
            if k in failed:
                answers[place] = Answer(error=self.named(failed[k]))
                continue
            answers[place] = self.answer(inputs.describe(k), results, at)
            at += 1
        return [answers[k] for k in range(len(texts))]

    def results(self, inputs: _engine.Inputs, failed: dict[int, str]) -> _engine.Results:
        asked, items = self.settings, list(range(len(inputs)))
        if asked.method == "rollout":
            return _engine.rollout(inputs, items, self.options, failed=failed)
        if asked.method == "average":
            return _engine.average(inputs, items, self.options, failed=failed)
        if asked.method == "raw":
            return _engine.raw(inputs, items, asked.layer, self.options, failed=failed)
        if asked.method == "flow":
            return _engine.flow(inputs, items, self.options, failed=failed)
        if asked.method == "gradient":
            return _engine.gradient(inputs, items, self.options, asked.rule, asked.target, asked.against, failed=failed)
        return _engine.relevance(inputs, items, asked.rule, asked.target, asked.against, self.row or "", failed=failed)

    def answer(self, example: dict[str, Any], results: _engine.Results, at: int) -> Answer:
        facts = results.facts(at)
        rows, values = facts["rows"], results.matrix(at)
        if self.settings.method == "gradient" and self.row is None:
            shown = results.row_to_show(at)
            rows, values = [rows[shown]], values[shown:shown + 1]
        if len(rows) != 1:
            return Answer(error=f"has {len(rows)} rows for `row` {self.row}, expected one; give its number")
        places = [(begin, end) if text >= 0 else (0, 0) for text, begin, end in example["places"]]
        return answer_of(example["ids"], example["tokens"], places, np.array(values[0]),
                         row=None if rows[0] == "mean" else rows[0], target=facts["target"],
                         probability=facts["probability"], top=self.settings.top)


def content_of(folder: Path) -> str:
    """A hash of the files that decide what a model computes."""
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in CONTENT and path.is_file():
            with open(path, "rb") as file:
                whole.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()
