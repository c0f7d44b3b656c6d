"""Captures of models that peft wraps, and of torch's own FlexAttention.

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
