"""
The engine of headwater, as the package uses it. Import headwater instead.
"""

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

from headwater import Error as Error


def threads() -> int:
    """How many threads the engine uses."""

def set_threads(count: int) -> None:
    """Sets how many threads the engine uses; results do not depend on it."""

class Options:
    """The options of every method, by the words of a preset."""

    def __init__(self, *, preset: str = 'paper', fuse: str | None = None, residual: float | None = None, discard: float | None = None, order: str | None = None, empty: str | None = None, divide: str | None = None, layers: str | None = None, row: str | None = None) -> None: ...

    def words(self) -> dict:
        """All options but layers and row, as results record them."""

    def range(self, count: int, source: str) -> tuple[int, int]:
        """The layers chosen out of `count`: first, and one past the last."""

    def rows(self, tokens: Sequence[str], source: str) -> object:
        """The numbers of the rows chosen, or the word 'mean'."""

class Inputs:
    """Attention of one input or of a batch, not yet read."""

    def __len__(self) -> int: ...

    @property
    def reading(self) -> str:
        """How the arrays were read, in a line."""

    def example(self, item: int) -> dict:
        """What is known of an item before it is read."""

def open(name: str, texts: Sequence[str] = [], pair: str | None = None, ids: Sequence[int] = [], images: Sequence[str] = [], truncate: bool = False, axes: str = '', tokens: Sequence[str] = [], any_sums: bool = False, nan_identity: bool = False) -> Inputs:
    """
    The attention in a file, or a model by its folder or name, run when a method asks.
    """

def models() -> dict[str, str]:
    """The models that ship with headwater: names and folders."""

def from_arrays(layers: list, name: str = 'memory', mask: object | None = None, axes: str = '', tokens: Sequence[Sequence[str]] = [], any_sums: bool = False, nan_identity: bool = False) -> Inputs:
    """
    Layers in memory, borrowed without a copy: [n, n], [H, n, n] or [B, H, n, n] each, or one array with all of them; mask [n] or [B, n] as floats; tokens: none, one list, or one for each item.
    """

def from_rows(rows: Callable, tokens: Sequence[Sequence[str]], heads: Sequence[int], name: str, padded: int, causal: bool) -> Inputs:
    """
    A batch whose maps a function makes: rows(item, layer, fuse, first, count) gives [count, n] float32 in memory of its own. tokens: a list for each item; heads: of each layer.
    """

class Results:
    """What a method gave for the items of a batch."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def facts(self, k: int, panel: int = 0) -> dict:
        """All of a result but its values."""

    def panels(self, k: int) -> int:
        """How many panels result k has; 0 if it is no comparison."""

    def add(self, method: str, options: Options, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], tokens: Sequence[str], rows: Sequence[int], by_layer: Sequence[int], heads: Sequence[int], notes: Sequence[str], name: str, item: int = 0, items: int = 1, label: str = '') -> None:
        """
        Adds a result that was computed elsewhere; values [matrices, rows, n] float64.
        """

    def join(self, other: Results) -> None:
        """Takes over the results of another, which is empty then."""

    def json(self, filter: str = '', renormalise: bool = False, timing: bool = False, list: bool = False) -> str:
        """The results as JSON, the words of the command's."""

    def save(self, path: str, filter: str = '', renormalise: bool = False, timing: bool = False, list: bool = False) -> None:
        """Writes .json .npy .npz .png .svg or .pdf."""

def matrix(results: object, k: int, panel: int = 0, m: int = 0) -> object:
    """
    Matrix m of result k, without a copy: [rows, n] float32, of flow float64.
    """

def agreement(results: object, k: int) -> object:
    """
    Of a comparison: Spearman's rank correlation between its panels, [P, P] float32.
    """

def labels(tokens: Sequence[str], longest: int = 24) -> list[str]:
    """Tokens as people read them on an axis."""

def kept(filter: str, tokens: Sequence[str]) -> list[bool]:
    """For each token whether a filter shows it."""

def rollout(inputs: Inputs, items: Sequence[int], options: Options, by_layer: bool = False) -> Results:
    """Rollout of each item: [rows, n] float32, with by_layer [L, rows, n]."""

def average(inputs: Inputs, items: Sequence[int], options: Options) -> Results:
    """Mean of the prepared layers: [rows, n] float32."""

def raw(inputs: Inputs, items: Sequence[int], layer: int, options: Options) -> Results:
    """One layer, heads fused and nothing added: [rows, n] float32."""

def flow(inputs: Inputs, items: Sequence[int], options: Options, column: int | None = None, every_layer: bool = False, normalise: bool = False, certify: bool = False, progress: object | None = None) -> Results:
    """
    Maximum flow of each item: [rows, n] float64, exact multiples of 2^-30.
    """

def gradient(inputs: Inputs, items: Sequence[int], options: Options, rule: str = 'gradient', target: str = 'best', against: str = '') -> Results:
    """Gradient x attention of a model directory: [rows, n] float32."""

def metrics(inputs: Inputs, options: Options, layer: int = -1) -> Results:
    """Eight numbers over the real rows of all items together."""

def compare(inputs: Inputs, items: Sequence[int], by: str, options: Options, layer: int = -1) -> Results:
    """Results side by side: by layer, evolution, discard, fuse or method."""

def compare_models(first: Inputs, second: Inputs, options: Options) -> Results:
    """Rollout of two models on one input."""

def info(inputs: Inputs, item: int = 0) -> Results:
    """What is known of an item; reads its lowest layer."""

def generate(folder: str, options: Options, prompt: str = '', ids: Sequence[int] = [], continuation: str | None = None, count: int = 20, temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0, seed: int = 0, ignore_end: bool = False, own_position: bool = False, stops: Sequence[str] = []) -> Results:
    """
    Text that a model directory writes, and which prompt tokens each token leans on.
    """

def attention_map(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], heads: int, groups: int, scale: float, causal: bool = False, window: int = 0, first: int = 0, fuse: str = 'mean') -> None:
    """
    out = softmax(scale Q K^T), heads fused on the way; heads x n x n never exists. Row r of the queries stands at position first + r of the keys.
    """

def attention(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], map: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], heads: int, groups: int, scale: float, causal: bool, window: int, fuse: str, threads: int) -> None:
    """
    map as attention_map makes it, and out = softmax(scale Q K^T) V in the same pass, heads side by side, on so many threads.
    """

def kernel() -> str:
    """The instruction set in use."""

def use_kernel(name: str) -> None:
    """Forces an instruction set; '' goes back to the best."""

def fold(total: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], map: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], residual: float) -> None:
    """
    Mixes the identity into `map`, divides its rows, both in place; out = total map.
    """

def kernels() -> list[str]:
    """The instruction sets that this machine can run."""

def spearman(a: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Spearman's rank correlation of two rows, ties at their average rank."""
