"""Results are pickled, copied and compared, and an item of a batch is saved with all that it has."""
import copy
import json
import pickle

import numpy as np
import pytest
import torch
from PIL import Image
from models import T5, TEXT, ids_and_mask, make

import headwater as hw
from headwater import _engine
from headwater.torch.device import device_method


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "picture.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 50, 3), dtype=np.uint8)).save(path)
    return path


@pytest.fixture
def each(stack, batch, tokens, picture):
    """A result of every kind, by name."""
    layers, mask = batch
    tensors = [torch.from_numpy(layer) for layer in stack]
    model = make(*TEXT["gpt2"], attention="sdpa")
    ids = ids_and_mask("right")[0][:1, :4]
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=3, min_new_tokens=3, do_sample=False)
    with torch.no_grad():
        output = make(*T5)(input_ids=ids, decoder_input_ids=ids, output_attentions=True)
    return dict(rollout=hw.rollout(stack, tokens=tokens), by_layer=hw.rollout(stack, by_layer=True, row=1),
                flow=hw.flow(stack, row=2), batch=hw.rollout(layers, attention_mask=mask),
                item=hw.rollout(layers, attention_mask=mask).item(1), torch=hw.rollout(tensors),
                device=device_method("rollout", tensors, row=0), panel=hw.compare(stack, by="fuse")[1],
                comparison=hw.compare(stack, by="method"), metrics=hw.metrics(stack),
                model=hw.gradient("verb-number", text="The keys to the cabinet"),
                image=hw.rollout("shapes", image=picture), written=hw.generate("facts", "the red key", count=2),
                generation=seen.generation(), encoder_decoder=hw.encoder_decoder(output))


def test_results_are_pickled_and_copied_whole(each, tmp_path):
    for name, result in each.items():
        for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
            assert other == result and type(other) is type(result), name
            assert other.to_json() == result.to_json(), name
            if name not in ("metrics", "generation", "encoder_decoder"):
                result.save(tmp_path / "a.svg")
                other.save(tmp_path / "b.svg")
                for path in tmp_path.glob("a*.svg"):
                    assert path.read_bytes() == path.with_name("b" + path.name[1:]).read_bytes(), name


def test_results_that_differ_are_not_equal(each, stack, tokens):
    result = each["rollout"]
    assert result == hw.rollout(stack, tokens=tokens) and not result != hw.rollout(stack, tokens=tokens)
    changed = copy.deepcopy(result)
    changed.values[0, 0] += 1
    others = [changed, hw.rollout(stack), hw.rollout(stack, tokens=tokens, residual=0.4), each["by_layer"],
              hw.average(stack, tokens=tokens), each["torch"], each["batch"], each["comparison"], None]
    assert not any(result == other for other in others)
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)
    assert each["comparison"] != hw.compare(stack, by="fuse") and each["written"] != each["generation"]


def test_a_copy_is_independent(stack):
    result = hw.rollout(stack)
    other = copy.deepcopy(result)
    other.values[:] = 0
    assert result.values.sum() > 1


def test_pickles_that_are_broken_are_refused(stack):
    state = hw.rollout(stack)._results.__getstate__()
    for cut in (0, 3, 8, 40, len(state) // 2, len(state) - 1):
        with pytest.raises(hw.Error, match="pickle: "):
            restored(state[:cut])
    with pytest.raises(hw.Error, match="after its last result"):
        restored(state + b"x")
    with pytest.raises(hw.Error, match="was written by headwater 0.0.0"):
        restored(b"\x05\0\0\0\0\0\0\x000.0.0" + state[13:])


def restored(state):
    out = _engine.Results.__new__(_engine.Results)
    out.__setstate__(state)
    return out


def test_an_item_of_a_batch_is_saved_with_all_that_it_has(tmp_path):
    """Heads, doubles, the image and the target; results that are put together anew in Python lose them."""
    texts = ["The keys to the cabinet", "The key to the doors"]
    for method, words in ((hw.rollout, {}), (hw.flow, {}), (hw.gradient, dict(target="plural"))):
        whole = method("verb-number", text=texts, **words)
        for k, text in enumerate(texts):
            item = json.loads(whole.item(k).to_json())
            assert item == json.loads(whole.to_json())[k]
            alone = json.loads(method("verb-number", text=text, **words).to_json())
            assert item["source"]["heads"] == alone["source"]["heads"] and item["values"] == alone["values"]
            assert item.get("target") == alone.get("target")
    flow = hw.flow("verb-number", text=texts).item(1)
    flow.save(tmp_path / "x.npy")
    assert np.load(tmp_path / "x.npy").dtype == np.float64 and np.array_equal(np.load(tmp_path / "x.npy"), flow.values)


def test_an_item_of_a_batch_of_images_is_drawn_on_its_image(picture, tmp_path):
    hw.rollout("shapes", image=[picture, picture]).item(1).save(tmp_path / "item.svg")
    hw.rollout("shapes", image=picture).save(tmp_path / "alone.svg")
    images = (tmp_path / "alone.svg").read_text().count("<image")
    assert images > 0 and (tmp_path / "item.svg").read_text().count("<image") == images


def test_an_item_has_its_own_notes(batch):
    layers, mask = batch
    for layer in layers:
        layer[0, :, 2] = 0
    result = hw.rollout(layers, attention_mask=mask, residual=0, sums="any")
    assert result.item(0).notes and not result.item(1).notes and result.notes == result.item(0).notes
