"""The text of a generate() is what its passes read and it returned, whatever the caller gave and whatever ran in between."""
import pytest
import torch
import transformers as hf
from models import ENDS, SIZES, T5, TEXT, VISION, ids_and_mask, make
from test_image_grids import pixels, qwen3_vl
from test_never_lies import GREEDY, LIMIT, off, rows_of
from test_no_crash import qwen2_5_vl

import headwater as hw


class Numbers:
    """A tokenizer that names each token by its id."""

    @staticmethod
    def convert_ids_to_tokens(ids):
        return [f"<{token}>" for token in ids]


def named(ids):
    return Numbers.convert_ids_to_tokens(ids.tolist())


def whisper():
    torch.manual_seed(3)
    config = hf.WhisperConfig(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                              decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, vocab_size=90, init_std=0.2,
                              num_mel_bins=8, max_source_positions=20, max_target_positions=20, pad_token_id=0,
                              bos_token_id=1, eos_token_id=2, decoder_start_token_id=3)
    model = hf.WhisperForConditionalGeneration(config).eval()
    settings = model.generation_config
    settings.lang_to_id, settings.task_to_id = {"<|en|>": 84, "<|de|>": 85}, {"transcribe": 86, "translate": 87}
    settings.is_multilingual, settings.no_timestamps_token_id = True, 89
    return model, torch.randn(2, 8, 40, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("words, start", [(dict(language="en", task="translate"), [3, 84, 87, 89]), (dict(), None),
                                          (dict(language="de", return_dict_in_generate=True), [3, 85, 86, 89])],
                         ids=["given", "detected", "whole"])
def test_whispers_text_begins_with_tokens_of_its_own(words, start):
    model, sound = whisper()
    with torch.no_grad(), hw.capture(model, tokenizer=Numbers()) as seen:
        model.generate(sound[:1], **GREEDY, **words)
    found = seen.encoder_decoder()
    read = torch.tensor([[int(name[1:-1]) for name in found.target_tokens]])
    assert start is None or read[0, :4].tolist() == start
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = model(input_features=sound[:1], decoder_input_ids=read, output_attentions=True)
    written = out.logits[0, :, 3:].argmax(-1) + 3
    assert read.shape[1] == len(start or [3, 85, 89]) + 4 and off(found, hw.encoder_decoder(out)) < LIMIT
    assert written.shape[0] == read.shape[1]


def test_whispers_texts_of_a_batch_are_cut_where_they_end():
    model, sound = whisper()

    def first_ends(tokens, scores):
        scores[:, 2] = -1e9
        if tokens.shape[1] == 5:
            scores[0, 2] = 1e9
        return scores

    with torch.no_grad(), hw.capture(model, tokenizer=Numbers()) as seen:
        out = model.generate(sound, language="en", max_new_tokens=5, do_sample=False, logits_processor=[first_ends])
    early, late = seen.encoder_decoder(item=0), seen.encoder_decoder(item=1)
    assert early.target_tokens[:4] == late.target_tokens[:4] == named(torch.tensor([3, 84, 86, 89]))
    assert early.target_tokens[4:] == named(out[0, :1]) and late.target_tokens[4:] == named(out[1, :4])


def blip2():
    torch.manual_seed(3)
    text = dict(model_type="opt", hidden_size=32, word_embed_proj_dim=32, num_hidden_layers=3, num_attention_heads=4, ffn_dim=48,
                vocab_size=120, max_position_embeddings=64, init_std=0.2, pad_token_id=0, **ENDS)
    former = dict(SIZES, vocab_size=90, encoder_hidden_size=32, cross_attention_frequency=1, num_hidden_layers=2)
    config = hf.Blip2Config(vision_config=dict(VISION, image_size=32), qformer_config=former, text_config=text,
                            num_query_tokens=4, image_token_index=110)
    return hf.Blip2ForConditionalGeneration(config).eval()


@pytest.mark.parametrize("given", [False, True])
def test_the_placeholders_that_blip2_puts_before_a_text_are_its_prompt(given):
    model, picture = blip2(), pixels()
    ids = torch.tensor([[110] * 4 + [1, 5, 6, 7]]) if given else torch.tensor([[110] * 4 + [1]])
    m = ids.shape[1]
    with torch.no_grad(), hw.capture(model, tokenizer=Numbers()) as seen:
        out = model.generate(pixel_values=picture, **(dict(input_ids=ids) if given else {}), **GREEDY)
    found = seen.generation()
    assert found.prompt == [f"<image part 0: {k}>" for k in range(4)] + named(ids[0, 4:])
    assert found.generated == named(out[0, m:]) and "1 generate()" in str(seen)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        whole = model(pixel_values=picture, input_ids=out[:, :-1], output_attentions=True).language_model_outputs.attentions
    assert off(found, hw.rollout(whole, by_layer=True).values[:, m - 1:, :m].permute(1, 2, 0)) < LIMIT


def test_a_text_without_a_prompt_begins_with_the_models_own_token():
    model = make(*TEXT["llama"], attention="sdpa")
    with torch.no_grad(), hw.capture(model, tokenizer=Numbers()) as seen:
        out = model.generate(**GREEDY)
    found = seen.generation()
    assert found.prompt == ["<1>"] and found.generated == named(out[0, 1:]) and off(found, rows_of(model, out, 1)) < LIMIT


def test_words_after_embeddings_are_named_and_the_embeddings_are_not():
    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0][:1, :6]
    with torch.no_grad(), hw.capture(model, tokenizer=Numbers()) as seen:
        out = model.generate(inputs_embeds=model.get_input_embeddings()(ids), **GREEDY)
    found = seen.generation()
    assert found.prompt == list("012345") and found.generated == named(out[0])
    assert off(found, rows_of(model, torch.cat([ids, out], 1), 6)) < LIMIT


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", ["llama", "t5"])
def test_the_beams_of_a_search_are_no_texts(name, count):
    model, ids = make(*(T5 if name == "t5" else TEXT[name]), attention="sdpa"), ids_and_mask("none")[0][:1]
    words = dict(attention_mask=torch.ones_like(ids), num_beams=3, num_return_sequences=count, max_new_tokens=2, do_sample=False)
    with torch.no_grad(), hw.capture(model, tokenizer=Numbers()) as seen:
        out = model.generate(ids, **words, return_dict_in_generate=True, output_scores=True)
    ask = seen.encoder_decoder if name == "t5" else seen.generation
    told = [ask(item=item, beam_indices=out.beam_indices) for item in range(count)]
    for item, found in enumerate(told):
        text = out.sequences[item]
        assert (found.target_tokens if name == "t5" else found.generated) == named(text[:2] if name == "t5" else text[13:])
    for item in range(3):
        try:
            found = ask(item=item)
        except hw.Error as error:
            assert "num_beams=1" in str(error)
        else:
            assert count == 3 and off(found, told[item]) < LIMIT


@pytest.mark.parametrize("make_model", [qwen2_5_vl, qwen3_vl])
@pytest.mark.parametrize("beams", [1, 2])
def test_the_grid_of_an_image_that_generate_was_given(make_model, beams):
    torch.manual_seed(3)
    model, inputs = make_model()
    model.eval()
    with torch.no_grad(), hw.capture(model, tokenizer=Numbers()) as seen:
        out = model.generate(**inputs, max_new_tokens=3, min_new_tokens=3, do_sample=False, num_beams=beams,
                             return_dict_in_generate=True, output_scores=True)
    found = seen.generation(**(dict(beam_indices=out.beam_indices) if beams > 1 else {}))
    m = inputs["input_ids"].shape[1]
    assert found.image(0).shape == (2, 4) and found.prompt[1:9] == [f"<image 0: {k // 4},{k % 4}>" for k in range(8)]
    assert found.prompt[9:] == named(inputs["input_ids"][0, 9:]) and found.generated == named(out.sequences[0, m:])
    model.set_attn_implementation("eager")
    text = out.sequences[:, :-1]
    kinds = torch.cat([inputs["mm_token_type_ids"], torch.zeros(1, 2, dtype=torch.long)], 1)
    with torch.no_grad():
        whole = model(**dict(inputs, input_ids=text, attention_mask=torch.ones_like(text), mm_token_type_ids=kinds),
                      output_attentions=True).attentions
    assert off(found, hw.rollout(whole, by_layer=True).values[:, m - 1:, :m].permute(1, 2, 0)) < LIMIT


# -- other prompts within a generate()

@pytest.mark.parametrize("words", [dict(), dict(negative_prompt_ids=torch.tensor([[7, 8, 9]])), dict(use_cache=False),
                                   dict(negative_prompt_ids=torch.arange(20, 33)[None])], ids=["own", "short", "no cache", "as long"])
def test_the_other_prompt_of_guidance_is_left_out(words):
    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0][:1]
    with torch.no_grad(), hw.capture(model, tokenizer=Numbers()) as seen:
        out = model.generate(ids, attention_mask=torch.ones_like(ids), guidance_scale=1.5, **GREEDY, **words)
    found = seen.generation()
    assert found.prompt == named(ids[0]) and found.generated == named(out[0, 13:])
    assert off(found, rows_of(model, out, 13)) < LIMIT


def musicgen():
    torch.manual_seed(3)
    sound = dict(model_type="encodec", num_filters=4, hidden_size=8, codebook_dim=8, codebook_size=64, num_residual_layers=1)
    decoder = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=48, num_codebooks=2,
                   bos_token_id=64, pad_token_id=64)
    config = hf.MusicgenConfig(text_encoder=dict(T5[2], model_type="t5"), audio_encoder=sound, decoder=decoder)
    return hf.MusicgenForConditionalGeneration(config).eval()


def test_the_rows_that_guide_music_are_no_texts():
    model, ids = musicgen(), ids_and_mask("none")[0][:1]
    words = dict(input_ids=ids, max_new_tokens=5, do_sample=False)
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(guidance_scale=3.0, **words)
    for item in (None, 0, 1):  # the second row is guidance's
        with pytest.raises(hw.Error, match=r"wrote 2 texts at a time for 1 prompt\(s\)"):
            seen.encoder_decoder(item=item)
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(guidance_scale=1.0, **words)
    assert seen.encoder_decoder().source.shape[1] == 13


def test_a_cache_that_generate_was_given():
    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0][:1]
    with torch.no_grad():
        past = model(input_ids=ids[:, :8], use_cache=True).past_key_values
        with hw.capture(model) as seen:
            model.generate(ids, attention_mask=torch.ones_like(ids), past_key_values=past, **GREEDY)
        with pytest.raises(hw.Error, match=r"began after 8 positions in a cache .* fill that cache inside the capture"):
            seen.generation()
        with hw.capture(model, tokenizer=Numbers()) as seen:
            past = model(input_ids=ids[:, :8], use_cache=True).past_key_values
            out = model.generate(ids, attention_mask=torch.ones_like(ids), past_key_values=past, **GREEDY)
    found = seen.generation()
    assert found.prompt == named(ids[0]) and off(found, rows_of(model, out, 13)) < LIMIT


def test_the_second_turn_of_a_chat_is_read_with_the_first():
    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0][:1, :6]
    with torch.no_grad(), hw.capture(model) as seen:
        first = model.generate(ids, attention_mask=torch.ones_like(ids), return_dict_in_generate=True, **GREEDY)
        both = torch.cat([first.sequences, torch.tensor([[5, 6, 7]])], 1)
        out = model.generate(both, attention_mask=torch.ones_like(both), past_key_values=first.past_key_values, **GREEDY)
    assert off(seen.generation(call=0), rows_of(model, first.sequences, 6)) < LIMIT
    assert off(seen.generation(call=1), rows_of(model, out, 14)) < LIMIT
