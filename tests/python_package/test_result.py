"""What a result can do."""
import json

import matplotlib.figure
import numpy as np
import pytest

import headwater as hw


@pytest.fixture
def result(stack, tokens):
    return hw.rollout(stack, tokens=tokens)


def test_a_result_is_an_array(result):
    assert np.asarray(result).shape == result.shape == (6, 6) and len(result) == 6 and result.ndim == 2
    assert np.array_equal(result[0], result.values[0]) and np.allclose(np.asarray(result, dtype=np.float64).sum(1), 1)
    assert np.array_equal(np.from_dlpack(result), result.values)


@pytest.mark.parametrize("ending", ["json", "npy", "npz", "png", "svg", "pdf"])
def test_it_is_saved_by_the_ending(result, tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    result.save(path)
    assert path.stat().st_size > 100
    if ending == "npy":
        assert np.array_equal(np.load(path), result.values)


def test_an_unknown_ending_raises(result, tmp_path):
    with pytest.raises(hw.Error, match="ending"):
        result.save(tmp_path / "x.gif")


def test_json_has_all_of_it(result, tokens):
    read = json.loads(result.to_json())
    assert read["tokens"] == tokens and read["method"] == "rollout" and read["options"]["residual"] == 0.5
    assert np.array_equal(np.array(read["values"], np.float32), result.values)


def test_top_names_the_largest(result, tokens):
    row = result.values[2]
    assert result.top(2, row=2) == [(tokens[j], float(row[j])) for j in np.argsort(-row)[:2]]
    assert "[CLS]" not in [token for token, _ in result.top(6, row=2, filter="special")]


def test_the_row_shown_is_the_last_of_causal_attention(tokens):
    causal = np.tril(np.ones((2, 1, 6, 6), np.float32))
    causal /= causal.sum(-1, keepdims=True)
    assert hw.rollout(causal).shown_row() == 5 and hw.rollout(np.full((1, 6, 6), 1 / 6, np.float32)).shown_row() == 0


def test_plot_returns_a_figure(result, stack, tokens):
    assert isinstance(result.plot(), matplotlib.figure.Figure)
    assert isinstance(hw.rollout(stack, tokens=tokens, row=0, by_layer=True).plot(), matplotlib.figure.Figure)
    assert isinstance(hw.compare(stack, by="fuse").plot(), matplotlib.figure.Figure)
    assert [label.get_text() for label in result.plot().axes[0].get_xticklabels()][1] == "the"


def test_notebooks_get_html_that_no_token_can_break(stack):
    words = ["<script>alert(1)</script>", "&", '"', "a", "b", "c"]
    page = hw.rollout(stack, tokens=words)._repr_html_()
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "<table" in page and hw.compare(stack, by="fuse")._repr_html_()


def test_items_of_a_batch_stand_alone(batch, tmp_path):
    layers, mask = batch
    result = hw.rollout(layers, attention_mask=mask)
    one = result.item(1)
    assert one.shape == (4, 4) and len(one.top(3)) == 3 and len(result.top(3)) == 2
    assert json.loads(one.to_json())["source"]["item"] == 1
    assert len(json.loads(result.to_json())) == 2
    one.save(tmp_path / "one.svg")
    result.save(tmp_path / "all.svg")
    assert (tmp_path / "all-1.svg").exists() and one.plot()
    with pytest.raises(hw.Error, match="different lengths"):
        np.asarray(result)


def test_a_batch_of_several_lengths_is_reckoned_item_by_item(batch):
    layers, mask = batch
    result = hw.rollout(layers, attention_mask=mask)
    for found, want in ((result * 2, lambda one: one * 2), (2 * result, lambda one: one * 2), (-result, lambda one: -one),
                        (result + result, lambda one: one + one), (result - result, lambda one: one - one),
                        (result / 2, lambda one: one / 2), (result > 0.1, lambda one: one > 0.1)):
        assert len(found) == 2 and all(np.array_equal(got, want(one)) for got, one in zip(found, result.values))
    for ask in (lambda: result.shape, lambda: result.dtype, lambda: result.ndim, lambda: np.log(result)):
        with pytest.raises(hw.Error, match="different lengths"):
            ask()


def test_by_layer_has_a_leading_axis(stack):
    result = hw.rollout(stack, by_layer=True)
    assert result.shape == (3, 6, 6) and result.by_layer == [0, 1, 2]
    assert np.array_equal(result.values[-1], hw.rollout(stack).values)


def test_a_comparison_is_asked_like_its_panels(stack, tokens):
    found = hw.compare(stack, by="fuse", tokens=tokens)
    assert found.top(2)["fuse max"] == found[1].top(2)
    assert found.to_pandas().groupby("panel").size().tolist() == [36] * 3 and "<h4>" in found._repr_html_()


def test_inputs_are_compared_position_by_position(stack, tokens, tmp_path):
    texts = ["The keys to the cabinet", "The key to the cabinet"]
    found = hw.compare("verb-number", text=texts, by="input")
    own = [hw.rollout("verb-number", text=text) for text in texts]
    assert [panel.label for panel in found] == [f"{k}: {text}" for k, text in enumerate(texts)]
    for panel, result in zip(found, own):
        assert np.array_equal(panel.values, result.values)
        assert panel.tokens[2] == "keys/key" and panel.tokens[1:2] == result.tokens[1:2]
    found.save(tmp_path / "x.html")
    assert ">Inputs compared<" in (tmp_path / "x.html").read_text()
    one = hw.compare("verb-number", text=texts, by="input", row="cls")
    assert np.allclose(one[1].values, own[1].values[0], atol=1e-6)
    with pytest.raises(hw.Error, match="expected two or more"):
        hw.compare(stack, tokens=tokens, by="input")
    with pytest.raises(hw.Error, match="leave `item`"):
        hw.compare("verb-number", text=texts, by="input", item=1)
    with pytest.raises(hw.Error, match="expected as many tokens or words"):
        hw.compare("verb-number", text=["The keys", "The keys to the cabinet"], by="input")


def test_a_comparison_by_words(stack):
    tokens = ["[CLS]", "un", "##believ", "##able", "cat", "[SEP]"][:stack.shape[-1]]
    found = hw.compare(stack, by="fuse", tokens=tokens)
    words = found.words()
    assert words[0].tokens == ["[CLS]", "unbelievable", "cat", "[SEP]"] and words.by == "fuse"
    assert [panel.label for panel in words] == [panel.label for panel in found]
    for panel, old in zip(words, found):
        assert np.allclose(panel.values, old.words().values)
    assert words.agreement.shape == (3, 3) and not np.allclose(words.agreement, found.agreement)
    with pytest.raises(hw.Error, match="do not add up"):
        hw.compare(stack, by="method", tokens=tokens).words()


def test_metrics_are_a_dictionary_that_can_be_saved(stack, tmp_path):
    found = hw.metrics(stack)
    assert "rollout_entropy" in found._repr_html_()
    assert set(found) == {"mean_attention", "max_attention", "attention_entropy", "attention_concentration",
                          "rollout_max", "rollout_entropy", "batch_size", "seq_length"}
    found.save(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["metrics"] == dict(found)


def test_results_outlive_what_they_came_from(stack):
    values = hw.rollout(stack.copy()).values
    assert np.allclose(values.sum(-1), 1)


def test_figures_are_closed_when_they_are_returned(stack, tmp_path):
    from matplotlib import pyplot
    before = pyplot.get_fignums()
    figures = [hw.rollout(stack).plot(), hw.compare(stack, by="fuse").plot(), hw.rollout(stack, row=0).plot()]
    assert pyplot.get_fignums() == before
    figures[0].savefig(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000


def test_print_shows_the_strongest_tokens():
    attention = np.array([[[1, 0, 0], [.25, .75, 0], [.25, .25, .5]]], dtype=np.float32)
    said = dict(tokens=["a", "b", "c"], residual=0.0)
    assert str(hw.rollout(attention, row=1, **said)).splitlines()[1] == "  of 'b': b 0.75, a 0.25, c 0"
    panels = str(hw.compare(attention, by="fuse", row=1, **said)).splitlines()
    assert panels[0].startswith("<headwater.Comparison by fuse") and panels[2] == "  fuse max: b 0.75, a 0.25, c 0"
    written = hw.generate("facts", "The red key went", count=30, ignore_end=True)
    lines = str(written).splitlines()
    token, value = written.top(0, 1)[0]
    assert lines[1].startswith(f"  'from': {token} {value:.4g}, ") and lines[-1] == "  ... and 10 more"
    heads = hw.compare(attention.repeat(9, axis=0), by="head", tokens=["a", "b", "c"])
    assert repr(heads).endswith("layer 7 head 0 and 1 more>")
