"""Keywords that a function does not have: all that it has are listed, and the nearest is suggested."""
import inspect

import numpy as np
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


MAPS = np.full((2, 1, 3, 3), 1 / 3, dtype=np.float32)


@pytest.mark.parametrize("ask, found", [
    (lambda: hw.raw(MAPS, residual=0.3), "`residual` 0.3: is not an option of raw; raw attention is unchanged"),
    (lambda: hw.raw(MAPS, layers="0:1"), "`layers` 0:1: is not an option of raw; .* choose it with `layer`"),
    (lambda: capture().raw(empty="zero"), "`empty` zero: is not an option of raw"),
    (lambda: hw.metrics(MAPS, row=1), "`row` 1: is not an option of metrics"),
    (lambda: hw.gradient("verb-number", text="The keys", layer=1, layers="0:2"), "`layers` 0:2: .* leave one of the two"),
    (lambda: hw.compare(MAPS, by="discard", layer=1), "`layer` 1: is for a comparison by 'layer'"),
    (lambda: hw.compare(MAPS, by="head", fuse="max"), "`fuse` max: .* every head is shown"),
    (lambda: capture().compare(by="head", discard=0.1), "`discard` 0.1: is not an option of compare by 'head'"),
    (lambda: hw.Attributor("verb-number", method="raw", divide="changed"), "`divide` changed: .* method raw"),
    (lambda: hw.rollout(MAPS).item(1), "has no item 1, expected 0 to 0"),
])
def test_an_option_that_would_change_nothing_is_refused(ask, found):
    with pytest.raises(hw.Error, match=found):
        ask()


def test_a_capture_is_asked_like_a_file():
    seen = capture()
    assert [panel.label for panel in seen.compare(by="discard", values=[0.2]).panels] == ["discard 0.2"]
    assert seen.compare(by="evolution", layers_shown=[0]).panels[0].by_layer == []
    assert seen.flow(row=0, column=1, cut=True).cut
    assert seen.raw(fuse="max").shape == seen.compare(by="layer", layer=0).panels[0].shape
