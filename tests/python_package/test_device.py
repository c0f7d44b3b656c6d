"""The methods in torch, which serve GPUs, against the engine: here on the CPU, where both can run."""
import json

import numpy as np
import pytest
import torch
from conftest import softmax_rows

import headwater as hw
from headwater.arrays import lies_on_device
from headwater.torch.device import device_method, device_metrics

LIMIT = 2e-6


@pytest.fixture
def layers():
    return [torch.from_numpy(layer) for layer in softmax_rows((4, 3, 17, 17), seed=5)]


@pytest.mark.parametrize("words", [{}, dict(preset="tutorial"), dict(preset="vit-explain"), dict(preset="metrics"),
                                   dict(row=3), dict(row="mean"), dict(by_layer=True), dict(by_layer=True, row=2),
                                   dict(preset="tutorial", residual=0, discard=0.5), dict(fuse="max", layers="1:3"),
                                   dict(preset="metrics", row=1), dict(head=2, residual=0.3), dict(residual=0),
                                   dict(discard=0.95, residual=0, empty="zero"), dict(discard=0.95, residual=0)])
def test_rollout_equals_the_engine(layers, words):
    ours, theirs = device_method("rollout", layers, **words), hw.rollout(layers, **words)
    assert ours.values.shape == theirs.values.shape and (ours.values - theirs.values).abs().max() < LIMIT
    assert ours.options == theirs.options and ours.rows == theirs.rows and ours.by_layer == theirs.by_layer
    assert ours.notes == theirs.notes


@pytest.mark.parametrize("method", ["average", "raw"])
def test_average_and_raw_equal_the_engine(layers, method):
    for words in ({}, dict(row=0), dict(fuse="min")):
        expected = getattr(hw, method)(layers, **words).values
        assert (device_method(method, layers, **words).values - expected).abs().max() < LIMIT


EMPTIED = [dict(discard=0.5, empty="zero"), dict(discard=0.5), dict(residual=0), dict(residual=0, empty="zero"),
           dict(residual=0, discard=0.5, empty="zero"), dict(residual=0, discard=0.9), dict(preset="tutorial", residual=0),
           dict(residual=0, discard=0.5, order="discard-first"), dict(preset="tutorial", residual=0, divide="always")]


@pytest.mark.parametrize("words", EMPTIED)
def test_empty_rows_are_counted_and_noted_as_the_engine_does(layers, words):
    layers[1][:, 3] = 0
    layers[2][:, 5:7] = 0
    ours = device_method("rollout", layers, sums="any", **words)
    theirs = hw.rollout(layers, sums="any", **words)
    assert ours.notes == theirs.notes and (ours.values - theirs.values).abs().max() < LIMIT
    average = device_method("average", layers, sums="any", **words)
    assert average.notes == hw.average(layers, sums="any", **words).notes


def test_metrics_note_empty_rows_as_the_engine_does(layers):
    layers[1][:, 3] = 0
    ours, theirs = device_metrics(layers, sums="any", residual=0), hw.metrics(layers, sums="any", residual=0)
    assert ours.notes == theirs.notes and ours.notes


def test_metrics_of_a_device_are_written_as_those_of_the_engine(layers, tmp_path):
    found = device_metrics(layers)
    for ending in ("json", "npz", "html"):
        found.save(tmp_path / f"m.{ending}")
    read = json.loads((tmp_path / "m.json").read_text())
    assert read["metrics"] == dict(found) and read["layer"] == 3 and read["source"]["heads"] == 3
    for name, sentence in (("m.png", "metrics are numbers"), ("m", "has no ending")):
        with pytest.raises(hw.Error, match=sentence):
            found.save(tmp_path / name)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".html", ".json", ".npz"]


def test_a_batch_on_a_device_knows_its_heads_and_its_items(layers):
    whole = [torch.stack([layer, layer.flip(0)]) for layer in layers]
    ours, theirs = device_method("rollout", whole), hw.rollout(whole)
    for k in (0, 1):
        a, b = json.loads(ours.item(k).to_json()), json.loads(theirs.item(k).to_json())
        assert a["source"]["heads"] == b["source"]["heads"] == 3 and a["source"]["item"] == k
        assert np.allclose(a["values"], b["values"], atol=LIMIT)
    assert ours.top(3)[1] == ours.item(1).top(3) and ours.shown_row(1) == theirs.shown_row(1)


def test_batches_with_padding_and_metrics_equal_the_engine(batch):
    layers, mask = batch
    layers = [torch.from_numpy(layer) for layer in layers]
    ours = device_method("rollout", layers, attention_mask=mask, tokens=[list("abcdef"), list("uvwx")])
    theirs = hw.rollout(layers, attention_mask=mask)
    assert ours.tokens[1] == list("uvwx")
    assert max(float((a - b).abs().max()) for a, b in zip(ours.values, theirs.values)) < LIMIT
    found, expected = device_metrics(layers, attention_mask=mask), hw.metrics(layers, attention_mask=mask)
    assert found == pytest.approx(dict(expected), abs=1e-6)


def test_results_are_written_like_the_engines(layers, tmp_path):
    ours, theirs = device_method("rollout", layers), hw.rollout(layers)
    a, b = json.loads(ours.to_json()), json.loads(theirs.to_json())
    assert a["options"] == b["options"] and np.allclose(a["values"], b["values"], atol=LIMIT)
    ours.save(tmp_path / "x.npy")
    assert np.allclose(np.load(tmp_path / "x.npy"), b["values"], atol=LIMIT)


def test_only_what_lies_on_a_device_goes_there(layers):
    assert not lies_on_device(layers, {}) and not lies_on_device(layers[0].numpy(), {})
    assert lies_on_device([layer.to("meta") for layer in layers], {})


def test_layers_on_two_devices_are_refused(layers):
    with pytest.raises(hw.Error, match="has layers on cpu and meta, expected one device"):
        hw.rollout([layers[0], layers[1].to("meta")])


@pytest.mark.parametrize("words", [dict(head=9), dict(item=5), dict(row=40), dict(tokens=["a"]), dict(layers="3:9"),
                                   dict(attention_mask=np.ones((3, 17))), dict(sums="some")])
def test_what_torch_cannot_do_the_engine_says(monkeypatch, layers, words):
    with pytest.raises(hw.Error) as expected:
        hw.rollout(layers, **words)
    monkeypatch.setattr("headwater.arrays.lies_on_device", lambda attention, asked: True)
    with pytest.raises(hw.Error) as found:
        hw.rollout(layers, **words)
    assert str(found.value) == str(expected.value)


def test_rows_on_a_device_are_checked_as_the_engine_does(monkeypatch, layers):
    monkeypatch.setattr("headwater.arrays.lies_on_device", lambda attention, asked: True)
    layers[2][1, 3] *= 2
    with pytest.raises(hw.Error, match="layer 2, head 1, row 3 sums to 2"):
        hw.rollout(layers)
    assert hw.rollout(layers, sums="any").shape == (17, 17)
    layers[2][1, 3, 4] = -1
    with pytest.raises(hw.Error, match="layer 2, head 1, row 3 has -1 in column 4"):
        hw.rollout(layers, sums="any")


def test_layers_that_disagree_are_refused(layers):
    with pytest.raises(hw.Error, match="expected \\[B, H, n, n\\]"):
        device_method("rollout", [layers[0], layers[1][:, :4, :4]])


def test_a_cuda_device_keeps_its_tensors(layers):
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    result = hw.rollout([layer.cuda() for layer in layers])
    assert result.values.is_cuda and (result.values.cpu() - hw.rollout(layers).values).abs().max() < 1e-4


@pytest.mark.parametrize("words", [dict(row=2), dict(row=[4, 0]), dict(row="mean"), dict(row=1, preset="metrics"),
                                   dict(row=3, residual=0.2, layers="1:4"), dict(row=5, residual=0, discard=0.95)], ids=str)
def test_rows_of_all_top_layers_go_down_beside_each_other(monkeypatch, layers, words):
    from headwater.torch import device, maps
    from headwater.torch.rows import Rows
    want, folded = hw.rollout(layers, by_layer=True, **words), []

    def fold(item, layer, rows, options, as_it_is, given):
        """As the kernels do it: rows, not maps."""
        map, gone = device.prepared_layer(made[0], item, options, layer, as_it_is)
        folded.append(layer)
        return Rows(rows.values @ map, 0, map.shape[0], rows.empty + gone, exact=False)

    made, maps_of = [], maps.maps_of
    monkeypatch.setattr(maps, "maps_of", lambda *given, **asked: made.append(maps_of(*given, **asked)) or made[0])
    monkeypatch.setattr(maps.Maps, "fold", None, raising=False)
    original = maps.Maps.__init__
    monkeypatch.setattr(maps.Maps, "__init__", lambda self, *given, **asked: original(self, *given, **asked, fold=fold))
    found = device_method("rollout", layers, by_layer=True, **words)
    assert len(folded) == len(want.by_layer) and found.by_layer == want.by_layer and found.notes == want.notes
    assert found.values.shape == want.values.shape and (found.values - want.values).abs().max() < LIMIT


def test_metrics_in_blocks_of_rows_are_the_metrics(monkeypatch, layers):
    from headwater.torch import metrics
    want = device_metrics(layers)
    monkeypatch.setattr(metrics, "BLOCK_NUMBERS", 40)  # two rows of 17
    assert dict(device_metrics(layers)) == pytest.approx(dict(want), rel=1e-12)
    assert dict(want) == pytest.approx(dict(hw.metrics(layers)), abs=1e-5)


def test_rows_are_summed_in_blocks_to_the_same_bits(monkeypatch, layers):
    from headwater.torch import device
    want = device_method("rollout", layers, by_layer=True).values
    monkeypatch.setattr(device, "BLOCK_NUMBERS", 40)
    assert torch.equal(device_method("rollout", layers, by_layer=True).values, want)
