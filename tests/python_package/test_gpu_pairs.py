"""Maps as pairs of bfloat16 and their products on a GPU, by headwater's kernels: against double precision on the same device,
and against the way through maps and torch's products.
"""
import pytest
import torch
import transformers
from test_gpu_rows import record_of

import headwater as hw
from headwater.torch import all_rows, kernels
from headwater.torch.pairs import Pairs, multiply

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0),
    reason="no CUDA device of compute capability 9.0: the product of pairs cannot run")


# Two bfloat16 hold a number to 2^-16; a product has that of both factors, and leaves out the product of both low parts.
ONE_PRODUCT = 3 * 2 ** -16
TINY = torch.finfo(torch.float32).tiny  # below it, float32 and bfloat16 have fewer bits


def stochastic(n, lower, seed):
    """A matrix whose rows sum to 1, uneven as attention is, float64."""
    made = torch.rand(n, n, dtype=torch.float64, device="cuda", generator=torch.Generator("cuda").manual_seed(seed)) ** 8
    made = made.tril() if lower else made
    return made / made.sum(-1, keepdim=True)


def as_pairs(matrix):
    pairs = Pairs(*matrix.shape, matrix.device)
    pairs.parts.fill_(float("nan"))  # what lies beyond the matrix must not matter
    high = matrix.bfloat16()
    pairs.parts[:, 0, :matrix.shape[1]] = high
    pairs.parts[:, 1, :matrix.shape[1]] = (matrix - high).bfloat16()
    return pairs


def value_of(pairs, n):
    return (pairs.parts[:, 0].double() + pairs.parts[:, 1].double())[:, :n]


@pytest.mark.parametrize("lower", [True, False], ids=["lower", "full"])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 127, 128, 129, 257, 1000, 2049, 4097])
def test_products_are_those_of_double_precision(n, lower):
    a, b = stochastic(n, lower, 1), stochastic(n, lower, 2)
    left, right, want = as_pairs(a), as_pairs(b), a @ b
    out, pairs = torch.zeros(n, n, device="cuda"), Pairs(n, n, torch.device("cuda", 0))
    multiply(left, right, out, n, range(n), lower)
    multiply(left, right, pairs, n, range(n), lower)
    assert bool(((out - want).abs() <= ONE_PRODUCT * want + TINY).all())
    assert float((out - want).abs().mean() / want.mean()) < 1e-5
    found = value_of(pairs, n)
    found = found.where(want > 0, 0) if lower else found
    assert bool(((found - want).abs() <= (ONE_PRODUCT + 2 ** -16) * want + TINY).all())
    rows = range(n // 2 // 128 * 128, n)  # some rows alone
    again = torch.zeros(len(rows), n, device="cuda")
    multiply(as_pairs(a[rows.start:]), right, again, n, rows, lower)
    assert torch.equal(again, out[rows.start:])


@pytest.mark.parametrize("words", [dict(causal=True), dict(causal=True, window=300), {}], ids=["causal", "window", "full"])
@pytest.mark.parametrize("size, dtype", [(128, torch.bfloat16), (64, torch.float16), (96, torch.bfloat16)], ids=str)
def test_maps_of_pairs_are_the_maps(size, dtype, words):
    n = 701
    layer = kernels.Layer(record_of(n, 4, 2, size, dtype, **words), 0, None)
    map = layer.map("mean", range(n))
    want = 0.7 * map.double() + 0.3 * torch.eye(n, device="cuda")
    for rows in (range(n), range(128, 300)):
        pairs = Pairs(len(rows), n, map.device)
        columns = rows.stop if words.get("causal") else n
        layer.map_pairs("mean", rows, columns, 0.3, True, pairs)
        error = (value_of(pairs, columns) - want[rows.start:rows.stop, :columns]).abs()
        assert bool((error <= 1e-5 * want[rows.start:rows.stop, :columns]).all())


@pytest.fixture(scope="module")
def seen():
    torch.manual_seed(0)
    model = transformers.Qwen2Model(transformers.Qwen2Config(
        vocab_size=100, hidden_size=256, num_hidden_layers=5, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=64, initializer_range=0.2, attn_implementation="sdpa")).to("cuda", torch.bfloat16).eval()
    with torch.no_grad(), hw.capture(model) as capture:
        model(input_ids=torch.arange(2500, device="cuda")[None] % 97)
    return capture


@pytest.mark.parametrize("words", [{}, dict(residual=0), dict(residual=0.2), dict(head=1), dict(layers="1:4"), dict(layers="3:5"), dict(preset="metrics"), dict(preset="metrics", residual=0.2, layers="1:5")],
                         ids=str)
def test_all_rows_are_those_of_torchs_products(seen, monkeypatch, words):
    made = []
    rolled = all_rows.rolled
    monkeypatch.setattr(all_rows, "rolled", lambda *given: made.append(rolled(*given)) or made[-1])
    found = seen.rollout(**words)
    assert len(made) == 1 and made[0] is not None
    before = kernels.allow(False)
    try:
        want = seen.rollout(**words)
    finally:
        kernels.allow(before)
    assert float((found.values - want.values).abs().max()) < 1e-4 and found.notes == want.notes
    assert bool((found.values.triu(1) == 0).all()) and float((found.values.sum(-1) - 1).abs().max()) < 1e-4
    row = seen.rollout(row=-1, **words).values
    assert float((found.values[-1] - row).abs().max()) <= 4e-5 * float(row.max())
    assert torch.equal(seen.rollout(**words).values, found.values)


def test_what_pairs_cannot_do_goes_the_other_way(seen, monkeypatch):
    monkeypatch.setattr(all_rows, "rolled", lambda *given: pytest.fail("pairs were asked"))
    for words in (dict(fuse="max"), dict(discard=0.1), dict(layers="2:3"), dict(by_layer=True)):
        seen.rollout(**words)


def test_wrong_sums_of_the_forward_pass_are_found(seen):
    records = seen._answer().records
    before = [record.lse for record in records]
    want = seen.rollout().values
    try:
        for record in records:
            assert record.lse is not None
            record.lse = record.lse + 0.01
        assert float((seen.rollout().values - want).abs().max()) < 1e-4
    finally:
        for record, lse in zip(records, before, strict=True):
            record.lse = lse
