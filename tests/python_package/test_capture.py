"""The ways to capture, what they leave behind, and what they say to bad input."""
import pytest
import torch
import torch.nn.functional as F
import transformers as hf
from models import SIZES, TEXT, ids_and_mask, make

import headwater as hw

timm = pytest.importorskip("timm")


def encoder():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 48, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2).eval()


def weights_of(model, x, padding=None):
    """What each layer's own attention returns when it is asked."""
    found = []
    for layer in model.layers:
        found.append(layer.self_attn(x, x, x, key_padding_mask=padding)[1])
        x = layer(x, src_key_padding_mask=padding)
    return found


def test_transformer_encoder_is_seen_through_sdpa():
    model, x = encoder(), torch.randn(2, 7, 32)
    with torch.no_grad():
        plain, expected = model(x), weights_of(model, x)
        with hw.capture(model) as seen:
            out = model(x)
    assert seen.how == "sdpa" and seen.layers == ["layers.0.self_attn", "layers.1.self_attn"]
    assert (out - plain).abs().max() < 1e-5
    for ours, theirs in zip(seen.maps(item=1), expected):
        assert (ours - theirs[1]).abs().max() < 1e-6
    assert seen.rollout().shape == (2, 7, 7)


def test_padding_of_a_transformer_encoder_is_masked():
    model, x = encoder(), torch.randn(2, 7, 32)
    padding = torch.zeros(2, 7, dtype=torch.bool)
    padding[1, 5:] = True
    with torch.no_grad():
        expected = weights_of(model, x, padding)
        with hw.capture(model, attention_mask=~padding) as seen:
            model(x, src_key_padding_mask=padding)
    for ours, theirs in zip(seen.maps(item=1), expected):
        assert ours.shape == (5, 5) and (ours - theirs[1, :5, :5]).abs().max() < 1e-6


@pytest.mark.parametrize("need_weights, how", [(True, "eager"), (False, "sdpa")])
def test_multihead_attention_is_seen_whether_it_is_asked_for_weights_or_not(need_weights, how):
    torch.manual_seed(0)
    module, x = torch.nn.MultiheadAttention(32, 4, batch_first=True).eval(), torch.randn(2, 7, 32)
    plain, expected = module(x, x, x)
    with hw.capture(module) as seen:
        out, weights = module(x, x, x, need_weights=need_weights)
    assert seen.how == how and (out - plain).abs().max() < 1e-6
    assert (seen.maps()[0] - expected[0]).abs().max() < 1e-6
    assert weights is None or torch.allclose(weights, expected)
    assert "forward" not in module.__dict__


def test_timm_vit_gives_the_attention_that_it_has_without_fusion():
    torch.manual_seed(0)
    model = timm.create_model("vit_tiny_patch16_224", img_size=48, depth=3).eval()
    image = torch.randn(2, 3, 48, 48)
    with torch.no_grad(), hw.capture(model) as seen:
        model(image)
    found = []
    for block in model.blocks:
        block.attn.fused_attn = False
        block.attn.attn_drop.register_forward_hook(lambda module, given, out: found.append(given[0]))
    with torch.no_grad():
        model(image)
    assert seen.how == "sdpa" and seen.layers == [f"blocks.{k}.attn" for k in range(3)]
    for ours, theirs in zip(seen.maps(item=1), found):
        assert (ours - theirs[1].mean(0)).abs().max() < 1e-5


@pytest.mark.parametrize("kind, config", [("DebertaV2Model", "DebertaV2Config"), ("BloomForCausalLM", "BloomConfig")])
def test_models_outside_the_interface_are_seen_by_hooks(kind, config):
    words = SIZES if "Deberta" in kind else dict(hidden_size=32, n_layer=3, n_head=4, vocab_size=90)
    model = make(kind, config, words)
    ids, mask, _ = ids_and_mask("right")
    with torch.no_grad():
        expected = model(input_ids=ids, attention_mask=mask, output_attentions=True).attentions
        with hw.capture(model) as seen:
            out = model(input_ids=ids, attention_mask=mask)
    assert seen.how == "eager" and out.attentions is None and not model.config.output_attentions
    for ours, theirs in zip(seen.maps(), expected):
        assert (ours - theirs[0].mean(0)).abs().max() < 1e-6


@pytest.mark.parametrize("how", ["interface", "sdpa", "eager"])
def test_a_way_can_be_chosen_and_both_give_the_same(how):
    model = make(*TEXT["llama"], attention="sdpa")
    ids, mask, _ = ids_and_mask("left")
    with torch.no_grad(), hw.capture(model, how=how) as seen:
        assert model(input_ids=ids, attention_mask=mask).attentions is None
    with torch.no_grad(), hw.capture(model) as other:
        model(input_ids=ids, attention_mask=mask)
    assert seen.how == how and model.config._attn_implementation == "sdpa"
    assert (seen.rollout(item=1).values - other.rollout(item=1).values).abs().max() < 1e-6


def everything(model):
    hooks = sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())
    registry = hf.modeling_utils.ALL_ATTENTION_FUNCTIONS
    return hooks, dict(registry._global_mapping), dict(registry._local_mapping), F.scaled_dot_product_attention


@pytest.mark.parametrize("how", ["interface", "sdpa", "eager"])
def test_nothing_stays_behind_even_after_an_exception(how):
    model = make(*TEXT["bert"], attention="eager" if how == "eager" else "sdpa")
    before = everything(model)
    fast = torch.backends.mha.get_fastpath_enabled()
    with pytest.raises(RuntimeError, match="stop"):
        with hw.capture(model, how=how):
            model(input_ids=torch.tensor([[5, 6]]))
            raise RuntimeError("stop")
    assert everything(model) == before and torch.backends.mha.get_fastpath_enabled() == fast
    assert not model.config.output_attentions


def test_two_captures_of_two_models_keep_apart():
    first, second = make(*TEXT["bert"], attention="sdpa"), make(*TEXT["gpt2"], attention="sdpa")
    ids = torch.tensor([[5, 6, 7]])
    with torch.no_grad(), hw.capture(first) as one, hw.capture(second) as two:
        first(input_ids=ids)
        second(input_ids=ids)
    assert one.layers[0].startswith("encoder.layer.0") and two.layers[0].startswith("transformer.h.0")
    assert len(one.layers) == len(two.layers) == 3


def test_maps_can_be_kept_instead_of_inputs():
    model = make(*TEXT["llama"], attention="sdpa")
    ids, mask, _ = ids_and_mask("left")
    with torch.no_grad(), hw.capture(model, keep="maps", fuse="max") as seen:
        model(input_ids=ids, attention_mask=mask)
    with torch.no_grad(), hw.capture(model) as other:
        model(input_ids=ids, attention_mask=mask)
    assert all(record.query is None for record in seen._answer().records)
    assert (seen.rollout(item=1).values - other.rollout(item=1, fuse="max").values).abs().max() < 1e-6
    with pytest.raises(hw.Error, match="fused by max"):
        seen.rollout(fuse="mean")


def test_flow_metrics_compare_and_tokens_come_from_a_capture():
    model = make(*TEXT["bert"])
    ids, _, _ = ids_and_mask("right")
    words = [f"w{k}" for k in range(13)]
    with torch.no_grad():
        references = model(input_ids=ids[:1], output_attentions=True).attentions
        with hw.capture(model) as seen:
            model(input_ids=ids[:1])
    assert seen.rollout(tokens=words, row=0).top(1)[0][0] in words
    assert (seen.flow(row=0).values - hw.flow(references, row=0).values).abs().max() < 1e-5
    assert seen.metrics()["rollout_entropy"] == pytest.approx(hw.metrics(references)["rollout_entropy"], abs=1e-5)
    assert [panel.label for panel in seen.compare(by="fuse")] == ["fuse mean", "fuse max", "fuse min"]
    assert seen.raw(layer=0, head=1).shape == (13, 13) and seen.average().shape == (13, 13)


def test_a_keyword_that_changes_attention_and_that_nobody_knows_raises():
    model = make(*TEXT["llama"], attention="sdpa")
    with pytest.raises(hw.Error, match="the keyword 'block_indices'"):
        with hw.capture(model):
            model(input_ids=torch.tensor([[5, 6]]), block_indices=torch.zeros(1))
    with hw.capture(model, how="eager") as seen:  # as the sentence says
        model(input_ids=torch.tensor([[5, 6]]), block_indices=torch.zeros(1))
    assert len(seen.layers) == 3


@pytest.mark.parametrize("call, sentence", [
    (lambda: hw.capture("bert"), "capture of str: expected a PyTorch model"),
    (lambda: hw.capture(encoder(), pattern="layer"), "there are layers.0.self_attn, layers.1.self_attn"),
    (lambda: hw.capture(encoder(), pattern="("), "is not a regular expression"),
    (lambda: hw.capture(encoder(), how="magic"), "unknown how 'magic'"),
    (lambda: hw.capture(encoder(), keep="all"), "unknown keep 'all'"),
    (lambda: hw.capture(encoder(), fuse="mad"), "fuse 'mad'"),
])
def test_bad_captures_say_what_is_wrong(call, sentence):
    with pytest.raises(hw.Error, match=sentence.replace("(", r"\(")):
        call()


def test_unknown_words_of_capture_raise():
    with pytest.raises(TypeError, match="tokeniser"):
        hw.capture(encoder(), tokeniser=None)


def test_a_model_without_attention_is_told_so():
    with pytest.raises(hw.Error, match="Linear: no attention was seen"):
        with hw.capture(torch.nn.Linear(2, 2)) as seen:
            seen.model(torch.zeros(1, 2))
    with pytest.raises(hw.Error, match="was not run"):
        with hw.capture(torch.nn.Linear(2, 2)):
            pass


def test_tokens_that_do_not_fit_are_told_so():
    model = make(*TEXT["bert"], attention="sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=torch.tensor([[5, 6, 7]]))
    with pytest.raises(hw.Error, match="2 tokens were given, expected 3"):
        seen.rollout(tokens=["a", "b"])


def test_a_call_among_several_can_be_chosen():
    model = make(*TEXT["bert"], attention="sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=torch.tensor([[5, 6, 7]]))
        model(input_ids=torch.tensor([[5, 6, 7, 8, 9]]))
    assert seen.rollout(call=-1).shape == (5, 5) and seen.rollout(call=0).shape == hw.raw(seen, call=0).shape == (3, 3)
    assert seen.metrics(call=0)["seq_length"] == 3 and len(seen.compare(by="fuse", call=0).panels[0].tokens) == 3
    with pytest.raises(hw.Error, match="has no call 2, expected 0 to 1"):
        seen.rollout(call=2)
    with pytest.raises(hw.Error, match="ran 2 times, expected one call to be chosen") as error:
        seen.rollout()
    assert "call 0: 3 tokens" in str(error.value) and "call 1: 5 tokens" in str(error.value)


def test_padding_can_be_told_afterwards_and_words_that_mean_nothing_are_refused():
    model = make(*TEXT["bert"], attention="sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=torch.tensor([[5, 6, 7]]))
    assert seen.rollout(attention_mask=[[1, 1, 0]]).shape == (2, 2)
    with pytest.raises(hw.Error, match="`axes`: was given with a capture"):
        seen.rollout(axes="nn")
    with pytest.raises(hw.Error, match="has no item 3"):
        seen.maps(item=3)


def test_weights_that_somebody_asked_for_are_handed_on():
    model = make("DebertaV2Model", "DebertaV2Config", SIZES)
    ids = torch.tensor([[5, 6, 7]])
    with torch.no_grad(), hw.capture(model) as seen:
        out = model(input_ids=ids, output_attentions=True)
    assert seen.how == "eager" and (seen.maps()[1] - out.attentions[1][0].mean(0)).abs().max() < 1e-6


def test_a_pattern_chooses_layers():
    model = make(*TEXT["bert"], attention="sdpa")
    with torch.no_grad(), hw.capture(model, pattern=r"encoder\.layer\.[12]\.attention") as seen:
        model(input_ids=torch.tensor([[5, 6, 7]]))
    assert len(seen.layers) == 2 and seen.layers[0].startswith("encoder.layer.1")
