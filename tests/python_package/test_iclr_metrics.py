"""The eight numbers of a model's batch: the plain code's, under any attention, in pieces, over data sets."""
import json

import pytest
import torch
from models import TEXT, ids_and_mask, make

import headwater as hw
from headwater.torch import memory

KEYS = ["mean_attention", "max_attention", "attention_entropy", "attention_concentration", "rollout_max",
        "rollout_entropy", "batch_size", "seq_length"]


def plain(attentions, layer=-1):
    """As the document has it: all layers held, heads averaged, the first layer as it is, the others with a residual."""
    maps = [one.mean(1) for one in attentions]
    chosen, rollout = maps[layer], maps[0]
    eye = torch.eye(chosen.shape[-1], device=chosen.device)
    for one in maps[1:]:
        one = 0.5 * one + 0.5 * eye
        rollout = torch.bmm(rollout, one / one.sum(-1, keepdim=True))
    rows = rollout / rollout.sum(-1, keepdim=True).clamp_min(1e-10)
    return dict(mean_attention=chosen.mean(), max_attention=chosen.max(),
                attention_entropy=-(chosen * chosen.clamp_min(1e-12).log()).sum(-1).mean(),
                attention_concentration=chosen.max(-1).values.mean(), rollout_max=rollout.max(),
                rollout_entropy=-(rows * rows.clamp_min(1e-12).log()).sum(-1).mean(),
                batch_size=chosen.shape[0], seq_length=chosen.shape[-1])


@pytest.mark.parametrize("layer", [-1, 0, -2, 1])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", ["bert", "llama"])
def test_the_function_gives_the_plain_codes_numbers(name, attention, layer, device):
    model = make(*TEXT[name]).to(device)
    ids = ids_and_mask("right")[0].to(device)
    with torch.no_grad():
        expected = plain(model(input_ids=ids, output_attentions=True).attentions, layer)
    model.set_attn_implementation(attention)
    batch = dict(input_ids=ids, attention_mask=torch.ones_like(ids))
    found = hw.ICLRMetrics().compute_attention_attribution(model=model, input_batch=batch, layer_idx=layer)
    assert list(found) == KEYS
    assert dict(found) == pytest.approx({key: float(value) for key, value in expected.items()}, abs=1e-5)


def test_padding_does_not_count(device):
    model = make(*TEXT["bert"]).to(device)
    ids, mask, _ = ids_and_mask("left")
    ids, mask = ids.to(device), mask.to(device)
    found = hw.compute_attention_attribution(model, dict(input_ids=ids, attention_mask=mask))
    with torch.no_grad():
        layers = model(input_ids=ids, attention_mask=mask, output_attentions=True).attentions
    assert dict(found) == pytest.approx(dict(hw.metrics(layers, attention_mask=mask)), abs=1e-5)


def test_a_pattern_names_modules_as_regular_expressions_do():
    model = make(*TEXT["gpt2"], attention="sdpa")
    ids, _, _ = ids_and_mask("right")
    all_layers = hw.compute_attention_attribution(model, dict(input_ids=ids))
    named = hw.compute_attention_attribution(model, dict(input_ids=ids), attention_layer_pattern="transformer.h.*.attn")
    assert dict(named) == dict(all_layers)
    some = hw.compute_attention_attribution(model, dict(input_ids=ids),
                                            attention_layer_pattern=r"transformer\.h\.[01]\.attn")
    assert some["rollout_entropy"] != all_layers["rollout_entropy"]
    with pytest.raises(hw.Error, match="there are transformer.h.0.attn"):
        hw.compute_attention_attribution(model, dict(input_ids=ids), attention_layer_pattern="h.0.attn")


def test_layers_that_are_there_already_are_rolled_out():
    layers = [torch.softmax(torch.randn(2, 3, 5, 5), -1) for _ in range(3)]
    expected = plain(layers)
    for given in (layers, [layer.mean(1) for layer in layers]):
        found = hw.ICLRMetrics()._compute_attention_rollout_efficient(given)
        numbers = {key: float(expected[key]) for key in ("rollout_max", "rollout_entropy")}
        assert found == pytest.approx(numbers, abs=1e-5)


def test_layers_that_are_not_there_are_named():
    model = make(*TEXT["bert"])
    with pytest.raises(hw.Error, match="has no layer 7, expected -3 to 2"):
        hw.compute_attention_attribution(model, dict(input_ids=torch.tensor([[5, 6]])), layer_idx=7)
    with pytest.raises(hw.Error, match="holds no tensor"):
        hw.compute_attention_attribution(model, {})
    with pytest.raises(hw.Error, match="is a Tensor, expected a dictionary"):
        hw.compute_attention_attribution(model, torch.tensor([[5, 6]]))
    for call in (hw.compute_attention_attribution, hw.metrics_over):
        with pytest.raises(hw.Error, match="capture of str: expected a PyTorch model"):
            call("bert", {})
    with pytest.raises(hw.Error, match="Linear: no attention was seen"):
        hw.compute_attention_attribution(torch.nn.Linear(2, 2), dict(input=torch.zeros(1, 2)))


def limited(model, most, error):
    """Makes the model run out of memory on batches of more than `most`; returns the sizes that it was given."""
    sizes, forward = [], model.forward

    def limited_forward(*args, **words):
        sizes.append(len(words["input_ids"]))
        if sizes[-1] > most:
            raise error
        return forward(*args, **words)

    model.forward = limited_forward
    return sizes


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError(),
                                   RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_out_of_memory_halves_the_piece_and_gives_the_same_numbers(error):
    model = make(*TEXT["bert"], attention="sdpa")
    ids = torch.randint(5, 90, (8, 11))
    whole = hw.compute_attention_attribution(model, dict(input_ids=ids))
    sizes = limited(model, 3, error)
    assert dict(hw.compute_attention_attribution(model, dict(input_ids=ids))) == pytest.approx(dict(whole), abs=1e-6)
    assert sizes == [8, 4, 2, 2, 2, 2]


def test_other_errors_and_single_items_are_not_tried_again():
    model = make(*TEXT["bert"], attention="sdpa")
    sizes = limited(model, 0, RuntimeError("something else"))
    with pytest.raises(RuntimeError, match="something else"):
        hw.compute_attention_attribution(model, dict(input_ids=torch.tensor([[5, 6]] * 4)))
    assert sizes == [4]
    limited(model, 0, MemoryError())
    with pytest.raises(MemoryError):
        hw.compute_attention_attribution(model, dict(input_ids=torch.tensor([[5, 6]] * 2)))


def test_batches_are_split_by_what_is_free(monkeypatch):
    model = make(*TEXT["bert"], attention="sdpa")
    monkeypatch.setattr(memory, "free_bytes", lambda device: 5 * memory.bytes_of_item(model, 11))
    assert memory.first_piece(model, 8, 11, torch.device("cpu")) == 2
    monkeypatch.undo()
    assert memory.free_bytes(torch.device("cpu")) > 0


def loader(items=7, size=3):
    ids = torch.randint(5, 90, (items, 9), generator=torch.Generator().manual_seed(0))
    return [dict(input_ids=ids[k:k + size], labels=torch.zeros(len(ids[k:k + size]))) for k in range(0, items, size)]


def test_a_data_set_is_summed_up_item_by_item():
    model = make(*TEXT["bert"], attention="sdpa")
    by_threes, by_twos = hw.metrics_over(model, loader()), hw.metrics_over(model, loader(size=2), keep_items=True)
    assert by_threes.count == by_twos.count == len(by_twos.items) == 7
    values = torch.tensor([one["rollout_entropy"] for one in by_twos.items], dtype=torch.float64)
    assert by_threes["rollout_entropy"] == pytest.approx(dict(
        mean=float(values.mean()), std=float(values.std(correction=0)), min=float(values.min()),
        max=float(values.max())), abs=1e-6)
    assert len(by_twos.to_pandas()) == 7 and "rollout_entropy" in repr(by_threes)


def test_summaries_merge_in_any_order(tmp_path):
    model = make(*TEXT["bert"], attention="sdpa")
    parts = [hw.metrics_over(model, [batch]) for batch in loader()]
    whole = hw.metrics_over(model, loader())
    for merged in (parts[0] + parts[1] + parts[2], parts[2] + (parts[0] + parts[1])):
        assert merged.to_dict()["attention_entropy"] == pytest.approx(whole.to_dict()["attention_entropy"])
    whole.save(tmp_path / "x.json")
    assert hw.Summary.from_json((tmp_path / "x.json").read_text()).to_dict() == whole.to_dict()
    assert "of 7 items" in whole._repr_html_() and len(hw.to_pandas(whole)) == 7
    with pytest.raises(hw.Error, match="expected .json"):
        whole.save(tmp_path / "x.png")


def test_work_that_was_stopped_goes_on(tmp_path):
    model, path = make(*TEXT["bert"], attention="sdpa"), tmp_path / "done.json"
    sizes = limited(model, 99, None)
    with pytest.raises(hw.Error, match="gave a list"):
        hw.metrics_over(model, loader()[:2] + [[1]], resume=path)
    assert json.loads(path.read_text())["batches"] == 2 and sizes == [3, 3]
    summary = hw.metrics_over(model, loader(), resume=path)
    assert summary.count == 7 and sizes == [3, 3, 1]
    with pytest.raises(hw.Error, match="is of layer_idx -1"):
        hw.metrics_over(model, loader(), resume=path, layer_idx=0)
    path.write_text("[]")
    with pytest.raises(hw.Error, match="is not a file of"):
        hw.metrics_over(model, loader(), resume=path)
