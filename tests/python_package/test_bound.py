"""What Python takes from the engine instead of computing it again: preparation, the tracker, top k, the row to show."""
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import softmax_rows

import headwater as hw
from headwater import _engine
from headwater.arguments import make_options
from headwater.arrays import fused_on_cpu

COMMAND = Path(sys.executable).with_name("headwater")
PACKAGE = Path(hw.__file__).parent


def test_layers_are_prepared_by_the_engine():
    map = softmax_rows((5, 5))
    expected = 0.7 * map + 0.3 * np.eye(5)
    assert _engine.prepare_layer(map, make_options(residual=0.3)) == 0
    assert np.allclose(map, expected / expected.sum(1, keepdims=True), atol=1e-6)
    empty = np.zeros((2, 2), np.float32)
    assert _engine.prepare_layer(empty, make_options(residual=0)) == 2 and np.array_equal(empty, np.eye(2))
    with pytest.raises(hw.Error, match="expected a square matrix"):
        _engine.prepare_layer(np.zeros((2, 3), np.float32), make_options())


def test_some_rows_are_prepared_as_rows_of_their_layer():
    whole = softmax_rows((6, 6))
    some = whole[2:4].copy()
    _engine.prepare_layer(whole, make_options())
    _engine.prepare_rows(some, 2, make_options())
    assert np.array_equal(some, whole[2:4])
    for first, options in ((5, make_options()), (-1, make_options()), (0, make_options(discard=0.1))):
        with pytest.raises(hw.Error, match="prepare_rows"):
            _engine.prepare_rows(some, first, options)


@pytest.mark.parametrize("fuse", ["mean", "max", "min", "head:1", "head:-1"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_heads_are_fused_by_the_engine(fuse, dtype):
    heads = softmax_rows((3, 4, 5)).astype(dtype)
    expected = heads[int(fuse[5:])] if ":" in fuse else getattr(np, fuse)(heads.astype(np.float64), axis=0)
    assert np.abs(fused_on_cpu(heads, fuse) - expected).max() < 1e-6
    with pytest.raises(hw.Error, match="has no head 7"):
        fused_on_cpu(heads, "head:7")


def test_heads_that_are_no_attention_are_named():
    heads = softmax_rows((3, 4, 5))
    heads[1, 2, 0] = np.nan
    with pytest.raises(hw.Error, match="head 1, row 2 holds a number that is negative or not finite"):
        fused_on_cpu(heads, "mean")


def test_the_tracker_gives_rows_of_the_whole_rollout():
    layers = np.tril(softmax_rows((3, 7, 7)))
    layers /= layers.sum(-1, keepdims=True)
    expected = hw.rollout(layers, by_layer=True).values
    tracker = _engine.Tracker(3, 4, 7, make_options(), "x")
    for begin, end in ((0, 4), (4, 5), (5, 7)):
        for layer in range(3):
            tracker.push(layer, layers[layer, begin:end, :end].copy())
    for layer in range(3):
        assert np.abs(tracker.rolled(layer) - expected[layer][:, :4]).max() < 1e-6
    assert tracker.range == (0, 3) and tracker.empty_rows == 0
    with pytest.raises((ValueError, RuntimeError)):
        tracker.rolled(0)[0, 0] = 1


@pytest.mark.parametrize("layer, shape, sentence", [(0, (2, 3), "do not fit"), (0, (5, 5), "do not fit"),
                                                    (1, (2, 2), "expected layers from below"),
                                                    (3, (2, 2), "has no layer 3")])
def test_the_tracker_refuses_rows_that_do_not_fit(layer, shape, sentence):
    tracker = _engine.Tracker(3, 2, 4, make_options(), "x")
    with pytest.raises(hw.Error, match=sentence):
        tracker.push(layer, np.zeros(shape, np.float32))
    with pytest.raises(hw.Error, match="has no layer 5"):
        tracker.rolled(5)


def test_equal_values_keep_their_order_in_top():
    values = np.array([1, 3, 3, 2, 3], np.float32)
    assert _engine.top(values, 3) == [1, 2, 4] and _engine.top(values.astype(np.float64), 9) == [1, 2, 4, 3, 0]
    assert _engine.top(values, 2, "special", ["[CLS]", "[SEP]", "a", "b", "c"]) == [2, 4]
    with pytest.raises(hw.Error, match="one for each value"):
        _engine.top(values, 2, "special", ["a"])


def test_top_takes_the_row_that_the_command_shows(tmp_path):
    """Of a gradient that is the target's row, whatever the values look like."""
    from models import SIZES, make
    model = make("BertForQuestionAnswering", "BertConfig", SIZES)
    model.save_pretrained(tmp_path)
    result = hw.gradient(str(tmp_path), ids=[5, 6, 7, 8], target="start:2")
    assert json.loads(result.to_json())["target"]["row"] == 2
    assert result.shown_row() == 2 and result.top(2) == result.top(2, row=2)


def test_generated_values_do_not_pass_through_text(monkeypatch):
    monkeypatch.setattr(json, "loads", None)
    found = hw.generate("facts", "the red key", count=2)
    assert found.M.dtype == np.float32 and found.M.shape == (len(found.generated), len(found.prompt), found.M.shape[2])
    assert len(found.generated_ids) == len(found.generated) and len(found.prompt_ids) == len(found.prompt)
    assert found.text and found.options["count"] == 2 and found.options["position"] == "predicting"


def test_generated_values_are_those_of_the_json():
    found = hw.generate("facts", "the red key", count=2)
    read = json.loads(found.to_json())
    assert np.array_equal(np.array(read["M"], np.float32), found.M) and read["text"] == found.text
    assert read["options"] | read["generation"] == found.options and read["generated_ids"] == found.generated_ids


def test_models_are_found_where_the_environment_says(tmp_path):
    """$HEADWATER_MODELS, as the command has it."""
    (tmp_path / "own").symlink_to(hw.models()["verb-number"], target_is_directory=True)
    words = "import headwater as hw; print(sorted(hw.models()), hw.run('own', 'The keys', row=0).values.shape)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True,
                          env=os.environ | {"HEADWATER_MODELS": str(tmp_path)})
    assert done.returncode == 0 and "own" in done.stdout, done.stderr


def test_layers_are_prepared_in_two_files_of_python():
    """Residual and division by row sums: the engine's on the CPU, torch/device.py's on a GPU, and torch/rows.py's where
    there is no map to prepare."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        if path.relative_to(PACKAGE).as_posix() not in ("torch/device.py", "torch/rows.py"):
            assert "1 - r)" not in text.replace("(1 - r) * (C @ E)", "").replace("(1 - r) C_l E", ""), path
