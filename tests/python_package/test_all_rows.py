"""All rows in the memory of one matrix: the order in which blocks of rows replace what they were made of. The kernels'
places are taken by plain sums on the CPU, which write and read no more than the kernels do.
"""
import pytest
import torch

from headwater.torch import all_rows
from headwater.torch.pairs import Pairs

TILE = 4  # of the product, whose blocks of rows begin at multiples of it


def split(matrix):
    high = matrix.bfloat16()
    return high, (matrix.float() - high.float()).bfloat16()


def value_of(pairs, n):
    return (pairs.parts[:, 0].float() + pairs.parts[:, 1].float())[:, :n]


class Kernel:
    """A layer as all_rows.py asks for it."""

    heads = 2

    def __init__(self, map, asked):
        self.map, self.asked = map, asked

    def map_pairs(self, fuse, rows, columns, residual, given, out):
        self.asked.append((fuse, rows, columns))
        mixed = (1 - residual) * self.map + residual * torch.eye(len(self.map))
        out.parts.fill_(float("nan"))
        for part, half in enumerate(split(mixed[rows.start:rows.stop, :columns])):
            out.parts[:len(rows), part, :columns] = half

    def refuse(self, why):
        raise AssertionError(why)


def multiply(left, right, out, n, rows, lower):
    """As product_hopper.cu: of triangles, no tile above the diagonal is read or written."""
    for first in range(0, len(rows), TILE):
        some = slice(first, min(first + TILE, len(rows)))
        for column in range(0, n, TILE):
            end = min(n, rows.start + first + TILE) if lower else n
            begin = column if lower else 0
            if end <= begin:
                continue
            a, b = value_of(left, n)[some, begin:end], value_of(right, n)[begin:end, column:column + TILE]
            made = a @ b
            assert bool(torch.isfinite(made).all())
            if isinstance(out, Pairs):
                for part, half in enumerate(split(made)):
                    out.parts[some, part, column:min(column + TILE, n)] = half
            else:
                out[some, column:column + TILE] = made


class Maps:
    def __init__(self, maps, lower):
        self.maps, self.device, self.tokens, self.coarse = maps, torch.device("cpu"), [[""] * len(maps[0])], True
        self.lower, self.asked = lambda item: lower, []
        self.kernels = lambda item, layer: Kernel(self.maps[layer], self.asked)


def stochastic(n, lower, seed):
    made = torch.rand(n, n, generator=torch.Generator().manual_seed(seed)) ** 4
    made = made.tril() if lower else made
    return made / made.sum(-1, keepdim=True)


WORDS = dict(fuse="mean", residual=0.5, discard=0, preset="plain")


@pytest.mark.parametrize("preset", ["plain", "metrics"])
@pytest.mark.parametrize("lower", [True, False], ids=["lower", "full"])
@pytest.mark.parametrize("n", [1, 7, 8, 21, 64, 70])
@pytest.mark.parametrize("layers", [2, 3, 5])
def test_blocks_of_rows_replace_what_they_were_made_of(monkeypatch, n, lower, layers, preset):
    monkeypatch.setattr(all_rows, "multiply", multiply)
    monkeypatch.setattr(all_rows, "SMALL", 1)
    monkeypatch.setattr(all_rows, "ROWS", 2 * TILE)
    maps = [stochastic(n, lower, seed) for seed in range(layers)]
    want = torch.eye(n, dtype=torch.float64)
    for layer, map in enumerate(maps):
        mixed = 0.5 * map.double() + 0.5 * torch.eye(n, dtype=torch.float64)
        if preset == "metrics":  # from below, the lowest as it is
            want = want @ (mixed if layer else map.double())
        else:
            want = mixed @ want
    holder = Maps(maps, lower)
    found = all_rows.all_rows(holder, 0, WORDS | dict(preset=preset), range(layers))
    assert found.shape == (n, n) and found.is_contiguous() and found.dtype == torch.float32
    assert float((found - want).abs().max()) < 1e-4
    if lower:
        assert bool((found.triu(1) == 0).all())
        assert all(columns == rows.stop for _, rows, columns in holder.asked if len(rows) < n)


def test_only_one_matrix_of_lower_triangular_maps_exists(monkeypatch):
    made = []

    class Counted(Pairs):
        def __init__(self, rows, n, device):
            super().__init__(rows, n, device)
            made.append(rows)

    monkeypatch.setattr(all_rows, "Pairs", Counted)
    monkeypatch.setattr(all_rows, "multiply", multiply)
    monkeypatch.setattr(all_rows, "SMALL", 1)
    monkeypatch.setattr(all_rows, "ROWS", 2 * TILE)
    for lower, whole in ((True, 1), (False, 2)):
        made.clear()
        maps = Maps([stochastic(64, lower, seed) for seed in range(4)], lower)
        found = all_rows.all_rows(maps, 0, WORDS, range(4))
        assert made.count(64) == whole and len(made) == whole + 2
        assert found.untyped_storage().nbytes() == 4 * 64 * 64  # the result is that matrix
