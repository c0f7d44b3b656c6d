"""Columns in and columns out: lists, NumPy arrays, a pyarrow table or a frame of pandas or polars."""
from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ..arrays import NumPyArray
from ..errors import Error
from ..kinds import DataType
from ..protocols import Columns

# name: how pyarrow calls its type; an entry of a list belongs to a token
COLUMNS = {"length": "int32", "positions": "list<int32>", "token_ids": "list<int32>", "tokens": "list<string>",
           "starts": "list<int32>", "ends": "list<int32>", "row": "int32", "target": "string", "probability": "float64",
           "values": "list<float32>", "error": "string"}


def pyarrow() -> ModuleType:
    """The module, or an Error with the line that installs it."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise Error("data sets: pyarrow is not installed, expected it to read and write tables; pip install "
                    "'.[data]' in the folder of headwater") from None


def is_table(batch: object) -> bool:
    return type(batch).__module__.startswith("pyarrow.") and hasattr(batch, "column_names")


def is_frame(batch: object, library: str) -> bool:
    """Whether it is a DataFrame of pandas or polars, which need not be installed."""
    return type(batch).__module__.split(".")[0] == library and type(batch).__name__ == "DataFrame"


def of_frame(batch: Any, names: Sequence[str]) -> tuple[Any, Callable[[Any], Any]]:
    """Columns of a frame as a pyarrow table, and a function that converts a table back; other batches are unchanged."""
    if is_frame(batch, "pandas"):
        for name in names:
            refuse_twice(list(batch.columns), name)
        some = batch[[name for name in names if name in batch.columns]]
        return pyarrow().Table.from_pandas(some, preserve_index=False), lambda table: table.to_pandas().set_index(batch.index)
    if is_frame(batch, "polars"):
        polars = importlib.import_module("polars")
        return batch.to_arrow(), polars.from_arrow
    return batch, lambda columns: columns


def names_of(batch: Any) -> list[str]:
    """The names of the columns of a batch. Raises headwater.Error if it is not a batch."""
    if is_table(batch):
        return list(batch.column_names)
    if isinstance(batch, Columns):
        return list(batch.keys())
    raise Error(f"batch of type {type(batch).__name__}: expected columns, a dictionary of lists or arrays, a pyarrow "
                "table or a DataFrame; give one of these")


def refuse_twice(names: Sequence[str], name: str) -> None:
    if list(names).count(name) > 1:
        raise Error(f"batch: has several columns '{name}', expected one; rename the others")


def column_of(batch: Any, name: str) -> list[Any]:
    """A column as a list of Python objects."""
    names = names_of(batch)
    if name not in names:
        from .settings import nearest
        raise Error(f"batch: has no column '{name}'{nearest(name, names)}")
    refuse_twice(names, name)
    found = batch[name]
    if isinstance(found, (str, bytes)):
        raise Error(f"column '{name}': is one value, expected a list with one for each row; give a list, and to "
                    "datasets.map batched=True")
    if is_table(batch):
        return list(found.to_pylist())
    return found.tolist() if isinstance(found, np.ndarray) else list(found)


def check_lengths(batch: Any, column: str, keep: Sequence[str]) -> None:
    """Raises headwater.Error if a kept column does not have as many entries as the texts."""
    for name in keep:
        if len(batch[name]) != len(batch[column]):
            raise Error(f"batch: column '{name}' has {len(batch[name]):,} entries, expected {len(batch[column]):,}, as "
                        f"'{column}'; give one for each row")


def arrow_type(name: str, method: str) -> DataType:
    """The type of one of our columns. Flow is exact, so it keeps its doubles."""
    arrow = pyarrow()
    text = "list<float64>" if name == "values" and method == "flow" else COLUMNS[name]
    if text.startswith("list<"):
        return arrow.list_(getattr(arrow, text[5:-1])())
    return getattr(arrow, text)()


def like(batch: Any, columns: Mapping[str, Sequence[Any]], keep: Sequence[str], method: str) -> Any:
    """The columns in the form of the batch, after the kept ones."""
    if is_table(batch):
        arrow = pyarrow()
        arrays = {name: batch[name] for name in keep}
        arrays |= {name: arrow.array(values, arrow_type(name, method)) for name, values in columns.items()}
        return arrow.table(arrays)
    as_arrays = any(isinstance(batch[name], np.ndarray) for name in names_of(batch))
    kept = {name: batch[name] for name in keep}
    return kept | {name: as_array(name, values) if as_arrays else list(values) for name, values in columns.items()}


def as_array(name: str, values: Sequence[Any]) -> NumPyArray:
    """Numbers as numbers (-1 and NaN if there is none), everything else as objects."""
    if COLUMNS[name] == "int32":
        return np.array([-1 if value is None else value for value in values], np.int32)
    if COLUMNS[name] == "float64":
        return np.array([np.nan if value is None else value for value in values], np.float64)
    out = np.empty(len(values), object)
    for k, value in enumerate(values):
        out[k] = value
    return out
