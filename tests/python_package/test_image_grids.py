"""Grids of image tokens, model by model: the token of a patch is the one that changes when the patch does."""
import numpy as np
import pytest
import torch
import transformers as hf
from models import ENDS, GROUPED, VISION
from test_never_lies import LIMIT, captured, llava, off
from test_no_crash import eager_rollout, qwen2_5_vl

import headwater as hw

IMAGE, START, END = 110, 112, 113
TEXT = dict(GROUPED, vocab_size=120, **ENDS)
SIGHT = dict(VISION, image_size=32)  # 4 x 4 patches of 8 pixels


def ids_of(count, images=1):
    """Some images of `count` tokens between their marks, then seven words."""
    words = torch.randint(5, 90, (1, 7), generator=torch.Generator().manual_seed(1))
    image = torch.tensor([[START] + [IMAGE] * count + [END]])
    ids = torch.cat([*[image] * images, words], 1)
    return dict(input_ids=ids, attention_mask=torch.ones_like(ids))


def pixels(count=1, size=32):
    return torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(2))


def gemma3():
    text = dict(GROUPED, vocab_size=120, head_dim=8, query_pre_attn_scalar=8, sliding_window=64, **ENDS)
    config = hf.Gemma3Config(text_config=text, vision_config=dict(SIGHT, model_type="siglip_vision_model", image_size=32),
                             mm_tokens_per_image=4, image_token_index=IMAGE, image_token_id=IMAGE, boi_token_index=START,
                             eoi_token_index=END)
    inputs, model = ids_of(4, images=2), hf.Gemma3ForConditionalGeneration(config)
    torch.nn.init.normal_(model.model.multi_modal_projector.mm_input_projection_weight, std=0.2)  # it begins as zeros
    return model, dict(
        inputs, pixel_values=pixels(2), token_type_ids=(inputs["input_ids"] == IMAGE).long()), (2, 2), 2


def internvl():
    text = dict(TEXT, model_type="qwen2")
    config = hf.InternVLConfig(text_config=text, vision_config=dict(SIGHT, image_size=(32, 32), patch_size=(8, 8)),
                               image_token_id=IMAGE, image_seq_length=4)
    inputs = ids_of(12)  # three tiles without anything between them
    return hf.InternVLForConditionalGeneration(config), dict(inputs, pixel_values=pixels(3)), (2, 2), 3


def smolvlm():
    config = hf.SmolVLMConfig(text_config=dict(TEXT, model_type="llama"), vision_config=SIGHT, image_token_id=IMAGE,
                              scale_factor=2)
    return hf.SmolVLMForConditionalGeneration(config), dict(ids_of(4, images=2), pixel_values=pixels(2)[None]), (2, 2), 2


def paligemma():
    text = dict(TEXT, model_type="gemma", head_dim=8)
    config = hf.PaliGemmaConfig(text_config=text, vision_config=dict(SIGHT, model_type="siglip_vision_model"),
                                image_token_index=IMAGE, projection_dim=32, hidden_size=32)
    inputs = ids_of(16)
    return hf.PaliGemmaForConditionalGeneration(config), dict(
        inputs, pixel_values=pixels(), token_type_ids=torch.zeros_like(inputs["input_ids"])), (4, 4), 1


def llava_grid():
    model, inputs = llava()
    return model, inputs, (4, 4), 1


def idefics3():
    config = hf.Idefics3Config(text_config=dict(TEXT, model_type="llama"), vision_config=SIGHT, image_token_id=IMAGE,
                               scale_factor=2)
    return hf.Idefics3ForConditionalGeneration(config), dict(ids_of(4, images=2), pixel_values=pixels(2)[None]), (2, 2), 2


def aya_vision():
    config = hf.AyaVisionConfig(text_config=dict(TEXT, model_type="cohere2", head_dim=8), image_token_index=IMAGE,
                                vision_config=dict(SIGHT, model_type="siglip_vision_model"), adapter_layer_norm_eps=1e-5)
    return hf.AyaVisionForConditionalGeneration(config), dict(ids_of(4, images=2), pixel_values=pixels(2)), (2, 2), 2


def cohere2_vision():
    config = hf.Cohere2VisionConfig(text_config=dict(TEXT, model_type="cohere2", head_dim=8), image_token_id=IMAGE,
                                    vision_config=dict(SIGHT, model_type="siglip_vision_model"), alignment_intermediate_size=64)
    return hf.Cohere2VisionForConditionalGeneration(config), dict(ids_of(4, images=2), pixel_values=pixels(2)), (2, 2), 2


def vipllava():
    config = hf.VipLlavaConfig(text_config=dict(TEXT, model_type="llama"), vision_config=dict(SIGHT, model_type="clip_vision_model"),
                               image_token_index=IMAGE, vision_feature_layers=[-1, -2])
    return hf.VipLlavaForConditionalGeneration(config), dict(ids_of(16), pixel_values=pixels()), (4, 4), 1


def deepseek_vl():
    config = hf.DeepseekVLConfig(text_config=dict(TEXT, model_type="llama"), image_token_id=IMAGE,
                                 vision_config=dict(SIGHT, model_type="siglip_vision_model"))
    return hf.DeepseekVLForConditionalGeneration(config), dict(ids_of(32), pixel_values=pixels(2)), (4, 4), 2


def janus():
    vision = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8, mlp_ratio=2,
                  projection_dim=32, depth=2, num_image_tokens=16)
    codes = dict(embed_dim=8, num_embeddings=16, latent_channels=32, base_channels=32, channel_multiplier=[1, 1],
                 num_patches=4, projection_dim=32, image_token_embed_dim=32)
    config = hf.JanusConfig(text_config=dict(TEXT, model_type="llama"), vision_config=vision, vq_config=codes,
                            image_token_id=IMAGE)
    return hf.JanusForConditionalGeneration(config), dict(ids_of(16), pixel_values=pixels()), (4, 4), 1


def mistral3():
    """Two rows of four patches, with a break after each."""
    config = hf.Mistral3Config(text_config=dict(TEXT, model_type="mistral", head_dim=8), image_token_index=IMAGE,
                               vision_config=dict(SIGHT, model_type="pixtral", head_dim=8), vision_feature_layer=-1,
                               spatial_merge_size=1)
    ids = torch.tensor([([IMAGE] * 4 + [114]) * 2 + [5, 6, 7]])
    return hf.Mistral3ForConditionalGeneration(config), dict(
        input_ids=ids, attention_mask=torch.ones_like(ids), pixel_values=pixels()[:, :, :16],
        image_sizes=torch.tensor([[16, 32]])), (2, 4), 1


MODELS = dict(mistral3=mistral3, idefics3=idefics3, aya_vision=aya_vision, cohere2_vision=cohere2_vision, vipllava=vipllava,
              deepseek_vl=deepseek_vl, janus=janus, gemma3=gemma3, internvl=internvl, smolvlm=smolvlm, paligemma=paligemma, llava=llava_grid)


def made(name):
    torch.manual_seed(3)
    model, inputs, grid, images = MODELS[name]()
    for part, parameter in model.named_parameters():
        if "vision" in part and part.endswith(("out_proj.weight", "o_proj.weight", "projection_layer.weight")):
            torch.nn.init.zeros_(parameter)  # patches do not mix: what changes is the token of the patch alone
    return model.eval(), inputs, grid, images


def embedded(model, inputs):
    """What the language model reads: [n, d]."""
    read = []
    language = next(module for name, module in model.named_modules() if name.endswith("language_model")
                    or name.endswith("text_model"))
    hook = language.register_forward_pre_hook(lambda _, args, words: read.append(words["inputs_embeds"]), with_kwargs=True)
    with torch.no_grad():
        model(**inputs)
    hook.remove()
    return read[0][0]


@pytest.mark.parametrize("name", MODELS)
def test_the_token_of_a_patch_is_where_its_pixels_go(name):
    model, inputs, (rows, columns), images = made(name)
    found = captured(model, inputs).rollout()
    assert off(found, eager_rollout(model, inputs)) < LIMIT
    assert [place.grid for place in found.images] == [(1, rows, columns)] * images
    before = embedded(model, inputs)
    high, wide = (length // parts for length, parts in zip(inputs["pixel_values"].shape[-2:], (rows, columns)))
    for k, place in enumerate(found.images):
        for r, c in np.ndindex(rows, columns):
            changed = inputs["pixel_values"].clone()
            changed.view(-1, *changed.shape[-3:])[k, :, r * high:(r + 1) * high, c * wide:(c + 1) * wide] *= -3
            change = (embedded(model, dict(inputs, pixel_values=changed)) - before).norm(dim=-1)
            position = place.positions[r * columns + c]
            assert int(change.argmax()) == position and found.tokens[position] == f"<image {k}: {r},{c}>"


def qwen3_vl():
    vision = dict(depth=2, hidden_size=32, intermediate_size=48, num_heads=4, patch_size=4, spatial_merge_size=2,
                  temporal_patch_size=2, out_hidden_size=32, num_position_embeddings=64, deepstack_visual_indexes=[0])
    text = dict(TEXT, head_dim=8, rope_parameters=dict(rope_type="default", rope_theta=1e4, mrope_section=[2, 1, 1]))
    config = hf.Qwen3VLConfig(vision_config=vision, text_config=text, image_token_id=IMAGE, video_token_id=111,
                              vision_start_token_id=START, vision_end_token_id=END)
    inputs = ids_of(8)
    return hf.Qwen3VLForConditionalGeneration(config), dict(
        inputs, pixel_values=torch.randn(32, 96, generator=torch.Generator().manual_seed(2)),
        image_grid_thw=torch.tensor([[1, 4, 8]]), mm_token_type_ids=(inputs["input_ids"] == IMAGE).long())


@pytest.mark.parametrize("make", [qwen2_5_vl, qwen3_vl])
def test_qwens_patches_come_in_groups_of_four(make):
    torch.manual_seed(3)
    model, inputs = make()
    model.eval()
    found = captured(model, inputs).rollout()
    assert off(found, eager_rollout(model, inputs)) < LIMIT and found.image().shape == (2, 4)
    before = embedded(model, inputs)
    for k in range(8):  # the processor lists the 2 x 2 patches of a token one after the other
        changed = inputs["pixel_values"].clone()
        changed[4 * k:4 * k + 4] *= -3
        change = (embedded(model, dict(inputs, pixel_values=changed)) - before).norm(dim=-1)
        assert int(change.argmax()) == found.images[0].positions[k] and found.tokens[1 + k] == f"<image 0: {k // 4},{k % 4}>"


def test_frames_of_qwens_video_are_counted_first():
    torch.manual_seed(3)
    model, inputs = qwen3_vl()
    words = inputs["input_ids"][:, -7:]
    frame = torch.tensor([[START] + [111] * 2 + [END]])
    ids = torch.cat([frame, torch.tensor([[7]]), frame, words], 1)  # a time stamp between two frames
    told = dict(input_ids=ids, attention_mask=torch.ones_like(ids), mm_token_type_ids=2 * (ids == 111).long(),
                pixel_values_videos=torch.randn(16, 96), video_grid_thw=torch.tensor([[2, 2, 4]]))
    found = captured(model.eval(), told).rollout()
    assert found.images[0].kind == "video" and found.image().shape == (2, 1, 2)
    assert [found.tokens[j] for j in (1, 2, 6, 7)] == [f"<video 0: {t},0,{c}>" for t in (0, 1) for c in (0, 1)]


def idefics2():
    resampler = dict(resampler_n_latents=16, resampler_depth=1, resampler_n_heads=4, resampler_head_dim=8, num_key_value_heads=2)
    config = hf.Idefics2Config(text_config=dict(TEXT, model_type="mistral"), vision_config=SIGHT, perceiver_config=resampler,
                               image_token_id=IMAGE)
    return hf.Idefics2ForConditionalGeneration(config), dict(ids_of(16), pixel_values=pixels()[None])


def test_a_square_number_of_tokens_is_no_grid():
    torch.manual_seed(3)
    model, inputs = idefics2()
    found = captured(model.eval(), inputs).rollout()
    assert off(found, eager_rollout(model, inputs)) < LIMIT
    assert [place.grid for place in found.images] == [None] and found.tokens[2] == "<image part 0: 1>"
    with pytest.raises(hw.Error, match="in no known grid, expected rows x columns; give them as `grid`"):
        found.image(0)
    count = len(found.images[0].positions)
    assert found.image(0, grid=(2, count // 2)).shape == (2, count // 2)
    for grid in ((3, 7), (count,), 4, (0, count), (-1, -count)):
        with pytest.raises(hw.Error, match="does not fit image 0, expected \\(rows, columns\\)"):
            found.image(0, grid=grid)


def test_images_side_by_side_are_not_one_large_image():
    torch.manual_seed(3)
    model, inputs = llava()
    ids = torch.cat([torch.full((1, 64), IMAGE), inputs["input_ids"][:, -7:]], 1)  # four images, 8 x 8 tokens in all
    found = captured(model, dict(input_ids=ids, attention_mask=torch.ones_like(ids), pixel_values=pixels(4))).rollout()
    assert [place.grid for place in found.images] == [(1, 4, 4)] * 4


def test_grids_that_do_not_add_up_name_nothing():
    from headwater.torch.images import grids_of
    config = hf.Qwen2_5_VLConfig()
    told = [dict(image_grid_thw=torch.tensor([[1, 4, 8]]))]
    assert grids_of("image", told, config, 8) == [(1, 2, 4)] and grids_of("image", told, config, 9) == []
