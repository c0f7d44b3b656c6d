"""To and from other tools that people use."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence, TypeAlias

import numpy as np

from . import _engine
from .arrays import Array, NumPyArray, is_array, to_numpy
from .encoder_decoder import EncoderDecoder
from .errors import Error
from .generated import Generation
from .kinds import AnyPath, DataFrame
from .protocols import Tabular, WithThreeStacks
from .result import Attribution, Comparison, Metrics
from .source import Attention, layers_of

if TYPE_CHECKING:
    from captum.attr.visualization import VisualizationDataRecord

    from .dataset import Summary


class Record(NamedTuple):
    """captum.attr.visualization.VisualizationDataRecord, field for field, for use without captum."""

    word_attributions: NumPyArray
    pred_prob: float
    pred_class: str | int
    true_class: str | int
    attr_class: str | int
    attr_score: float
    raw_input_ids: list[str]
    convergence_score: float


def word_attributions(result: Attribution, *, row: int | None = None) -> list[Any]:
    """[(token, score), ...] of one row in the order of the tokens, as transformers-interpret returns it."""
    if result.batch:
        return [word_attributions(result.item(k), row=row) for k in range(len(result.tokens))]
    values = result.row(row)
    names = [result.tokens[j] for j in result.columns] if result.columns else result.tokens
    return [(token, float(value)) for token, value in zip(names, values)]


def captum_records(result: Attribution, *, row: int | None = None, pred_prob: float = 0.0,
                   pred_class: str | int = "", true_class: str | int = "", attr_class: str | int = "",
                   convergence_score: float = 0.0) -> list[Record] | list[VisualizationDataRecord]:
    """Records for captum's visualize_text, one for each item; of captum's own class if captum is installed."""
    kind: type[Record] | type[VisualizationDataRecord]
    try:
        from captum.attr import visualization
        kind = visualization.VisualizationDataRecord
    except ImportError:
        kind = Record
    items = [result.item(k) for k in range(len(result.tokens))] if result.batch else [result]
    records = []
    for item in items:
        pairs = word_attributions(item, row=row)
        scores = np.array([score for _, score in pairs])
        told = item.relevance
        named = attr_class if attr_class != "" or told is None else told["target"]["name"]
        records.append(kind(scores, pred_prob, pred_class, true_class, named, float(scores.sum()),
                            [token for token, _ in pairs], convergence_score))
    return records


def bertviz_arguments(attention: Attention | Attribution | WithThreeStacks, tokens: Sequence[str] | None = None, *, item: int = 0,
                      source_tokens: Sequence[str] | None = None,
                      target_tokens: Sequence[str] | None = None) -> dict[str, Any]:
    """Keyword arguments for bertviz's head_view and model_view: one torch tensor [1, H, n, n] a layer, and tokens.

    Takes a result (each top layer of by_layer becomes a layer with one head), layers, or a Hugging Face output; of an
    encoder-decoder output, its three stacks.
    """
    import torch

    def tensor(array: Array) -> torch.Tensor:
        array = torch.as_tensor(np.array(to_numpy(array), dtype=np.float32))
        while array.ndim < 4:
            array = array[None]
        found: torch.Tensor = array[item:item + 1] if array.shape[0] > 1 else array
        return found

    if isinstance(attention, WithThreeStacks) and attention.cross_attentions:
        return dict(encoder_attention=tuple(tensor(one) for one in attention.encoder_attentions),
                    decoder_attention=tuple(tensor(one) for one in attention.decoder_attentions),
                    cross_attention=tuple(tensor(one) for one in attention.cross_attentions),
                    encoder_tokens=list(source_tokens or []), decoder_tokens=list(target_tokens or []))
    if isinstance(attention, Attribution):
        result = attention.item(item) if attention.batch else attention
        values = to_numpy(result.values)
        if values.ndim < 2 or values.shape[-1] != values.shape[-2]:
            raise Error("bertviz: shows square maps, expected all rows of a result; leave out row")
        maps = values if result.by_layer else [values]
        return dict(attention=tuple(torch.as_tensor(np.array(one))[None, None] for one in maps),
                    tokens=list(tokens or result.tokens))
    layers = layers_of(attention)
    layers = list(layers[0]) if len(layers) == 1 and layers[0].ndim > 4 else layers
    found = tuple(tensor(one) for one in layers)
    return dict(attention=found, tokens=list(tokens or [str(j) for j in range(found[0].shape[-1])]))


def attention_from_transformer_lens(cache: Mapping[str, Array]) -> list[Array]:
    """The layers in an ActivationCache of TransformerLens, or in any mapping with its names: [B, H, n, n] each."""
    found = {}
    for name in cache.keys():
        if match := re.fullmatch(r"blocks\.(\d+)\.attn\.hook_pattern", name):
            found[int(match[1])] = cache[name]
    if not found:
        raise Error("cache: holds no blocks.0.attn.hook_pattern, expected one a layer; run the model with "
                    "run_with_cache")
    return [found[layer] for layer in sorted(found)]


def attention_from_inseq(attributions: Array) -> list[NumPyArray]:
    """Layers [H, generated, attributed] from inseq's attention attributions, [attributed, generated, L, H].

    Takes the array, or a sequence attribution that has it as target_attributions (decoder-only models) or
    source_attributions. The layers are square, as rollout needs them, only if every position was generated.
    """
    if not is_array(attributions):
        found = getattr(attributions, "target_attributions", None)
        attributions = found if found is not None else getattr(attributions, "source_attributions", None)
    if attributions is None or attributions.ndim != 4:
        raise Error("inseq: holds no attention, expected [attributed, generated, layers, heads]; attribute with method "
                    "'attention' and no aggregation")
    transposed = np.nan_to_num(to_numpy(attributions)).transpose(2, 3, 1, 0)
    return [np.ascontiguousarray(layer, dtype=np.float32) for layer in transposed]


def rows_of(result: Attribution, item: int) -> dict[str, Any]:
    """The columns of the table of one item."""
    values = to_numpy(result.values)
    values = values.reshape(len(result.by_layer) or 1, -1, values.shape[-1])
    rows = result.rows
    columns = result.columns or list(range(len(result.tokens)))
    layers = result.by_layer or [-1 if result.method == "relevance" else result.options["layers"][1] - 1]
    layer, row, column = np.meshgrid(layers, np.arange(len(rows)), columns, indexing="ij")
    mean = list(rows) == ["mean"]
    return dict(item=np.full(layer.size, item), layer=layer.ravel(),
                row=[-1 if mean else int(rows[k]) for k in row.ravel()],
                output=["mean" if mean else result.tokens[rows[k]] for k in row.ravel()],
                column=column.ravel(), input=[result.tokens[j] for j in column.ravel()], value=values.ravel())


def cells(values: Array, outputs: Sequence[str], inputs: Sequence[str],
          last: tuple[str, Sequence[int]] | None = None) -> dict[str, Any]:
    """A line for each entry of [rows, columns, k]; `last` names the last axis and its places."""
    values = to_numpy(values)
    row, column, k = np.meshgrid(*map(np.arange, values.shape), indexing="ij")
    named = {} if last is None else {last[0]: np.asarray(last[1])[k.ravel()]}
    return named | dict(row=row.ravel(), output=[outputs[int(i)] for i in row.ravel()], column=column.ravel(),
                        input=[inputs[int(j)] for j in column.ravel()], value=values.ravel())


Tabled: TypeAlias = Attribution | Comparison | Generation | EncoderDecoder | Metrics | Mapping[str, Any]


def to_pandas(result: Tabled | Summary | Sequence[Tabled | Summary]) -> DataFrame:
    """A table with a line for each value: item, layer, row, output, column, input, value.

    Metrics are one line. A comparison has a first column `panel`. The columns of an encoder-decoder result are target
    tokens, then source tokens. A list of results is one table.
    """
    import pandas
    if isinstance(result, Mapping):
        return pandas.DataFrame([dict(result)])
    if isinstance(result, Comparison):
        tables = [to_pandas(panel) for panel in result.panels]
        for table, panel in zip(tables, result.panels):
            table.insert(0, "panel", panel.label)
        return pandas.concat(tables, ignore_index=True)
    if isinstance(result, Generation):
        return pandas.DataFrame(cells(result.M, result.generated, result.prompt, ("layer", range(result.M.shape[-1]))))
    if isinstance(result, EncoderDecoder):
        both = np.asarray(result)[:, :, None]
        return pandas.DataFrame(cells(both, result.target_tokens, result.target_tokens + result.source_tokens))
    if isinstance(result, (list, tuple)):
        return pandas.concat([to_pandas(one) for one in result], ignore_index=True)
    if isinstance(result, Attribution):
        items = [result.item(k) for k in range(len(result.tokens))] if result.batch else [result]
        return pandas.concat([pandas.DataFrame(rows_of(one, k)) for k, one in enumerate(items)], ignore_index=True)
    if isinstance(result, Tabular):
        return result.to_pandas()
    raise Error(f"a table of {type(result).__name__}: expected a result, metrics, or a list of them; give what a "
                "method returned")


def to_parquet(result: Tabled | Summary | Sequence[Tabled | Summary], path: AnyPath) -> None:
    """Writes that table as a Parquet file; the options and the version are in the file's metadata."""
    import json

    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pandas(to_pandas(result), preserve_index=False)
    source = getattr(result, "source", "")
    asked = json.dumps(dict(headwater=_engine.version(), method=getattr(result, "method", type(result).__name__.lower()),
                            options=getattr(result, "options", {}), source=source if isinstance(source, str) else ""))
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"headwater": asked.encode()})
    pyarrow.parquet.write_table(table, path)
