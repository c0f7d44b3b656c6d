"""hw.Attributor: the values of the methods, for batches of columns of any kind."""
import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel

import headwater as hw

TEXTS = ["the keys to the cabinet are on the table", "a dog", "the author near the senators is here", "the cabinet"]
BAD = [None, 7, "", "the keys " * 400, "half of a pair \ud83d", float("nan")]


@pytest.mark.parametrize("method, words, one", [
    ("rollout", dict(row=0), lambda text: hw.rollout("verb-number", text=text, row=0)),
    ("rollout", {}, lambda text: hw.rollout("verb-number", text=text, row=0)),
    ("rollout", dict(row="mean", discard=0.3, fuse="max"),
     lambda text: hw.rollout("verb-number", text=text, row="mean", discard=0.3, fuse="max")),
    ("flow", dict(row=1), lambda text: hw.flow("verb-number", text=text, row=1)),
    ("average", dict(row=0), lambda text: hw.average("verb-number", text=text, row=0)),
    ("raw", dict(row=0, layer=1), lambda text: hw.raw("verb-number", text=text, row=0, layer=1)),
    ("gradient", dict(rule="chefer"), lambda text: hw.gradient("verb-number", text=text, rule="chefer")[0]),
    ("relevance", {}, lambda text: hw.relevance("verb-number", text=text)),
    ("relevance", dict(target=1, against=0, rule="attnlrp"),
     lambda text: hw.relevance("verb-number", text=text, target=1, against=0, rule="attnlrp")),
])
def test_values_are_those_of_the_methods_one_by_one(method, words, one):
    found = hw.Attributor("verb-number", method, **words)({"text": TEXTS * 20})
    assert found["error"] == [None] * len(TEXTS) * 20
    for text, values in zip(TEXTS * 20, found["values"]):
        np.testing.assert_array_equal(values, np.asarray(one(text)))


def test_the_other_columns_say_what_the_values_belong_to():
    found = hw.Attributor("verb-number")({"text": TEXTS})
    source = hw.open("verb-number", text=TEXTS)
    for k, text in enumerate(TEXTS):
        result = hw.relevance("verb-number", text=text)
        assert found["tokens"][k] == source.tokens[k] and found["length"][k] == len(source.tokens[k])
        assert found["token_ids"][k] == source.describe(k)["ids"]
        assert found["row"][k] == result.rows[0] and found["target"][k] == result.relevance["target"]["name"]
        words = [text.encode()[begin:end].decode() for begin, end in zip(found["starts"][k], found["ends"][k])]
        assert words == [""] + text.split() + [""] * (len(words) - 1 - len(text.split()))


def test_the_probability_is_that_of_the_target_among_all_classes():
    a, b = (hw.Attributor("verb-number", target=target)({"text": TEXTS})["probability"] for target in (0, 1))
    assert np.allclose(np.add(a, b), 1) and not np.allclose(a, 0.5)
    best = hw.Attributor("verb-number")({"text": TEXTS})["probability"]
    assert best == [max(pair) for pair in zip(a, b)]


def test_the_top_k_are_the_largest_without_signs():
    whole, cut = (hw.Attributor("verb-number", top=top)({"text": TEXTS}) for top in (None, 3))
    for k in range(len(TEXTS)):
        order = np.argsort(-np.abs(whole["values"][k]), kind="stable")[:3]
        assert list(cut["positions"][k]) == list(order) and cut["length"] == whole["length"]
        assert cut["tokens"][k] == [whole["tokens"][k][j] for j in order]
        np.testing.assert_array_equal(cut["values"][k], whole["values"][k][order])
    assert "positions" not in whole


def test_a_row_that_cannot_run_has_an_error_and_spoils_no_other():
    attribute = hw.Attributor("verb-number", "rollout", row=0)
    mixed = [TEXTS[0], *BAD, TEXTS[1]]
    found = attribute({"text": mixed})
    clean = attribute({"text": TEXTS})
    assert [error is None for error in found["error"]] == [True] + [False] * len(BAD) + [True]
    np.testing.assert_array_equal(found["values"][-1], clean["values"][1])
    for word, error in zip(["missing", "int", "no tokens", "expected at most", "surrogate", "missing"],
                           found["error"][1:-1]):
        assert word in error
    assert found["values"][1:-1] == [None] * len(BAD) and found["tokens"][1] is None
    assert attribute({"text": BAD})["error"] == found["error"][1:-1]  # also where nothing runs


def test_columns_come_back_in_the_form_in_which_they_came():
    attribute = hw.Attributor("verb-number", keep=["label"])
    columns = {"text": TEXTS, "label": [1, 0, 1, 0], "other": list("abcd")}
    lists = attribute(columns)
    arrays = attribute({name: np.array(column) for name, column in columns.items()})
    table = attribute(pa.table(columns))
    assert list(lists) == list(arrays) == table.column_names and "other" not in lists
    assert isinstance(lists["values"], list) and isinstance(arrays["values"], np.ndarray)
    assert arrays["row"].dtype == np.int32 and arrays["probability"].dtype == np.float64
    assert table.schema.field("values").type == pa.list_(pa.float32())
    assert table["label"].to_pylist() == lists["label"] == list(arrays["label"])
    for a, b, c in zip(lists["values"], arrays["values"], table["values"].to_pylist()):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, np.float32(c))
    broken = attribute(pa.table({"text": ["", None, "a dog"], "label": [1, 2, 3]}))
    assert broken["values"].null_count == broken["row"].null_count == broken["probability"].null_count == 2


def test_it_is_pickled_by_its_arguments():
    attribute = hw.Attributor("verb-number", "rollout", row="mean", residual=0.3, top=2)
    pickled = pickle.dumps(attribute)
    assert len(pickled) < 1000
    again = pickle.loads(pickled)
    a, b = attribute({"text": TEXTS}), again({"text": TEXTS})
    assert [list(one) for one in a["values"]] == [list(one) for one in b["values"]]
    assert again.content == attribute.content and len(again.content) == 64
    assert pickle.loads(pickle.dumps(hw.Attributor("verb-number", keep="label"))).keep == ["label"]


@pytest.mark.parametrize("words, message", [
    (dict(method="rolout"), "did you mean 'rollout'"),
    (dict(method="rollout", target=1), "`target` 1: was given with method rollout"),
    (dict(method="rollout", rule="frozen"), "`rule` frozen: was given with method rollout"),
    (dict(rule="forzen"), "did you mean 'frozen'"),
    (dict(residual=0.5), "`residual`: was given with method relevance"),
    (dict(method="rollout", row="all"), "`row` all"),
    (dict(method="rollout", row=[1, 2]), "several rows"),
    (dict(method="rollout", residual=2), "residual"),
    (dict(method="rollout", layers="9:12"), "layers"),
    (dict(method="rollout", fuse="head:99"), "has no head 99"),
    (dict(method="raw", layer=99), "has no layer 99"),
    (dict(target="plurall"), "plural"),
    (dict(top=0), "`top` 0"),
    (dict(top=2.5), "`top` 2.5"),
    (dict(top="3"), "`top` 3"),
    (dict(row="0,1"), "several rows"),
    (dict(keep=["values"]), "`keep` values"),
    (dict(threads=0), "`threads` 0"),
    (dict(threads="2"), "`threads` 2"),
    (dict(tokenizer=print), "`tokenizer`"),
])
def test_what_cannot_work_is_refused_when_it_is_made(words, message):
    with pytest.raises(hw.Error, match=message.replace("(", r"\(")):
        hw.Attributor("verb-number", **words)


def test_it_takes_as_many_threads_as_it_was_told_also_in_another_process():
    before = hw.threads()
    try:
        attribute = hw.Attributor("verb-number", threads=1)
        assert hw.threads() == 1
        hw.set_threads(2)
        pickle.loads(pickle.dumps(attribute))
        assert hw.threads() == 1
    finally:
        hw.set_threads(before)


def test_a_batch_without_the_column_names_the_nearest():
    with pytest.raises(hw.Error, match="has no column 'text'; did you mean 'texts'?"):
        hw.Attributor("verb-number")({"texts": TEXTS})
    with pytest.raises(hw.Error, match="batch of type int"):
        hw.Attributor("verb-number")(3)


@pytest.fixture(scope="module")
def live():
    """A PyTorch model of MiniLM's words with random weights, and its tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(hw.models()["verb-number"])
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=64, max_position_embeddings=64)
    return BertForSequenceClassification(config).eval(), tokenizer


@pytest.mark.parametrize("method, words", [("rollout", dict(row=0)), ("rollout", {}), ("raw", dict(row=2, layer=0)),
                                           ("gradient", dict(target=1)), ("relevance", {}),
                                           ("relevance", dict(target=1, against=0, rule="attnlrp"))])
def test_a_live_model_gives_what_its_capture_gives(live, method, words):
    model, tokenizer = live
    found = hw.Attributor(model, method, tokenizer=tokenizer, **words)({"text": TEXTS + [None, "", "the " * 99]})
    assert [error is None for error in found["error"]] == [True] * 4 + [False] * 3
    for k, text in enumerate(TEXTS):
        inputs = tokenizer(text, return_tensors="pt")
        with hw.capture(model) as seen:
            model(**inputs)
        if method == "gradient":
            expected = seen.gradient(1).row()
        elif method == "relevance":
            expected = seen.relevance(**words)
        else:
            expected = getattr(seen, method)(**{"row": 0, **words})
        np.testing.assert_allclose(found["values"][k], np.asarray(expected), atol=2e-6)
        assert found["tokens"][k] == tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        parts = [text[begin:end] for begin, end in zip(found["starts"][k], found["ends"][k])]
        assert " ".join(part for part in parts if part) == text


@pytest.fixture(scope="module")
def decoder(live):
    """A small GPT-2 with random weights, and its tokenizer."""
    tokenizer = live[1]
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=3, n_head=4, n_positions=64)).eval(), tokenizer


@pytest.mark.parametrize("words", [{}, dict(row=0), dict(row=-2), dict(row="mean"), dict(row="the"), dict(residual=0, row=1),
                                   dict(layers="1:2", row="last"), dict(divide="changed", residual=0.2)])
@pytest.mark.parametrize("kind", ["live", "decoder"])
def test_the_way_of_a_gpu_gives_all_texts_at_once_what_they_get_one_by_one(kind, words, request):
    model, tokenizer = request.getfixturevalue(kind)
    texts = TEXTS if words.get("row") != "the" else TEXTS[1:2] + ["the dog", "a cat near the table"]
    one_by_one = hw.Attributor(model, "rollout", tokenizer=tokenizer, **words)
    live = one_by_one._model
    encoded, _ = live.encoded(texts)
    if words.get("row") == "the":  # a row that a text does not have: all go one by one
        assert live.rolled(encoded) is None
        encoded = {k: one for k, one in encoded.items() if k > 0}
    together = live.rolled(encoded)
    assert together is not None
    answers = live.finished(encoded, together, texts)
    for k in encoded:
        alone = {name: column[0] for name, column in one_by_one({"text": [texts[k]]}).items()}
        assert alone["error"] is None and answers[k].tokens == alone["tokens"] and answers[k].row == alone["row"]
        np.testing.assert_allclose(answers[k].values, alone["values"], atol=2e-6)


@pytest.mark.parametrize("words", [dict(fuse="max"), dict(discard=0.2), dict(preset="metrics"), dict(row=40)])
def test_what_all_texts_at_once_cannot_do_goes_one_by_one(live, words):
    model = hw.Attributor(live[0], "rollout", tokenizer=live[1], **words)._model
    assert model.rolled(model.encoded(TEXTS)[0]) is None


def test_the_row_of_a_decoder_is_the_last_of_each_text_also_in_a_padded_batch(decoder):
    found = hw.Attributor(decoder[0], "rollout", tokenizer=decoder[1])({"text": TEXTS})
    assert found["row"] == [length - 1 for length in found["length"]]


def test_a_text_whose_row_is_wrong_is_found_among_all_texts(live):
    model = copy.deepcopy(live[0])
    word = live[1].convert_tokens_to_ids("dog")
    model.base_model.embeddings.word_embeddings.weight.data[word] = torch.nan
    attribute = hw.Attributor(model, "rollout", tokenizer=live[1])._model
    encoded, _ = attribute.encoded(TEXTS)
    answers = attribute.finished(encoded, attribute.rolled(encoded), TEXTS)
    assert [answers[k].error is None for k in range(4)] == [True, False, True, True]
    assert "not finite" in answers[1].error


def test_a_live_model_is_pickled_with_its_tokenizer(live):
    model, tokenizer = live
    attribute = hw.Attributor(model, "rollout", tokenizer=tokenizer)
    again = pickle.loads(pickle.dumps(attribute))
    for a, b in zip(attribute({"text": TEXTS})["values"], again({"text": TEXTS}, rank=0)["values"]):
        np.testing.assert_allclose(a, b, atol=2e-6)


def test_a_live_model_says_what_it_cannot_do(live):
    model, tokenizer = live
    with pytest.raises(hw.Error, match="`tokenizer`: was not given"):
        hw.Attributor(model, "rollout")
    with pytest.raises(hw.Error, match="save_pretrained"):
        hw.Attributor(model, "gradient", tokenizer=tokenizer, against=1)
    with pytest.raises(hw.Error, match="`rule` integrated"):
        hw.Attributor(model, rule="integrated", tokenizer=tokenizer)


@pytest.mark.parametrize("truncate", [False, True])
def test_a_text_with_more_tokens_than_a_live_roberta_has_positions_spoils_no_other(truncate):
    """RoBERTa has two positions fewer than its config says."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(hw.models()["facts"])
    model = transformers.RobertaForSequenceClassification(transformers.RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=34))
    attribute = hw.Attributor(model, "rollout", tokenizer=tokenizer, truncate=truncate)
    texts = [" red" * count for count in (1, 28, 30, 31, 32, 33, 34, 90)]
    counts = [len(ids) for ids in tokenizer(texts)["input_ids"]]
    assert 32 in counts and 33 in counts
    found = attribute({"text": texts})
    for count, length, error in zip(counts, found["length"], found["error"]):
        if count <= 32 or truncate:
            assert error is None and length == min(count, 32)
        else:
            assert f"the text has {count} tokens, expected at most 32" in error


def test_a_text_at_which_a_live_model_fails_spoils_no_other(live):
    model, tokenizer = live

    def refuse(module, words):
        if words[0].shape[1] > 12:
            raise RuntimeError("out of memory\nmore of this")
    attribute = hw.Attributor(model, "rollout", tokenizer=tokenizer)
    texts = ["the keys", "the dogs " * 10, "a dog"]
    expected = attribute({"text": texts})
    with_hook = model.get_input_embeddings().register_forward_pre_hook(refuse)
    try:
        found = attribute({"text": texts})
    finally:
        with_hook.remove()
    assert found["error"][0] is None and found["error"][2] is None
    assert "cannot run this text (out of memory)" in found["error"][1] and found["values"][1] is None
    for k in (0, 2):
        np.testing.assert_allclose(found["values"][k], expected["values"][k], atol=2e-6)


def test_columns_that_come_twice_or_are_of_other_lengths_are_refused():
    pandas = pytest.importorskip("pandas")
    attribute = hw.Attributor("verb-number", "rollout", keep=["id"])
    with pytest.raises(hw.Error, match="column 'id' has 1 entries, expected 2, as 'text'"):
        attribute({"text": ["a dog", "the dog"], "id": [1]})
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array([1])], names=["text", "text", "id"])
    for batch in (twice, pandas.DataFrame([["a", "b", 1]], columns=["text", "text", "id"])):
        with pytest.raises(hw.Error, match="several columns 'text'"):
            attribute(batch)


@pytest.mark.parametrize("method", ["gradient", "relevance"])
def test_a_live_model_says_what_it_was_asked_about(live, method):
    model, tokenizer = live
    found = hw.Attributor(model, method, tokenizer=tokenizer)({"text": TEXTS})
    for k, text in enumerate(TEXTS):
        chances = model(**tokenizer(text, return_tensors="pt")).logits[0].softmax(-1)
        assert found["target"][k] == f"LABEL_{int(chances.argmax())}"
        np.testing.assert_allclose(found["probability"][k], float(chances.max().detach()), atol=1e-5)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("method", ["gradient", "relevance"])
def test_a_live_language_model_is_asked_about_the_next_word(live, method, side):
    tokenizer = AutoTokenizer.from_pretrained(hw.models()["verb-number"], padding_side=side)
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=64,
                                       initializer_range=0.3, bos_token_id=1, eos_token_id=2)).eval()
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    found = hw.Attributor(model, method, tokenizer=tokenizer)({"text": TEXTS})
    assert found["error"] == [None] * len(TEXTS)
    for k, text in enumerate(TEXTS):
        one = hw.Attributor(model, method, tokenizer=tokenizer)({"text": [text]})
        assert one["target"][0] == found["target"][k]
        np.testing.assert_allclose(found["values"][k], one["values"][0], atol=2e-5)
        chances = model(**tokenizer(text, return_tensors="pt")).logits[0, -1].softmax(-1)
        assert found["target"][k] == tokenizer.convert_ids_to_tokens([int(chances.argmax())])[0]
        np.testing.assert_allclose(found["probability"][k], float(chances.max().detach()), atol=1e-5)


def test_one_text_in_place_of_a_column_is_refused():
    with pytest.raises(hw.Error, match="batched=True"):
        hw.Attributor("verb-number")({"text": "The keys"})


def test_frames_come_back_as_frames():
    import pandas
    import polars
    attribute = hw.Attributor("verb-number", keep=["label"])
    columns = {"text": TEXTS[:2] + [None], "label": [1, 0, 1], "other": [1, 2, 3]}
    expected = attribute(columns)
    frame = attribute(pandas.DataFrame(columns, index=[5, 6, 9]))
    assert isinstance(frame, pandas.DataFrame) and list(frame.index) == [5, 6, 9] and list(frame) == list(expected)
    lazy = attribute(polars.DataFrame(columns))
    assert isinstance(lazy, polars.DataFrame) and lazy.columns == list(expected)
    for k in range(2):
        np.testing.assert_array_equal(np.float32(frame["values"].iloc[k]), expected["values"][k])
        np.testing.assert_array_equal(np.float32(lazy["values"][k]), expected["values"][k])
