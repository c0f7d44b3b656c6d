"""What Python has to say about a result is in its record, and so in every file."""
import json
import pickle

import numpy as np
import pytest
import torch
from models import BART, TEXT, ids_and_mask, make
from test_never_lies import captured

import headwater as hw


def saved_notes(result, path):
    """The notes of the .json and the .npz of a result."""
    result.save(path / "x.json")
    result.save(path / "x.npz")
    with np.load(path / "x.npz", allow_pickle=False) as file:
        arrays = [name for name in file.files if name.split("/")[-1] == "notes"]
        noted = [str(note) for name in arrays for note in file[name]]
    read = json.loads((path / "x.json").read_text())
    return [note for one in read.get("panels", [read]) for note in one["notes"]], noted


@pytest.mark.parametrize("method", ["rollout", "average", "flow", "metrics", "compare"])
def test_notes_of_a_capture_are_in_every_file(method, tmp_path):
    model, (ids, mask, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids[:1])
    broken_rows(seen)
    words = dict(by="fuse") if method == "compare" else {}
    result = getattr(seen, method)(nan="identity", **words)
    sentence = "2 row(s) of heads with NaN or infinite weights became identity rows"
    assert sentence in result.notes
    for notes in saved_notes(result, tmp_path):
        assert sentence in notes
    assert pickle.loads(pickle.dumps(result)).notes == result.notes


def broken_rows(seen):
    """NaN in the queries of two heads of one token in layer 1."""
    record = seen._answer().records[1]
    record.mean = None
    record.query = record.query.clone()
    record.query[0, :2, 4] = float("nan")
    record.note_state()


def test_rows_that_nan_replaced_are_counted_for_the_item_that_has_them():
    model, (ids, mask, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    seen = captured(model, dict(input_ids=ids))
    broken_rows(seen)
    found = seen.rollout(nan="identity")
    assert [len(found.item(k).notes) for k in range(2)] == [1, 0]
    assert seen.rollout(nan="identity", layers="0:1").notes == []
    assert seen.rollout(nan="identity", head=1).notes == [
        "1 row(s) of heads with NaN or infinite weights became identity rows"]


def test_each_question_counts_the_rows_that_it_read_itself():
    model, (ids, mask, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    seen = captured(model, dict(input_ids=ids[:1]))
    broken_rows(seen)  # heads 0 and 1 of layer 1
    two = "2 row(s) of heads with NaN or infinite weights became identity rows"
    source = hw.open(seen, nan="identity")
    assert hw.rollout(source).notes == [two] == hw.raw(source, layer=1).notes
    assert hw.raw(source, layer=0).notes == [] == hw.raw(source, layer=1, head=2).notes
    assert [panel.notes for panel in hw.compare(source, by="layer", layer=2)] == [[], [two]]
    assert [panel.notes for panel in hw.compare(source, by="fuse")] == [[two]] * 3


@pytest.mark.parametrize("fuse", ["mean", "max", "min"])
def test_nan_in_one_head_is_seen_however_heads_are_fused(fuse):
    model, (ids, mask, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    seen = captured(model, dict(input_ids=ids[:1]))
    broken_rows(seen)
    with pytest.raises(hw.Error, match="not finite"):
        seen.rollout(fuse=fuse)
    found, heads = seen.maps(fuse=fuse, nan="identity")[1], dict(seen.heads(nan="identity"))[1]
    assert torch.equal(heads[:2, 4], torch.eye(13)[4].expand(2, 13))
    fused = heads.mean(0) if fuse == "mean" else heads.amax(0) if fuse == "max" else heads.amin(0)
    assert (found - fused).abs().max() < 1e-5


def test_rows_of_a_file_are_counted_once_however_often_it_is_read(stack, tmp_path):
    stack[1, :, 4] = np.nan
    np.save(tmp_path / "x.npy", stack)
    source = hw.open(tmp_path / "x.npy", nan="identity")
    two = "2 row(s) of heads with NaN, infinite or negative weights became identity rows"
    for by in ("fuse", "discard", "method"):
        first = 1 if by == "method" else 0  # raw attention of the last layer
        assert [panel.notes for panel in hw.compare(source, by=by)][first:] == [[two]] * (3 if by != "discard" else 4)
    assert hw.metrics(source).notes == [two] and hw.raw(source, layer=2).notes == []


@pytest.mark.parametrize("fuse", ["mean", "max", "min"])
def test_nan_in_one_head_of_a_writing_model_is_seen(fuse):
    model, ids = make(*TEXT["llama"], attention="sdpa"), torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad():
        model.model.layers[2].self_attn.q_proj.weight[:8] = torch.nan  # the first head of the last layer
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=2, min_new_tokens=2, do_sample=False)
    with pytest.raises(hw.Error, match="finite|NaN|nan"):
        seen.generation(fuse=fuse)


def test_metrics_of_a_batch_say_whose_rows_nan_replaced():
    model, (ids, mask, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    seen = captured(model, dict(input_ids=ids))
    broken_rows(seen)
    sentence = "2 row(s) of heads with NaN or infinite weights became identity rows"
    assert seen.metrics(nan="identity").notes == [f"item 0: {sentence}"]
    record = seen._answer().records[1]
    record.query[1, :2, 4] = float("nan")
    record.note_state()
    assert seen.metrics(nan="identity").notes == [f"in each item: {sentence}"]


def test_rule_target_and_input_gradients_are_in_every_file(tmp_path):
    model, (ids, mask, _) = make(*TEXT["gpt2"], attention="sdpa"), ids_and_mask("none")
    with hw.capture(model) as seen:
        model(input_ids=ids[:1])
    found = seen.gradient(17, rule="chefer")
    found.save(tmp_path / "x.npz")
    found.save(tmp_path / "x.json")
    file, read = np.load(tmp_path / "x.npz"), json.loads((tmp_path / "x.json").read_text())
    assert str(file["rule"]) == read["rule"] == "chefer" and read["target"]["id"] == 17 and read["target"]["row"] == 12
    assert json.loads(str(file["target"]))["name"] == read["target"]["name"] == "17"
    assert np.allclose(file["input_gradient"], found.input_gradient) and found.shown_row() == 12
    named = seen.gradient(lambda output: output.logits[0, 3, 5])
    assert "id" not in json.loads(named.to_json())["target"]


def test_texts_of_a_capture_are_written_by_the_engine(tmp_path):
    model, (ids, mask, _) = make(*TEXT["gpt2"], attention="sdpa"), ids_and_mask("none")
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids[:1, :5], attention_mask=mask[:1, :5], max_new_tokens=3, min_new_tokens=3, do_sample=False)
    found = seen.generation(layers="1:3", position="own")
    for ending in ("json", "npz", "npy", "svg", "png", "html"):
        found.save(tmp_path / f"x.{ending}")
    read = json.loads((tmp_path / "x.json").read_text())
    assert np.allclose(read["M"], found.M) and read["source"]["layers"] == 3 and read["options"]["layers"] == [1, 3]
    assert read["generation"] == {"position": "own"} and read["notes"] == found.notes and len(found.notes) == 1
    assert read["prompt"] == found.prompt and read["generated"] == found.generated
    with np.load(tmp_path / "x.npz") as file:
        assert np.allclose(file["M"], found.M) and list(file["notes"]) == found.notes


def test_notes_of_an_encoder_decoder_result_are_in_its_files(tmp_path):
    model, (ids, mask, _) = make(*BART, attention="sdpa"), ids_and_mask("none")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids[:1], decoder_input_ids=ids[:1, :4])
    found = seen.encoder_decoder()
    found.notes.append("a note")
    json_notes, npz_notes = saved_notes(found, tmp_path)
    assert "a note" in json_notes and "a note" in npz_notes
