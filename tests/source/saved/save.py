"""Saves one stack of attention by NumPy, safetensors and PyTorch, as saved_test.cpp expects it.

All weight of row i in layer l, head h is on column (i + l + 2 h) mod 3.
Usage: python save.py FOLDER
"""

import json
import sys

import numpy as np
import safetensors.numpy
import safetensors.torch
import torch

folder = sys.argv[1] + "/"
stack = np.zeros((2, 2, 3, 3), np.float32)
for l, h, i in np.ndindex(2, 2, 3):
    stack[l, h, i, (i + l + 2 * h) % 3] = 1
tokens = ["[CLS]", "caf\u00e9", "\u6c34"]
metadata = {"tokens": json.dumps(tokens)}

np.save(folder + "numpy.npy", stack)
np.save(folder + "fortran.npy", np.asfortranarray(stack.astype("f8")))
np.savez(folder + "stored.npz", *stack, tokens=np.array(tokens))
np.savez_compressed(
    folder + "compressed.npz",
    *stack.astype("f2"),
    tokens=np.array(tokens),
    attention_mask=np.ones(3, bool),
)
layers = {f"layer.{l}": np.ascontiguousarray(layer) for l, layer in enumerate(stack)}
safetensors.numpy.save_file(layers, folder + "numpy.safetensors", metadata=metadata)
halves = {name: torch.from_numpy(layer).to(torch.bfloat16) for name, layer in layers.items()}
safetensors.torch.save_file(halves, folder + "torch_bf16.safetensors", metadata=metadata)
with open(folder + "python.json", "w") as file:
    json.dump({"tokens": tokens, "attentions": stack.tolist()}, file)
