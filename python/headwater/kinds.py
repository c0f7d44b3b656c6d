"""What functions take and return, by name, for help(), completion and type checkers.

The types of libraries that headwater does not need are imported for type checkers only.
"""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, TypeAlias

import numpy.typing as npt

from .protocols import DLPackArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from pyarrow import DataType, Table
    from torch import Tensor, device
else:
    Axes = Figure = DataFrame = DataType = Table = Tensor = device = Any

__all__ = ["ArrayIn", "Axes", "ColumnType", "DType", "DataFrame", "DataType", "Device", "Figure", "Given", "Grid", "Ids", "Images", "Mask", "ModuleRules",
           "Offsets", "AnyPath", "Row", "Score", "Table", "Target", "Texts", "Tokens"]

AnyPath: TypeAlias = str | os.PathLike[str]
Texts: TypeAlias = str | Sequence[str]  # one or several
Images: TypeAlias = AnyPath | Sequence[AnyPath]  # one or several files
ArrayIn: TypeAlias = npt.ArrayLike | DLPackArray  # an array or tensor of any library, or nested lists of numbers
DType: TypeAlias = npt.DTypeLike | None
Mask: TypeAlias = ArrayIn  # [n] or [B, n]: 0 is padding
Ids: TypeAlias = ArrayIn  # the numbers of one text's tokens, [n] or [1, n]
Tokens: TypeAlias = Sequence[str] | Sequence[Sequence[str]] | npt.NDArray[Any]  # words, or such a list for each item
Offsets: TypeAlias = Sequence[Sequence[int]] | npt.NDArray[Any] | DLPackArray  # a tokenizer's offset_mapping, [n, 2]
Row: TypeAlias = int | str | Sequence[int | str]  # a number, 'cls', 'last', a word of the text, or several of these
Grid: TypeAlias = Sequence[int]  # (rows, columns), of a video (frames, rows, columns)
Given: TypeAlias = Mapping[str, Any]  # what a model is called with, by name
ColumnType: TypeAlias = DataType | str  # pyarrow's, or the word 'json' for what is kept as JSON text
Device: TypeAlias = str | int | device
Score: TypeAlias = Callable[[Any], Tensor]  # of a model's output: one number, or one for each item
# 'best', a class or token by name or number, or a function of the output; of a batch, also one for each item.
Target: TypeAlias = str | int | Score | Sequence[str | int | Score] | Tensor
# What parts of a model are, by a name or a class. Keys of mappings are invariant: any type but this refuses some classes.
ModuleRules: TypeAlias = Mapping[Any, str]
