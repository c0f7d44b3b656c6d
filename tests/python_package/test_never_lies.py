"""What a capture once answered wrongly and without a word: each case is right now, or an error that says what to do."""
import threading

import numpy as np
import pytest
import torch
import transformers as hf
from models import BART, ENDS, GROUPED, IMAGES, SIZES, T5, TEXT, VISION, ids_and_mask, make

import headwater as hw

LIMIT = 1e-5
GREEDY = dict(max_new_tokens=5, min_new_tokens=5, do_sample=False)
KEPT = dict(output_attentions=True, return_dict_in_generate=True)


def rows_of(model, sequences, m):
    """M of a text by one eager pass over all of it."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        whole = model(input_ids=sequences[:, :-1], output_attentions=True).attentions
    model.set_attn_implementation(before)
    return hw.rollout(whole, by_layer=True, sums="any").values[:, m - 1:, :m].permute(1, 2, 0).numpy()


def off(found, expected):
    found, expected = (np.asarray(one.cpu() if isinstance(one, torch.Tensor) else one) for one in (found, expected))
    assert found.shape == expected.shape
    return np.abs(found - expected).max()


def captured(model, inputs, **words):
    with torch.no_grad(), hw.capture(model, **words) as seen:
        model(**inputs)
    return seen


# -- 1. generated text

@pytest.mark.parametrize("name", ["llama", "gpt2", "mistral", "gpt_neox"])
@pytest.mark.parametrize("words", [dict(use_cache=False), dict(prefill_chunk_size=4), dict(prompt_lookup_num_tokens=3),
                                   dict(cache_implementation="static")], ids=lambda words: next(iter(words)))
def test_generated_rows_are_right_however_the_text_is_read(name, words):
    model = make(*TEXT[name], attention="sdpa")
    ids = torch.tensor([[5, 6, 7, 8, 5, 6, 7, 9, 5, 6, 7, 8, 5]])
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids, attention_mask=torch.ones_like(ids), **GREEDY, **words)
    assert off(seen.generation(), rows_of(model, out, 13)) < LIMIT


@pytest.mark.parametrize("words", [dict(use_cache=False), dict(prompt_lookup_num_tokens=3)], ids=lambda words: next(iter(words)))
def test_rows_of_an_output_are_right_however_the_text_is_read(words):
    model = make(*TEXT["llama"])
    ids = torch.tensor([[5, 6, 7, 8, 5, 6, 7, 9, 5, 6, 7, 8, 5]])
    with torch.no_grad():
        out = model.generate(ids, attention_mask=torch.ones_like(ids), **GREEDY, **KEPT, **words)
    assert off(hw.generation(out), rows_of(model, out.sequences, 13)) < LIMIT


def test_an_output_of_a_prefill_in_pieces_is_refused():
    model = make(*TEXT["llama"])
    ids = ids_and_mask("none")[0][:1]
    with torch.no_grad():
        out = model.generate(ids, attention_mask=torch.ones_like(ids), prefill_chunk_size=4, **GREEDY, **KEPT)
    with pytest.raises(hw.Error, match="expected the whole prompt"):
        hw.generation(out)


def test_assisted_decoding_gives_the_rows_of_the_text_that_stayed():
    model, helper = make(*TEXT["llama"], attention="sdpa"), make(*TEXT["llama"], attention="sdpa")
    with torch.no_grad():
        for parameter in helper.parameters():
            parameter += 0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    ids = ids_and_mask("none")[0][:1]
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids, attention_mask=torch.ones_like(ids), assistant_model=helper, **GREEDY)
    assert off(seen.generation(), rows_of(model, out, 13)) < LIMIT


def test_a_loop_that_somebody_wrote_is_followed_without_generate():
    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0][:1]
    text, past = ids, None
    with torch.no_grad(), hw.capture(model) as seen:
        for _ in range(4):
            out = model(input_ids=text if past is None else text[:, -1:], past_key_values=past, use_cache=True)
            past, text = out.past_key_values, torch.cat([text, out.logits[:, -1:].argmax(-1)], 1)
    assert off(seen.generation(), rows_of(model, text, 13)) < LIMIT


def test_one_of_two_generates_is_chosen_and_a_forward_pass_does_not_count():
    model, (ids, _, _) = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids[:1, :6])
        first = model.generate(ids[:1], attention_mask=torch.ones(1, 13), **GREEDY)
        second = model.generate(ids[1:, :9], attention_mask=torch.ones(1, 9), **GREEDY)
    with pytest.raises(hw.Error, match=r"holds 2 generate\(\), expected one to be chosen"):
        seen.generation()
    assert off(seen.generation(call=0), rows_of(model, first, 13)) < LIMIT
    assert off(hw.generation(seen, call=1), rows_of(model, second, 9)) < LIMIT
    with pytest.raises(hw.Error, match="has no call 2"):
        seen.generation(call=2)


def test_masks_beside_a_capture_count():
    model, (ids, mask, where) = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("left")
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids, attention_mask=mask, **GREEDY)
    assert off(hw.generation(seen, item=1, attention_mask=mask), seen.generation(item=1)) == 0
    with pytest.raises(hw.Error, match=r"attention_mask: has shape \[2, 4\], expected \[2, 13\]"):
        hw.generation(seen, item=0, attention_mask=mask[:, :4])
    model = make(*BART, attention="sdpa")
    ids, mask, where = ids_and_mask("right")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask, decoder_input_ids=ids[:, :6])
    cut = torch.ones(2, 6)
    cut[1, 4:] = 0
    found = hw.encoder_decoder(seen, item=1, attention_mask=mask, decoder_attention_mask=cut)
    assert found.source.shape == (4, 9) and found.target.shape == (4, 4)


# -- 2. and 3. stacks

def llava(attention="sdpa"):
    text = hf.LlamaConfig(**dict(GROUPED, vocab_size=120, **ENDS))
    vision = hf.CLIPVisionConfig(**dict(VISION, image_size=32, projection_dim=32))
    torch.manual_seed(3)
    config = hf.LlavaConfig(vision_config=vision, text_config=text, image_token_index=110, vision_feature_layer=-1,
                            attn_implementation=attention)
    model = hf.LlavaForConditionalGeneration(config).eval()
    ids = torch.cat([torch.full((1, 16), 110), torch.randint(5, 90, (1, 7), generator=torch.Generator().manual_seed(1))], 1)
    return model, dict(input_ids=ids, attention_mask=torch.ones_like(ids),
                       pixel_values=torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(2)))


def test_a_vision_language_model_is_asked_about_its_language_stack():
    model, inputs = llava()
    seen = captured(model, inputs)
    eager, _ = llava("eager")
    with torch.no_grad():
        truth = eager(**inputs, output_attentions=True).attentions
    assert seen.stacks == ["model.vision_tower.encoder.layers", "model.language_model.layers"] or len(seen.stacks) == 2
    assert off(seen.rollout(), hw.rollout(truth).values) < LIMIT
    assert seen.rollout(stack="vision_tower").shape == (17, 17)
    numbers = hw.compute_attention_attribution(model, inputs)
    assert numbers["seq_length"] == 23 and dict(numbers) == pytest.approx(dict(hw.metrics(truth)), abs=1e-5)
    with hw.capture(model) as seen:
        model(**inputs)
    assert seen.gradient().shape == (23, 23)
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(**inputs, **GREEDY)
    assert seen.generation().M.shape == (5, 23, 3) and out.shape == (1, 28)
    assert "stack 'model.language_model.layers'" in str(seen) and "by interface" in str(seen)


def clip(length=17):
    text = dict(SIZES, num_hidden_layers=2, **ENDS)
    config = hf.CLIPConfig(text_config=text, vision_config=dict(VISION, image_size=32), projection_dim=16)
    torch.manual_seed(3)
    model = hf.CLIPModel(config).eval()
    ids = torch.randint(5, 90, (2, length), generator=torch.Generator().manual_seed(1))
    return model, dict(input_ids=ids, pixel_values=torch.randn(2, 3, 32, 32))


def test_towers_of_equal_length_are_not_one_stack():
    model, inputs = clip()
    seen = captured(model, inputs)
    with pytest.raises(hw.Error, match="has several stacks of attention, expected one to be chosen") as error:
        seen.rollout()
    assert "text_model" in str(error.value) and "vision_model" in str(error.value)
    text, image = seen.maps(stack="text_model"), seen.maps(stack="vision_model")
    assert len(text) == 2 and len(image) == 3
    model.set_attn_implementation("eager")
    with torch.no_grad():
        truth = model(**inputs, output_attentions=True)
    for ours, theirs in zip(text + image, truth.text_model_output.attentions + truth.vision_model_output.attentions):
        assert off(ours, theirs[0].mean(0)) < LIMIT
    with pytest.raises(hw.Error, match="`stack` 'audio': did not run"):
        seen.rollout(stack="audio")
    with pytest.raises(hw.Error, match="several stacks"):
        hw.compute_attention_attribution(model, inputs)
    assert hw.compute_attention_attribution(model, inputs, stack="vision_model")["seq_length"] == 17


def bert2bert():
    config = hf.EncoderDecoderConfig.from_encoder_decoder_configs(hf.BertConfig(**SIZES), hf.BertConfig(**SIZES))
    torch.manual_seed(3)
    return hf.EncoderDecoderModel(config).eval()


@pytest.mark.parametrize("make_model", [bert2bert, lambda: make(*BART, attention="sdpa"),
                                        lambda: make(*T5, attention="sdpa")], ids=["bert2bert", "bart", "t5"])
def test_an_encoder_decoder_model_of_equal_lengths_is_asked_about_its_encoder(make_model):
    model, (ids, mask, _) = make_model(), ids_and_mask("none")
    inputs = dict(input_ids=ids, attention_mask=mask, decoder_input_ids=ids + 1)
    seen = captured(model, inputs)
    numbers = hw.compute_attention_attribution(model, inputs)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        truth = model(**inputs, output_attentions=True).encoder_attentions
    assert off(seen.rollout(), hw.rollout(truth).values) < LIMIT
    assert dict(numbers) == pytest.approx(dict(hw.metrics(truth)), abs=1e-5)


def test_torchs_transformer_is_asked_about_its_encoder():
    torch.manual_seed(0)
    model = torch.nn.Transformer(32, 4, 2, 3, 48, batch_first=True).eval()
    x = torch.randn(1, 7, 32)
    with torch.no_grad(), hw.capture(model) as seen:
        model(x, x + 1)
    assert len(seen.maps()) == 2 and len(seen.maps(stack="decoder.layers.*.self_attn")) == 3
    assert off(seen.maps()[0], model.encoder.layers[0].self_attn(x, x, x)[1][0].detach()) < LIMIT


# -- 5. threads

def test_captures_of_one_model_in_two_threads_keep_apart():
    model, (ids, _, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    alone = [captured(model, dict(input_ids=ids[k:k + 1])).rollout().values for k in range(2)]
    wrong = []

    def work(k):
        for _ in range(20):
            found = captured(model, dict(input_ids=ids[k:k + 1])).rollout().values
            if found.shape != alone[k].shape or float((found - alone[k]).abs().max()) > 1e-6:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and "forward" not in model.__dict__


def test_a_model_that_runs_in_a_thread_of_its_own_is_recorded():
    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0][:1]
    with hw.capture(model) as seen:
        thread = threading.Thread(target=model.generate, args=(ids,), kwargs=dict(
            attention_mask=torch.ones_like(ids), **GREEDY))
        thread.start()
        thread.join()
    assert seen.generation().M.shape == (5, 13, 3)


# -- 6. repeated calls

class Siamese(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = make(*TEXT["bert"], attention="sdpa")

    def forward(self, a, b):
        return self.encoder(input_ids=a)[0].sum() + self.encoder(input_ids=b)[0].sum()


def test_two_calls_of_a_siamese_model_are_calls_not_layers():
    model, (ids, _, _) = Siamese().eval(), ids_and_mask("none")
    with torch.no_grad(), hw.capture(model) as seen:
        model(ids[:1], ids[1:])
    with pytest.raises(hw.Error, match="ran 2 times"):
        seen.rollout()
    for k in range(2):
        alone = captured(model.encoder, dict(input_ids=ids[k:k + 1]))
        assert off(seen.rollout(call=k), alone.rollout()) < LIMIT


def test_forward_that_is_called_directly_and_twice_is_two_calls():
    model, (ids, _, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    with torch.no_grad(), hw.capture(model) as seen:
        model.forward(input_ids=ids[:1])
        model.forward(input_ids=ids[1:])
    assert off(seen.rollout(call=1), captured(model, dict(input_ids=ids[1:])).rollout()) < LIMIT
    assert len(seen.maps(call=0)) == 3


class Twice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = torch.nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, a, b):
        return self.attn(a, a, a)[0] + self.attn(b, b, b)[0]


def test_a_module_that_is_called_twice_is_two_layers_only_if_the_user_says_so():
    torch.manual_seed(0)
    model, x = Twice().eval(), torch.randn(1, 7, 32)
    with torch.no_grad(), hw.capture(model) as seen:
        model(x, x + 1)
    with pytest.raises(hw.Error, match="called attention 2 times in one call of the model"):
        seen.rollout()
    assert len(seen.maps(repeated="layers")) == 2


def test_layers_that_albert_shares_are_layers():
    model, (ids, mask, _) = make("AlbertModel", "AlbertConfig", dict(SIZES, embedding_size=16)), ids_and_mask("right")
    with torch.no_grad():
        truth = model(input_ids=ids, attention_mask=mask, output_attentions=True).attentions
    seen = captured(model, dict(input_ids=ids, attention_mask=mask))
    assert len(truth) == 3 and off(seen.maps()[2], truth[2][0].mean(0)) < LIMIT


def test_the_second_run_of_gradient_checkpointing_does_not_count():
    model, (ids, _, _) = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")
    plain = captured(model, dict(input_ids=ids))
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=dict(use_reentrant=False))
    model.train()
    with hw.capture(model) as seen:
        model(input_ids=ids, labels=ids).loss.backward()
    assert len(seen.layers) == 3 and off(seen.rollout(item=0), plain.rollout(item=0)) < LIMIT


# -- 7. audio

def wav2vec2(attention="sdpa"):
    torch.manual_seed(3)
    words = dict(SIZES, conv_dim=(32, 32), conv_stride=(5, 4), conv_kernel=(10, 8), num_feat_extract_layers=2,
                 num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2, feat_extract_norm="layer",
                 do_stable_layer_norm=True, vocab_size=30)
    config = hf.Wav2Vec2Config(**words, attn_implementation=attention)
    return hf.Wav2Vec2Model(config).eval()


def test_a_mask_of_samples_is_not_one_of_frames():
    model, wave = wav2vec2(), torch.randn(2, 400, generator=torch.Generator().manual_seed(1))
    mask = torch.ones(2, 400, dtype=torch.long)
    mask[1, 250:] = 0
    seen = captured(model, dict(input_values=wave, attention_mask=mask))
    with torch.no_grad():
        truth = wav2vec2("eager")(input_values=wave, attention_mask=mask, output_attentions=True).attentions
        frames = int(model._get_feat_extract_output_lengths(mask.sum(1))[1])
    assert seen.rollout(item=1).shape == (frames, frames)
    for ours, theirs in zip(seen.maps(item=1), truth):
        assert off(ours, theirs[1].mean(0)[:frames, :frames]) < LIMIT


def test_whisper_with_a_mask_of_its_features_is_not_cropped():
    torch.manual_seed(3)
    config = hf.WhisperConfig(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                              decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, vocab_size=90,
                              num_mel_bins=8, max_source_positions=20, max_target_positions=20, pad_token_id=0,
                              bos_token_id=1, eos_token_id=2, decoder_start_token_id=3)
    model = hf.WhisperForConditionalGeneration(config).eval()
    mask = torch.ones(1, 40, dtype=torch.long)
    mask[0, 25:] = 0
    seen = captured(model, dict(input_features=torch.randn(1, 8, 40), attention_mask=mask,
                                decoder_input_ids=torch.tensor([[3, 4, 5]])))
    assert seen.rollout().shape == (20, 20)


class TwoImages(torch.nn.Module):
    """As LightGlue: each layer attends within an image, then to the other image of the pair."""

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.self_attention = torch.nn.MultiheadAttention(16, 2, batch_first=True)
            self.cross_attention = torch.nn.MultiheadAttention(16, 2, batch_first=True)

        def forward(self, x):
            x = x + self.self_attention(x, x, x)[0]
            return x + self.cross_attention(x, x.flip(0), x.flip(0))[0]

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([self.Layer(), self.Layer()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_layers_that_look_at_another_image_are_not_taken_for_self_attention_alone():
    seen = captured(TwoImages().eval(), dict(x=torch.randn(2, 5, 16)))
    with pytest.raises(hw.Error, match="from one input to another"):
        seen.rollout()
    assert seen.rollout(stack="self_attention").shape == (2, 5, 5)
    decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(16, 2, 32, batch_first=True), 2).eval()
    x = torch.randn(1, 5, 16)
    assert captured(decoder, dict(tgt=x, memory=x)).rollout().shape == (5, 5)
