"""What several tests of the package look at."""
import os
import sys
from pathlib import Path

# oneDNN, inside torch, crashes on virtual machines that hide a part of AMX; read when torch is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
os.environ.setdefault("MPLBACKEND", "agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the models are tiny: threads cost more than they give
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))  # oracles that both folders use

import numpy as np
import older
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: builds a wheel; runs only with HEADWATER_SLOW=1")


def pytest_collection_modifyitems(items):
    for item in items:
        if why := older.reason(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=why))
    if os.environ.get("HEADWATER_SLOW") != "1":
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="slow: HEADWATER_SLOW=1 runs it"))


TOKENS = ["[CLS]", "the", "quick", "fox", "jumps", "[SEP]"]


def softmax_rows(shape, seed=0, sharp=2.0):
    scores = np.exp(sharp * np.random.default_rng(seed).standard_normal(shape))
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


@pytest.fixture
def stack():
    """Three layers, two heads, six tokens: [L, H, n, n]."""
    return softmax_rows((3, 2, 6, 6))


@pytest.fixture
def batch():
    """Two items, the second with two padded positions: layers [B, H, n, n], mask [B, n]."""
    layers = softmax_rows((3, 2, 2, 6, 6), seed=1)
    layers[:, 1, :, :, 4:] = 0
    layers /= layers.sum(-1, keepdims=True)
    return list(layers), np.array([[1] * 6, [1] * 4 + [0] * 2])


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """Where a model and its inputs lie."""
    import torch
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return request.param


@pytest.fixture
def tokens():
    return list(TOKENS)


@pytest.fixture
def attribute(tmp_path, capsys, monkeypatch):
    """attribute(source, *words): runs `headwater attribute` into a folder of tmp_path; what it says on standard error."""
    for name in ("RANK", "WORLD_SIZE", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "JOB_COMPLETION_INDEX"):
        monkeypatch.delenv(name, raising=False)

    def call(source, *words, status=0, model="verb-number", out="out"):
        from headwater.data.command import run  # needs pyarrow, which other tests do without

        capsys.readouterr()
        assert run(["attribute", model, str(source), "-o", str(tmp_path / out), *map(str, words)]) == status
        return capsys.readouterr().err
    return call
