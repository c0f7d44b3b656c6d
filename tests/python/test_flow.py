"""Attention flow against scipy and networkx on the same integers, through the command."""
import networkx as nx
import numpy as np
import pytest
from command import ask, fails, run
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

ONE = 2**30


def capacities(path, layers):
    """The prepared layers as integers: rounded down, units left over to the largest remainders."""
    out = []
    for l in range(layers):
        rows = np.array(ask("rollout", path, "--layers", f"{l}:{l + 1}")["values"], dtype=np.float32).astype(np.float64)
        exact = rows / rows.sum(1, keepdims=True) * ONE
        whole = np.floor(exact)
        for i, row in enumerate(whole):
            left = int(ONE - row.sum())
            order = np.lexsort((np.arange(len(row)), row - exact[i]))
            row[[j for j in order if rows[i, j] > 0][:left]] += 1
        assert (whole.sum(1) == ONE).all()
        out.append(whole.astype(np.int32))
    return out


def graph(layers):
    """Nodes l * n + i, arcs from level l to l - 1."""
    n = len(layers[0])
    matrix = np.zeros(((len(layers) + 1) * n,) * 2, np.int32)
    for l, layer in enumerate(layers, 1):
        matrix[l * n:(l + 1) * n, (l - 1) * n:l * n] = layer
    return csr_matrix(matrix)


def save(tmp_path, seed, layers=4, n=9, causal=False):
    weights = np.random.default_rng(seed).exponential(size=(layers, 3, n, n)) ** 3
    if causal:
        weights *= np.tri(n)
    path = tmp_path / "attention.npy"
    np.save(path, (weights / weights.sum(-1, keepdims=True)).astype(np.float32))
    return path


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("layers, n", [(1, 5), (2, 8), (3, 9), (6, 14)])
def test_every_pair_equals_scipy(tmp_path, layers, n, causal):
    path = save(tmp_path, 10 * layers + n, layers, n, causal)
    result = ask("flow", path, "--certify")
    network = graph(capacities(path, layers))
    expected = [[maximum_flow(network, layers * n + i, t).flow_value / ONE for t in range(n)] for i in range(n)]
    assert result["values"] == expected
    assert any("certified" in note for note in result["notes"])


def test_every_top_layer_equals_networkx(tmp_path):
    layers, n = 4, 7
    path = save(tmp_path, 3, layers, n)
    result = ask("flow", path, "--every-layer", "--row", "2", "--certify")
    assert result["by_layer"] == [0, 1, 2, 3]
    prepared = capacities(path, layers)
    for top in range(1, layers + 1):
        network = nx.from_scipy_sparse_array(graph(prepared[:top]), create_using=nx.DiGraph, edge_attribute="capacity")
        expected = [nx.maximum_flow_value(network, top * n + 2, t) / ONE if network.has_node(t) else 0 for t in range(n)]
        assert result["values"][top - 1] == [expected]


def test_one_pair_and_layers_are_parts_of_the_whole(tmp_path):
    path = save(tmp_path, 4, 6, 10)
    whole = ask("flow", path, "--layers", "2:5")
    pair = ask("flow", path, "--layers", "2:5", "--row", "3", "--column", "-1", "--certify")
    assert pair["columns"] == [9] and pair["values"] == [[whole["values"][3][9]]]
    shown = run("flow", path, "--layers", "2:5", "--row", "3", "--column", "-1")
    assert f"{whole['values'][3][9]:.4g}" in shown.stdout


def test_values_are_float64(tmp_path):
    path = save(tmp_path, 5)
    values = ask("flow", path)["values"]
    assert run("flow", path, "-o", tmp_path / "f.npy", "-o", tmp_path / "f.npz").returncode == 0
    flow = np.load(tmp_path / "f.npy")
    assert flow.dtype == np.float64 and (flow == values).all() and (flow * ONE == np.rint(flow * ONE)).all()
    assert (np.load(tmp_path / "f.npz")["values"] == flow).all()


def test_normalised_rows_sum_to_one(tmp_path):
    path = save(tmp_path, 6)
    plain, normal = (np.array(ask("flow", path, *more)["values"]) for more in ([], ["--normalise"]))
    assert np.allclose(normal, plain / plain.sum(1, keepdims=True), rtol=1e-14)


def test_comparison_by_method_has_flow(tmp_path):
    path = save(tmp_path, 7)
    result = ask("compare", path, "--by", "method")
    assert [panel["method"] for panel in result["panels"]] == ["raw", "average", "rollout", "flow"]
    assert len(result["agreement"]) == 4
    assert run("compare", path, "--by", "method", "-o", tmp_path / "c.npy").returncode == 0
    assert np.load(tmp_path / "c.npy").dtype == np.float32


def test_heads_presets_and_pictures_work(tmp_path):
    path = save(tmp_path, 8)
    for more in (["--fuse", "head:1"], ["--preset", "tutorial"], ["--preset", "vit-explain"], ["--preset", "metrics"]):
        ask("flow", path, "--certify", *more)
    assert run("flow", path, "-o", tmp_path / "f.svg", "-o", tmp_path / "f.png").returncode == 0


def test_bad_requests_say_so(tmp_path):
    path = save(tmp_path, 9)
    assert "column" in fails(1, "flow", path, "--column", "9", "-o", "-")
    assert "--column" in fails(2, "flow", path, "--column", "1", "-o", tmp_path / "f.png")
    assert "--column" in fails(2, "flow", path, "--column", "1", "--filter", "special", "-o", "-")


def test_the_cut_of_a_pair_adds_up_to_its_flow(tmp_path):
    path = save(tmp_path, 6)
    pair = ask("flow", path, "--row", "3", "--column", "5", "--cut")
    assert sum(pair["cut"]["capacity"]) == pair["values"][0][0]
    shown = run("flow", path, "--row", "3", "--column", "5", "--cut")
    assert "limited by these weights" in shown.stdout
    assert "--row" in fails(2, "flow", path, "--cut", "-o", "-")
