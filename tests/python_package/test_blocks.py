"""Maps in blocks and products in pieces, as a GPU computes them, on the CPU: against the engine and plain products."""
import random

import pytest
import torch

from headwater.torch import products, record
from headwater.torch.record import Record


def any_record(seed):
    """A record with groups, sight and crop drawn by `seed`; and the same attention told by a mask."""
    draw, noise = random.Random(seed), torch.Generator().manual_seed(seed)
    groups, shared, n = draw.choice([1, 2, 3]), draw.choice([1, 2, 3]), draw.choice([1, 2, 7, 33, 64])
    query = 1.5 * torch.randn(2, groups * shared, n, 8, generator=noise)
    key = torch.randn(2, groups, n, 8, generator=noise)
    causal = draw.random() < 0.6
    window = draw.choice([0, 0, 1, 3, 5]) if causal else 0
    i, j = torch.arange(n)[:, None], torch.arange(n)
    mask = j <= i if causal else torch.ones(n, n, dtype=torch.bool)
    mask = mask & (j > i - window) if window else mask
    real = draw.choice([None, torch.arange(1, n), torch.arange(0, n - 2)]) if n > 3 else None
    size = n if real is None else len(real)
    begin = draw.randrange(size)
    rows = range(begin, draw.randrange(begin, size) + 1)
    words = dict(name="", query=query, key=key, scale=0.3)
    return (Record(causal=causal, window=window, **words), Record(mask=mask.expand(2, 1, n, n), **words), rows, real,
            draw.choice(["mean", "max", "min", "head:0"]))


@pytest.mark.parametrize("numbers, least", [(1, 1), (50, 2), (500, 64), (1 << 24, 64)])
def test_blocks_of_any_size_give_the_engines_map(monkeypatch, numbers, least):
    monkeypatch.setitem(record.BLOCK_NUMBERS, "cpu", numbers)
    monkeypatch.setattr(record, "LEAST_ROWS", least)
    for seed in range(60):
        told, masked, rows, real, fuse = any_record(seed)
        expected = told._by_engine(1, fuse, rows, real, real, told.causal, told.window)
        for one in (told, masked):
            assert (one._by_blocks(1, fuse, rows, real, real) - expected).abs().max() < 1e-6


@pytest.mark.parametrize("numbers", [1, 1 << 24])
def test_maps_of_all_items_are_those_of_each(monkeypatch, numbers):
    monkeypatch.setitem(record.BLOCK_NUMBERS, "cpu", numbers)
    for seed in range(20):
        for one in any_record(seed)[:2]:
            each = [one._by_blocks(item, "mean", range(one.queries), None, None) for item in range(2)]
            assert (one.maps() - torch.stack(each)).abs().max() < 1e-6


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [1, 3, 7, 20])
def test_products_in_pieces_are_products(monkeypatch, n, lower):
    monkeypatch.setattr(products, "SMALL", 1)
    monkeypatch.setattr(products, "BLOCK_ROWS", 3)
    a, b = torch.rand(n, n), torch.rand(n, n)
    a, b = (a.tril(), b.tril()) if lower else (a, b)
    expected = a @ b
    assert (products.product(a, b, lower=lower) - expected).abs().max() < 1e-5
    assert (products.product(a, b, lower=lower, into=a) - expected).abs().max() < 1e-5


def test_halves_of_a_matrix_add_up_to_it():
    matrix = torch.rand(40, 40)
    high, low = products.halves(matrix)
    assert high.dtype == low.dtype == torch.bfloat16
    assert ((high.float() + low.float() - matrix).abs() / matrix).max() < 2 ** -16


def test_coarse_products_are_within_what_they_say():
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    torch.manual_seed(0)
    a, b = torch.rand(4096, 4096, device="cuda").tril(), torch.rand(4096, 4096, device="cuda").tril()
    exact = a.double() @ b.double()
    assert products.has_float_out(a.device)
    found = products.product(a, b, lower=True, coarse=True)
    assert ((found - exact).abs() / exact.clamp_min(1e-3)).max() < 2e-5
