"""Values of a kind that a keyword does not take, and rows by the words of a text."""
import inspect

import numpy as np
import pytest
import torch
from PIL import Image

import headwater as hw

TEXT = "The keys to the cabinet of the keys"
EYE = np.eye(2, dtype=np.float32)[None, None]


@pytest.fixture(scope="module")
def result():
    return hw.rollout("verb-number", text=TEXT)


def test_rows_are_found_by_word(result):
    keys = [k for k, token in enumerate(result.tokens) if token == "keys"]
    for row, place in (("keys", keys[0]), ("keys#2", keys[1]), ("cls", 0), ("last", -1), (np.int64(3), 3)):
        assert np.array_equal(result.row(row), result.values[place])
    assert np.array_equal(result.row([0, "keys"]), result.values[[0, keys[0]]])
    assert result.top(2, row="keys") == result.top(2, row=keys[0])
    assert hw.rollout("verb-number", text=TEXT, row="keys#2") == hw.rollout("verb-number", text=TEXT, row=keys[1])
    assert hw.rollout("verb-number", text=TEXT, row=["keys", "to"]).rows == [keys[0], result.tokens.index("to")]
    assert hw.rollout("verb-number", text=TEXT, row=np.array([0, 1])).rows == [0, 1]
    assert hw.relevance("facts", prompt="Anna put the book", row="book").rows == \
        hw.relevance("facts", prompt="Anna put the book", row="last").rows


@pytest.mark.parametrize("row, sentence", [
    ("c", "has no token 'c', expected one of its 10 tokens.*`row`; info lists its tokens"), ("keyz", "did you mean 'keys'"),
    ("keys#3", "has 'keys' 2 times, expected at least 3"), ("clss", "did you mean 'cls'"),
])
def test_rows_that_are_not_there_are_refused(result, row, sentence):
    for ask in (lambda: result.row(row), lambda: hw.rollout("verb-number", text=TEXT, row=row)):
        with pytest.raises(hw.Error, match=sentence):
            ask()


def test_a_word_may_be_another_row_in_each_text():
    texts = ["The keys", "The old keys"]
    both = hw.rollout("verb-number", text=texts, row="keys")
    assert both.rows == [[2], [3]]
    np.testing.assert_allclose(both.values[1], hw.rollout("verb-number", text=texts[1], row=3).values, atol=1e-6)
    assert hw.rollout("verb-number", text=texts, row="keys", item=1).rows == [3]
    with pytest.raises(hw.Error, match=r"holds a batch, expected one item; take .item\(k\) first"):
        hw.rollout("verb-number", text=texts).row("keys")


def test_ids_may_be_an_array_or_a_tensor():
    want = hw.rollout("verb-number", ids=[1, 5, 6])
    for ids in (torch.tensor([1, 5, 6]), torch.tensor([[1, 5, 6]]), np.array([1, 5, 6])):
        assert hw.rollout("verb-number", ids=ids) == want


@pytest.mark.parametrize("ask, sentence", [
    (lambda _: hw.rollout("verb-number", ids=["a"]), "`ids`: .*expected the numbers"),
    (lambda _: hw.rollout("verb-number", ids=5), "`ids`: is 5, expected the numbers"),
    (lambda _: hw.rollout("verb-number", ids=torch.ones(2, 3)), "`ids`: .*expected the numbers"),
    (lambda _: hw.rollout("shapes", image=Image.new("RGB", (8, 8))), "is of type Image, expected the path"),
    (lambda _: hw.rollout("shapes", image=[np.zeros((8, 8, 3))]), "is of type ndarray, expected the path"),
    (lambda _: hw.rollout("verb-number", text=TEXT, by_layer=1), "`by_layer` 1: expected True or False"),
    (lambda _: hw.rollout("verb-number", text="a\ud800"), r"holds half of a surrogate pair \(U\+D800\) at 1"),
    (lambda _: hw.rollout(EYE, tokens=["a", "\ud800"]), "`tokens`: holds half of a surrogate pair"),
    (lambda _: hw.rollout(EYE, tokens=5), "`tokens` 5: expected a list"),
    (lambda _: hw.rollout("verb-number", text=TEXT, head=[0, 1]), r"`head` \[0, 1\]: expected a whole number"),
    (lambda _: hw.rollout("verb-number", text=5), "`text` 5: expected a string"),
    (lambda _: hw.rollout("verb-number", text=["a", 5]), "expected a string, or a list"),
    (lambda _: hw.capture(torch.nn.Linear(2, 2), tokenizer="x"), "`tokenizer`: is of type str"),
    (lambda result: result.words("x"), "`offsets` 'x': expected a pair"),
    (lambda result: hw.view(result, height="x"), "`height` x: expected at least 100"),
    (lambda _: hw.evaluate(None), "evaluate: was given a NoneType"),
    (lambda _: hw.generate(None, "a"), "generate: was given a NoneType"),
    (lambda _: hw.rollout(torch.eye(3).to_sparse()), "torch.sparse_coo, expected a dense one"),
    (lambda _: hw.rollout(torch.eye(3, device="meta")), "device 'meta', which holds no numbers"),
    (lambda _: hw.relevance("facts", prompt="Anna", target=True), "`target` True: expected 'best'"),
    (lambda _: hw.gradient("verb-number", text=TEXT, target=1.0), "`target` 1.0: expected 'best'"),
    (lambda result: result.top(2.5), "`k` 2.5: expected a whole number"),
    (lambda _: hw.rollout(torch.nn.Linear(2, 2), text="a"), r"is a PyTorch model \(Linear\).*headwater.capture"),
    (lambda _: hw.rollout(EYE, fuse=5), "`fuse` 5: expected a word"),
    (lambda _: hw.rollout(EYE, layers=("a", 1)), "`layers` 'a': expected a whole number"),
    (lambda _: hw.rollout(EYE, item="x"), "`item` 'x': expected a whole number"),
])
def test_values_of_another_kind_are_answered_in_a_sentence(result, ask, sentence):
    with pytest.raises(hw.Error, match=sentence):
        ask(result)


def test_an_array_of_five_axes_says_how_it_is_read():
    array = np.full((2, 3, 1, 2, 2), 0.5, dtype=np.float32)
    found = hw.rollout(array)
    assert any("read as 2 layers, 3 items" in note for note in found.notes) and found.item(1).notes == found.notes
    assert hw.rollout(array, axes="BLHnn").notes == [] and hw.rollout(array[0]).notes == []


def test_print_shows_the_strongest_tokens_and_notes(result):
    lines = str(result).splitlines()
    assert lines[0] == repr(result)
    token, value = result.top(1)[0]
    assert lines[1].startswith(f"  of '[CLS]': {token} {value:.4g}, ")
    found = hw.relevance("facts", prompt="Anna put the book on the", target="shelf")
    assert str(found).splitlines()[1].startswith("  for 'shelf': ")
    assert hw.captum_records(found)[0].attr_class == found.relevance["target"]["name"]


def test_help_still_shows_every_keyword():
    assert {"attention", "by_layer", "residual", "text"} <= set(inspect.signature(hw.rollout).parameters)
