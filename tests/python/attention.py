"""Attention to test with, and files that hold it in every format that headwater reads."""
import json
import struct

import numpy as np

TOKENS = ["[CLS]", "The", "fox", ",", "[MASK]", "[SEP]"]


def softmax_rows(random, shape, causal=False):
    """Random attention as models have it: rows sum to 1; causal rows see nothing to their right."""
    scores = 2 * random.standard_normal(shape)
    if causal:
        scores = np.where(np.tri(shape[-1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def grid_rows(random, shape, causal=False):
    """Rows of multiples of 1/64 that sum to exactly 1: full of ties, exact in every type, even bf16."""
    n = shape[-1]
    out = np.zeros(shape)
    for place in np.ndindex(shape[:-1]):
        seen = place[-1] + 1 if causal else n
        out[place][:seen] = random.multinomial(64, np.full(seen, 1 / seen)) / 64
    return out


def to_bf16(array):
    """The upper halves of float32, rounded to nearest even, as uint16."""
    bits = np.asarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(halves):
    return (halves.astype(np.uint32) << 16).view(np.float32)


def stored(array, dtype):
    """The array as a file of that type holds it (bf16 as uint16)."""
    if dtype == "bf16":
        return to_bf16(array)
    return np.asarray(array, {"f16": np.float16, "f32": np.float32, "f64": np.float64}[dtype])


def seen(array, dtype):
    """The numbers that a reader of that file sees, in double."""
    return np.asarray(from_bf16(array) if dtype == "bf16" else array, np.float64)


def save_safetensors(path, arrays, dtypes, tokens=None):
    header, at = {}, 0
    if tokens:
        header["__metadata__"] = {"tokens": json.dumps(tokens)}
    for name, array in arrays.items():
        header[name] = {"dtype": dtypes[name], "shape": array.shape, "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).tobytes())


def save(path, layers, dtype="f32", tokens=None, mask=None, compressed=False, fortran=False):
    """`layers`: stored arrays, one a layer, or a single one that holds all layers."""
    ending = path.suffix
    if ending == ".npy":
        array = np.asfortranarray(layers[0]) if fortran else layers[0]
        np.save(path, array.view("V2") if dtype == "bf16" else array)
    elif ending == ".npz":
        arrays = {f"layer_{k}": a.view("V2") if dtype == "bf16" else a for k, a in enumerate(layers)}
        if tokens is not None:
            arrays["tokens"] = np.array(tokens)
        if mask is not None:
            arrays["attention_mask"] = mask
        (np.savez_compressed if compressed else np.savez)(path, **arrays)
    elif ending == ".safetensors":
        arrays = {f"layer_{k}": a for k, a in enumerate(layers)}
        dtypes = dict.fromkeys(arrays, dtype.upper())
        if mask is not None:
            arrays["attention_mask"], dtypes["attention_mask"] = mask.astype(np.int64), "I64"
        save_safetensors(path, arrays, dtypes, tokens)
    else:
        content = {"attentions": seen(layers[0], dtype).tolist()}
        if tokens is not None:
            content["tokens"] = tokens
        if mask is not None:
            content["attention_mask"] = np.asarray(mask).astype(int).tolist()
        path.write_text(json.dumps(content))
    return path
