"""Models on a GPU, and models whose layers lie on a GPU and on the CPU: the numbers are those of the CPU."""
import importlib.util

import numpy as np
import pytest
import torch
import transformers
from models import BART, TEXT, ids_and_mask, make
from spread import dispatched, spread
from test_never_lies import off

import headwater as hw

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
LIMIT = 1e-4
PLACES = [["cuda:0", "cpu"], ["cpu", "cuda:0"]]
if torch.cuda.device_count() > 1:
    PLACES.append(["cuda:0", "cuda:1"])


@pytest.fixture(params=[spread, dispatched], ids=["hooks", "accelerate"])
def put(request):
    if request.param is dispatched and importlib.util.find_spec("accelerate") is None:
        pytest.skip("accelerate is not installed")
    return request.param


def captured_by(model, inputs, work):
    with hw.capture(model) as seen:
        model(**inputs)
    return work(seen)


WORK = {
    "rollout": lambda seen: seen.rollout(), "by layer": lambda seen: seen.rollout(by_layer=True),
    "row": lambda seen: seen.rollout(row=[3, 0]), "average": lambda seen: seen.average(), "raw": lambda seen: seen.raw(layer=1),
    "flow": lambda seen: seen.flow(item=0, row=2), "gradient": lambda seen: seen.gradient(7),
    "chefer": lambda seen: seen.gradient(7, rule="chefer"), "gradient-rollout": lambda seen: seen.gradient(7, rule="gradient-rollout"),
}


@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("work", WORK)
def test_layers_on_several_devices_give_what_the_cpu_gives(work, places, put):
    ids, mask, _ = ids_and_mask("right")
    inputs = dict(input_ids=ids, attention_mask=mask)
    expected = captured_by(make(*TEXT["llama"], attention="sdpa"), inputs, WORK[work])
    model = put(make(*TEXT["llama"], attention="sdpa"), places)
    found = captured_by(model, {name: value.to(places[0]) for name, value in inputs.items()}, WORK[work])
    for ours, theirs in zip(found.values, expected.values, strict=True):
        assert ours.device.type == "cuda" and off(ours.cpu(), theirs) < LIMIT
    assert found.notes == expected.notes and found.rows == expected.rows


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_metrics_of_layers_on_several_devices(places, put):
    ids, mask, _ = ids_and_mask("right")
    inputs = dict(input_ids=ids, attention_mask=mask)
    expected = hw.compute_attention_attribution(make(*TEXT["llama"], attention="sdpa"), inputs)
    model = put(make(*TEXT["llama"], attention="sdpa"), places)
    there = {name: value.to(places[0]) for name, value in inputs.items()}
    assert dict(hw.compute_attention_attribution(model, there)) == pytest.approx(dict(expected), abs=LIMIT)
    with torch.no_grad(), hw.capture(model) as seen:
        model(**there)
    assert dict(seen.metrics()) == pytest.approx(dict(expected), abs=LIMIT)


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_text_written_by_layers_on_several_devices(places, put):
    ids = ids_and_mask("none")[0][:1, :6]
    words = dict(max_new_tokens=4, min_new_tokens=4, do_sample=False)

    def written(model, ids):
        with torch.no_grad(), hw.capture(model) as seen:
            model.generate(ids, attention_mask=torch.ones_like(ids), **words)
        return seen.generation()

    expected = written(make(*TEXT["llama"], attention="sdpa"), ids)
    found = written(put(make(*TEXT["llama"], attention="sdpa"), places), ids.to(places[0]))
    assert off(torch.as_tensor(found.M).cpu(), expected.M) < LIMIT


def test_a_model_that_a_device_map_loads_on_gpu_cpu_and_disk(tmp_path):
    if importlib.util.find_spec("accelerate") is None:
        pytest.skip("accelerate is not installed")
    plain = make(*TEXT["llama"], attention="sdpa")
    plain.save_pretrained(tmp_path / "model")
    places = {name: 0 for name in ("model.embed_tokens", "model.rotary_emb", "model.layers.0", "model.norm", "lm_head")}
    places |= {"model.layers.1": "cpu", "model.layers.2": "disk"}
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "model", device_map=places,
                                                              offload_folder=str(tmp_path / "disk"))
    ids, mask, _ = ids_and_mask("right")
    inputs = dict(input_ids=ids, attention_mask=mask)
    there = {name: value.cuda() for name, value in inputs.items()}
    for work in WORK:
        found, expected = captured_by(model, there, WORK[work]), captured_by(plain, inputs, WORK[work])
        for ours, theirs in zip(found.values, expected.values, strict=True):
            assert off(ours.cpu(), theirs) < LIMIT, work
    with torch.no_grad(), hw.capture(model) as seen:
        model(**there)
    with pytest.raises(hw.Error, match="on the meta device"):
        seen.relevance(7, item=0)


def test_an_encoder_decoder_on_a_gpu_gives_what_the_cpu_gives():
    ids, mask, _ = ids_and_mask("right")
    inputs = dict(input_ids=ids, attention_mask=mask, decoder_input_ids=ids[:, :6])

    def found(model, device):
        with torch.no_grad(), hw.capture(model.to(device)) as seen:
            model(**{name: value.to(device) for name, value in inputs.items()})
        return seen.encoder_decoder(item=1)

    ours, theirs = (found(make(*BART, attention="sdpa"), device) for device in ("cuda", "cpu"))
    assert np.abs(np.asarray(ours) - np.asarray(theirs)).max() < LIMIT


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_model_on_a_gpu_gives_what_eager_attention_gives(name, side):
    ids, mask, where = ids_and_mask(side)
    inputs = dict(input_ids=ids.cuda(), attention_mask=mask.cuda())
    model = make(*TEXT[name]).cuda()
    with torch.no_grad():
        truth = model(**inputs, output_attentions=True).attentions
        with hw.capture(model) as seen:
            model(**inputs)
    for ours, theirs in zip(seen.maps(item=1), truth, strict=True):
        assert off(ours, theirs[1].mean(0)[where, where]) < 1e-5
    assert seen.rollout()[0].is_cuda
