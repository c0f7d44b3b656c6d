"""Keywords that a function does not have: all that it has are listed, and the nearest is suggested."""
import inspect

import pytest
import torch
from models import TEXT, make

import headwater as hw

MODEL = make(*TEXT["bert"], "sdpa")


def capture():
    with torch.no_grad(), hw.capture(MODEL) as seen:
        MODEL(torch.arange(5, 12)[None])
    return seen


@pytest.mark.parametrize("ask, word, near, own", [
    (lambda: hw.evaluate("verb-number", method="rollout"), "method", "methods", "faithfulness"),
    (lambda: hw.generate("facts", "Anna", tempreature=1), "tempreature", "temperature", "continuation"),
    (lambda: hw.flow("x.npz", normalize=True), "normalize", "normalise", "certify"),
    (lambda: hw.rollout("x.npz", by_layers=True), "by_layers", "by_layer", "residual"),
    (lambda: capture().relevance(againts=1), "againts", "against", "rules"),
])
def test_all_keywords_are_listed_and_the_nearest_suggested(ask, word, near, own):
    with pytest.raises(TypeError) as told:
        ask()
    assert f"unexpected keyword argument '{word}', did you mean '{near}'; there are" in str(told.value)
    assert own in str(told.value) and "self" not in str(told.value)


def test_nothing_far_is_suggested():
    with pytest.raises(TypeError, match="'position'; there are target, against"):
        capture().relevance(position=1)
    assert {"by_layer", "residual", "text"} <= set(inspect.signature(hw.rollout).parameters)


def test_a_part_of_a_stacks_name_chooses_it():
    seen = capture()
    assert seen.rollout(stack="enc") == seen.rollout(stack="encoder.layer") == seen.rollout()
    with pytest.raises(hw.Error, match="`stack` 'decoder': did not run"):
        seen.rollout(stack="decoder")
