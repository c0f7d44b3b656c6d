"""generate() outputs and encoder-decoder models, by capture and by eager attention, against whole matrices."""
import json
import pickle

import numpy as np
import pytest
import torch
from models import BART, T5, TEXT, ids_and_mask, make

import headwater as hw

GREEDY = dict(max_new_tokens=5, min_new_tokens=5, do_sample=False)
KEPT = dict(output_attentions=True, return_dict_in_generate=True)


@pytest.mark.parametrize("name", ["llama", "gpt2", "mistral", "gpt_oss"])
def test_generated_rows_are_rows_of_the_whole_rollout(name):
    model = make(*TEXT[name])
    ids = ids_and_mask("right")[0][:1]
    with torch.no_grad():
        with hw.capture(model) as seen:
            out = model.generate(ids, attention_mask=torch.ones_like(ids), **GREEDY, **KEPT)
        whole = model(input_ids=out.sequences[:, :-1], output_attentions=True).attentions
    rows = hw.rollout(whole, by_layer=True, sums="any").values  # [L, m + n - 1, m + n - 1]
    expected = rows[:, 12:, :13].permute(1, 2, 0).numpy()
    for found in (hw.generation(out), seen.generation(), hw.generation(seen)):
        assert np.asarray(found).shape == (5, 13, 3) and np.abs(np.asarray(found) - expected).max() < 1e-5
    own = seen.generation(position="own")
    assert np.abs(np.asarray(own) - rows[:, 13:, :13].permute(1, 2, 0).numpy()).max() < 1e-5 and own.notes


def test_padded_prompts_give_what_they_give_alone():
    model = make(*TEXT["llama"], attention="sdpa")
    ids, mask, where = ids_and_mask("left")
    with torch.no_grad(), hw.capture(model) as both:
        model.generate(ids, attention_mask=mask, **GREEDY)
    with torch.no_grad(), hw.capture(model) as alone:
        model.generate(ids[1:, where], attention_mask=torch.ones_like(ids[1:, where]), **GREEDY)
    ours, theirs = both.generation(item=1), alone.generation()
    assert ours.M.shape == (5, 9, 3) and (ours.M - theirs.M).abs().max() < 1e-5


def written(result, folder):
    """Saves a result in every format; the names in its .npz."""
    for ending in ("json", "npy", "npz", "png", "svg", "pdf"):
        result.save(folder / f"x.{ending}")
        assert (folder / f"x.{ending}").stat().st_size > 100
    assert np.array_equal(np.load(folder / "x.npy"), np.asarray(result))
    for name, sentence in (("x.txt", "no format has the ending"), ("no/x.json", "the folder")):
        with pytest.raises(hw.Error, match=sentence):
            result.save(folder / name)
    before = (folder / "x.json").read_bytes()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(type(result), "to_json", lambda self: 1 / 0)
        result.save(folder / "x.json")
    assert (folder / "x.json").read_bytes() == before and not list(folder.glob(".*"))
    return set(np.load(folder / "x.npz").files)


def test_a_generation_names_its_tokens(tmp_path):
    model = make(*TEXT["gpt2"], attention="sdpa")
    ids = ids_and_mask("right")[0][:1, :4]
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids, attention_mask=torch.ones_like(ids), **GREEDY)
    found = seen.generation(prompt=list("abcd"), generated=list("vwxyz"), fuse="max", residual=0.4)
    assert found.top(0, k=1)[0][0] in "abcd" and found.values.shape == (5, 4) and found.plot()
    assert json.loads(found.to_json())["generated"] == list("vwxyz") and found.options["residual"] == 0.4
    found.save(tmp_path / "x.npz")
    assert ">v<" in found._repr_html_() and {"M", "prompt", "generated", "notes"} < set(np.load(tmp_path / "x.npz"))
    table = hw.to_pandas(found)
    assert len(table) == 5 * 4 * 3
    assert table.query("layer == 2 and row == 1").value.tolist() == found.M[1, :, 2].tolist()
    for words, sentence in ((dict(prompt=["a"]), "1 prompt"), (dict(discard=0.1), "discard"),
                            (dict(position="x"), "position")):
        with pytest.raises(hw.Error, match=sentence):
            seen.generation(**words)
    for words in (dict(row=0), dict(row="cls")):
        with pytest.raises(hw.Error, match="`row` .* is not an option of generation"):
            seen.generation(**words)
    with pytest.raises(hw.Error, match="ask .generation"):
        seen.rollout()


def steps_of(layers, m):
    """Causal layers [L, H, n, n] as generate() returns them."""
    n = layers.shape[-1]
    first = tuple(layer[None, :, :m, :m] for layer in layers)
    return [first] + [tuple(layer[None, :, p:p + 1, :p + 1] for layer in layers) for p in range(m, n)]


@pytest.mark.parametrize("words", [dict(residual=0, divide="changed"), dict(residual=0, empty="zero"),
                                   dict(residual=0), dict(layers="1:3"), dict(layers=slice(0, 2), fuse="max")])
def test_options_of_a_generation_are_those_of_rollout(words):
    layers = np.tril(np.random.default_rng(0).random((3, 2, 6, 6))).astype(np.float32)  # rows do not sum to 1
    layers[1, :, 4] = 0
    expected = hw.rollout(layers, by_layer=True, sums="any", **words)
    found = hw.generation(steps_of(layers, 4), **words)
    assert np.abs(found.M - expected.values[:, 3:, :4].transpose(1, 2, 0)).max() < 1e-5
    assert found.options == expected.options | {"position": "predicting"}
    assert found.notes == expected.notes


def test_generate_refuses_a_row():
    with pytest.raises(hw.Error, match="`row` 0: is not an option of generate"):
        hw.generate("facts", "the", count=1, row=0)


def test_outputs_without_steps_are_told_so():
    with pytest.raises(hw.Error, match="holds no attention by step"):
        hw.generation(object())


BEAMS = dict(num_beams=3, num_return_sequences=2, max_new_tokens=6, min_new_tokens=6, do_sample=False)


@pytest.mark.parametrize("side", ["left", None])
@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_texts_of_a_beam_search_are_followed_through_their_beams(name, side):
    model = make(*TEXT[name])
    ids, mask, where = ids_and_mask("left")
    ids, mask, where = (ids, mask, where) if side else (ids, torch.ones_like(ids), slice(None))
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids, attention_mask=mask, **BEAMS, **KEPT)
    moved = out.beam_indices[:, :6] - out.beam_indices[:, :1]
    assert bool((moved != 0).any()), "no text changed its place, so nothing is tested"
    for text in range(4):
        crop = where if text >= 2 else slice(None)
        with torch.no_grad():
            whole = model(input_ids=torch.cat([ids[text // 2][crop], out.sequences[text, 13:-1]])[None],
                          output_attentions=True).attentions
        m = len(ids[0][crop])
        expected = hw.rollout(whole, by_layer=True).values[:, m - 1:, :m].permute(1, 2, 0).numpy()
        ours = hw.generation(out, item=text, attention_mask=mask)
        captured = seen.generation(item=text, beam_indices=out.beam_indices)
        for found in (ours, captured):
            assert np.asarray(found).shape == (6, m, 3) and np.abs(np.asarray(found) - expected).max() < 1e-5
    with pytest.raises(hw.Error, match="changed places between steps"):
        for row in range(6):
            seen.generation(item=row)
    with pytest.raises(hw.Error, match="beam_indices: has shape"):
        hw.generation(out, beam_indices=torch.tensor([7]))
    with pytest.raises(hw.Error, match="has no item 4, expected 0 to 3"):
        hw.generation(out, item=4)


def test_beams_of_an_encoder_decoder_model_are_followed():
    model = make(*T5)
    ids, mask, where = ids_and_mask("right")
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(input_ids=ids, attention_mask=mask, **BEAMS, **KEPT)
    assert bool((out.beam_indices[:, :6] != out.beam_indices[:, :1]).any())
    for text in range(4):
        crop = where if text >= 2 else slice(None)
        with torch.no_grad():
            whole = model(input_ids=ids[text // 2:text // 2 + 1, crop], output_attentions=True,
                          decoder_input_ids=out.sequences[text:text + 1, :6])
        expected = np.asarray(hw.encoder_decoder(whole))
        ours = hw.encoder_decoder(out, attention_mask=mask, item=text)
        captured = seen.encoder_decoder(item=text, beam_indices=out.beam_indices)
        for found in (ours, captured):
            assert np.abs(np.asarray(found) - expected).max() < 1e-5


def by_hand(out, item, source, target, r=0.5):
    """The equations, one layer after the other, with torch in double."""
    def prepared(a):
        return (1 - r) * a + r * torch.eye(len(a), dtype=torch.float64)
    def fused(layer, rows, columns):
        return layer[item].double().mean(0)[rows][:, columns]
    E = torch.eye(len(range(99)[source]), dtype=torch.float64)
    for layer in out.encoder_attentions:
        E = prepared(fused(layer, source, source)) @ E
    size = len(range(out.decoder_attentions[0].shape[-1])[target])
    T, S = torch.eye(size, dtype=torch.float64), torch.zeros(size, len(E), dtype=torch.float64)
    for own, cross in zip(out.decoder_attentions, out.cross_attentions):
        A, C = prepared(fused(own, target, target)), fused(cross, target, source)
        T, S = r * (A @ T), r * (A @ S) + (1 - r) * (C @ E)
    return torch.cat([T, S], 1).numpy()


@pytest.mark.parametrize("kind", [T5, BART], ids=["t5", "bart"])
def test_decoder_rows_over_target_and_source_follow_the_equations(kind, tmp_path):
    model = make(*kind)
    ids, mask, where = ids_and_mask("right")
    inputs = dict(input_ids=ids, attention_mask=mask, decoder_input_ids=ids[:, :6] + 1)
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
        model.set_attn_implementation("sdpa")
        with hw.capture(model) as seen:
            model(**inputs)
    expected = by_hand(out, 1, where, slice(0, 6))
    ours, theirs = hw.encoder_decoder(out, attention_mask=mask, item=1), seen.encoder_decoder(item=1)
    assert np.abs(np.asarray(ours) - expected).max() < 1e-6 and np.abs(np.asarray(theirs) - expected).max() < 1e-5
    assert np.allclose(np.asarray(ours).sum(1), 1, atol=1e-5) and ours.source.shape == (6, 9)
    assert seen.rollout(item=1).shape == (9, 9), "of the encoder"
    assert len(ours.top(0, 3)) == 3 and ours.plot()
    assert {"both", "target", "source", "encoder"} < written(ours, tmp_path) and "<table>" in ours._repr_html_()
    assert np.allclose(json.loads(ours.to_json())["source"], ours.source)
    assert hw.to_pandas(ours).groupby("row").value.sum().round(4).tolist() == [1.0] * 6
    hw.to_parquet(ours, tmp_path / "x.parquet")


def stacks(seed=0):
    """An output of an encoder-decoder model whose rows do not sum to 1, some of them empty: [1, H, ., .] a layer."""
    class Output:
        pass
    random, out = np.random.default_rng(seed), Output()
    for name, shape in (("encoder", (4, 4)), ("decoder", (3, 3)), ("cross", (3, 4))):
        layers = [random.random((1, 2, *shape)).astype(np.float32) for _ in range(2)]
        for layer in layers:
            layer[0, :, 1] = 0
        setattr(out, f"{name}_attentions", layers)
    return out


def prepared(map, residual, empty, divide):
    map = (1 - residual) * map.astype(np.float64) + residual * np.eye(*map.shape)
    sums = map.sum(1, keepdims=True)
    if divide == "always" or residual > 0:
        map = map / np.where(sums > 0, sums, 1)
        if empty == "identity":
            map[sums[:, 0] == 0] = np.eye(*map.shape)[sums[:, 0] == 0]
    return map


@pytest.mark.parametrize("residual", [0, 0.3])
@pytest.mark.parametrize("empty", ["identity", "zero"])
@pytest.mark.parametrize("divide", ["always", "changed"])
def test_empty_and_divide_count_in_every_stack(residual, empty, divide):
    out = stacks()
    words = dict(residual=residual, empty=empty, divide=divide)
    E, T, S = np.eye(4), np.eye(3), np.zeros((3, 4))
    for layer in out.encoder_attentions:
        E = prepared(layer[0].mean(0), **words) @ E
    for own, cross in zip(out.decoder_attentions, out.cross_attentions):
        A, C = prepared(own[0].mean(0), **words), prepared(cross[0].mean(0), 0, "zero", divide)
        T, S = residual * (A @ T), residual * (A @ S) + (1 - residual) * (C @ E)
    found = hw.encoder_decoder(out, **words)
    assert np.abs(np.asarray(found) - np.concatenate([T, S], 1)).max() < 1e-5
    assert bool(found.notes) == (residual == 0 and divide == "always")


@pytest.mark.parametrize("word, value", [("layers", "0:1"), ("row", 0)])
def test_options_that_mean_nothing_here_are_refused(word, value):
    with pytest.raises(hw.Error, match=f"`{word}` {value}: is not an option of encoder_decoder"):
        hw.encoder_decoder(stacks(), **{word: value})


def test_generate_of_an_encoder_decoder_model_is_joined():
    model = make(*T5)
    ids = ids_and_mask("right")[0][:1]
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(input_ids=ids, **GREEDY, **KEPT)
    whole, captured = hw.encoder_decoder(out), seen.encoder_decoder()
    assert np.asarray(whole).shape == (5, 5 + 13) and np.abs(np.asarray(whole) - np.asarray(captured)).max() < 1e-6


def test_a_batch_of_an_encoder_decoder_model_asks_for_an_item():
    model = make(*T5)
    ids = ids_and_mask("right")[0]
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(input_ids=ids, **GREEDY, **KEPT)
    for ask in (seen.encoder_decoder, lambda **words: hw.encoder_decoder(out, **words)):
        with pytest.raises(hw.Error, match=f"holds a batch of {len(ids)} texts, expected one; choose it with item=K"):
            ask()
        assert np.asarray(ask(item=1)).shape[1] > 13


def test_other_models_are_no_encoder_decoder():
    model = make(*TEXT["bert"], attention="sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=torch.tensor([[5, 6]]))
    with pytest.raises(hw.Error, match="is not an encoder-decoder model"):
        seen.encoder_decoder()
    with pytest.raises(hw.Error, match="expected all three"):
        hw.encoder_decoder(object())


def test_a_model_directory_writes_what_transformers_writes(tmp_path):
    model = make(*TEXT["llama"])
    model.save_pretrained(tmp_path)
    ids = ids_and_mask("right")[0][:1, :6]
    with torch.no_grad():
        out = model.generate(ids, attention_mask=torch.ones_like(ids), **GREEDY, **KEPT)
    found = hw.generate(tmp_path, ids=ids[0].tolist(), count=5, ignore_end=True)
    assert json.loads(found.to_json())["generated_ids"] == out.sequences[0, 6:].tolist()
    assert found.M.shape == (5, 6, 3) and np.abs(found.M - np.asarray(hw.generation(out))).max() < 1e-4
    found.save(tmp_path / "x.npz")
    with pytest.raises(hw.Error, match="count"):
        hw.generate(tmp_path, ids=[5], count=0)


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_a_directory_with_an_encoder_writes_what_transformers_writes(name, tmp_path):
    """And takes from source and target what a capture of the same model says."""
    kind, config, entries = T5 if name == "t5" else BART
    model = make(kind, config, entries)
    model.generation_config.decoder_start_token_id, model.generation_config.forced_eos_token_id = 3, None
    model.save_pretrained(tmp_path)
    ids = ids_and_mask("right")[0][:1, :6]
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids, attention_mask=torch.ones_like(ids), num_beams=1, **GREEDY)
    found, captured = hw.generate(tmp_path, ids=ids[0].tolist(), count=5, ignore_end=True), seen.encoder_decoder()
    assert found.target_ids == out[0].tolist() and found.prompt_ids == ids[0].tolist()
    assert np.abs(found.values - np.asarray(captured.source)).max() < 1e-4
    assert np.abs(found.target[:, :-1] - np.asarray(captured.target)).max() < 1e-4
    assert np.abs(found.encoder - np.asarray(captured.encoder)).max() < 1e-4
    again = pickle.loads(pickle.dumps(found))
    assert again == found and json.loads(found.to_json())["target_ids"] == found.target_ids
    with pytest.raises(hw.Error, match="relevance of generated text is not implemented"):
        hw.generate(tmp_path, ids=ids[0].tolist(), count=2, method="relevance")
    with pytest.raises(hw.Error, match="reads a source"):
        hw.generate(tmp_path, "a prompt")


def test_a_text_ends_at_a_stop_token():
    prompt = "The red key went from the box to the shelf. Where is the red key? Answer:"
    whole = hw.generate("facts", prompt, count=4)
    assert len(whole.generated) > 1
    assert hw.generate("facts", prompt, count=4, stop=whole.generated[0].strip()).generated == whole.generated[:1]
    with pytest.raises(hw.Error, match="add `temperature` 1"):
        hw.generate("facts", prompt, top_k=3)
    with pytest.raises(hw.Error, match="`stop`: was given beside ignore_end"):
        hw.generate("facts", prompt, stop=[5], ignore_end=True)


def test_a_generated_text_by_words(tmp_path):
    prompt, made = ["\u0120the", "\u0120un", "believ", "able"], ["\u0120cat", "s", "\u0120sat", "!"]
    model, ids = make(*TEXT["llama"], attention="sdpa"), torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=4, min_new_tokens=4, do_sample=False)
    tokens = seen.generation(prompt=prompt, generated=made)
    words = tokens.words()
    assert words.prompt == ["the", "unbelievable"] and words.generated == ["cats", "sat", "!"]
    assert isinstance(words.M, torch.Tensor)
    summed = torch.stack([tokens.M[:, 0], tokens.M[:, 1:].sum(1)], 1)
    expected = torch.stack([summed[:2].mean(0), summed[2], summed[3]])
    assert (words.M - expected).abs().max() < 1e-6
    assert words.options == tokens.options and "4 prompt tokens merged to 2 words" in words.notes[-1]
    words.save(tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text())["generated_pieces"] == [[0, 2], [2, 3], [3, 4]]
    assert tokens.words(offsets=[(0, 3), (4, 6), (7, 12), (12, 16)]).prompt == ["the", "un", "believable"]
    with pytest.raises(hw.Error, match="3 pairs for 4 tokens"):
        tokens.words(offsets=[(0, 3), (4, 6), (6, 12)])
    own = hw.generate("facts", "The red key", count=3)
    assert own.words().prompt_ids == own.prompt_ids and pickle.loads(pickle.dumps(own.words())) == own.words()
    follow = hw.generate("facts", "The red key", count=3, method="relevance")
    assert np.allclose(follow.words().relevance.sum(1) + follow.words().biases, follow.words().outputs, atol=1e-3)


def test_a_text_that_ends_before_the_others_of_its_batch_is_cut_there():
    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0][:, :6]
    words = dict(attention_mask=torch.ones_like(ids), max_new_tokens=7, do_sample=False, pad_token_id=0)
    with torch.no_grad():
        whole = model.generate(ids, **words, eos_token_id=None)
    end = int(whole[0, 7])
    assert end not in whole[1, 6:]
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids, **words, eos_token_id=[end])
    assert out.shape == (2, 13) and (out[0, 8:] == 0).all()
    early, late = seen.generation(item=0), seen.generation(item=1)
    assert early.M.shape == (2, 6, 3) and late.M.shape == (7, 6, 3) and late.notes == []
    assert early.notes == ["the text ended 5 token(s) before the longest of its batch"]
    model.set_attn_implementation("eager")
    with torch.no_grad():
        truth = model(input_ids=out[:1, :7], output_attentions=True).attentions
    rows = hw.rollout(truth, by_layer=True).values[:, 5:, :6].permute(1, 2, 0)
    assert (early.M - rows).abs().max() < 1e-5


def test_a_translation_that_ends_before_the_others_of_its_batch_is_cut_there():
    model, ids = make(*BART, attention="sdpa"), ids_and_mask("none")[0]

    def first_ends(tokens, scores):
        scores[:, 50] = -1e9
        if tokens.shape[1] == 3:
            scores[0, 50] = 1e9
        return scores

    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=7, do_sample=False, num_beams=1,
                             pad_token_id=0, eos_token_id=50, logits_processor=[first_ends])
    assert out.shape == (2, 8) and out[0, 3] == 50 and not out[0, 4:].any()
    early, late = seen.encoder_decoder(item=0), seen.encoder_decoder(item=1)
    assert len(np.asarray(early)) == 3 and len(np.asarray(late)) == 7 and late.notes == []
    assert early.notes == ["the text ended 4 token(s) before the longest of its batch"]
