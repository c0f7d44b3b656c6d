"""The sums of the softmax that come with the output of sdpa, and that asking for them changes no bit of it.

Here on the CPU, where torch's flash attention returns them too; test_gpu_rows.py does the same on a GPU with each of torch's
functions.
"""
import pytest
import torch
import transformers

import headwater as hw
from headwater.torch import log_sums

FLASH = torch._C._SDPBackend.FLASH_ATTENTION.value


@pytest.fixture(autouse=True)
def as_on_a_gpu(monkeypatch):
    """Lets the CPU's function stand in for the GPU's."""
    def flash(query, key, value, dropout, causal, scale):
        return torch._scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, causal, scale=scale)

    monkeypatch.setattr(log_sums, "on_cuda", lambda tensor: True)
    monkeypatch.setattr(log_sums, "status", lambda device: (True, ""))
    monkeypatch.setattr(log_sums, "CHOICES", {FLASH: flash})
    monkeypatch.setattr(log_sums, "WATCHED",
                        {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default: None})


@pytest.fixture
def watchings(monkeypatch):
    """How often a dispatch mode had to look on."""
    made = []

    class Counted(log_sums.Watching):
        def __init__(self):
            super().__init__()
            made.append(self)

    monkeypatch.setattr(log_sums, "Watching", Counted)
    return made


def decoder(size=8):
    torch.manual_seed(0)
    return transformers.Qwen2Model(transformers.Qwen2Config(
        vocab_size=60, hidden_size=4 * size, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=16, initializer_range=0.3, attn_implementation="sdpa")).to(torch.bfloat16).eval()


def check(model, **inputs):
    """The output is the plain one, bit for bit; each record's sums are those of its scores."""
    plain = model(**inputs)[0]
    with hw.capture(model) as seen:
        out = model(**inputs)[0]
    assert torch.equal(out, plain)
    for record in seen._answer().records:
        assert record.lse is not None and record.lse.shape == record.query.shape[:3]
        query, key = record.query.float(), record.key.float().repeat_interleave(2, 1)
        scores = query @ key.mT * record.scale
        seen_keys = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        if record.mask is not None:
            seen_keys = record.mask if record.mask.dtype == torch.bool else record.mask == 0
        want = scores.masked_fill(~seen_keys, -torch.inf).logsumexp(-1)
        assert float((record.lse - want).detach().abs().max()) < 1e-5


IDS = torch.arange(14)[None] % 60


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_plain_attention_gives_its_sums_without_a_dispatch_mode(watchings, mode):
    with mode():
        check(decoder(), input_ids=IDS)
    assert not watchings


def test_gradients_masks_and_padded_heads_are_watched(watchings):
    check(decoder(), input_ids=IDS)
    assert len(watchings) == 2
    with torch.no_grad():
        mask = torch.ones(2, 14, dtype=torch.long)
        mask[1, 10:] = 0
        check(decoder(), input_ids=IDS.repeat(2, 1), attention_mask=mask)
        assert len(watchings) == 4
        check(decoder(6), input_ids=IDS)
        assert len(watchings) == 6


def test_autocast_gives_the_output_that_it_would_give(watchings):
    model = decoder().float()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        plain = model(input_ids=IDS)[0]
        with hw.capture(model):
            assert torch.equal(model(input_ids=IDS)[0], plain)
    assert len(watchings) == 2


def test_a_capture_of_the_interface_alone_is_watched(watchings):
    model = decoder()
    with torch.no_grad(), hw.capture(model, how="interface") as seen:
        model(input_ids=IDS)
    assert len(watchings) == 2 and all(record.lse is not None for record in seen._answer().records)


def test_a_function_that_keeps_no_sums_is_called_as_it_is(monkeypatch):
    monkeypatch.setattr(log_sums, "CHOICES", {})
    model = decoder()
    with torch.no_grad():
        plain = model(input_ids=IDS)[0]
        with hw.capture(model) as seen:
            assert torch.equal(model(input_ids=IDS)[0], plain)
    assert all(record.lse is None for record in seen._answer().records)


def test_nobody_is_asked_after_an_error(monkeypatch):
    def broken(*given):
        raise RuntimeError("no room")

    monkeypatch.setattr(log_sums, "CHOICES", {FLASH: broken})
    model = decoder()
    with torch.no_grad(), pytest.raises(RuntimeError, match="no room"), hw.capture(model):
        model(input_ids=IDS)
    assert log_sums.here.asking is None


def test_a_mode_of_the_users_own_sees_sdpa(watchings):
    from torch.overrides import TorchFunctionMode

    class Seen(TorchFunctionMode):
        names = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with torch.no_grad(), Seen() as mode:
        check(decoder(), input_ids=IDS)
    assert len(watchings) == 2 and "_fused_sdp_choice" not in mode.names
