"""
The engine of headwater, as the package uses it. Import headwater instead.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


def version() -> str:
    """The version of headwater."""

def threads() -> int:
    """How many threads the engine uses."""

def set_threads(count: int) -> None:
    """Sets how many threads the engine uses; results do not depend on it."""

class Options:
    """The options of every method, by the words of a preset."""

    def __init__(self, *, preset: str = 'paper', fuse: str | None = None, residual: float | None = None, discard: float | None = None, order: str | None = None, empty: str | None = None, divide: str | None = None, layers: str | None = None, row: str | Sequence[str] | None = None) -> None: ...

    def words(self) -> dict[str, Any]:
        """All options except layers and row, as results record them."""

    def range(self, count: int, source: str) -> tuple[int, int]:
        """The layers chosen out of `count`: first, and one past the last."""

    def rows(self, tokens: Sequence[str], source: str) -> list[int] | str:
        """The numbers of the rows chosen, or the word 'mean'."""

class Inputs:
    """Attention of one input or of a batch, not yet read."""

    def __len__(self) -> int: ...

    @property
    def reading(self) -> str:
        """How the arrays were read, in one line."""

    def describe(self, item: int) -> dict[str, Any]:
        """What is known about an item before it is read."""

class Model:
    """A model that is opened once, for many inputs."""

    def __init__(self, name: str, ignore_code: bool = False) -> None:
        """By its folder or name."""

    @property
    def folder(self) -> str:
        """The folder that it was read from."""

    @property
    def causal(self) -> bool:
        """Whether tokens see only those before them."""

    @property
    def layers(self) -> int:
        """How many layers it has."""

    @property
    def heads(self) -> int:
        """How many heads a layer has."""

    @property
    def reads_texts(self) -> bool:
        """Whether it is a model of texts, with a tokenizer."""

    def check_target(self, target: str, against: str) -> None:
        """
        Raises an Error if the model has no output to ask about, or none of these names.
        """

    def inputs(self, texts: Sequence[str], truncate: bool, failed: dict[int, str]) -> Inputs:
        """
        The texts, tokenized. Those that cannot run are left out: `failed` is filled with what is wrong with each, by its number.
        """

def open(name: str, texts: Sequence[str] = [], pair: str | None = None, ids: Sequence[int] = [], images: Sequence[str] = [], truncate: bool = False, axes: str = '', tokens: Sequence[str] = [], any_sums: bool = False, nan_identity: bool = False, prompts: Sequence[str] = [], ignore_code: bool = False, against_text: str | None = None, against_image: str | None = None) -> Inputs:
    """
    The attention in a file, or a model by its folder or name, run when a method asks.
    """

def models() -> dict[str, str]:
    """The models that ship with headwater: names and folders."""

def from_arrays(layers: list[Any], name: str = 'memory', mask: object | None = None, axes: str = '', tokens: Sequence[Sequence[str]] = [], any_sums: bool = False, nan_identity: bool = False) -> Inputs:
    """
    Layers in memory, borrowed without a copy: [n, n], [H, n, n] or [B, H, n, n] each, or one array with all of them; mask [n] or [B, n] as floats; tokens: none, one list, or one for each item.
    """

def from_rows(rows: Callable[[int, int, str, int, int], Any], tokens: Sequence[Sequence[str]], heads: Sequence[int], name: str, padded: int, causal: bool, notes: object | None = None) -> Inputs:
    """
    A batch whose maps a function makes: rows(item, layer, fuse, first, count) gives [count, n] float32 in memory of its own. tokens: a list for each item; heads: of each layer; notes(item) gives what to note once the maps are made.
    """

class Results:
    """What a method gave for the items of a batch."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def facts(self, k: int, panel: int = 0) -> dict[str, Any]:
        """All of a result except its values."""

    def generated(self, k: int) -> dict[str, Any]:
        """All of a generated text except its values, of which matrix m is M[m]."""

    def metrics(self, k: int) -> dict[str, Any]:
        """The numbers, options and notes of metrics."""

    def panels(self, k: int) -> int:
        """How many panels result k has; 0 if it is not a comparison."""

    def matrix(self, k: int, panel: int = 0, m: int = 0) -> Annotated[NDArray, dict(shape=(None, None))]:
        """
        Matrix m of result k, without a copy: [rows, n] float32, for flow float64; of a generated text [prompt, layers].
        """

    def extra(self, k: int, name: str) -> Annotated[NDArray, dict(shape=(None, None))]:
        """
        'heads' or 'edges' of a result of relevance, or 'relevance' of a generated text, without a copy.
        """

    def agreement(self, k: int) -> Annotated[NDArray, dict(shape=(None, None))]:
        """
        Spearman's rank correlation between the panels of a comparison, [P, P] float32.
        """

    def row_to_show(self, k: int, panel: int = 0) -> int:
        """The row that is shown where only one is."""

    def json(self, item: int | None = None, filter: str = '', renormalise: bool = False, timing: bool = False, list: bool = False) -> str:
        """The results, or one of them, as the JSON that the command writes."""

    def save(self, path: str, item: int | None = None, filter: str = '', renormalise: bool = False, timing: bool = False, list: bool = False) -> None:
        """
        Writes the results, or one of them, as .json .npy .npz .png .svg .pdf or .html.
        """

    def page(self, item: int | None = None, filter: str = '', renormalise: bool = False, only_data: bool = False) -> str:
        """The page that .html holds, or only its data, as a server sends it."""

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

    def add(self, method: str, options: Options, tokens: Sequence[str], rows: Sequence[int], by_layer: Sequence[int], heads: Sequence[int], notes: Sequence[str], name: str, item: int, items: int, padded: int) -> None:
        """Adds a result that was computed elsewhere; fill() sets its values."""

    def fill(self, k: int, values: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> None:
        """Sets the values of an added result: [matrices, rows, n] float32."""

    def set_relevance(self, k: int, rule: str, target: tuple[str, int, int, float], against: tuple[str, int, int, float] | None, output: float, sum: float, rest: float, steps: int = 0, baseline: str = '') -> None:
        """
        Makes an added result one of relevance. target and against: name, id, row, value. rest: what biases take, or of integrated gradients the output at the baseline.
        """

    def set_head_shares(self, k: int, shares: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        Adds the share of each head to a result of relevance: [layers, heads] float32.
        """

    def set_edges(self, k: int, layer: int, edges: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Adds the edges of a layer to a result of relevance: [n, n] float32."""

    def set_gradient(self, k: int, rule: str, name: str, id: int | None, row: int | None, value: float, norm: Sequence[float], times_input: Sequence[float]) -> None:
        """
        Makes an added result that of a gradient: its rule, its target, and the input gradients of each token, which may be empty.
        """

    def add_generated(self, options: Options, name: str, prompt: Sequence[str], generated: Sequence[str], layers: int, own_position: bool, M: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], notes: Sequence[str]) -> None:
        """
        Adds a text that was written elsewhere: M is [generated, prompt, layers] float32.
        """

    def add_metrics(self, numbers: Mapping[str, float], options: Options, heads: Sequence[int], layer: int, name: str, notes: Sequence[str]) -> None:
        """Adds metrics that were computed elsewhere."""

    def words(self, k: int, panel: int | None = None, offsets: Sequence[tuple[int, int]] | None = None) -> Results:
        """
        Result k, or one of its panels, by words: pieces are merged by their offsets or by their marks.
        """

def labels(tokens: Sequence[str], longest: int = 24) -> list[str]:
    """Tokens as people read them on an axis."""

@overload
def top(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], count: int, filter: str = '', tokens: Sequence[str] = []) -> list[int]: ...

@overload
def top(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], count: int, filter: str = '', tokens: Sequence[str] = []) -> list[int]:
    """
    The places of the `count` largest values, largest first, equal ones in order. A `filter` leaves out tokens, of which there is one for each value.
    """

def rollout(inputs: Inputs, items: Sequence[int], options: Options, by_layer: bool = False, embed_layers: bool = False, failed: dict[int, str] | None = None) -> Results:
    """Rollout of each item: [rows, n] float32, with by_layer [L, rows, n]."""

def average(inputs: Inputs, items: Sequence[int], options: Options, embed_layers: bool = False, failed: dict[int, str] | None = None) -> Results:
    """Mean of the prepared layers: [rows, n] float32."""

def raw(inputs: Inputs, items: Sequence[int], layer: int, options: Options, failed: dict[int, str] | None = None) -> Results:
    """One layer, heads fused and nothing added: [rows, n] float32."""

def flow(inputs: Inputs, items: Sequence[int], options: Options, column: int | None = None, every_layer: bool = False, normalise: bool = False, certify: bool = False, cut: bool = False, progress: object | None = None, embed_layers: bool = False, failed: dict[int, str] | None = None) -> Results:
    """
    Maximum flow of each item: [rows, n] float64, exact multiples of 2^-30.
    """

def gradient(inputs: Inputs, items: Sequence[int], options: Options, rule: str = 'gradient', target: str = 'best', against: str = '', failed: dict[int, str] | None = None) -> Results:
    """Gradient x attention of a model directory: [rows, n] float32."""

def relevance(inputs: Inputs, items: Sequence[int], rule: str = 'frozen', target: str = 'best', against: str = '', row: str = '', by_layer: bool = False, heads: bool = False, edges: int | None = None, steps: int | None = None, baseline: str = '', failed: dict[int, str] | None = None) -> Results:
    """
    Signed relevance of each token of a model directory's input: [1, n] float32.
    """

def metrics(inputs: Inputs, options: Options, layer: int = -1) -> Results:
    """Eight numbers over the real rows of all items."""

def compare(inputs: Inputs, items: Sequence[int], by: str, options: Options, layer: int = -1, values: Sequence[float] = [], layers_shown: Sequence[int] = []) -> Results:
    """
    Results side by side: by layer, evolution, discard, fuse, head or method.
    """

def compare_inputs(inputs: Inputs, items: Sequence[int], options: Options) -> Results:
    """Rollout of several inputs, position by position."""

def compare_models(first: Inputs, second: Inputs, options: Options) -> Results:
    """Rollout of two models on one input."""

def info(inputs: Inputs, item: int = 0) -> Results:
    """
    What is known about an item; reads its lowest layer. Without an item, what is known about the model.
    """

def generate(folder: str, options: Options, prompt: str = '', ids: Sequence[int] = [], continuation: str | None = None, count: int = 20, temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0, seed: int = 0, ignore_end: bool = False, own_position: bool = False, stops: Sequence[str] = [], rule: str | None = None, span: str | None = None, score: str = 'logit', ignore_code: bool = False, text: str | None = None, reads: Sequence[str] | None = None) -> list[Results]:
    """
    Text that a model directory writes, and which tokens of its prompt or source each token comes from. `reads` are several prompts or sources, with a result for each.
    """

def evaluate(model: str, options: Options, examples: str = '', against: str = '', methods: Sequence[str] = [], filter: str = '', limit: int | None = None, faithfulness: bool = False, ignore_code: bool = False, progress: object | None = None) -> Results:
    """How well methods agree with what a model's output depends on."""

def evaluation_text(results: Results) -> str:
    """The tables of an evaluation, as the command prints them."""

def fuse_heads(heads: Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], fuse: str = 'mean') -> None:
    """Fuses heads [H, rows, columns] of f16, bf16, f32 or f64 into `out`."""

def prepare_layer(map: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], options: Options) -> int:
    """
    Turns one fused map [n, n] into the layer's matrix, in place. Returns how many rows had nothing to divide by.
    """

def prepare_rows(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], first: int, options: Options) -> int:
    """
    The same for some rows of a layer: row r is row first + r of it. Needs discard 0.
    """

def empty_rows_note(count: int, options: Options) -> str:
    """What results say about rows that had nothing to divide by."""

class Tracker:
    """Rollout of a text that grows, cut to the columns of its prompt."""

    def __init__(self, layers: int, prompt: int, positions: int, options: Options, name: str) -> None:
        """`prompt` columns, room for `positions` rows in each of `layers`."""

    def push(self, layer: int, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """
        Takes the fused attention of new positions in one layer, which it overwrites. Each row covers all positions up to the last new one; layers come from below.
        """

    def rolled(self, layer: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]:
        """The rows of a layer so far, [positions, prompt], without a copy."""

    @property
    def range(self) -> tuple[int, int]:
        """The layers: first, and one past the last."""

    @property
    def empty_rows(self) -> int:
        """How many rows had nothing to divide by."""

class TargetTracker:
    """Rollout of a target text beside its source."""

    def __init__(self, layers: int, source: int, positions: int, options: Options) -> None:
        """
        `layers` of the decoder, `source` tokens and `positions` of the target.
        """

    def encode(self, map: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """
        Takes the fused attention of the encoder's next layer, which it overwrites.
        """

    def push(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], across: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """
        Takes the decoder's next layer: the fused attention of the target to itself and to the source. Overwrites both.
        """

    @property
    def target(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]:
        """[positions, positions], without a copy."""

    @property
    def source(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]:
        """[positions, source], without a copy."""

    @property
    def encoder(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]:
        """[source, source], without a copy."""

    @property
    def empty_rows(self) -> int:
        """How many rows had nothing to divide by."""

def attention_map(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], heads: int, groups: int, scale: float, causal: bool = False, window: int = 0, first: int = 0, fuse: str = 'mean') -> None:
    """
    out = softmax(scale Q K^T) with fused heads; heads x n x n never exists. Row r of the queries is at position first + r of the keys.
    """

def attention(queries: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], map: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], heads: int, groups: int, scale: float, causal: bool, window: int, fuse: str, threads: int) -> None:
    """
    map as attention_map computes it, and out = softmax(scale Q K^T) V in the same pass, heads side by side, on `threads` threads.
    """

def kernel() -> str:
    """The instruction set in use."""

def use_kernel(name: str) -> None:
    """Forces an instruction set; '' goes back to the best."""

def fold(total: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], map: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], options: Options) -> None:
    """Prepares `map` in place as a layer; then out = total map."""

def kernels() -> list[str]:
    """The instruction sets that this machine can run."""

def spearman(a: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Spearman's rank correlation of two rows, ties at their average rank."""

class Server:
    """A page on 127.0.0.1, and answers to what it asks."""

    @overload
    def __init__(self, models: Sequence[str], port: int, or_any_port: bool) -> None:
        """Opens models and listens."""

    @overload
    def __init__(self, menu: str, answer: Callable, port: int, or_any_port: bool) -> None:
        """
        Listens. answer(question, progress) returns the data of a page; progress(what, done, total) is false when nobody waits any more.
        """

    @property
    def url(self) -> str: ...

    @property
    def port(self) -> int: ...

    def run(self) -> None:
        """Serves until stop()."""

    def stop(self) -> None:
        """Ends run(), from any thread."""

def server_methods() -> list[tuple[str, list[str]]]:
    """
    The methods that a page may ask for, each with the names of its options.
    """

def cuda_look_for_compiler(paths: Sequence[str]) -> None:
    """Where to look for NVRTC before the system's places."""

def cuda_status(device: int) -> tuple[bool, str]:
    """
    Whether headwater's kernels can run on a device, and on what, or why not.
    """

def cuda_compiler() -> str:
    """The version of NVRTC."""

def cuda_compile(source: str, chip: str, defines: Sequence[str]) -> bytes:
    """Compiles a kernel; needs no GPU. Returns machine code."""

cuda_most_rows: int = 8

class CudaLayer:
    """
    One layer of one text on a GPU: queries [H, n, d] and keys [G, m, d] whose last axis is contiguous, as (address, stride of heads, stride of rows). Lends everything.
    """

    def __init__(self, device: int, stream: int, number: str, queries: tuple[int, int, int], keys: tuple[int, int, int], heads: int, groups: int, query_count: int, key_count: int, size: int, scale: float, causal: bool = False, window: int = 0, first: int = 0) -> None: ...

    def batch(self, items: int, bytes: tuple[int, int, int, int]) -> None:
        """
        From now on so many texts at once. bytes: from the queries, keys, masks and biases of one item to those of the next. lse, weights, parts and out have an axis of items before all others, without gaps.
        """

    def cap(self, cap: float) -> None:
        """Scores s become cap tanh(s / cap)."""

    def mask(self, mask: tuple[int, str, int, int, int]) -> None:
        """
        (address, type, strides of heads, queries and keys): added to the scores; bool hides.
        """

    def bias(self, bias: tuple[int, str, int, int, int]) -> None:
        """The same for a bias."""

    def sinks(self, sinks: int) -> None:
        """One score a head, float32, that takes its share of every row."""

    def log_sum_exp(self, out: int) -> None:
        """out[h, i] = log sum_j exp(s_hij), float32, [heads, queries]."""

    def splits(self, fuse: str, rows: int) -> int:
        """How many sums through() makes for each number."""

    def through(self, fuse: str, lse: int, rows: int, weights: int, begin: int, end: int, parts: int, residual: float, out: int) -> None:
        """
        out [rows, keys]: weights [rows, queries] times (1 - residual) map + residual identity. Only queries begin ... end - 1 have weights. parts [splits, rows, keys] is for sums on the way.
        """

    def row_sums(self, fuse: str, lse: int, out: int) -> None:
        """out [queries]: the sums of the rows of the fused map."""

    def map(self, fuse: str, lse: int, begin: int, end: int, residual: float, out: int) -> None:
        """
        out [end - begin, keys], float32: rows begin ... end - 1 of (1 - residual) map + residual identity.
        """

    def map_pairs(self, fuse: str, lse: int, begin: int, end: int, columns: int, residual: float, out: tuple[int, int, int]) -> None:
        """
        The same rows, columns 0 ... columns - 1, as pairs of bfloat16: out is (address, stride of rows, stride of parts).
        """

def cuda_multiplies_pairs(device: int) -> bool:
    """Whether a device multiplies matrices of pairs."""

def cuda_product(device: int, stream: int, left: tuple[int, int, int], right: tuple[int, int, int], n: int, first: int, rows: int, lower: bool, out: tuple[int, int, int], pairs: bool) -> None:
    """
    Rows first ... first + rows - 1 of a product of [n, n] matrices of pairs, as pairs or as float32 [rows, n]. left has these rows alone.
    """

class OutputFile:
    """A file that appears whole or not at all."""

    def __init__(self, path: str) -> None:
        """
        Leaves `path` alone until commit(). Raises headwater.Error if nothing can be written there.
        """

    def write(self, bytes: bytes) -> int:
        """
        Appends, and returns how many bytes. Raises headwater.Error if the disk is full.
        """

    def commit(self) -> None:
        """
        Moves the file into its place, with the mode of the one that was there.
        """
