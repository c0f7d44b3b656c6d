"""Rollout of a batch at once on a GPU, by headwater's kernels: against its items one by one, and against torch alone."""
import pytest
import torch
from models import TEXT, ids_and_mask, make
from test_batches import WORDS
from test_gpu_rows import exact  # noqa: F401

import headwater as hw
from headwater.torch import device, kernels

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: headwater's kernels cannot run")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("side", ["none", "right", "left"])
@pytest.mark.parametrize("name", ["llama", "bert", "mistral", "gpt_neox", "t5"])
def test_a_batch_at_once_is_its_items_one_by_one(monkeypatch, name, side, dtype):
    model = make(*TEXT[name]).to("cuda", dtype)
    model.set_attn_implementation("sdpa")
    ids, mask, _ = ids_and_mask(side)
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids.cuda(), attention_mask=mask.cuda())
    for words in WORDS:
        with monkeypatch.context() as patched:
            patched.setattr(device, "roll", lambda *given: pytest.fail(f"an item alone: {words}"))
            found = seen.rollout(**words)
        with monkeypatch.context() as patched:
            patched.setattr(device, "together", lambda *given: ())
            alone = seen.rollout(**words)
        before = kernels.allow(False)
        try:
            want = seen.rollout(**words)
        finally:
            kernels.allow(before)
        for one, other, third in zip(found.values, alone.values, want.values, strict=True):
            assert float((one - other).abs().max()) < 5e-6 and float((one - third).abs().max()) < 5e-6, words
        assert found.notes == alone.notes == want.notes


@pytest.mark.parametrize("n", [1, 2, 63, 65, 300])
@pytest.mark.parametrize("words", [dict(causal=True), {}, dict(causal=True, window=20)], ids=["causal", "full", "window"])
def test_a_layer_of_a_batch_is_the_layers_of_its_items(n, words):
    from test_gpu_rows import record_of
    torch.manual_seed(n)
    one = record_of(n, 4, 2, 64, torch.bfloat16, **words)
    one.query, one.key = (torch.randn(5, heads, n, 64, device="cuda").bfloat16() for heads in (4, 2))
    padding = torch.zeros(3, n, dtype=torch.bool, device="cuda")
    padding[1, n // 2 + 1:] = True
    weights = torch.rand(3, 9, n, device="cuda").masked_fill_(padding[:, None], 0)
    batch = kernels.Batch(one, range(1, 4), padding)
    rows, map = batch.times(weights, "mean", 0, n, True, 0.25), batch.map("head:2", range(n), True, 0.25)
    for item in range(3):
        layer = kernels.Layer(one, 1 + item, None)
        want = layer.times(weights[item], "mean", 0, n, True, 0.25)
        assert float((rows[item] - want).abs().max()) <= 2e-6 * float(want.abs().max())
        real = ~padding[item]
        assert torch.equal(map[item][real], layer.map("head:2", range(n), True, 0.25)[real])
        assert bool((map[item][~real] == 0.25 * torch.eye(n, device="cuda")[~real]).all())
