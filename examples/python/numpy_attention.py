"""Attention in NumPy arrays: rollout, flow and how well they agree. Prints a table and writes fox.svg."""
from __future__ import annotations

import numpy as np
import numpy.typing as npt

import headwater as hw

TOKENS = ["[CLS]", "the", "quick", "brown", "fox", "jumps", "[SEP]"]


def attention(layers: int = 4, heads: int = 3, n: int = len(TOKENS)) -> npt.NDArray[np.float32]:
    """Random softmax rows, [L, H, n, n]."""
    scores = np.exp(2 * np.random.default_rng(7).normal(size=(layers, heads, n, n)))
    rows: npt.NDArray[np.float32] = (scores / scores.sum(-1, keepdims=True)).astype(np.float32)
    return rows


def main() -> None:
    stack = attention()
    rollout = hw.rollout(stack, tokens=TOKENS)
    flow = hw.flow(stack, tokens=TOKENS)
    for token, a, b in zip(TOKENS, rollout.values[0], flow.values[0]):
        print(f"{token:8} rollout {a:.3f}   flow {b:.3f}")
    print("agreement", hw.compare(stack, by="method").agreement[2, 3].round(3))
    rollout.save("fox.svg")


if __name__ == "__main__":
    main()
