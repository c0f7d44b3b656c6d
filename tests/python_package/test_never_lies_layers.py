"""Layers, masks, gradients and numbers that a capture once got wrong without a word."""
import gc

import numpy as np
import pytest
import torch
import transformers as hf
from models import BART, ENDS, GROUPED, SIZES, T5, TEXT, ids_and_mask, make
from test_never_lies import LIMIT, captured, clip, off

import headwater as hw

timm = pytest.importorskip("timm")


# -- 4. work that resumes

def batches(seed=0, items=4):
    ids = torch.randint(5, 90, (items, 2, 9), generator=torch.Generator().manual_seed(seed))
    return [dict(input_ids=one) for one in ids]


def test_work_resumes_only_with_the_same_model_data_and_options(tmp_path):
    model, path = make(*TEXT["bert"], attention="sdpa"), tmp_path / "x.json"
    hw.metrics_over(model, batches()[:2], resume=path)
    other = make(*TEXT["bert"], attention="sdpa")
    with torch.no_grad():
        other.encoder.layer[1].output.dense.weight[0] += 1
    pattern = r"encoder\.layer\.[01]\.attention"
    for model_now, data, words, sentence in ((other, batches(), {}, "is of another model"),
                                             (model, batches(seed=1), {}, "is of other data"),
                                             (model, batches(), dict(attention_layer_pattern=pattern),
                                              "is of attention_layer_pattern None"),
                                             (model, batches(), dict(keep_items=True), "is of keep_items False"),
                                             (model, batches(), dict(layer_idx=0), "is of layer_idx -1")):
        with pytest.raises(hw.Error, match=sentence):
            hw.metrics_over(model_now, data, resume=path, **words)
    assert hw.metrics_over(model, batches(), resume=path) == hw.metrics_over(model, batches())


# -- 8. gradients of encoder-decoder models

@pytest.mark.parametrize("kind", [T5, BART], ids=["t5", "bart"])
def test_the_logits_of_an_encoder_decoder_model_are_the_decoders(kind):
    model, (ids, mask, where) = make(*kind, attention="sdpa"), ids_and_mask("right")
    inputs = dict(input_ids=ids, attention_mask=mask, decoder_input_ids=ids[:, :11] + 1)
    with hw.capture(model) as seen:
        out = model(**inputs)
    assert seen.gradient(item=1).target["row"] == 10 and seen.gradient(item=1).target["id"] == int(out.logits[1, -1].argmax())
    alone = make(*kind, attention="sdpa")
    with hw.capture(alone) as one:
        alone(input_ids=ids[1:, where], decoder_input_ids=ids[1:, :11] + 1)
    assert off(seen.gradient(7, item=1), one.gradient(7)) < LIMIT
    cut = torch.ones(2, 11, dtype=torch.long)
    cut[1, 6:] = 0
    with hw.capture(model) as seen:
        model(**inputs, decoder_attention_mask=cut)
    assert [one["row"] for one in seen.gradient().target] == [10, 5]


# -- 9. layers

HYBRID = dict(GROUPED, num_hidden_layers=4, head_dim=8, **ENDS)
HYBRIDS = {
    "qwen3_next": ("Qwen3NextForCausalLM", "Qwen3NextConfig", dict(
        HYBRID, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, shared_expert_intermediate_size=24,
        linear_num_value_heads=4, linear_num_key_heads=2, linear_key_head_dim=8, linear_value_head_dim=8)),
    "lfm2": ("Lfm2ForCausalLM", "Lfm2Config", dict(HYBRID, layer_types=["conv", "conv", "full_attention", "conv"],
                                                   block_multiple_of=8)),
    "minimax": ("MiniMaxForCausalLM", "MiniMaxConfig", dict(
        HYBRID, num_local_experts=2, layer_types=["full_attention", "linear_attention"] * 2, block_size=4)),
    "jamba": ("JambaForCausalLM", "JambaConfig", dict(
        HYBRID, attn_layer_period=2, attn_layer_offset=1, num_experts=2, use_mamba_kernels=False, mamba_dt_rank=4)),
}


@pytest.mark.parametrize("name", HYBRIDS)
def test_layers_without_attention_are_named_or_passed_on(name):
    model, (ids, _, _) = make(*HYBRIDS[name], attention="sdpa"), ids_and_mask("none")
    seen = captured(model, dict(input_ids=ids))
    with pytest.raises(hw.Error, match="of the 4 layers of 'model.layers' ran without attention that can be recorded: "
                                       "model.layers"):
        seen.rollout()
    found = seen.rollout(missing="residual", item=0)
    assert any("treated as passing everything through" in note for note in found.notes) and "passing everything" in found.to_json()
    maps = seen.maps(missing="residual")
    eye = torch.eye(13)
    assert len(maps) == 4 and 0 < sum(bool(torch.equal(map, eye)) for map in maps) < 4
    assert off(found, hw.rollout([map[None] for map in maps]).values) < LIMIT
    with pytest.raises(hw.Error, match="unknown missing 'all'; there are error and residual"):
        seen.rollout(missing="all")
    with pytest.raises(hw.Error, match="ran without attention"):
        hw.compute_attention_attribution(model, dict(input_ids=ids))


def test_keys_that_are_pooled_are_refused():
    torch.manual_seed(0)
    config = hf.SegformerConfig(hidden_sizes=[16, 16, 32, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2],
                                image_size=64, decoder_hidden_size=16)
    pictures = dict(pixel_values=torch.randn(1, 3, 64, 64))
    with pytest.raises(hw.Error):
        captured(hf.SegformerForImageClassification(config).eval(), pictures).rollout()
    funnel = hf.FunnelConfig(vocab_size=90, block_sizes=[2, 2], d_model=32, n_head=4, d_head=8, d_inner=48)
    with pytest.raises(hw.Error):
        captured(hf.FunnelBaseModel(funnel).eval(), dict(input_ids=ids_and_mask("none")[0])).rollout()


def test_windows_are_not_items():
    torch.manual_seed(0)
    swin = hf.SwinModel(hf.SwinConfig(image_size=32, patch_size=4, embed_dim=16, depths=[2], num_heads=[2],
                                      window_size=4)).eval()
    with pytest.raises(hw.Error, match="attention within windows or frames"):
        captured(swin, dict(pixel_values=torch.randn(2, 3, 32, 32))).rollout()
    video = hf.TimesformerModel(hf.TimesformerConfig(image_size=16, patch_size=8, num_frames=2, hidden_size=32,
                                                     num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)).eval()
    seen = captured(video, dict(pixel_values=torch.randn(1, 2, 3, 16, 16)))
    for words in (dict(), *(dict(stack=name) for name in seen.stacks)):
        with pytest.raises(hw.Error):
            seen.rollout(**words)


def test_a_block_that_is_not_fused_is_not_dropped():
    torch.manual_seed(0)
    model = timm.create_model("vit_tiny_patch16_224", img_size=48, depth=3).eval()
    model.blocks[1].attn.fused_attn = False
    with torch.no_grad(), hw.capture(model) as seen:
        model(torch.randn(1, 3, 48, 48))
    with pytest.raises(hw.Error, match="1 of the 3 layers of 'blocks' .* blocks.1.attn"):
        seen.rollout()


def test_an_encoder_that_cannot_be_recorded_is_not_replaced_by_the_decoder():
    words = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                 encoder_ffn_dim=48, decoder_ffn_dim=48, vocab_size=90, attention_window=4, pad_token_id=0, bos_token_id=1,
                 eos_token_id=2, decoder_start_token_id=2, max_encoder_position_embeddings=64,
                 max_decoder_position_embeddings=64)
    led = make("LEDForConditionalGeneration", "LEDConfig", words)
    ids = ids_and_mask("none")[0]
    for model, inputs in ((led, dict(input_ids=ids[:, :12])),
                          (make("LongT5ForConditionalGeneration", "LongT5Config", dict(T5[2], local_radius=3)),
                           dict(input_ids=ids, decoder_input_ids=ids[:, :6]))):
        seen = captured(model, inputs)
        for ask in (seen.rollout, seen.encoder_decoder):
            with pytest.raises(hw.Error, match="ran without attention|longformer_self_attn has 4 queries"):
                ask()
        with torch.no_grad(), pytest.raises(hw.Error, match="layer 0 of its encoder attention has shape"):
            hw.encoder_decoder(model(**inputs, output_attentions=True), item=0)


def test_a_pass_that_an_exception_stopped_does_not_count():
    model, (ids, _, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    stop = [True]

    def raise_once(module, args):
        if stop:
            raise RuntimeError("stop")

    handle = model.encoder.layer[2].register_forward_pre_hook(raise_once)
    with torch.no_grad(), hw.capture(model) as seen:
        with pytest.raises(RuntimeError):
            model(input_ids=ids)
        stop.clear()
        model(input_ids=ids[:, :7])
    handle.remove()
    assert len(seen.maps()) == 3 and seen.rollout().shape == (2, 7, 7) and "1 stopped by an exception" in str(seen)
    stop.append(1)
    handle = model.encoder.layer[2].register_forward_pre_hook(raise_once)
    with pytest.raises(hw.Error, match="was stopped by an exception"), hw.capture(model) as seen:
        with pytest.raises(RuntimeError):
            model(input_ids=ids)
    handle.remove()


# -- 10. masks that share an address

def test_masks_of_two_questions_are_told_apart():
    model, (ids, mask, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("right")
    inputs = dict(input_ids=ids, attention_mask=mask)
    seen = captured(model, inputs)
    for _ in range(20):
        for real in (9, 12):  # the second shows three positions that attention does not see
            told = torch.ones(2, 13, dtype=torch.long)
            told[:, real:] = 0
            expected = captured(model, inputs).rollout(attention_mask=told, item=1).values
            gc.collect()
            assert off(seen.rollout(attention_mask=told, item=1), expected) < LIMIT


# -- 11. padding

class Wrapped(torch.nn.Module):
    """As SentenceTransformer: a dictionary in, and the model inside gets its own keywords."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, features):
        return self.inner(input_ids=features["input_ids"], attention_mask=features["attention_mask"])[0].mean(1)


def test_padding_is_cropped_wherever_the_model_inside_is_told_of_it():
    inner, (ids, mask, where) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("right")
    model = Wrapped(inner).eval()
    with torch.no_grad(), hw.capture(model) as seen:
        model(dict(input_ids=ids, attention_mask=mask))
    assert off(seen.rollout(item=1), captured(inner, dict(input_ids=ids[1:, where])).rollout()) < LIMIT
    model, inputs = clip(13)
    with torch.no_grad(), hw.capture(model) as seen:
        model.get_text_features(input_ids=ids, attention_mask=mask)
    assert seen.rollout(item=1).shape == (9, 9)


def test_torchs_own_padding_mask_is_read():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 48, batch_first=True)
    model, x = torch.nn.TransformerEncoder(layer, 2).eval(), torch.randn(2, 7, 32)
    padding = torch.zeros(2, 7, dtype=torch.bool)
    padding[1, 5:] = True
    with torch.no_grad(), hw.capture(model) as seen:
        model(x, src_key_padding_mask=padding)
    with torch.no_grad(), hw.capture(model) as alone:
        model(x[1:, :5])
    assert off(seen.rollout(item=1), alone.rollout()) < LIMIT


class Prompted(torch.nn.Module):
    """As prompt tuning: learned vectors before the text, and a longer mask for the model inside."""

    def __init__(self):
        super().__init__()
        self.base = make(*TEXT["llama"], attention="sdpa")
        self.prompt = torch.nn.Parameter(torch.randn(4, 32, generator=torch.Generator().manual_seed(1)))

    def forward(self, input_ids, attention_mask):
        text = self.base.get_input_embeddings()(input_ids)
        both = torch.cat([self.prompt.expand(len(text), -1, -1), text], 1)
        mask = torch.cat([torch.ones(len(text), 4, dtype=torch.long), attention_mask], 1)
        return self.base(inputs_embeds=both, attention_mask=mask)


def test_virtual_tokens_count_and_padding_after_them_does_not():
    model, (ids, mask, _) = Prompted().eval(), ids_and_mask("right")
    with torch.no_grad(), hw.capture(model) as seen:
        model(ids, mask)
    assert [one.shape[0] for one in seen.rollout()] == [17, 13]


def test_a_mask_that_does_not_fit_is_refused():
    model, (ids, _, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    seen = captured(model, dict(input_ids=ids))
    with pytest.raises(hw.Error, match=r"attention_mask: has shape \[2, 20\], expected \[2, 13\]"):
        seen.rollout(attention_mask=torch.ones(2, 20))


def test_a_mask_that_the_model_does_not_use_crops_nothing():
    class Deaf(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attn = torch.nn.MultiheadAttention(32, 4, batch_first=True)

        def forward(self, x, attention_mask=None):
            return self.attn(x, x, x, need_weights=False)[0]

    model, x = Deaf().eval(), torch.randn(1, 7, 32)
    with torch.no_grad(), hw.capture(model) as seen:
        model(x, attention_mask=torch.tensor([[1, 1, 1, 1, 0, 0, 0]]))
    found = seen.rollout()
    assert found.shape == (7, 7) and "attends to what it hides" in found.notes[0]


# -- 12. what a gradient was asked

def test_a_gradient_records_rule_and_target(tmp_path):
    import json
    model, (ids, mask, _) = make(*TEXT["gpt2"], attention="sdpa"), ids_and_mask("left")
    with hw.capture(model) as seen:
        out = model(input_ids=ids, attention_mask=mask)
    found = seen.gradient(17, rule="chefer")
    assert found.rule == "chefer" and [one["id"] for one in found.target] == [17, 17]
    assert found.target[1]["value"] == pytest.approx(float(out.logits[1, -1, 17]))
    assert found.options["residual"] == 0 and found.options["divide"] == "changed"
    found.save(tmp_path / "x.json")
    for read in (json.loads(found.to_json())[1], json.loads((tmp_path / "x.json").read_text())[1],
                 json.loads(found.item(1).to_json())):
        assert read["rule"] == "chefer" and read["target"] == found.target[1]
    assert seen.gradient(rule="gradient-rollout", residual=0.3).options["residual"] == pytest.approx(0.3)
    assert seen.gradient(layer=1).options["layers"] == [1, 2]
    with pytest.raises(hw.Error, match="takes no residual"):
        seen.gradient(residual=0.3)


def test_classes_are_targets_by_name():
    config = hf.BertConfig(**SIZES, num_labels=3, id2label={0: "bad", 1: "fair", 2: "good"})
    torch.manual_seed(0)
    model, (ids, _, _) = hf.BertForSequenceClassification(config).eval(), ids_and_mask("none")
    with hw.capture(model) as seen:
        model(input_ids=ids)
    assert off(seen.gradient("good"), seen.gradient(2)) == 0 and seen.gradient("good").target[0]["name"] == "good"
    assert off(seen.gradient(["good", "bad"]), seen.gradient([2, 0])) == 0
    for target, sentence in (("great", "there are bad, fair, good"), (9, "there is no `target` 9"),
                             ([1, 2, 0], "one for each of the 2 items"), (object(), "expected 'best'"),
                             (lambda out: out.logits, "the function returned shape")):
        with pytest.raises(hw.Error, match=sentence):
            seen.gradient(target)
    with pytest.raises(hw.Error, match="has no item 7"):
        seen.gradient(item=7)


# -- 13. numbers that are not finite

def broken():
    model = make(*TEXT["llama"], attention="sdpa")
    with torch.no_grad():
        model.model.layers[1].self_attn.q_proj.weight[:8] = float("nan")  # the first of four heads
    return model


def test_numbers_that_are_not_finite_are_an_error_or_the_identity():
    model, (ids, _, _) = broken(), ids_and_mask("none")
    seen = captured(model, dict(input_ids=ids))
    for ask in (seen.rollout, seen.metrics, seen.flow, lambda: seen.compare(by="fuse", item=0), seen.maps,
                lambda: hw.compute_attention_attribution(model, dict(input_ids=ids))):
        with pytest.raises(hw.Error, match="not finite"):
            ask()
    map = seen.maps(nan="identity")[1]
    assert torch.isfinite(map).all() and torch.allclose(map.sum(-1), torch.ones(13), atol=1e-5)
    assert bool((map.diagonal() >= 0.25 - 1e-6).all()), "one head of four keeps itself"
    assert torch.isfinite(seen.rollout(nan="identity", layers="0:2").values).all()
    with pytest.raises(hw.Error, match="unknown nan 'zero'"):
        seen.rollout(nan="zero")


def test_a_name_of_several_classes_is_no_target():
    config = hf.BertConfig(**SIZES, id2label={0: "bad", 1: "good", 2: "good"})
    model = hf.BertForSequenceClassification(config).eval()
    with hw.capture(model) as seen:
        model(input_ids=torch.tensor([[5, 6, 7]]))
    assert seen.gradient("bad").target["id"] == 0
    for ask in (seen.gradient, seen.relevance):
        with pytest.raises(hw.Error, match="is the name of 2 classes, 1, 2, expected one; give its number"):
            ask("good")


def test_a_decoder_whose_encoder_did_not_run_is_not_taken_for_it():
    model, ids = make(*BART, attention="sdpa"), torch.tensor([[5, 6, 7, 8, 9]])
    with torch.no_grad():
        outputs = model.model.encoder(input_ids=ids)
        with hw.capture(model) as seen:
            model(encoder_outputs=outputs, decoder_input_ids=ids[:, :3])
    with pytest.raises(hw.Error, match="only its decoder ran"):
        seen.rollout()
    assert seen.rollout(stack="model.decoder.layers").shape == (3, 3)


def test_dropout_is_noted():
    model = make("BertModel", "BertConfig", dict(SIZES, attention_probs_dropout_prob=0.5), attention="sdpa")
    ids = torch.tensor([[5, 6, 7, 8]])
    assert captured(model, dict(input_ids=ids)).rollout().notes == []
    noted = captured(model.train(), dict(input_ids=ids)).rollout()
    assert noted.notes == ["the model ran with dropout; these are its probabilities before dropout"]
    assert torch.allclose(noted.values.sum(-1), torch.ones(4), atol=1e-5)
