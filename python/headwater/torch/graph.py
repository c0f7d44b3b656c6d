"""The graph of a pass in the changed network, judged step by step: known to the rules, linear, or refused.

The judgement does not depend on how the model is written, and knows nothing of the mode in changed.py except the
numbers of the steps that it changed. Custom kernels, compiled parts and everything else that gets past the mode end up
here.
"""
from __future__ import annotations

import bisect
import re
from typing import Any, Sequence

import torch
from torch import Tensor

from ..errors import Error
from .backward import OURS

# Linear in each argument; a product among them is judged by its arguments.
LINEAR = frozenset("""
    Add Sub RSub Rsub Neg Mul Div Mm Addmm Bmm Baddbmm Mv Addmv Dot Linear Convolution MkldnnConvolution
    CudnnConvolution GroupedMm View UnsafeView ReshapeAlias ViewAs Transpose T Permute Expand Squeeze Unsqueeze
    Slice Select Index IndexSelect Gather Cat Stack Split SplitWithSizes UnsafeSplit UnsafeSplitWithSizes Unbind
    Clone CopyBackwards CopySlices Copy ToCopy Alias AsStrided AsStridedScatter Repeat RepeatInterleave Sum Mean
    MaskedFill Where MaskedScatter MaskedSelect Scatter ScatterAdd SliceScatter SelectScatter IndexAdd IndexPut
    IndexPutImpl IndexCopy IndexFill Roll Flip Rot90 Cumsum ConstantPadNd ReflectionPad1D ReflectionPad2D
    ReplicationPad1D ReplicationPad2D Tril Triu Diagonal Diag Narrow Unfold Trace Im2Col Col2Im AvgPool1D AvgPool2D
    AdaptiveAvgPool1D AdaptiveAvgPool2D MkldnnAdaptiveAvgPool2D UpsampleNearest1D UpsampleNearest2D
    UpsampleBilinear2D UpsampleBicubic2D UpsampleLinear1D PixelShuffle PixelUnshuffle Topk Sort ViewAsReal
    ViewAsComplex Complex Real Imag Conj ConjPhysical FftC2C FftR2C FftC2R AccumulateGrad
    """.split())
# Products: the places of the arguments that are multiplied. No more than one may depend on the tokens.
FACTORS = {"Mul": (0, 1), "Mm": (0, 1), "Bmm": (0, 1), "Mv": (0, 1), "Dot": (0, 1), "Linear": (0, 1), "Addmm": (1, 2),
           "Baddbmm": (1, 2), "Addmv": (1, 2), "Convolution": (0, 1), "MkldnnConvolution": (0, 1),
           "CudnnConvolution": (0, 1), "GroupedMm": (0, 1)}
NAME = re.compile(r"Backward\d*$")
ROUTER = re.compile(r"router|gate|gating|expert|moe", re.IGNORECASE)


class Unnamed(Exception):
    """A step was refused in a pass whose modules nobody watched."""


def judge(y: Tensor, known: Sequence[tuple[int, int]], end: int, modules: Sequence[tuple[int, int, str]] | None,
          kinds: dict[str, str]) -> None:
    """Raises Error if a step from the rows to y is neither linear nor known.

    `known` are ranges of the numbers that steps are given; steps from `end` on are the caller's own. `modules` are the
    numbers with which a module's call began and ended, and its name; `kinds` the classes of modules. Without `modules`,
    raises Unnamed.
    """
    ranges = joined(known)
    starts = [begin for begin, _ in ranges]
    seen: set[Any] = set()
    waiting: list[Any] = [y.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        waiting.extend(following for following, _ in node.next_functions)
        name = node.name()
        if isinstance(node, OURS) or name.endswith("AccumulateGrad"):
            continue
        number = node._sequence_nr()
        at = bisect.bisect_right(starts, number) - 1
        if number >= end or at >= 0 and number < ranges[at][1]:
            continue
        what = NAME.sub("", name)
        if what not in LINEAR or not one_factor(what, node):
            if modules is None:
                raise Unnamed
            refuse(what, number, modules, kinds)


def joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if out and begin <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((begin, end))
    return out


def one_factor(what: str, node: Any) -> bool:
    """Whether no more than one factor of a product depends on the tokens, and no divisor does."""
    into = [following for following, _ in node.next_functions]
    if what == "Div":
        return len(into) < 2 or into[1] is None
    places = FACTORS.get(what, ())
    return sum(place < len(into) and into[place] is not None for place in places) < 2


def place_of(number: int, modules: Sequence[tuple[int, int, str]], kinds: dict[str, str]) -> tuple[str, str]:
    """The name of the innermost module around a step, and the same with its class."""
    inside = [(end - begin, name) for begin, end, name in modules if begin <= number < end]
    name = min(inside)[1] if inside else ""
    return name, f"{name} ({kinds[name]})" if name else kinds.get("", "the model")


def softmax_notes(numbers: Sequence[int], modules: Sequence[tuple[int, int, str]], kinds: dict[str, str]) -> list[str]:
    """A note that names the modules whose softmax is neither attention's nor a router's."""
    places = dict.fromkeys(place_of(number, modules, kinds)[1] for number in numbers)
    odd = [place for place in places if not ROUTER.search(place)]
    if not odd:
        return []
    more = f" and {len(odd) - 4} more" if len(odd) > 4 else ""
    return [f"a softmax that is not attention's is taken as a constant, so nothing passes through it: "
            f"{', '.join(odd[:4])}{more}; `rules` can say that it is 'linear'"]


def refuse(what: str, number: int, modules: Sequence[tuple[int, int, str]], kinds: dict[str, str]) -> None:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", what).lower()
    if what in FACTORS:
        words = f"a product ({words}) of two parts that depend on the tokens"
    elif what == "Div":
        words = "a division by a part that depends on the tokens"
    name, where = place_of(number, modules, kinds)
    raise Error(f"relevance: {where} computes {words}, which the rules do not know, expected linear maps, norms, "
                f"activations, gates and attention; say what it is: rules={{'{name}': 'linear'}} (its derivative as it "
                "is), 'constant' (nothing passes through it) or 'factor' (its output divided by its input is a constant)")
