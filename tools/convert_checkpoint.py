#!/usr/bin/env python3
"""Turns checkpoints of two teaching projects into model directories:

    tools/convert_checkpoint.py llama2c  stories260K.bin           FOLDER
    tools/convert_checkpoint.py minigpt  gpt-nano-sort-model.json  FOLDER

llama2c is the first format of llama2.c: seven integers, then float32 tensors one after the other. minigpt is a JSON
object of base64 tensors under minGPT's names.
"""
import base64
import json
import struct
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file


def llama2c(path):
    data = Path(path).read_bytes()
    width, inner, layers, heads, groups, vocabulary, positions = struct.unpack("7i", data[:28])
    size, at = width // heads, 28

    def take(*shape):
        nonlocal at
        numbers = np.frombuffer(data, "<f4", int(np.prod(shape)), at).reshape(shape)
        at += numbers.nbytes
        return numbers

    def halves(weights, count):
        """llama2.c turns neighbours (2d, 2d + 1), Hugging Face turns (d, d + size / 2): the rows change places."""
        return weights.reshape(count, size // 2, 2, width).transpose(0, 2, 1, 3).reshape(count * size, width).copy()

    tensors = {"model.embed_tokens.weight": take(abs(vocabulary), width)}
    stacks = [("input_layernorm", take(layers, width)),
              ("self_attn.q_proj", np.stack([halves(w, heads) for w in take(layers, width, width)])),
              ("self_attn.k_proj", np.stack([halves(w, groups) for w in take(layers, groups * size, width)])),
              ("self_attn.v_proj", take(layers, groups * size, width)),
              ("self_attn.o_proj", take(layers, width, width)),
              ("post_attention_layernorm", take(layers, width)),
              ("mlp.gate_proj", take(layers, inner, width)),
              ("mlp.down_proj", take(layers, width, inner)),
              ("mlp.up_proj", take(layers, inner, width))]
    for name, stack in stacks:
        for layer, weights in enumerate(stack):
            tensors[f"model.layers.{layer}.{name}.weight"] = weights.copy()
    tensors["model.norm.weight"] = take(width)
    take(2, positions, size // 2)  # cosines and sines, which every reader can make
    if vocabulary < 0:
        tensors["lm_head.weight"] = take(-vocabulary, width)
    config = dict(model_type="llama", architectures=["LlamaForCausalLM"], hidden_size=width, intermediate_size=inner,
                  num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=groups,
                  vocab_size=abs(vocabulary), max_position_embeddings=positions, rms_norm_eps=1e-5,
                  hidden_act="silu", rope_theta=10000.0, tie_word_embeddings=vocabulary > 0)
    return config, tensors


def minigpt(path):
    found = json.loads(Path(path).read_text())
    given = found.pop("config")
    tensors = {}
    for name, entry in found.items():
        if name.endswith(".attn.bias"):
            continue  # the mask
        weights = np.frombuffer(base64.b64decode(entry["data"]), "<f4").reshape(entry["shape"])
        # minGPT has plain linear layers where Hugging Face's GPT-2 stores them transposed.
        turned = weights.ndim == 2 and (".attn.c_" in name or ".mlp.c_" in name)
        tensors[name] = (weights.T if turned else weights).copy()
    config = dict(model_type="gpt2", architectures=["GPT2LMHeadModel"], n_embd=given["n_embd"], n_layer=given["n_layer"],
                  n_head=given["n_head"], n_positions=given["block_size"], vocab_size=given["vocab_size"],
                  activation_function="gelu_new", layer_norm_epsilon=1e-5, tie_word_embeddings=False)
    return config, tensors


def convert(kind, path, folder):
    config, tensors = {"llama2c": llama2c, "minigpt": minigpt}[kind](path)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    convert(*sys.argv[1:])
