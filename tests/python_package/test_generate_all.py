"""Several prompts at once: the same bytes as one by one."""
import numpy as np
import pytest

import headwater as hw

STORIES = [f"The {colour} key went from the {first} to the {last}. Where is the {colour} key? Answer:"
           for colour in ("red", "blue") for first in ("box", "chest", "attic") for last in ("shelf", "garden")]
PROMPTS = [*STORIES, "The", "The red key"]


@pytest.mark.parametrize("words", [
    dict(count=3), dict(count=12, ignore_end=True, fuse="max"), dict(count=5, temperature=1.0, seed=3),
    dict(count=2, method="relevance"), dict(count=2, position="own", stop="shelf"),
])
def test_prompts_together_give_what_each_gives_alone(words):
    together = hw.generate_all("facts", PROMPTS, **words)
    assert len(together) == len(PROMPTS)
    for prompt, found in zip(PROMPTS, together):
        alone = hw.generate("facts", prompt, **words)
        assert found.text == alone.text and found.generated_ids == alone.generated_ids
        assert np.array_equal(found.M, alone.M) and found.outputs == alone.outputs
        assert found.to_json() == alone.to_json()


def test_no_prompts_give_no_results():
    assert hw.generate_all("facts", []) == []


@pytest.mark.parametrize("ask, message", [
    (lambda: hw.generate_all("facts", "The red key"), "`texts`: is one text"),
    (lambda: hw.generate_all("facts", ["The", 3]), "`texts`"),
    (lambda: hw.generate_all("facts", ["The"], count=0), "`count` 0"),
    (lambda: hw.generate("facts", ["The", "The red key"]), "`prompt`.*generate_all takes several"),
])
def test_what_cannot_work_says_so(ask, message):
    with pytest.raises(hw.Error, match=message):
        ask()


def test_unknown_words_are_refused():
    with pytest.raises(TypeError, match="did you mean 'temperature'"):
        hw.generate_all("facts", ["The"], tempreature=1)
    with pytest.raises(TypeError, match="continuation"):
        hw.generate_all("facts", ["The"], continuation=" red")
