"""`embed_layers=True`: the page of a result has the map of every layer, as the command's page with --embed-layers."""
import base64
import gzip
import inspect
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from models import TEXT, ids_and_mask, make

import headwater as hw

COMMAND = Path(sys.executable).with_name("headwater")
SENTENCE = "The keys to the cabinet"


def saved(result, path):
    """What the saved page of a result holds of it."""
    result.save(path)
    return item_of(path.read_text(encoding="utf-8"))


def item_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])["items"][0]


def unpacked(packed):
    """A matrix in half precision, times the largest of each row."""
    data, scale = (gzip.decompress(base64.b64decode(packed[name])) for name in ("data", "scale"))
    assert packed["coding"] == "f16"
    shape = packed["rows"], packed["columns"]
    high, low = np.frombuffer(data, np.uint8).reshape(2, *shape)
    if packed["difference"]:
        high, low = (np.cumsum(plane, axis=0, dtype=np.uint8) for plane in (high, low))
    halves = ((high.astype(np.uint16) << 8) | low).view(np.float16)
    return halves.astype(np.float32) * np.frombuffer(scale, np.float32)[:, None]


@pytest.mark.parametrize("method, flags", [("rollout", []), ("rollout", ["--by-layer"]), ("average", ["--row", "2"]),
                                           ("flow", ["--layers", "0:2", "--fuse", "max"])])
def test_a_page_has_the_maps_that_the_commands_page_has(method, flags, tmp_path):
    words = {"--by-layer": dict(by_layer=True), "--row": dict(row=2), "--layers": dict(layers="0:2", fuse="max")}
    subprocess.run([COMMAND, method, "verb-number", "--text", SENTENCE, *flags, "--embed-layers", "-o",
                    tmp_path / "command.html"], check=True, timeout=120)
    expected = item_of((tmp_path / "command.html").read_text(encoding="utf-8"))
    expected["details"].pop()  # the command says what the model predicts, too
    given = words[flags[0]] if flags else {}
    result = getattr(hw, method)("verb-number", text=SENTENCE, embed_layers=True, **given)
    assert len(expected["maps"]) == (2 if method == "flow" else 6)
    assert saved(result, tmp_path / "python.html") == expected
    assert item_of(result._page())["maps"] == expected["maps"]  # what a notebook shows
    plain = getattr(hw, method)("verb-number", text=SENTENCE, **given)
    assert "maps" not in saved(plain, tmp_path / "plain.html") and result == plain


def test_a_page_of_a_capture_has_its_maps(tmp_path):
    model, (ids, mask, _) = make(*TEXT["bert"], "sdpa"), ids_and_mask("right")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    for result in (seen.rollout(item=0, embed_layers=True), seen.average(item=0, embed_layers=True, fuse="max"),
                   seen.flow(item=0, row=0, embed_layers=True), hw.rollout(seen, item=0, embed_layers=True)):
        expected = seen.maps(item=0, fuse=result.options["fuse"])
        maps = saved(result, tmp_path / "x.html")["maps"]
        assert len(maps) == len(expected)
        for own, map in zip(maps, expected):
            assert np.abs(unpacked(own) - map.numpy()).max() < 1e-3


def test_a_batch_has_the_maps_of_each_item(batch, tmp_path):
    layers, mask = batch
    result = hw.rollout(layers, attention_mask=mask, embed_layers=True)
    for k, count in enumerate(mask.sum(axis=1)):
        maps = saved(result.item(k), tmp_path / "x.html")["maps"]
        assert len(maps) == 3
        assert np.abs(unpacked(maps[0]) - layers[0][k].mean(axis=0)[:count, :count]).max() < 1e-3


def test_copies_keep_the_maps_and_words_drop_them(tmp_path):
    result = hw.rollout("verb-number", text="The unbelievable keys", embed_layers=True)
    maps = saved(result, tmp_path / "x.html")["maps"]
    assert saved(pickle.loads(pickle.dumps(result)), tmp_path / "y.html")["maps"] == maps
    # The maps are of tokens.
    assert "maps" not in saved(result.words(), tmp_path / "z.html")


def test_a_notebook_does_not_grow_without_being_asked():
    weights = np.full((1, 160, 160), 1 / 160, np.float32)
    layers = [weights] * 24  # 614,400 numbers, beside 25,600 of the result
    assert "<iframe" in hw.rollout(layers)._repr_html_()
    large = hw.rollout(layers, embed_layers=True)
    assert "<iframe" not in large._repr_html_() and "hw.view(result)" in large._repr_html_()
    assert len(item_of(large._page())["maps"]) == 24


def test_methods_that_mix_layers_take_the_word_and_others_do_not():
    for method in (hw.rollout, hw.average, hw.flow, hw.capture(torch.nn.Linear(1, 1)).rollout):
        assert "embed_layers" in inspect.signature(method).parameters
    with pytest.raises(TypeError, match="unexpected keyword argument 'embed_layers'"):
        hw.raw(np.full((1, 1, 2, 2), 0.5, np.float32), embed_layers=True)
