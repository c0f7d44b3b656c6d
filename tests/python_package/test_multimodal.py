"""Images among the tokens of vision-language models, and what results offer beyond their values."""
import json
import pickle

import numpy as np
import pytest
import torch
from conftest import softmax_rows
from models import TEXT, ids_and_mask, make
from test_never_lies import captured, llava, off
from test_no_crash import qwen2_5_vl

import headwater as hw
from headwater.torch.images import split


def test_image_tokens_are_named_by_their_place_and_make_an_image(tmp_path):
    model, inputs = llava()
    found = captured(model, inputs).rollout()
    assert found.tokens[:6] == ["<image 0: 0,0>", "<image 0: 0,1>", "<image 0: 0,2>", "<image 0: 0,3>", "<image 0: 1,0>",
                                "<image 0: 1,1>"] and found.tokens[16:18] == ["16", "17"]
    image = found.image(0, row=-1)
    assert image.shape == (4, 4) and np.array_equal(image.values.ravel(), found.values[-1, :16].numpy())
    picture = np.random.default_rng(0).random((32, 32, 3))
    for ending in ("png", "svg", "json", "npy", "npz"):
        image.over(picture).save(tmp_path / f"x.{ending}")
        found.save(tmp_path / f"whole.{ending}")
    assert "<td" in image._repr_html_() and "<svg" not in image._repr_html_() and "<svg" not in found._repr_html_()
    assert any(name.startswith("<image") for name, _ in found.top(20))
    with pytest.raises(hw.Error, match="there is no image 1, expected 0 to 0"):
        found.image(1)
    with pytest.raises(hw.Error, match="headwater found none in the input"):
        hw.rollout(softmax_rows((2, 2, 4, 4))).image()
    with hw.capture(model) as seen:
        model(**inputs)
    assert seen.gradient().image().shape == (4, 4)
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(**inputs, max_new_tokens=3, min_new_tokens=3, do_sample=False)
    text = seen.generation()
    assert text.prompt[3] == "<image 0: 0,3>" and text.image(1).shape == (4, 4)
    assert np.array_equal(text.image(1).values.ravel(), text.values[1, :16].numpy())


def test_the_grid_of_qwens_images_is_what_the_processor_said():
    model, inputs = qwen2_5_vl()
    found = captured(model, inputs).rollout()
    assert found.images[0].grid == (1, 2, 4) and found.image().shape == (2, 4)
    assert found.tokens[1] == "<image 0: 0,0>" and found.tokens[8] == "<image 0: 1,3>"


def test_images_are_told_apart_by_grids_counts_and_gaps():
    two = split("image", list(range(8)), [(1, 2, 2), (1, 2, 2)], None)
    assert [place.positions for place in two] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [place.grid for place in split("image", list(range(8)), [], (2, 2))] == [(1, 2, 2)] * 2
    apart = split("image", [0, 1, 2, 3, 6, 7, 8], [], (2, 2))
    assert [place.grid for place in apart] == [(1, 2, 2), None] and apart[1].names()[0] == "<image part 1: 0>"
    assert [place.grid for place in split("image", list(range(9)), [], None)] == [None]
    video = split("video", list(range(8)), [(2, 2, 2)], None)
    assert video[0].names()[-1] == "<video 0: 1,1,1>"


def test_every_head_of_a_layer_comes_one_layer_at_a_time(tmp_path):
    model, (ids, mask, where) = make(*TEXT["llama"]), ids_and_mask("right")
    with torch.no_grad():
        truth = model(input_ids=ids, attention_mask=mask, output_attentions=True).attentions
    model.set_attn_implementation("sdpa")
    seen = captured(model, dict(input_ids=ids, attention_mask=mask))
    got = []
    seen.heads(lambda layer, heads: got.append(heads), item=1)
    seen.heads(tmp_path / "x.npz", item=1)
    for layer, heads in seen.heads(item=1):
        assert off(heads, truth[layer][1][:, where, where]) < 1e-5 and torch.equal(got[layer], heads)
        assert np.array_equal(np.load(tmp_path / "x.npz")[f"layer_{layer}"], heads.numpy())
    assert off(hw.rollout(tmp_path / "x.npz"), seen.rollout(item=1)) < 1e-5
    assert all(torch.equal(one, other) for one, other in zip(seen.maps(fuse="none", item=1), got))
    with pytest.raises(hw.Error, match="has no item 5"):
        seen.heads(item=5)


def test_input_gradients_come_with_a_gradient():
    model, (ids, mask, where) = make(*TEXT["gpt2"], attention="sdpa"), ids_and_mask("left")
    with hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    found = seen.gradient(17)
    x = model.get_input_embeddings()(ids).detach().requires_grad_()
    y = model(inputs_embeds=x, attention_mask=mask).logits[:, -1, 17].sum()
    grad, = torch.autograd.grad(y, x)
    assert off(found.input_gradient[1], grad[1].norm(dim=-1)[where]) < 1e-4
    assert off(found.input_gradient_times_input[1], (grad * x)[1].sum(-1).detach()[where]) < 1e-4
    assert np.array_equal(np.float32(json.loads(found.to_json())[1]["input_gradient"]), found.item(1).input_gradient)


def test_several_rows_are_those_rows(stack):
    whole = hw.rollout(stack).values
    found = hw.rollout(stack, row=[3, -1])
    assert np.array_equal(found.rows, [3, 5]) and off(found, whole[[3, 5]]) < 1e-6
    assert hw.rollout(stack, row=[1, 2], by_layer=True).shape == (3, 2, 6) and json.loads(found.to_json())["rows"] == [3, 5]
    layers = [torch.from_numpy(layer)[None].repeat(2, 1, 1, 1) for layer in stack]
    assert hw.average(layers, row=[0, 1]).shape == (2, 2, 6)
    for words, sentence in ((dict(row=[]), "empty list"), (dict(row=[9]), "row 9")):
        with pytest.raises(hw.Error, match=sentence):
            hw.rollout(stack, **words)
    flow = hw.flow(stack, row=[4, 1])
    assert flow.rows == [4, 1] and np.array_equal(flow.values, hw.flow(stack).values[[4, 1]])
    turned = hw.rollout(stack, row=range(5, -1, -1))
    assert turned.rows == [5, 4, 3, 2, 1, 0] and off(turned, whole[::-1]) < 1e-6 and turned.shown_row() == 0
    assert pickle.loads(pickle.dumps(turned)) == turned and hw.rollout(stack, row="3,last") == found
    with pytest.raises(hw.Error, match="`row` mean: is not one row of a list"):
        hw.rollout(stack, row=[1, "mean"])


def test_several_rows_of_a_gradient():
    model = make(*TEXT["llama"], attention="sdpa")
    with hw.capture(model) as seen:
        model(input_ids=torch.tensor([[1, 2, 3, 4, 5]]))
    for rule in ("gradient", "gradient-rollout", "chefer"):
        whole = seen.gradient(17, rule=rule)
        assert off(seen.gradient(17, rule=rule, row=[4, 0]), whole.values[[4, 0]]) < 1e-6
        assert off(seen.gradient(17, rule=rule, row=[4, 3, 2, 1, 0]), whole.values.flip(0)) < 1e-6
    text = "The keys to the cabinet"
    whole, some = hw.gradient("verb-number", text=text), hw.gradient("verb-number", text=text, row=[2, 0])
    assert off(some, whole.values[[2, 0]]) < 1e-6 and some.rows == [2, 0] and some.shown_row() == 1
    with pytest.raises(hw.Error, match="names several tokens"):
        hw.relevance("verb-number", text=text, row=[2, 0])


def test_results_are_used_in_expressions(stack):
    a, b = hw.rollout(stack), hw.average(stack)
    assert np.array_equal(a - b, a.values - b.values) and np.array_equal(2 * a / 4, a.values / 2)
    assert np.array_equal(np.log(a), np.log(a.values)) and np.array_equal(np.maximum(a, b), np.maximum(a.values, b.values))
    tensor = hw.rollout([torch.from_numpy(layer) for layer in stack])
    assert isinstance(tensor * 2, torch.Tensor) and bool(((tensor > 0) == (tensor.values > 0)).all())


def test_pieces_become_words(stack):
    tokens = ["[CLS]", "head", "##wa", "##ter", "flows", "[SEP]"]
    found = hw.rollout(stack, tokens=tokens)
    words = found.words()
    assert words.tokens == ["[CLS]", "headwater", "flows", "[SEP]"] and words.shape == (4, 4)
    assert words.values[0, 1] == pytest.approx(found.values[0, 1:4].sum())
    assert words.values[1, 0] == pytest.approx(found.values[1:4, 0].mean()) and "6 tokens merged to 4 words" in words.notes
    offsets = [(0, 0), (0, 4), (4, 6), (6, 9), (10, 15), (0, 0)]
    plain = hw.rollout(stack, tokens=["[CLS]", "head", "wa", "ter", "flows", "[SEP]"], row=0)
    assert plain.words(offsets).tokens == words.tokens and plain.words(offsets).shape == (4,)
    with pytest.raises(hw.Error, match="has 2 pairs for 6 tokens"):
        found.words(offsets[:2])


def test_maps_come_in_chunks_of_a_batch():
    model, (ids, mask, _) = make(*TEXT["bert"]), ids_and_mask("right")
    with torch.no_grad():
        truth = model(input_ids=ids, attention_mask=mask, output_attentions=True).attentions
    found = hw.ICLRMetrics()._process_attention_chunked(model, dict(input_ids=ids, attention_mask=mask), 1)
    assert len(found) == 3 and found[1].shape == (2, 13, 13)
    assert off(found[2][1, :9, :9], truth[2][1].mean(0)[:9, :9]) < 1e-5
    numbers = hw.ICLRMetrics()._compute_attention_rollout_efficient([one[:1] for one in found])
    assert numbers["rollout_entropy"] > 0


def test_half_precision_goes_in_and_float32_comes_out(stack):
    layers = [torch.from_numpy(layer).to(torch.bfloat16) for layer in stack]
    assert hw.AttentionRollout().compute_rollout(layers).dtype == torch.float32
    assert hw.rollout(layers).values.dtype == torch.float32


def test_a_filter_leaves_tokens_of_the_prompt_out():
    model, ids = make(*TEXT["gpt2"], attention="sdpa"), ids_and_mask("none")[0][:1, :4]
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=3, min_new_tokens=3, do_sample=False)
    found = seen.generation(prompt=["the", "river", ".", "!"])
    assert {name for name, _ in found.top(0, 4, filter="punctuation")} == {"the", "river"}
    with pytest.raises(hw.Error, match="has no generated token 9"):
        found.top(9)


def test_generated_tokens_are_named_by_the_tokenizer():
    class Letters:
        def convert_ids_to_tokens(self, ids):
            return [f"t{one}" for one in ids]

    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0][:1, :4]
    with torch.no_grad(), hw.capture(model, tokenizer=Letters()) as seen:
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=3, min_new_tokens=3, do_sample=False)
    found = seen.generation()
    assert found.prompt + found.generated == [f"t{one}" for one in out[0].tolist()]
