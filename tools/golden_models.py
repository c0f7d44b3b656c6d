#!/usr/bin/env python3
"""Writes tests/golden: a tiny random model of each family, and what transformers' eager float32 makes of it.

    build/venv/bin/python tools/golden_models.py

Each folder holds config.json, model.safetensors and expected.safetensors: `ids` [n] or `pixels` [3, height, width],
`states` [L + 2, n, width] (before layer 0, after each layer, after the final norm) and `attention` [L, H, n, n]. The
C++ tests run the models and compare; the Python tests do the same with larger models that they make themselves.
"""
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
from families import IMAGES, TEXT, make  # noqa: E402
from test_families import expected  # noqa: E402

SMALL_TEXT = dict(vocab_size=13, max_position_embeddings=16)
# The name in families.py, what is smaller here, and the type that the weights are stored in.
MODELS = {
    "albert": (SMALL_TEXT | dict(hidden_size=12, intermediate_size=15, embedding_size=5, num_hidden_layers=2), torch.float32),
    "bert": (SMALL_TEXT | dict(hidden_size=12, intermediate_size=15, num_hidden_layers=2), torch.float32),
    "distilbert": (dict(dim=12, hidden_dim=15, vocab_size=13, max_position_embeddings=16, n_layers=2), torch.float16),
    "electra": (SMALL_TEXT | dict(hidden_size=12, intermediate_size=15, embedding_size=5, num_hidden_layers=2), torch.float32),
    "gpt2": (dict(n_embd=12, vocab_size=13, n_positions=16, n_layer=2), torch.float32),
    "llama-llama3": (SMALL_TEXT | dict(hidden_size=12, intermediate_size=15, num_hidden_layers=2, head_dim=6), torch.bfloat16),
    "mistral": (SMALL_TEXT | dict(hidden_size=12, intermediate_size=15, num_hidden_layers=2), torch.float32),
    "qwen2-window": (SMALL_TEXT | dict(hidden_size=12, intermediate_size=15, num_hidden_layers=2), torch.float32),
    "qwen3": (SMALL_TEXT | dict(hidden_size=12, intermediate_size=15, num_hidden_layers=2, head_dim=4), torch.float32),
    "roberta": (SMALL_TEXT | dict(hidden_size=12, intermediate_size=15, num_hidden_layers=2), torch.float32),
    "deit": (dict(hidden_size=12, intermediate_size=15, num_hidden_layers=2, image_size=6, patch_size=3), torch.float32),
    "dinov2-stretched": (dict(hidden_size=12, num_hidden_layers=2, image_size=6, patch_size=3), torch.float32),
    "registers-stretched": (dict(hidden_size=12, num_hidden_layers=2, image_size=6, patch_size=3), torch.float32),
    "vit": (dict(hidden_size=12, intermediate_size=15, num_hidden_layers=2, image_size=6, patch_size=3), torch.float32),
}


def write(name, smaller, dtype):
    folder = ROOT / "tests/golden" / name
    shutil.rmtree(folder, ignore_errors=True)
    kind, config, entries = (TEXT | IMAGES)[name][:3]
    model = make(kind, config, entries | smaller)
    model.to(dtype).save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    model = type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    generator = torch.Generator().manual_seed(5)
    if name in TEXT:
        ids = torch.randint(4, 13, (1, 9), generator=generator)
        states, attention = expected(model, input_ids=ids)
        given = {"ids": ids[0]}
    else:
        height, width = (6, 6) if name in ("deit", "vit") else (6, 12)
        pixels = torch.randn(1, 3, height, width, generator=generator)
        states, attention = expected(model, pixel_values=pixels)
        given = {"pixels": pixels[0]}
    save_file(given | {"states": torch.from_numpy(states), "attention": torch.from_numpy(attention)},
              folder / "expected.safetensors")
    print(f"{name}: {sum(path.stat().st_size for path in folder.iterdir())} bytes")


if __name__ == "__main__":
    for name, (smaller, dtype) in MODELS.items():
        write(name, smaller, dtype)
