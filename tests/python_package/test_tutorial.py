"""The classes and functions that people have, against what they computed before."""
import matplotlib.figure
import numpy as np
import networkx
import pytest
import torch
from conftest import softmax_rows
from tutorial import AttentionRollout as Original

import headwater as hw


@pytest.fixture
def layers():
    return [torch.from_numpy(layer) for layer in softmax_rows((7, 4, 9, 9), seed=2)]


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("fusion", ["mean", "max", "min"])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 0.95])
def test_the_class_gives_the_tutorials_numbers(layers, ratio, fusion, residual):
    ours, theirs = hw.AttentionRollout(ratio, fusion, residual), Original(ratio, fusion, residual)
    for given in (layers, layers[:1], [layer[None] for layer in layers], [layer.mean(0) for layer in layers]):
        result, expected = ours.compute_rollout(given), theirs.compute_rollout(given)
        limit = 1e-6 * max(1.0, float(expected.max()))  # without a residual, max and min make rows that do not sum to 1
        assert isinstance(result, torch.Tensor) and (result - expected).abs().max() < limit
        for a, b in zip(ours.compute_rollout_by_layer(given), theirs.compute_rollout_by_layer(given), strict=True):
            assert (a - b).abs().max() < limit


def test_of_a_batch_the_class_takes_the_first_item(layers):
    two = [torch.stack([layer, layer.flip(0)]) for layer in layers]
    assert torch.equal(hw.AttentionRollout().compute_rollout(two), hw.AttentionRollout().compute_rollout(layers))


def test_double_tensors_stay_double(layers):
    assert hw.AttentionRollout().compute_rollout([layer.double() for layer in layers]).dtype == torch.float64


def test_an_unknown_fusion_is_a_value_error(layers):
    with pytest.raises(ValueError, match="Unknown head_fusion: median"):
        hw.AttentionRollout(head_fusion="median").compute_rollout(layers)


def test_every_picture_is_a_figure(layers, tmp_path):
    words, rollout = list("abcdefghi"), hw.AttentionRollout()
    path = tmp_path / "x.png"
    figures = [rollout.visualize(rollout.compute_rollout(layers), words, "title", save_path=str(path)),
               rollout.compare_with_single_layer(layers, words, layer_idx=-2),
               rollout.visualize_evolution(layers, words),
               rollout.visualize_evolution(layers, words, layers_to_show=[0]), hw.compare_discard_ratios(layers, words),
               hw.compare_head_fusion(layers, words)]
    assert all(isinstance(figure, matplotlib.figure.Figure) for figure in figures) and path.stat().st_size > 1000
    titles = [ax.get_title() for ax in figures[2].axes if ax.get_title()]
    assert titles == [f"After Layer {k}" for k in (0, 1, 2, 3, 6)]
    assert "Single Layer (5)" in [ax.get_title() for ax in figures[1].axes]


def test_attention_rollout_takes_the_names_people_use(layers):
    expected = hw.rollout(layers, fuse="max", discard=0.2, layers="1:")
    found = hw.attention_rollout(layers, head_fusion="max", discard_ratio=0.2, start_layer=1)
    assert torch.equal(found, expected.values)
    assert torch.equal(hw.attention_rollout(layers, residual=False), hw.rollout(layers, residual=0).values)


def test_attention_flow_is_the_maximum_flow_of_networkx():
    layers = list(softmax_rows((3, 2, 4, 4), seed=4))
    graph = networkx.DiGraph()
    for level, layer in enumerate(layers, 1):
        prepared = 0.5 * layer.mean(0) + 0.5 * np.eye(4)
        prepared /= prepared.sum(-1, keepdims=True)
        for i in range(4):
            for j in range(4):
                graph.add_edge((level, i), (level - 1, j), capacity=float(prepared[i, j]))
    flow = hw.attention_flow(layers)
    for i in range(4):
        for j in range(4):
            assert flow[i, j] == pytest.approx(networkx.maximum_flow_value(graph, (3, i), (0, j)), abs=1e-6)
    assert hw.attention_flow(layers, output_index=1, input_index=2) == flow[1, 2]
    assert np.array_equal(hw.attention_flow(layers, output_index=-1), flow[3])
    with pytest.raises(hw.Error, match="output_index"):
        hw.attention_flow(layers, input_index=1)
