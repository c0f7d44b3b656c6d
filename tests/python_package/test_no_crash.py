"""What once crashed inside a capture: attention functions, caches, compiled models, odd inputs."""
import contextlib

import pytest
import torch
import transformers as hf
from models import ENDS, GROUPED, TEXT, ids_and_mask, make
from test_never_lies import GREEDY, LIMIT, captured, off, rows_of

import headwater as hw


def eager_rollout(model, inputs):
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        truth = model(**inputs, output_attentions=True).attentions
    model.set_attn_implementation(before)
    return hw.rollout(truth, attention_mask=inputs.get("attention_mask"), sums="any")


@contextlib.contextmanager
def registered(name, function, masks=None):
    """An attention function under a name of its own in transformers' registry."""
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    ALL_ATTENTION_FUNCTIONS.register(name, function)
    ALL_MASK_ATTENTION_FUNCTIONS.register(name, masks or ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
    try:
        yield
    finally:
        ALL_ATTENTION_FUNCTIONS._global_mapping.pop(name)
        ALL_MASK_ATTENTION_FUNCTIONS._global_mapping.pop(name)


@pytest.mark.parametrize("name", ["llama", "mistral", "bert"])
def test_block_masks_of_flex_attention_are_computed(name):
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    model, (ids, mask, _) = make(*TEXT[name]), ids_and_mask("right")
    inputs = dict(input_ids=ids, attention_mask=mask)
    first, seen_masks = captured(model, inputs).maps(item=1)[0], []  # later layers see what the stand-in returns

    def flex(module, query, key, value, attention_mask, **words):  # without the compiler, which tests would wait for
        seen_masks.append(type(attention_mask).__name__)
        return torch.zeros_like(query).transpose(1, 2), None

    with registered("flex_like", flex, ALL_MASK_ATTENTION_FUNCTIONS["flex_attention"]):
        model.set_attn_implementation("flex_like")
        seen = captured(model, inputs)
    assert seen_masks[0] == "BlockMask"
    assert off(seen.maps(item=1)[0], first) < LIMIT


def flash(module, query, key, value, attention_mask, **words):
    """Stands in for flash attention with several texts in one row: each sees itself only."""
    ends = words["cu_seq_lens_q"].tolist()
    out = torch.zeros_like(query)
    group = query.shape[1] // key.shape[1]
    for begin, end in zip(ends, ends[1:]):
        part = slice(begin, end)
        out[:, :, part] = torch.nn.functional.scaled_dot_product_attention(
            query[:, :, part], key[:, :, part].repeat_interleave(group, 1), value[:, :, part].repeat_interleave(group, 1),
            is_causal=True, scale=words.get("scaling"))
    return out.transpose(1, 2), None


def test_several_texts_in_one_row_under_flash_attention_are_kept_apart():
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    model, (ids, _, _) = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")
    alone = [captured(model, dict(input_ids=ids[:1, part])) for part in (slice(0, 5), slice(5, 13))]
    ends = torch.tensor([0, 5, 13], dtype=torch.int32)
    with registered("flash_like", flash, ALL_MASK_ATTENTION_FUNCTIONS["flash_attention_2"]):
        model.config._attn_implementation_internal = "flash_like"  # the setter would look for a kernel of that name
        seen = captured(model, dict(input_ids=ids[:1], position_ids=torch.tensor([[*range(5), *range(8)]]),
                                    cu_seq_lens_q=ends, cu_seq_lens_k=ends, max_length_q=8, max_length_k=8))
    found = seen.rollout().values
    assert off(found[:5, :5], alone[0].rollout()) < LIMIT and off(found[5:, 5:], alone[1].rollout()) < LIMIT
    assert float(found[5:, :5].abs().max()) == 0


@pytest.mark.parametrize("words", [dict(cache_implementation="static"), dict(cache_implementation="offloaded_static"),
                                   dict(cache_implementation="hybrid"), dict(cache_implementation="quantized")],
                         ids=lambda words: words["cache_implementation"])
@pytest.mark.parametrize("name", ["llama", "mistral"])
def test_caches_of_every_kind(name, words):
    model, (ids, mask, where) = make(*TEXT[name], attention="sdpa"), ids_and_mask("left")
    try:
        with torch.no_grad():
            model.generate(ids, attention_mask=mask, **GREEDY, **words)
    except Exception as error:
        pytest.skip(f"transformers does not run it here: {type(error).__name__}")
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids, attention_mask=mask, **GREEDY, **words)
    text = torch.cat([ids[1, where], out[1, 13:]])[None]
    assert off(seen.generation(item=1), rows_of(model, text, 9)) < LIMIT


def test_a_compiled_model_is_captured():
    model, (ids, mask, _) = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("right")
    expected = captured(model, dict(input_ids=ids, attention_mask=mask)).rollout(item=1)
    compiled = torch.compile(model, backend="eager")
    for given in (compiled, model):
        with torch.no_grad(), hw.capture(given) as seen:
            compiled(input_ids=ids, attention_mask=mask)
        assert off(seen.rollout(item=1), expected) < LIMIT
    with torch.no_grad():
        compiled(input_ids=ids, attention_mask=mask)
    with torch.no_grad(), hw.capture(compiled) as seen:  # there is a graph by now
        compiled(input_ids=ids, attention_mask=mask)
    assert off(seen.rollout(item=1), expected) < LIMIT


class Adapted(torch.nn.Module):
    """As PEFT wraps a model: generate() of the model inside, a prefix in its cache."""

    def __init__(self, prefix=0):
        super().__init__()
        self.base_model = make(*TEXT["llama"], attention="sdpa")
        self.prefix = prefix

    def forward(self, input_ids):
        past = hf.DynamicCache(config=self.base_model.config)
        for layer in range(3 if self.prefix else 0):
            past.update(torch.randn(1, 2, self.prefix, 8), torch.randn(1, 2, self.prefix, 8), layer)
        return self.base_model(input_ids=input_ids, past_key_values=past)

    def generate(self, *args, **words):
        return self.base_model.generate(*args, **words)


def test_generate_of_a_wrapped_model_is_followed():
    model, ids = Adapted().eval(), ids_and_mask("none")[0][:1]
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids, attention_mask=torch.ones_like(ids), **GREEDY)
    assert off(seen.generation(), rows_of(model.base_model, out, 13)) < LIMIT


def test_keys_of_a_prefix_are_refused():
    model, ids = Adapted(prefix=4).eval(), ids_and_mask("none")[0][:1]
    with torch.no_grad(), hw.capture(model) as seen:
        model(ids)
    with pytest.raises(hw.Error, match="13 queries over 17 keys|13 tokens after 4 in a cache"):
        seen.rollout()


def qwen2_5_vl():
    vision = dict(depth=2, hidden_size=32, intermediate_size=48, num_heads=4, patch_size=4, spatial_merge_size=2,
                  temporal_patch_size=2, out_hidden_size=32, window_size=16, fullatt_block_indexes=[1])
    text = dict(GROUPED, vocab_size=120, rope_parameters=dict(rope_type="default", rope_theta=1e4, mrope_section=[1, 1, 2]),
                **ENDS)
    torch.manual_seed(3)
    config = hf.Qwen2_5_VLConfig(vision_config=vision, text_config=text, image_token_id=110, video_token_id=111,
                                 vision_start_token_id=112, vision_end_token_id=113)
    model = hf.Qwen2_5_VLForConditionalGeneration(config).eval()
    grid = torch.tensor([[1, 4, 8]])
    text_ids = torch.randint(5, 90, (1, 7), generator=torch.Generator().manual_seed(1))
    ids = torch.cat([torch.tensor([[112]]), torch.full((1, 8), 110), torch.tensor([[113]]), text_ids], 1)
    kinds = (ids == 110).long()
    return model, dict(input_ids=ids, attention_mask=torch.ones_like(ids), pixel_values=torch.randn(32, 96),
                       image_grid_thw=grid, mm_token_type_ids=kinds)


def test_qwens_vision_language_model_is_asked_about_its_language_stack():
    model, inputs = qwen2_5_vl()
    seen = captured(model, inputs)
    assert off(seen.rollout(), eager_rollout(model, inputs)) < LIMIT
    with pytest.raises(hw.Error, match="called attention|windows"):
        seen.rollout(stack="visual")
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(**inputs, **GREEDY)
    assert seen.generation().M.shape == (5, 17, 3)


def test_an_item_that_is_all_padding_is_named():
    model, (ids, mask, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("right")
    mask[1] = 0
    seen = captured(model, dict(input_ids=ids, attention_mask=mask))
    assert seen.rollout(item=0).shape == (13, 13)
    for ask in (seen.rollout, seen.metrics, lambda: seen.flow(item=1), lambda: seen.maps(item=1),
                lambda: hw.compute_attention_attribution(model, dict(input_ids=ids, attention_mask=mask))):
        with pytest.raises(hw.Error, match="item 1 is all padding"):
            ask()


@pytest.mark.parametrize("words", [dict(item=5), dict(item=-9), dict(row=40), dict(head=9), dict(layers="2:9"),
                                   dict(call=4), dict(stack="x"), dict(tokens=["a"]), dict(attention_mask=[1]),
                                   dict(layers="x"), dict(fuse="head:9"), dict(sums="any"), dict(row="nobody")])
def test_whatever_is_wrong_is_headwaters_error(words):
    model, (ids, _, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    with hw.capture(model) as seen:
        model(input_ids=ids)
    asks = [lambda: hw.rollout(seen, **words)]
    if "sums" not in words:
        asks += [lambda: seen.average(**words), lambda: seen.flow(**words),
                 lambda: seen.gradient(lambda out: out[0].sum(), **words)]
    if "layers" not in words and "sums" not in words and "row" not in words:
        asks.append(lambda: seen.compare(by="layer", **(dict(item=0) | words)))
    for ask in asks:
        with pytest.raises(hw.Error):
            ask()


@pytest.mark.parametrize("layer", [7, -9])
def test_layers_that_are_not_there(layer):
    model, (ids, _, _) = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")
    with hw.capture(model) as seen:
        model(input_ids=ids)
    for ask in (lambda: seen.raw(layer=layer), lambda: seen.metrics(layer=layer), lambda: seen.gradient(
            lambda out: out[0].sum(), layer=layer)):
        with pytest.raises(hw.Error, match=f"no layer {layer}|layer {layer}"):
            ask()


@pytest.mark.parametrize("family", ["XLM", "Flaubert"])
def test_text_written_at_masks_is_refused_for_what_it_is(family):
    import transformers as hf
    torch.manual_seed(3)
    config = getattr(hf, f"{family}Config")(emb_dim=32, n_layers=2, n_heads=4, n_words=90, max_position_embeddings=64,
                                            mask_token_id=3, bos_token_id=1, eos_token_id=4, pad_token_id=2)
    model, ids = getattr(hf, f"{family}WithLMHeadModel")(config).eval(), ids_and_mask("none")[0][:1, :6]
    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids, attention_mask=torch.ones_like(ids), **GREEDY)
    with pytest.raises(hw.Error, match="writes each token at a mask after the text"):
        seen.generation()


def test_parts_that_have_names_keep_them():
    """Reformer's attention returns named tuples, and so must what a hook returns."""
    config = hf.ReformerConfig(hidden_size=32, attention_head_size=8, num_attention_heads=4, feed_forward_size=48, vocab_size=90,
                               attn_layers=["local", "local"], axial_pos_embds=False, max_position_embeddings=64)
    model = hf.ReformerModel(config).eval()
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad():
        expected = model(input_ids=ids).last_hidden_state
        with hw.capture(model) as seen:
            found = model(input_ids=ids).last_hidden_state
        truth = model(input_ids=ids, output_attentions=True).attentions
    assert torch.equal(found, expected)
    assert off(seen.rollout(), hw.rollout(truth).values) < LIMIT
