"""What headwater's numbers mean, in NumPy float64, as plainly as it can be said.

A stack is a list with one array [H, n, n] a layer; H may differ. Rows are output tokens, columns are input tokens.
"""
import math
from dataclasses import asdict, dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Options:
    preset: str = "paper"
    fuse: str = "mean"
    residual: float = 0.5
    discard: float = 0.0
    order: str = "residual-first"
    empty: str = "identity"
    divide: str = "always"


PRESETS = {
    "paper": {},
    "tutorial": {"discard": 0.1, "empty": "zero", "divide": "changed"},
    "vit-explain": {"discard": 0.9, "order": "discard-first"},
    "metrics": {},
}


def options_of(preset, **explicit):
    """A preset's options; what is said explicitly goes first."""
    return replace(Options(preset=preset, **PRESETS[preset]), **explicit)


def record(options, begin, end):
    """The options as a result records them."""
    return asdict(options) | {"layers": [begin, end]}


def fuse(heads, how):
    if how.startswith("head:"):
        return heads[int(how[5:])].copy()
    return {"mean": np.mean, "max": np.max, "min": np.min}[how](heads, axis=0)


def threshold(matrix, discard):
    """The value of rank floor(n n d), counted from 0, in ascending order."""
    return np.sort(matrix, axis=None)[math.floor(matrix.size * discard)]


def divide_rows(matrix, empty):
    """Each row by its own sum. Returns how many rows had nothing to divide by, too."""
    sums = matrix.sum(axis=1, keepdims=True)
    nothing = sums[:, 0] == 0
    divided = matrix / np.where(sums == 0, 1, sums)
    if empty == "identity":
        divided[nothing] = np.eye(len(matrix))[nothing]
    return divided, int(nothing.sum())


def mix(matrix, residual):
    return (1 - residual) * matrix + residual * np.eye(len(matrix))


def drop(matrix, discard):
    return np.where(matrix < threshold(matrix, discard), 0, matrix)


def prepare(fused, options):
    """One layer: residual, discard, division. Returns the matrix and the number of emptied rows."""
    always = options.divide == "always"
    if options.discard > 0 and options.order == "discard-first":
        return divide_rows(mix(drop(fused, options.discard), options.residual), options.empty)
    matrix, emptied = mix(fused, options.residual), 0
    if always or options.residual > 0:
        matrix, emptied = divide_rows(matrix, options.empty)
    if options.discard > 0:
        matrix, more = divide_rows(drop(matrix, options.discard), options.empty)
        emptied += more
    return matrix, emptied


def layer_range(slice_text, count):
    """'j:i' as Python slices it."""
    begin, end = (int(part) if part else None for part in slice_text.split(":"))
    begin, end, _ = slice(begin, end).indices(count)
    return begin, end


def prepared(stack, options, layers=":"):
    """The prepared layers of a range, and the number of emptied rows in all of them."""
    begin, end = layer_range(layers, len(stack))
    matrices, emptied = [], 0
    for number in range(begin, end):
        fused = fuse(stack[number], options.fuse)
        if options.preset == "metrics" and number == begin:
            matrices.append(fused)
            continue
        matrix, count = prepare(fused, options)
        matrices.append(matrix)
        emptied += count
    return matrices, emptied


def rollout_by_layer(stack, options, layers=":"):
    """R_l for each layer of the range: the top layer leftmost, or rightmost for preset metrics."""
    matrices, _ = prepared(stack, options, layers)
    rolled = [matrices[0]]
    for matrix in matrices[1:]:
        rolled.append(rolled[-1] @ matrix if options.preset == "metrics" else matrix @ rolled[-1])
    return rolled


def rollout(stack, options, layers=":"):
    return rollout_by_layer(stack, options, layers)[-1]


def average(stack, options, layers=":"):
    return np.mean(prepared(stack, options, layers)[0], axis=0)


def raw(stack, layer, how="mean"):
    return fuse(stack[layer], how)


def rows_of(row, tokens):
    """The rows that --row names: 'mean', or their numbers."""
    n = len(tokens)
    if row == "mean":
        return ["mean"]
    if row == "all":
        return list(range(n))
    if row == "last":
        return [n - 1]
    if row == "cls":
        return [tokens.index("[CLS]")]
    if row == "mask":
        return [i for i, token in enumerate(tokens) if token == "[MASK]"]
    return [int(row) % n]


def take_rows(matrix, rows):
    return matrix.mean(axis=0, keepdims=True) if rows == ["mean"] else matrix[rows]


def entropy(rows):
    return -(rows * np.log(np.maximum(rows, 1e-12))).sum(axis=1)


def metrics(stacks, options, layer=-1, layers=":", padded=None):
    """The eight numbers on a batch, pooled over the real rows of all of its items."""
    attention = [fuse(stack[layer], options.fuse) for stack in stacks]
    rolled = [rollout(stack, options, layers) for stack in stacks]
    pooled = np.concatenate([a.ravel() for a in attention])
    return {
        "mean_attention": pooled.mean(),
        "max_attention": pooled.max(),
        "attention_entropy": np.concatenate([entropy(a) for a in attention]).mean(),
        "attention_concentration": np.concatenate([a.max(axis=1) for a in attention]).mean(),
        "rollout_max": max(r.max() for r in rolled),
        "rollout_entropy": np.concatenate([entropy(r / r.sum(axis=1, keepdims=True)) for r in rolled]).mean(),
        "batch_size": len(stacks),
        "seq_length": padded or stacks[0][0].shape[-1],
    }


def spearman(a, b):
    """Rank correlation with average ranks; NaN if either is constant."""
    ranks = [np.array([((v < x).sum() + (v <= x).sum() + 1) / 2 for x in v]) for v in (a, b)]
    a, b = (r - r.mean() for r in ranks)
    scale = np.sqrt((a * a).sum() * (b * b).sum())
    return (a * b).sum() / scale if scale > 0 else np.nan


def agreement(panels):
    """Mean over rows of the rank correlation between panels; 1 on the diagonal."""
    out = np.eye(len(panels))
    for i, first in enumerate(panels):
        for j, second in enumerate(panels[:i]):
            each = [spearman(a, b) for a, b in zip(first, second)]
            used = [value for value in each if not np.isnan(value)]
            out[i, j] = out[j, i] = np.mean(used) if used else 0
    return out
