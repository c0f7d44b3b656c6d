"""The methods on everything that holds attention, with every kind of array, and what they say to bad input."""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import softmax_rows

import headwater as hw

COMMAND = Path(sys.executable).with_name("headwater")


def plain_rollout(layers, residual=0.5):
    total = None
    for layer in layers:
        a = (1 - residual) * layer.mean(0) + residual * np.eye(layer.shape[-1])
        a /= a.sum(-1, keepdims=True)
        total = a if total is None else a @ total
    return total


def test_rollout_is_the_product_of_prepared_layers(stack):
    assert np.abs(np.asarray(hw.rollout(stack)) - plain_rollout(stack.astype(np.float64))).max() < 1e-6


def test_a_list_an_array_a_file_and_a_hugging_face_output_give_the_same(stack, tmp_path):
    class Output:
        attentions = tuple(torch.from_numpy(layer[None]) for layer in stack)
    np.save(tmp_path / "x.npy", stack)
    expected = hw.rollout(stack).values
    for given in (list(stack), str(tmp_path / "x.npy"), tmp_path / "x.npy", Output(), {"attentions": list(stack)},
                  [torch.from_numpy(layer) for layer in stack], hw.open(stack)):
        assert np.array_equal(np.asarray(hw.rollout(given)), expected)


def test_one_layer_in_a_list_is_one_layer(stack):
    one = hw.rollout([stack[0]])
    assert one.options["layers"] == [0, 1]
    assert np.array_equal(one.values, hw.rollout(stack, layers="0:1").values)
    assert np.array_equal(hw.rollout((torch.from_numpy(stack[:1]),)).values.numpy(), hw.rollout([stack[0]]).values)


def test_results_are_what_the_command_gives(stack, tokens, tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, **{f"layer_{k}": layer for k, layer in enumerate(stack)}, tokens=np.array(tokens))
    for words, flags in ((dict(row=0), ["rollout", "--row", "0"]), (dict(preset="tutorial", by_layer=True),
                         ["rollout", "--preset", "tutorial", "--by-layer"])):
        done = subprocess.run([COMMAND, flags[0], path, *flags[1:], "-o", "-"], capture_output=True, text=True,
                              check=True)
        assert json.loads(hw.rollout(path, **words).to_json()) == json.loads(done.stdout)


@pytest.mark.parametrize("words", [dict(row=0), dict(row=-1), dict(row="cls"), dict(row="mean"), dict(layers="1:3"),
                                   dict(layers=slice(1, None)), dict(layers=range(0, 2)), dict(layers=(0, 2)),
                                   dict(fuse="max", discard=0.3, order="discard-first"), dict(head=1),
                                   dict(preset="vit-explain"), dict(residual=0, divide="changed", empty="zero")])
def test_options_have_the_same_words_everywhere(stack, tokens, words):
    result = hw.rollout(stack, tokens=tokens, **words)
    assert result.values.shape == ((6,) if "row" in words else (6, 6))
    for word in ("fuse", "residual", "discard", "order", "empty", "divide", "preset"):
        if word in words:
            assert result.options[word] == words[word]
    if "row" in words and words["row"] != "mean":
        whole = hw.rollout(stack, tokens=tokens).values
        assert np.abs(result.values - whole[5 if words["row"] == -1 else 0]).max() < 1e-6


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_torch_goes_in_and_comes_out(stack, dtype):
    result = hw.rollout([torch.from_numpy(layer).to(dtype) for layer in stack])
    assert isinstance(result.values, torch.Tensor) and result.values.dtype == torch.float32
    assert (result.values - torch.from_numpy(hw.rollout(stack).values)).abs().max() < 1e-2
    assert torch.from_dlpack(result).data_ptr() == result.values.data_ptr()


def test_tensors_that_need_gradients_or_lie_askew_are_taken(stack):
    layers = [torch.from_numpy(layer).requires_grad_() for layer in stack]
    askew = np.asfortranarray(stack)
    assert np.array_equal(hw.rollout(layers).values.numpy(), hw.rollout(askew).values)


def test_jax_goes_in_and_comes_out(stack):
    jax = pytest.importorskip("jax")
    result = hw.rollout([jax.numpy.asarray(layer) for layer in stack])
    assert isinstance(result.values, jax.Array)
    half = hw.rollout(jax.numpy.asarray(stack, dtype=jax.numpy.bfloat16))
    assert isinstance(half.values, jax.Array) and np.abs(half.numpy() - result.numpy()).max() < 1e-2
    assert half.values.devices() == result.values.devices() == jax.numpy.asarray(stack).devices()
    host = np.asarray(jax.numpy.asarray(stack, dtype=jax.numpy.bfloat16))  # what a GPU's array becomes
    assert np.array_equal(hw.rollout(host).values, half.numpy())


def test_arrays_are_borrowed_not_copied(stack):
    source = hw.open(stack)
    before = np.asarray(hw.rollout(source))
    stack[:] = np.eye(6, dtype=np.float32)
    assert np.allclose(np.asarray(hw.rollout(source)), np.eye(6)) and not np.allclose(before, np.eye(6))


def test_a_batch_gives_an_axis_or_a_list_where_lengths_differ(batch):
    layers, mask = batch
    whole = hw.rollout(layers)
    assert whole.shape == (2, 6, 6)
    cropped = hw.rollout(layers, attention_mask=mask)
    assert [one.shape for one in cropped.values] == [(6, 6), (4, 4)] and isinstance(cropped.values, list)
    alone = hw.rollout([layer[1, :, :4, :4] for layer in layers])
    assert np.array_equal(cropped.values[1], alone.values)
    assert np.array_equal(hw.rollout(layers, attention_mask=mask, item=1).values, alone.values)
    assert hw.rollout(layers, row=0).shape == (2, 6)


def test_a_batch_may_have_tokens_of_each_item(batch):
    layers, mask = batch
    lists = [list("abcdef"), list("uvwx")]
    assert hw.rollout(layers, attention_mask=mask, tokens=lists).tokens == lists
    assert hw.rollout(layers, attention_mask=mask, tokens=[list("abcdef"), list("uvwx") + ["", ""]]).tokens == lists


def test_flow_is_double_and_average_and_raw_are_theirs(stack):
    flow = hw.flow(stack, certify=True)
    assert flow.dtype == np.float64 and np.all(flow.values * 2**30 == np.round(flow.values * 2**30))
    assert hw.flow(stack, row=1, column=-1).shape == (1,) and hw.flow(stack, by_layer=True).shape == (3, 6, 6)
    assert np.array_equal(hw.flow(stack, every_layer=True).values, hw.flow(stack, by_layer=True).values)
    assert np.allclose(hw.raw(stack, layer=1, head=1).values, stack[1, 1])
    prepared = 0.5 * stack.mean(1) + 0.5 * np.eye(6)
    assert np.abs(hw.average(stack).values - prepared.mean(0)).max() < 1e-6


def test_comparisons_by_head_and_with_values_of_ones_own(stack):
    heads = hw.compare(stack, by="head")
    assert len(heads) == stack.shape[0] * stack.shape[1]
    assert np.allclose(heads[0].values, stack[0, 0]) and np.allclose(heads[-1].values, stack[-1, -1])
    shares = hw.compare(stack, by="discard", values=[0, 0.25])
    assert [panel.options["discard"] for panel in shares] == [0, 0.25]
    assert len(hw.compare(stack, by="evolution", layers_shown=[0, -1])) == 2
    with pytest.raises(hw.Error, match="expected by 'discard'"):
        hw.compare(stack, by="fuse", values=[0.1])


def test_metrics_of_a_batch_say_what_the_model_said():
    texts = ["The keys to the cabinet", "The key to the cabinets"]
    said = hw.metrics("verb-number", text=texts).predictions
    assert said[0]["name"] == "plural" and len(said) == 2
    assert [hw.metrics("verb-number", text=one).predictions[0] for one in texts] == said


def test_flow_tells_how_far_it_is(stack):
    told = []
    hw.flow(stack, progress=lambda settled, pairs: told.append((settled, pairs)))
    assert not told or told[-1][1] == 36
    with pytest.raises(KeyboardInterrupt):
        hw.flow(softmax_rows((4, 1, 64, 64), sharp=4.0), layers="0:4", progress=stop)


def stop(settled, pairs):
    raise KeyboardInterrupt


def test_compare_has_panels_and_agreement(stack):
    for by, count in (("layer", 2), ("evolution", 3), ("discard", 4), ("fuse", 3), ("method", 4)):
        found = hw.compare(stack, by=by)
        assert len(found.panels) == count and found.agreement.shape == (count, count)
        assert json.loads(found.to_json())["by"] == by
    assert found.panels[-1].method == "flow"


@pytest.mark.parametrize("call, sentence", [
    (lambda a: hw.rollout(a, preset="papr"), "paper"),
    (lambda a: hw.rollout(a, row=17), "17"),
    (lambda a: hw.rollout(a, residual=1.5), "1.5"),
    (lambda a: hw.rollout("nothing.npz"), "nothing.npz: does not exist"),
    (lambda a: hw.rollout([a[0], a[0][:, :4, :4]]), "has 4 tokens"),
    (lambda a: hw.rollout(a, tokens=["a"]), "1 tokens were given, expected 6"),
    (lambda a: hw.rollout(3), "attention of type int"),
    (lambda a: hw.rollout([]), "is empty"),
    (lambda a: hw.rollout(a.astype(int)), "not floats"),
    (lambda a: hw.rollout(a * 2), "sums to"),
    (lambda a: hw.rollout(a, text="x"), "`text`: was given beside attention in memory"),
    (lambda a: hw.rollout(a, fuse="mean", head=1), "beside fuse"),
    (lambda a: hw.compare(a), "no 'by' was given"),
    (lambda a: hw.compare(a, by="discards"), "discard"),
    (lambda a: hw.rollout(a, sums="some"), "unknown sums"),
    (lambda a: hw.flow(a, column=9), "9"),
    (lambda a: hw.gradient(a), "model"),
    (lambda a: hw.rollout(a.astype(str)), "expected numbers"),
    (lambda a: hw.rollout(a, residual="half"), "`residual` half: expected a number"),
    (lambda a: hw.rollout(a, call=0), "`call`: is for captures"),
    (lambda a: hw.rollout(a).top(row=6), "has no row 6, expected 0 to 5"),
    (lambda a: hw.to_pandas(3), "a table of int"),
])
def test_bad_input_is_one_sentence(stack, call, sentence):
    with pytest.raises(hw.Error) as raised:
        call(stack)
    assert sentence in str(raised.value) and "\n" not in str(raised.value) and isinstance(raised.value, ValueError)


def test_unknown_words_are_named_with_those_that_there_are(stack):
    for method in (hw.rollout, hw.flow, hw.metrics):
        with pytest.raises(TypeError, match="'tokenz', did you mean 'tokens'; there are .*preset, .* tokens"):
            method(stack, tokenz=[])


def test_bad_numbers_name_their_place(stack):
    stack[1, 0, 2, 3] = np.nan
    with pytest.raises(hw.Error, match="layer 1, head 0, row 2"):
        hw.rollout(stack)
    assert hw.rollout(stack, nan="identity").notes


def test_output_without_attention_points_to_capture():
    class Output:
        logits = None
        attentions = ()
    with pytest.raises(hw.Error, match="headwater.capture"):
        hw.rollout(Output())


def test_info_says_what_there_is(stack, tokens):
    found = hw.info(stack, tokens=tokens)
    assert found["tokens"] == tokens and found["source"]["layers"] == 3


def test_info_of_a_model_needs_no_input():
    found = hw.info("facts")
    assert (found["source"]["layers"], found["model"]["positions"]) == (4, 256)
    assert hw.info("facts", ignore_code=True)["model"] == found["model"]
    shown = json.loads(subprocess.run([COMMAND, "info", "facts", "-o", "-"], capture_output=True, check=True).stdout)
    assert found.keys() == shown.keys() and found["model"] == shown["model"]
    for ask, sentence in ((lambda: hw.info("facts", item=1), "has no item 1; leave `item` out"),
                          (lambda: hw.info("facts", truncate=True), "has no input to run on"),
                          (lambda: hw.rollout("facts"), "has no input to run on")):
        with pytest.raises(hw.Error, match=f"^facts: .*{sentence}"):
            ask()


def test_errors_call_a_model_by_the_name_that_was_given():
    for ask in (lambda: hw.gradient("verb-number", text="The keys", target="xx"),
                lambda: hw.rollout("verb-number", text="The keys", head=9),
                lambda: hw.rollout("verb-number", text="a " * 200), lambda: hw.rollout("verb-number", image="x.png"),
                lambda: hw.generate("verb-number", "The"), lambda: hw.rollout("verb-number", text="The keys", row=9)):
        with pytest.raises(hw.Error, match="^verb-number: "):
            ask()


def test_metrics_name_only_the_endings_that_they_can_have(stack, tmp_path):
    with pytest.raises(hw.Error, match=r"expected one of \.json, \.npz, \.html; choose one"):
        hw.metrics(stack).save(tmp_path / "x.xlsx")


def test_a_continuation_has_its_own_count():
    with pytest.raises(hw.Error, match="`count`: was given beside a continuation"):
        hw.generate("facts", "Anna took", continuation=" the key", count=5)


def test_a_result_is_not_taken_for_attention():
    found = hw.rollout(np.full((2, 2, 4, 4), 0.25, dtype=np.float32))
    for ask in (lambda: hw.rollout(found), lambda: hw.metrics(found), lambda: hw.compare(found, found),
                lambda: hw.rollout([found, found])):
        with pytest.raises(hw.Error, match="is a result of rollout"):
            ask()
    assert np.array_equal(hw.rollout(np.stack([np.eye(4, dtype=np.float32)] * 2)), np.eye(4))


def test_a_similarity_is_refused_by_methods_that_have_no_output():
    for ask in (hw.rollout, hw.flow, hw.metrics, lambda *args, **words: hw.compare(*args, by="layer", **words)):
        with pytest.raises(hw.Error, match="only gradient and relevance ask about"):
            ask("verb-number", text="The keys", against_text="The key")
