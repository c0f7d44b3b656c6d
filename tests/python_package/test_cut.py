"""The minimum cut of one pair, as flow returns it."""
import pickle

import numpy as np
import pytest

import headwater as hw


def attention(layers=4, n=6, seed=5):
    scores = np.random.default_rng(seed).normal(size=(layers, 2, n, n)) * 2
    weights = np.exp(scores)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def test_the_cut_adds_up_to_the_flow():
    result = hw.flow(attention(), row=2, column=4, cut=True)
    assert sum(weight for *_, weight in result.cut) == float(np.asarray(result).ravel()[0])
    assert all(0 <= layer < 4 for layer, *_ in result.cut)
    assert hw.flow(attention(), row=2, column=4).cut is None
    assert pickle.loads(pickle.dumps(result)).cut == result.cut


def test_a_cut_belongs_to_one_pair():
    with pytest.raises(hw.Error, match="one `row` and one `column`"):
        hw.flow(attention(), cut=True)
