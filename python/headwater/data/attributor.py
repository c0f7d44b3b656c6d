"""One callable that gives attribution to batches of columns, for a plain loop or an engine that calls it."""
from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Sequence

from .. import _engine
from ..arguments import Layers
from ..errors import Error
from ..kinds import AnyPath
from .folder import FolderModel
from .row import Answer
from .settings import is_count, make_settings
from .table import COLUMNS, check_lengths, column_of, like, of_frame

if TYPE_CHECKING:
    import torch

    from ..protocols import Tokenizer
    from .live import LiveModel


class Attributor:
    """Attribution of texts: called with a batch of columns, returns columns with an entry for each row.

    `model` is a model directory, the name of a model that ships or is in the Hugging Face cache, or a PyTorch model,
    which needs its `tokenizer`. It is opened when this object is made. `method` is 'relevance', 'rollout', 'flow',
    'average', 'raw' or 'gradient'; `target`, `against` and `rule` are those of `headwater.relevance` and
    `headwater.gradient`. `row` is the output token: a number, 'cls', 'last', 'mask' or 'mean'; by default that of the
    target, and for methods without one the last of a causal model and the first of others. `layer` is for 'raw'.
    `top=K` keeps the K values that are largest without their signs. Texts are in the column `column`; the columns
    `keep` are passed on. `truncate` cuts texts that are too long. `threads` is how many threads a model directory
    gets in this process: all cores if it is left out, which is too many where several processes share a machine. The
    remaining keywords are the options of `headwater.rollout`.

        attribute = hw.Attributor("verb-number")
        attribute({"text": ["The keys to the cabinet", "A dog"]})["values"]

    A batch is a dictionary of lists or NumPy arrays, a pyarrow table, or a DataFrame of pandas or polars, and the result
    is the same. Its columns: length (tokens of the text), positions, token_ids, tokens, starts, ends (bytes in the text;
    0 and 0 for a token that the tokenizer added) and values, with an entry for each token or for the top K; row (none
    for 'mean'), target and probability (of methods with a target), and error: what is wrong with a row, which then has
    no values.

    Pickling keeps the arguments; unpickling opens the model again. `rank`, as datasets.map passes it, chooses the GPU
    of a PyTorch model. Raises headwater.Error for arguments that cannot work.
    """

    def __init__(self, model: AnyPath | torch.nn.Module, method: str = "relevance", *,
                 row: int | str | None = None, target: str | int = "best", against: str | int = "",
                 rule: str | None = None, layer: int = -1, top: int | None = None, column: str = "text",
                 keep: Sequence[str] = (), truncate: bool = False, tokenizer: Tokenizer | None = None,
                 ignore_code: bool = False, preset: str | None = None, fuse: str | None = None,
                 head: int | None = None, residual: float | None = None, discard: float | None = None,
                 order: str | None = None, empty: str | None = None, divide: str | None = None,
                 layers: Layers | None = None, threads: int | None = None):
        self.column, self.keep = column, [keep] if isinstance(keep, str) else list(keep)
        self._arguments = dict(model=model, method=method, row=row, target=target, against=against, rule=rule,
                               layer=layer, top=top, column=column, keep=self.keep, truncate=truncate,
                               tokenizer=tokenizer, ignore_code=ignore_code, preset=preset, fuse=fuse, head=head,
                               residual=residual, discard=discard, order=order, empty=empty, divide=divide,
                               layers=layers, threads=threads)
        if threads is not None:
            if not is_count(threads):
                raise Error(f"`threads` {threads}: expected a whole number, 1 or more; leave it out for all cores")
            _engine.set_threads(threads)
        self.settings = make_settings(method, row, target, against, rule, layer, top, truncate, dict(
            preset=preset, fuse=fuse, head=head, residual=residual, discard=discard, order=order, empty=empty,
            divide=divide, layers=layers))
        for name in self.keep:
            if name in COLUMNS:
                raise Error(f"`keep` {name}: is a column of the result, expected another name; rename it in the data")
        self._model: FolderModel | LiveModel
        if isinstance(model, (str, os.PathLike)):
            if tokenizer is not None:
                raise Error("`tokenizer`: was given with a model directory, which has its own; leave it out")
            self._model = FolderModel(os.fspath(model), self.settings, ignore_code)
        else:
            from .live import LiveModel
            self._model = LiveModel(model, self.settings, tokenizer)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    @property
    def content(self) -> str:
        """A hash of the model's content: models with the same hash give the same values."""
        return self._model.content

    def tokens(self, texts: Sequence[object]) -> list[int | str]:
        """The number of tokens of each text, or what is wrong with it. Does not run the model."""
        return self._model.tokens(texts)

    def __call__(self, batch: Any, rank: int | None = None) -> Any:
        """The columns for a batch of columns."""
        batch, framed = of_frame(batch, [self.column, *self.keep])
        texts = column_of(batch, self.column)
        for name in self.keep:
            column_of(batch, name)
        check_lengths(batch, self.column, self.keep)
        if rank is not None:
            self._model.use_device(rank)
        answers: list[Answer] = self._model.answers(texts)
        columns = columns_of(answers, self.settings.top is not None)
        return framed(like(batch, columns, self.keep, self.settings.method))

    def __getstate__(self) -> dict[str, Any]:
        return self._arguments

    def __setstate__(self, arguments: dict[str, Any]) -> None:
        self.__init__(**arguments)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"<headwater.Attributor {self.settings.method} of {self.name}>"


def columns_of(answers: Sequence[Answer], cut: bool) -> dict[str, list[Any]]:
    """The columns of the answers. `cut`: with the positions, because not all tokens are there."""
    names = [name for name in COLUMNS if cut or name != "positions"]
    columns: dict[str, list[Any]] = {name: [getattr(answer, name) for answer in answers] for name in names}
    columns["probability"] = [None if value is None or math.isnan(value) else value for value in columns["probability"]]
    return columns
