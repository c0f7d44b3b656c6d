"""hw.relevance on model directories: what comes back is what the engine records."""
import json
import pickle

import numpy as np
import pytest

import headwater as hw

SENTENCE = "The keys to the cabinet"
STORY = "Ava put the red hat in the box. Where is the red hat? Answer:"


def test_a_result_has_signs_and_says_what_it_sums_to():
    found = hw.relevance("verb-number", text=SENTENCE, target="plural")
    assert found.method == "relevance" and found.has_signs and found.shape == (len(found.tokens),)
    assert found.top(1)[0][0] == "keys" and found.numpy().min() < 0
    facts = found.relevance
    assert facts["target"]["name"] == "plural" and facts["rule"] == "frozen"
    assert facts["sum"] + facts["biases"] == pytest.approx(facts["output"], rel=1e-5)
    assert found.heads is None and found.edges is None
    assert json.loads(found.to_json())["values"][0] == pytest.approx(found.numpy().tolist())
    assert pickle.loads(pickle.dumps(found)) == found
    assert found != hw.relevance("verb-number", text=SENTENCE, target="plural", rule="attnlrp")
    assert hw.run("verb-number", SENTENCE, method="relevance", target="plural") == found


def test_figures_name_the_target_without_the_marks_of_the_vocabulary():
    found = hw.relevance("facts", prompt=STORY, target="box")
    assert found.relevance["target"]["name"] == "\u0120box"
    assert found.plot().axes[0].get_title() == "relevance for 'box'"


def test_layers_heads_and_edges():
    found = hw.relevance("verb-number", text=SENTENCE, by_layer=True, heads=True, edges=-1)
    n = len(found.tokens)
    assert found.by_layer == [-1, 0, 1, 2, 3, 4, 5] and found.shape == (7, n)
    assert found.heads.shape == (6, 8) and found.edges.shape == (n, n) and found.relevance["edges_layer"] == 5
    assert found.edges.sum() == pytest.approx(found.heads[5].sum(), rel=1e-4)
    assert np.array_equal(found.row(), found.numpy()[0])  # the input is what is shown
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.heads, found.heads) and np.array_equal(again.edges, found.edges)


def test_a_batch_has_an_entry_for_each_item():
    both = hw.relevance("verb-number", text=[SENTENCE, "The man"], heads=True)
    one = hw.relevance("verb-number", text="The man", heads=True)
    assert np.array_equal(both.item(1).numpy(), one.numpy()) and np.array_equal(both.item(1).heads, one.heads)
    assert both.relevance[1]["output"] == both.item(1).relevance["output"] == one.relevance["output"]


def test_generated_tokens_and_spans():
    each = hw.generate("facts", STORY, count=3, method="relevance")
    assert each.relevance.shape == (3, len(each.prompt) + 3) and each.M.shape[0] == 0
    assert "box" in each.top(0, 1)[0][0]
    assert np.allclose(each.relevance.sum(axis=1) + each.biases, each.outputs, rtol=1e-5)
    span = hw.generate("facts", STORY, count=3, method="relevance", span=slice(0, 2))
    assert np.allclose(span.values[0], each.values[:2].sum(axis=0), atol=1e-4) and span.options["span"] == [0, 2]
    assert pickle.loads(pickle.dumps(span)) == span and span != each
    with pytest.raises(hw.Error, match="unknown method"):
        hw.generate("facts", STORY, method="flow")
    with pytest.raises(hw.Error, match="`rule`"):
        hw.generate("facts", STORY, rule="attnlrp")


@pytest.mark.parametrize("words, message", [
    (dict(rule="frozne"), "did you mean 'frozen'"),
    (dict(rule="integrated", heads=True), "`heads`"),
    (dict(edges=9), "has no layer 9"),
    (dict(target="plural", against="plural"), "the target itself"),
    (dict(prompt="x"), "several kinds of input|cannot predict the next word"),
])
def test_what_cannot_be_is_refused(words, message):
    with pytest.raises(hw.Error, match=message):
        hw.relevance("verb-number", text=SENTENCE, **words)


def test_attention_alone_has_no_relevance():
    with pytest.raises(hw.Error, match="has only attention"):
        hw.relevance(np.full((2, 3, 3), 1 / 3, np.float32))


def test_why_two_texts_are_similar(tmp_path):
    for file in (hw.models()["pairs"]).iterdir():
        if file.is_file():
            (tmp_path / file.name).symlink_to(file)
    (tmp_path / "modules.json").write_text(json.dumps([
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]))
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    found = hw.relevance(tmp_path, text="Ava left on Monday.", against_text="Ben left on Friday.")
    assert found.relevance["target"]["name"] == "similarity to 'Ben left on Friday.'"
    assert -1 <= found.relevance["output"] <= 1
    assert found.relevance["sum"] + found.relevance["biases"] == pytest.approx(found.relevance["output"], abs=1e-3)
    other = hw.gradient(tmp_path, text="Ava left on Monday.", against_text="Ava left on Monday.")
    assert other.shape == (len(found.tokens), len(found.tokens))
