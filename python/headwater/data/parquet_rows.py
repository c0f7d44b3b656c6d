"""Columns of a Parquet file, as Python's values."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ..errors import Error
from ..kinds import DataType
from .table import pyarrow

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch
    from pyarrow.parquet import ParquetFile


def open_parquet(place: str, name: str) -> ParquetFile:
    """The file. Raises headwater.Error, which calls it `name`, if it is none."""
    pyarrow()
    import pyarrow.parquet as parquet
    try:
        return parquet.ParquetFile(place)
    except (OSError, ValueError) as wrong:
        raise Error(f"{name}: cannot be read as Parquet ({str(wrong).splitlines()[0]}); check the file") from None


def type_of(kind: DataType) -> DataType:
    """The type that a column has in the result: that of its values. All kinds of text are one."""
    types = pyarrow().types
    if types.is_dictionary(kind):
        return type_of(kind.value_type)
    is_text = types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view"
    return pyarrow().string() if is_text else kind


def lists_of(batch: RecordBatch, columns: Sequence[str], name: str) -> list[list[Any]]:
    """The columns of a record batch. Raises headwater.Error, with the `name` of the file."""
    out = []
    for column in columns:
        array = batch.column(batch.schema.get_field_index(column))
        try:
            out.append(list_of(array))
        except (ValueError, OverflowError, pyarrow().lib.ArrowException) as wrong:
            raise Error(f"{name}: column '{column}' is {array.type}, which cannot be read "
                        f"({str(wrong).split('. ')[0]}); convert it, or leave it out") from None
    return out


def list_of(array: Array) -> list[Any]:
    """The values of an array. Times are whole numbers in their own unit: Python's have no nanoseconds, and end with the
    year 9999. Bytes of a text that are not UTF-8 become surrogates, as in other files."""
    arrow = pyarrow()
    kind = array.type
    if arrow.types.is_dictionary(kind):
        return list_of(array.dictionary_decode())
    if arrow.types.is_temporal(kind) and not arrow.types.is_interval(kind):
        return list(array.view(arrow.int32() if kind.bit_width == 32 else arrow.int64()).to_pylist())
    try:
        return list(array.to_pylist())
    except UnicodeDecodeError:
        if type_of(kind) != arrow.string():
            raise
        read = array.cast(arrow.large_binary()).to_pylist()
        return [value if value is None else value.decode("utf-8", "surrogateescape") for value in read]
