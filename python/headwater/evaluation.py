"""How well methods agree with what a model's output depends on: the tables of `headwater evaluate`."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Sequence, TypedDict, Unpack, cast

import numpy as np

from . import _engine
from .arguments import OptionWords, spelled_out, split
from .arrays import NumPyArray
from .kinds import AnyPath, DataFrame
from .values import path_of


class Faithfulness(TypedDict):
    """How much an output changes when tokens are blanked out in the order of a method."""

    comprehensiveness: float
    sufficiency: float
    area: float
    curve: list[float]


class Evaluation:
    """The tables of an evaluation. print() shows them as the command does.

    `correlation[against][method]`, `truth[method]` and `found[method]` are arrays of means, one for each layer, or a
    single one for a method that takes all layers at once. `correlation` has the references 'blank-out' and 'gradient'.
    `truth` says how often the top token is a true one, `found` how many of several true tokens are on top; both are
    empty if no example names its true tokens. `faithfulness[method]` has comprehensiveness, sufficiency, area and
    curve. `table(...)` has deviations and counts too, `examples` what each example gave. Also: `methods`, `layers`,
    `options`, `source`, `file`, `count` and `notes`. Evaluations can be pickled, and compared with ==.
    """

    def __init__(self, results: _engine.Results):
        self._results = results
        read: dict[str, Any] = json.loads(results.json())
        self._read = read
        self.options: dict[str, Any] = read["options"]
        self.layers: list[int] = self.options["layers"]
        self.source: dict[str, Any] = read["source"]
        self.file: str = read["file"]
        self.count: int = read["count"]
        self.notes: list[str] = read["notes"]
        self.examples: list[dict[str, Any]] = read["examples"]
        truth = read.get("truth", {})
        self.correlation = {against: means(table) for against, table in read["correlation"].items()}
        self.truth, self.found = means(truth.get("methods", {})), means(truth.get("found", {}))
        self.chance: float | None = truth["chance"]["mean"][0] if truth else None
        self.faithfulness = {
            method: cast(Faithfulness, {name: value if name == "curve" else value["mean"][0] for name, value in one.items()})
            for method, one in read.get("faithfulness", {}).items()}
        self.methods: list[str] = list(next(iter(self.correlation.values()), self.truth))

    def table(self, name: str) -> dict[str, dict[str, NumPyArray]]:
        """mean, deviation and count of each method in 'blank-out', 'gradient', 'truth' or 'found'."""
        truth = self._read.get("truth", {})
        tables = self._read["correlation"] | dict(truth=truth.get("methods", {}), found=truth.get("found", {}))
        return {method: {word: numbers(value) for word, value in one.items()} for method, one in tables[name].items()}

    def to_json(self) -> str:
        """The JSON that `headwater evaluate ... -o x.json` writes."""
        return self._results.json()

    def save(self, path: AnyPath) -> None:
        """Writes .json .npz .png .svg .pdf or .html, by the ending."""
        self._results.save(os.fspath(path))

    def to_pandas(self) -> DataFrame:
        """A table with a line for each mean: table, method, layer (-1: all at once), mean, deviation, count."""
        import pandas
        lines = []
        for name in (*self._read["correlation"], "truth", "found"):
            for method, one in self.table(name).items():
                alone = len(one["mean"]) == 1 and self.layers[1] - self.layers[0] > 1
                for k, (mean, deviation, count) in enumerate(zip(one["mean"], one["deviation"], one["count"])):
                    lines.append((name, method, -1 if alone else self.layers[0] + k, mean, deviation, int(count)))
        return pandas.DataFrame(lines, columns=["table", "method", "layer", "mean", "deviation", "count"])

    def __eq__(self, other: object) -> bool:
        """Whether both have the same numbers for the same examples by the same options."""
        if not isinstance(other, Evaluation):
            return NotImplemented
        return self._read == other._read

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return _engine.evaluation_text(self._results)

    def _repr_html_(self) -> str:
        from html import escape
        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        return f"<headwater.Evaluation of {self.source['name']}: {self.count} examples, {', '.join(self.methods)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Evaluation, (self._results,)


def means(table: dict[str, Any]) -> dict[str, NumPyArray]:
    return {method: numbers(one["mean"]) for method, one in table.items()}


def numbers(values: list[float | None]) -> NumPyArray:
    """What JSON writes as null is NaN."""
    return np.array([np.nan if value is None else value for value in values])


@spelled_out
def evaluate(model: AnyPath, examples: AnyPath | None = None, *, against: str | None = None,
             methods: Sequence[str] = (), filter: str = "", limit: int | None = None, faithfulness: bool = False,
             ignore_code: bool = False, progress: Callable[[int, int], None] | None = None,
             **words: Unpack[OptionWords]) -> Evaluation:
    """How well methods agree with what the output of a model directory, or of a model that ships, depends on.

    `examples` is a .jsonl of examples or a .txt of texts, as docs/evaluation.md says; without it, the examples that
    come with the model. `against` is 'blank-out', 'gradient' or 'both'. `methods` chooses some of raw, rollout, flow,
    gradient, gradient-rollout, chefer, gradient-x-input, frozen, attnlrp and integrated. `filter` names tokens that do
    not count: 'special', 'punctuation', 'common', '@FILE'. `limit` takes only the first examples. `faithfulness` adds
    comprehensiveness, sufficiency and perturbation area. `progress(done, examples)` is called after each example. The
    other keywords are options of every method; `row` is an output token other than the one that decides. Raises
    headwater.Error.
    """
    options, _ = split(words)
    chosen = [methods] if isinstance(methods, str) else list(methods)
    return Evaluation(_engine.evaluate(path_of("evaluate", model), options, "" if examples is None else os.fspath(examples),
                                       against or "", chosen, filter, limit, faithfulness, ignore_code, progress))
