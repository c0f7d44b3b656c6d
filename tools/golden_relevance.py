#!/usr/bin/env python3
"""Writes tests/golden/relevance: tiny random models, and what lxt and captum make of them.

    python3 -m venv build/lxt
    build/lxt/bin/pip install torch transformers==4.52.4 tokenizers==0.21.4 captum==0.8.0 safetensors
    build/lxt/bin/pip install --no-deps lxt==2.1
    build/lxt/bin/python tools/golden_relevance.py

lxt has AttnLRP for these families, and needs a version of transformers of its own, hence the environment. captum has
integrated gradients. Nothing of headwater is used here.
"""
import importlib
import json
import subprocess
import sys
from pathlib import Path

import torch
import transformers

FOLDER = Path(__file__).resolve().parents[1] / "tests/golden/relevance"
DECODER = dict(hidden_size=16, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=2, intermediate_size=21,
               vocab_size=23, max_position_embeddings=16, initializer_range=0.4)
# name: model, config, what the config is told, module of transformers
FAMILIES = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", DECODER, "llama"),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", DECODER, "qwen2"),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", dict(DECODER, head_dim=6), "qwen3"),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig",
               dict(DECODER, head_dim=6, query_pre_attn_scalar=6, pad_token_id=0, sliding_window=4), "gemma3"),
    "bert": ("BertForSequenceClassification", "BertConfig",
             dict(hidden_size=16, num_attention_heads=4, num_hidden_layers=2, intermediate_size=21, vocab_size=23,
                  max_position_embeddings=16, initializer_range=0.4), "bert"),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config",
             dict(n_embd=16, n_head=4, n_layer=2, n_positions=16, vocab_size=23, initializer_range=0.4), "gpt2"),
}
IDS = [5, 17, 9, 3, 21, 11, 9]
TARGET, STEPS = 1, 6


def build(kind, config, words):
    torch.manual_seed(4)
    model = getattr(transformers, kind)(getattr(transformers, config)(**words, attn_implementation="eager")).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def rows_of(model, words):
    """What the first layer, or the norm before it, is made of: words, with positions and types where they are added."""
    places = torch.arange(len(IDS))[None]
    if type(model).__name__.startswith("Bert"):  # lxt has classes of its own
        table = model.bert.embeddings
        return words + table.position_embeddings(places) + table.token_type_embeddings(torch.zeros_like(places))
    if type(model).__name__.startswith("GPT2"):
        return words + model.transformer.wpe(places)
    return words


def logit(model, words):
    logits = model(inputs_embeds=words).logits
    return logits[:, TARGET] if logits.ndim == 2 else logits[:, -1, TARGET]


def integrated(model):
    from captum.attr import IntegratedGradients
    words = model.get_input_embeddings()(torch.tensor([IDS])).detach()
    found = IntegratedGradients(lambda one: logit(model, one)).attribute(
        words, baselines=torch.zeros_like(words), n_steps=STEPS, method="riemann_middle")
    return found[0].sum(-1).tolist()


def attnlrp(model):
    words = model.get_input_embeddings()(torch.tensor([IDS])).detach().requires_grad_()
    output = logit(model, words)
    output.sum().backward()
    return (rows_of(model, words) * words.grad)[0].sum(-1).tolist(), float(output.detach())


def write(name):
    kind, config, words, family = FAMILIES[name]
    model = build(kind, config, words)
    folder = FOLDER / name
    model.save_pretrained(folder)
    by_captum = integrated(model)
    # lxt changes classes of transformers, or replaces them: a model that was built before may keep its own.
    module = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
    from lxt.efficient import monkey_patch
    monkey_patch(module, importlib.import_module(f"lxt.efficient.models.{family}").attnLRP)
    changed = getattr(module, kind).from_pretrained(folder, attn_implementation="eager").eval()
    by_lxt, output = attnlrp(changed)
    import captum
    facts = dict(ids=IDS, target=TARGET, output=output, attnlrp=by_lxt, integrated=by_captum, steps=STEPS,
                 made_by=f"lxt 2.1, captum {captum.__version__}, transformers {transformers.__version__}")
    (folder / "relevance.json").write_text(json.dumps(facts, indent=1) + "\n")
    (folder / "generation_config.json").unlink(missing_ok=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write(sys.argv[1])
    else:
        for name in FAMILIES:  # a process each: lxt changes torch's own classes, too
            subprocess.run([sys.executable, __file__, name], check=True)
