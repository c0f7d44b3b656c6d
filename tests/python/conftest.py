"""Attention that several tests look at."""
import os

# oneDNN, inside torch, crashes on virtual machines that hide a part of AMX; read when torch is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

import numpy as np
import pytest

from attention import TOKENS, save, softmax_rows


@pytest.fixture
def fox(tmp_path):
    """Six tokens, three layers, two heads."""
    stack = softmax_rows(np.random.default_rng(0), (3, 2, 6, 6)).astype(np.float32)
    return save(tmp_path / "fox.npz", list(stack), tokens=TOKENS)


@pytest.fixture
def batch(tmp_path):
    """Two items, the second with two padded positions."""
    stack = softmax_rows(np.random.default_rng(1), (3, 2, 2, 6, 6)).astype(np.float32)
    stack[:, 1, :, :, 4:] = 0
    stack[:, 1] /= stack[:, 1].sum(axis=-1, keepdims=True)
    mask = np.array([[1] * 6, [1] * 4 + [0] * 2])
    return save(tmp_path / "batch.npz", list(stack), tokens=TOKENS, mask=mask)


@pytest.fixture
def slow(tmp_path):
    """Words of a command that takes seconds: plain loops in double."""
    path = save(tmp_path / "slow.npy", [np.full((8, 1000, 1000), 1 / 1000, np.float32)])
    return ["rollout", path, "--kernel", "reference"]


@pytest.fixture(scope="session")
def wide(tmp_path_factory):
    stack = softmax_rows(np.random.default_rng(3), (4, 3, 333, 333)).astype(np.float32)
    return save(tmp_path_factory.mktemp("wide") / "wide.npy", [stack])
