"""Captures of models that peft, sentence-transformers and accelerate wrap, and of torch's own FlexAttention.

`make sweep` installs the packages of requirements.txt in build/sweep and runs this; otherwise what is missing is
skipped by name.
"""
import sys
from pathlib import Path

import pytest
import torch

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "python_package"))

from models import TEXT, ids_and_mask, make  # noqa: E402

import headwater as hw  # noqa: E402

LIMIT = 1e-5


def off(a, b):
    return float((torch.as_tensor(a).float() - torch.as_tensor(b).float()).abs().max())


def eager(model, **inputs):
    """What the model returns as its attention."""
    model.set_attn_implementation("eager") if hasattr(model, "set_attn_implementation") else None
    with torch.no_grad():
        return model(**inputs, output_attentions=True).attentions


def adapted(config, attention):
    from peft import get_peft_model
    torch.manual_seed(5)
    model = get_peft_model(make(*TEXT["llama"], attention=attention), config)
    for name, parameter in model.named_parameters():
        if "lora_" in name or "prompt" in name:
            torch.nn.init.normal_(parameter, std=0.3)
    return model.eval()


def lora(attention):
    peft = pytest.importorskip("peft", reason="peft is not installed; make sweep installs it")
    return adapted(peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "k_proj", "v_proj"]), attention)


def test_lora_gives_what_eager_attention_gives():
    ids, mask, where = ids_and_mask("right")
    truth = eager(lora("eager"), input_ids=ids, attention_mask=mask)
    plain = eager(make(*TEXT["llama"]), input_ids=ids, attention_mask=mask)
    assert off(truth[0], plain[0]) > 0.01, "the adapter changes attention"
    model = lora("sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    assert off(seen.rollout(item=1), hw.rollout(truth, attention_mask=mask, item=1).values) < LIMIT
    with hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    assert seen.gradient(7, item=1).shape == (9, 9)


def test_text_that_an_adapted_model_writes():
    model, ids = lora("sdpa"), ids_and_mask("none")[0][:1, :6]
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=4, min_new_tokens=4,
                             do_sample=False)
    whole = eager(lora("eager"), input_ids=out[:, :-1], attention_mask=torch.ones_like(out[:, :-1]))
    rows = hw.rollout(whole, by_layer=True).values[:, 5:, :6].permute(1, 2, 0)
    assert off(seen.generation().M, rows) < LIMIT


def test_prompt_tuning_counts_its_virtual_tokens():
    peft = pytest.importorskip("peft", reason="peft is not installed; make sweep installs it")
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
    ids, mask, _ = ids_and_mask("right")
    truth = eager(adapted(config, "eager"), input_ids=ids, attention_mask=mask)
    model = adapted(config, "sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    longer = torch.cat([torch.ones(2, 3, dtype=mask.dtype), mask], 1)
    found = seen.rollout(item=1)
    assert found.shape == (12, 12) and off(found, hw.rollout(truth, attention_mask=longer, item=1).values) < LIMIT


def test_prefix_tuning_is_refused():
    peft = pytest.importorskip("peft", reason="peft is not installed; make sweep installs it")
    model = adapted(peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3), "sdpa")
    ids = ids_and_mask("none")[0][:1]
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=torch.ones_like(ids))
    with pytest.raises(hw.Error, match="prefix|cache|keys"):
        seen.rollout()


@pytest.mark.parametrize("name", ["llama", "mistral", "bert"])
def test_flex_attention_itself(name, monkeypatch):
    from torch.nn.attention.flex_attention import flex_attention
    from transformers.integrations import flex_attention as integration
    # Without the compiler: the same function, which then builds the whole matrix.
    monkeypatch.setattr(integration, "compile_friendly_flex_attention",
                        lambda query, key, value, training=False, **words: flex_attention(query, key, value, **words))
    ids, mask, where = ids_and_mask("right")
    model = make(*TEXT[name])
    truth = eager(model, input_ids=ids, attention_mask=mask)
    model.set_attn_implementation("flex_attention")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    assert off(seen.rollout(item=1), hw.rollout(truth, attention_mask=mask, item=1).values) < LIMIT


# -- sentence-transformers


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    """A SentenceTransformer of a tiny BERT, with a tokenizer of a few words."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed; make sweep installs it")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "key", "##s", "to", "cabinet", "a", "dog"]
    pieces = Tokenizer(models.WordPiece({word: k for k, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    pieces.pre_tokenizer = pre_tokenizers.Whitespace()
    pieces.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    folder = tmp_path_factory.mktemp("sentences")
    PreTrainedTokenizerFast(tokenizer_object=pieces, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                            sep_token="[SEP]").save_pretrained(folder)
    make(*TEXT["bert"]).save_pretrained(folder)
    return SentenceTransformer(modules=[Transformer(str(folder)), Pooling(32)], device="cpu")


def test_sentence_transformers_give_what_eager_attention_gives(sentences):
    texts = ["a dog", "the keys to the cabinet"]  # encode() puts the longest first
    with torch.no_grad(), hw.capture(sentences, tokenizer=sentences.tokenizer) as seen:
        sentences.encode(texts)
    assert seen.how == "interface"
    model = make(*TEXT["bert"])
    for item, text in enumerate(texts[::-1]):
        inputs = sentences.tokenizer(text, return_tensors="pt")
        found = seen.rollout(item=item)
        assert found.tokens == sentences.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0].tolist())
        assert off(found, hw.rollout(eager(model, **inputs)).values) < LIMIT
    assert found.tokens == ["[CLS]", "a", "dog", "[SEP]"]
    assert seen.rollout(item=0).words().tokens == ["[CLS]", "the", "keys", "to", "the", "cabinet", "[SEP]"]


def test_two_encodes_are_two_calls(sentences):
    with torch.no_grad(), hw.capture(sentences) as seen:
        sentences.encode(["a dog"])
        sentences.encode(["the keys to the cabinet"])
    assert [seen.rollout(call=k).shape for k in range(2)] == [(4, 4), (8, 8)]
    with pytest.raises(hw.Error, match="call"):
        seen.rollout()


# -- accelerate: weights that are brought when a layer runs


def brought(kind, tmp_path):
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed; make sweep installs it")
    model = make(*TEXT["llama"], attention="sdpa")
    if kind == "cpu":
        return accelerate.cpu_offload(model, torch.device("cpu"))
    if kind == "disk":
        return accelerate.disk_offload(model, str(tmp_path), torch.device("cpu"))
    places = {"model.embed_tokens": "cpu", "model.rotary_emb": "cpu", "model.norm": "cpu", "lm_head": "cpu",
              "model.layers.0": "cpu", "model.layers.1": "disk", "model.layers.2": "disk"}
    return accelerate.dispatch_model(model, places, main_device="cpu", offload_dir=str(tmp_path), force_hooks=True)


@pytest.mark.parametrize("kind", ["cpu", "disk", "map"])
def test_offloaded_layers_give_what_eager_attention_gives(kind, tmp_path):
    ids, mask, _ = ids_and_mask("right")
    truth = eager(make(*TEXT["llama"]), input_ids=ids, attention_mask=mask)
    model = brought(kind, tmp_path)
    assert any(one.device.type == "meta" for one in model.parameters()), "nothing was taken away"
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    for item in range(2):
        assert off(seen.rollout(item=item), hw.rollout(truth, attention_mask=mask, item=item).values) < LIMIT
    plain = make(*TEXT["llama"], attention="sdpa")
    with torch.no_grad(), hw.capture(plain) as expected:
        plain(input_ids=ids, attention_mask=mask)
    assert dict(seen.metrics()) == pytest.approx(dict(expected.metrics()), abs=LIMIT)
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids[:1, :6], attention_mask=mask[:1, :6], max_new_tokens=3, min_new_tokens=3, do_sample=False)
    whole = eager(make(*TEXT["llama"]), input_ids=out[:, :-1])
    assert off(seen.generation().M, hw.rollout(whole, by_layer=True).values[:, 5:, :6].permute(1, 2, 0)) < LIMIT


def test_gradients_of_offloaded_layers_are_the_models_and_relevance_is_refused(tmp_path):
    ids = ids_and_mask("none")[0][:1]
    found = []
    for model in (make(*TEXT["llama"], attention="sdpa"), brought("cpu", tmp_path)):
        with hw.capture(model) as seen:
            model(input_ids=ids)
        found.append(seen.gradient(7).values)
    assert off(*found) < LIMIT
    with pytest.raises(hw.Error, match="on the meta device"):
        seen.relevance(7)
