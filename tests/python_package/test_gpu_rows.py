"""Rows through layers and maps on a GPU, by headwater's kernels: against plain formulas in double precision on the same device,
against torch's own backward pass, and against maps.
"""
import pytest
import torch
from models import TEXT, ids_and_mask, make

import headwater as hw
from headwater.torch import kernels
from headwater.torch.record import Record

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: headwater's kernels cannot run")

SIZES = (1, 2, 3, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 1000, 2049, 4097)


@pytest.fixture(autouse=True)
def exact():
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    ready, why = kernels.status(torch.device("cuda", torch.cuda.current_device()))
    assert ready, why
    yield
    torch.backends.cuda.matmul.allow_tf32 = before


def record_of(n, heads=4, groups=2, size=64, dtype=torch.bfloat16, seed=0, strided=False, **words):
    torch.manual_seed(seed)
    def one(count):
        if strided:  # heads beside each other, as models compute them, at an odd address
            return torch.randn(n * (count * size + 1) + 1, device="cuda").to(dtype)[1:].as_strided(
                (1, count, n, size), (0, size, count * size + 1, 1))
        return torch.randn(1, count, n, size, device="cuda").to(dtype)

    return Record(name="", query=one(heads), key=one(groups), scale=words.pop("scale", size ** -0.5), **words)


def probabilities(record, number):
    """[H, n, n], by the formula at the head of record.py."""
    q, k = record.query[0].to(number), record.key[0].to(number)
    scores = q @ k.repeat_interleave(len(q) // len(k), 0).transpose(1, 2) * record.scale
    if record.softcap:
        scores = torch.tanh(scores / record.softcap) * record.softcap
    i = torch.arange(scores.shape[1], device="cuda")
    apart = i[:, None] - i
    seen = apart >= 0 if record.causal else torch.ones_like(apart, dtype=torch.bool)
    if record.window:
        seen = seen & (apart < record.window) & (apart > -record.window)
    for added in (record.bias, record.mask):
        if added is not None and added.dtype == torch.bool:
            seen = seen & added[0]
        elif added is not None:
            scores = scores + added[0].to(number)
    scores = scores.masked_fill(~seen, -torch.inf)
    if record.sinks is None:
        return scores.softmax(-1)
    sinks = record.sinks.to(number)[:, None, None].expand(-1, scores.shape[1], 1)
    return torch.cat([scores, sinks], -1).softmax(-1)[..., :-1]


def fused(heads, fuse):
    if fuse.startswith("head:"):
        return heads[int(fuse[5:])]
    return heads.mean(0) if fuse == "mean" else heads.amax(0) if fuse == "max" else heads.amin(0)


def check(record, fuse="mean", rows=1):
    n = record.queries
    weights = torch.rand(rows, n, device="cuda", generator=torch.Generator("cuda").manual_seed(7))
    weights /= weights.sum(-1, keepdim=True)
    layer = kernels.Layer(record, 0, None)
    found = layer.times(weights, fuse, 0, n)
    map = fused(probabilities(record, torch.float64), fuse)
    want = weights.double() @ map
    plain = weights @ fused(probabilities(record, torch.float32), fuse)
    limit = 2 * float((plain - want).abs().max()) + 2e-6 * float(want.abs().max()) + 1e-7 / n
    assert float((found - want).abs().max()) <= limit
    made = layer.map(fuse, range(n))
    rough = fused(probabilities(record, torch.float32), fuse)
    assert float((made - map).abs().max()) <= 2 * float((rough - map).abs().max()) + 2e-6
    assert torch.equal(layer.map(fuse, range(n // 3, n)), made[n // 3:])
    sums = layer.row_sums(fuse)
    assert float(((1.0 if sums is None else sums) - map.sum(-1)).abs().max()) < 1e-5


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "full"])
def test_every_size(dtype, causal):
    for n in SIZES:
        check(record_of(n, dtype=dtype, causal=causal, seed=n))


@pytest.mark.parametrize("size, dtype", [
    (size, dtype) for dtype in (torch.bfloat16, torch.float32) for size in (8, 33, 64, 80, 96, 128, 256)
    if size * dtype.itemsize <= kernels.LARGEST_HEAD], ids=str)
def test_every_head_size(size, dtype):
    for strided in (False, True):
        check(record_of(300, size=size, dtype=dtype, causal=True, strided=strided))


@pytest.mark.parametrize("heads, groups", [(1, 1), (7, 7), (12, 2), (5, 1)])
@pytest.mark.parametrize("size", [64, 128])
def test_grouped_queries(heads, groups, size):
    check(record_of(517, heads, groups, size, causal=True))


N = 333
EXTRA = dict(
    window=dict(causal=True, window=50), wide=dict(causal=True, window=N), narrow=dict(causal=True, window=1),
    both_sides=dict(window=40), cap=dict(causal=True, softcap=5.0), scale=dict(causal=True, scale=0.7),
    bias=lambda: dict(bias=torch.randn(1, 4, N, N, device="cuda")),
    bias16=lambda: dict(bias=torch.randn(1, 4, N, N, device="cuda").bfloat16(), causal=True),
    hidden=lambda: dict(mask=torch.rand(1, 1, N, N, device="cuda") < 0.5 + torch.eye(N, device="cuda")),
    added=lambda: dict(mask=torch.randn(1, 1, N, N, device="cuda")),
    keys=lambda: dict(mask=(torch.arange(N, device="cuda") < 200)[None, None, None]),
    sinks=lambda: dict(causal=True, sinks=torch.randn(4, device="cuda")),
    sinks_window=lambda: dict(causal=True, window=30, sinks=torch.randn(4, device="cuda").bfloat16(), softcap=20.0))


@pytest.mark.parametrize("fuse", ["mean", "max", "min", "head:1"])
@pytest.mark.parametrize("name", EXTRA)
def test_everything_that_changes_scores(name, fuse):
    words = EXTRA[name]() if callable(EXTRA[name]) else EXTRA[name]
    for dtype in (torch.bfloat16, torch.float32):
        check(record_of(N, dtype=dtype, **words), fuse)


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 9, 128])
def test_several_rows_at_once(rows):
    for size, dtype in ((128, torch.bfloat16), (64, torch.float16), (64, torch.float32)):
        check(record_of(700, size=size, dtype=dtype, causal=True), rows=rows)


def test_weights_of_some_queries_only():
    record = record_of(1000, size=128, causal=True)
    map = probabilities(record, torch.float64).mean(0)
    for begin, end in ((0, 1), (999, 1000), (130, 700), (500, 501)):
        weights = torch.zeros(1, 1000, device="cuda")
        weights[0, begin:end] = 1 / (end - begin)
        found = kernels.Layer(record, 0, None).times(weights, "mean", begin, end)
        assert float((found - weights.double() @ map).abs().max()) < 2e-6 * float((weights.double() @ map).max())


@pytest.mark.parametrize("size, dtype", [(128, torch.bfloat16), (64, torch.float32), (96, torch.float16)])
def test_ten_runs_give_the_same_bits(size, dtype):
    record = record_of(3000, 12, 2, size, dtype, causal=True)
    weights = torch.rand(1, 3000, device="cuda")
    runs = [kernels.Layer(record, 0, None).times(weights, "mean", 0, 3000) for _ in range(10)]
    assert all(torch.equal(one, runs[0]) for one in runs)


@pytest.mark.parametrize("n", [1, 100, 1025])
def test_it_is_dv_of_torchs_own_attention_with_do_equal_to_v(n):
    record = record_of(n, 6, 6, 64, torch.float32, causal=True)
    weights = torch.rand(1, n, device="cuda")
    value = torch.zeros(1, 6, n, 64, device="cuda", requires_grad=True)
    out = torch.nn.functional.scaled_dot_product_attention(record.query, record.key, value, is_causal=True)
    (dv,) = torch.autograd.grad(out, value, weights[0, :, None].expand(out.shape))
    want = dv[0, :, :, 0].mean(0)
    found = kernels.Layer(record, 0, None).times(weights, "mean", 0, n)[0]
    assert float((found - want).abs().max()) < 1e-5 * float(want.max())


# -- captures


def captured(name, dtype, side="right"):
    model = make(*TEXT[name]).to("cuda", dtype)
    if name not in ("gpt_oss", "gemma2"):
        model.set_attn_implementation("sdpa")
    ids, mask, _ = ids_and_mask(side)
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids.cuda(), attention_mask=mask.cuda())
    return seen


WORDS = [{}, dict(row=0), dict(row=3), dict(row="mean"), dict(preset="metrics"), dict(residual=0), dict(residual=0.2),
         dict(fuse="max"), dict(fuse="min", residual=0), dict(head=1), dict(head=-1), dict(layers="1:2"),
         dict(empty="zero"), dict(residual=0, divide="changed"), dict(residual=0, divide="changed", fuse="max"),
         dict(discard=0.3), dict(by_layer=True), dict(by_layer=True, row=2, preset="metrics"),
         dict(by_layer=True, row=[4, 1], residual=0.3, layers="1:3"), dict(by_layer=True, row="mean", fuse="max")]


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_capture_gives_the_rows_that_its_maps_give(name, dtype):
    seen = captured(name, dtype)
    for words in WORDS:
        words = dict(row=-1, item=0) | words
        before = kernels.allow(False)
        try:
            want = seen.rollout(**words)
        finally:
            kernels.allow(before)
        found = seen.rollout(**words)
        assert float((found.values - want.values).abs().max()) < 5e-6 and found.notes == want.notes, words


@pytest.mark.parametrize("name", ["llama", "bert", "mistral", "gpt_oss", "t5"])
def test_a_capture_gives_all_rows_too(name):
    seen = captured(name, torch.float32)
    for words in ({}, dict(fuse="max"), dict(head=1), dict(by_layer=True), dict(discard=0.2), dict(preset="metrics")):
        before = kernels.allow(False)
        try:
            want = seen.rollout(item=0, **words).values
        finally:
            kernels.allow(before)
        assert float((seen.rollout(item=0, **words).values - want).abs().max()) < 5e-6, words


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_padded_batch(side):
    for name in ("llama", "bert"):
        seen = captured(name, torch.float32, side)
        before = kernels.allow(False)
        try:
            want = seen.rollout(row=-1)
        finally:
            kernels.allow(before)
        for a, b in zip(seen.rollout(row=-1), want, strict=True):
            assert float((a - b).abs().max()) < 5e-6


@pytest.mark.parametrize("backend", ["FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION"])
def test_sums_of_the_forward_pass_are_taken_and_right(backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    import transformers
    torch.manual_seed(0)
    model = transformers.Qwen2Model(transformers.Qwen2Config(
        vocab_size=100, hidden_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=64, initializer_range=0.2, attn_implementation="sdpa")).to("cuda", torch.bfloat16).eval()
    ids = torch.arange(200, device="cuda")[None] % 100
    try:
        with torch.no_grad(), sdpa_kernel([getattr(SDPBackend, backend)]):
            plain = model(input_ids=ids)[0]
            with hw.capture(model) as seen:
                out = model(input_ids=ids)[0]
    except RuntimeError as wrong:
        pytest.skip(f"{backend}: {str(wrong)[:80]}")
    assert torch.equal(out, plain)
    for record in seen._answer().records:
        assert record.lse is not None
        layer = kernels.Layer(record, 0, None)
        assert float((layer.lse(True) - kernels.Layer(record, 0, None).lse(False)).abs().max()) < 2e-5


def test_a_row_takes_linear_memory():
    import transformers
    model = transformers.Qwen2Model(transformers.Qwen2Config(
        vocab_size=100, hidden_size=128, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        intermediate_size=64, max_position_embeddings=40000, attn_implementation="sdpa")).to("cuda", torch.bfloat16)
    n = 30000
    with torch.no_grad(), hw.capture(model.eval()) as seen:
        model(input_ids=torch.arange(n, device="cuda")[None] % 100)
    seen.rollout(row=0)  # the first question tries whether the layers mix tokens beside attention
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    row = seen.rollout(row=-1).values
    assert torch.cuda.max_memory_allocated() - before < 200 * n and abs(float(row.sum()) - 1) < 1e-3


def test_queries_and_keys_on_the_host_change_no_row(monkeypatch):
    from headwater.torch import away
    seen = captured("llama", torch.bfloat16)
    monkeypatch.setattr(away, "is_short", lambda record: True)
    moved = captured("llama", torch.bfloat16)
    assert all(isinstance(record, away.Away) for record in moved._answer().records)
    for words in (dict(row=-1), dict(row=0, preset="metrics"), dict(by_layer=True), dict(row=-1, fuse="max")):
        for found, want in zip(moved.rollout(**words), seen.rollout(**words), strict=True):
            assert torch.equal(found, want)
    for found, want in zip(moved.rollout(), seen.rollout(), strict=True):  # one by one, and as a batch at its padded length
        torch.testing.assert_close(found, want, rtol=0, atol=1.2e-7)


def test_a_row_that_is_not_finite_is_the_error_that_it_was():
    seen = captured("llama", torch.float32)
    record = seen._answer().records[0]
    record.q[0, 0, 2] = float("nan")
    record.note_state()  # as if the model had computed it
    with pytest.raises(hw.Error, match="row 2 of item 0 holds a number that is not finite"):
        seen.rollout(row=-1, item=0)
    assert bool(torch.isfinite(seen.rollout(row=-1, item=0, nan="identity").values).all())
