"""What happens when a GPU's memory does not hold a result."""
import pytest
import torch

import headwater as hw
from headwater.torch.memory import with_room


def out_of_memory():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 16.00 GiB. Process 7 has it all.")


@pytest.mark.parametrize("fails, room, calls", [(0, True, 1), (1, True, 2), (2, True, 2), (1, False, 1)])
def test_work_is_done_once_more_where_room_could_be_made(fails, room, calls):
    done, made = [], []

    def work():
        done.append(1)
        return "found" if len(done) > fails else out_of_memory()

    def make_room():
        made.append(1)
        return room

    if len(done) + fails < 2 and (room or not fails):
        assert with_room(work, make_room, "model", 7) == "found"
    else:
        with pytest.raises(hw.Error, match=r"model: 7 tokens are too many .*\(CUDA out of memory\), expected .*`row`"):
            with_room(work, make_room, "model", 7)
    assert len(done) == calls and len(made) == min(fails, 1)


def test_other_errors_are_what_they_were():
    def broken():
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        with_room(broken, lambda: pytest.fail("room was made"), "model", 7)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: memory cannot move to the host")
@pytest.mark.parametrize("words", [{}, dict(row=-1), dict(by_layer=True), dict(discard=0.2)], ids=str)
def test_queries_and_keys_make_room_and_no_number_changes(monkeypatch, words):
    from headwater.torch import away, device
    from test_gpu_rows import captured
    want = captured("llama", torch.bfloat16).rollout(item=0, **words).values
    seen, tries = captured("llama", torch.bfloat16), []

    def once(real):
        def tried(*given):
            tries.append(1)
            return out_of_memory() if len(tries) == 1 else real(*given)
        return tried

    monkeypatch.setattr(device, "together", lambda *given: ())
    want_alone = captured("llama", torch.bfloat16).rollout(item=0, **words).values
    monkeypatch.setattr(device, "roll", once(device.roll))
    found = seen.rollout(item=0, **words).values
    assert len(tries) == 2 and all(isinstance(record, away.Away) for record in seen._answer().records)
    assert torch.equal(found, want_alone) and float((found - want).abs().max()) < 5e-6
