"""A Hugging Face model with sdpa: rollout of a padded batch, gradients, and generated text.

The model is tiny and random, so this runs anywhere. Replace it with your own.
"""
from __future__ import annotations

from typing import Any

import torch
import transformers

import headwater as hw


def tiny_model() -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(hidden_size=64, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
                                      intermediate_size=128, vocab_size=100, bos_token_id=1, eos_token_id=2,
                                      pad_token_id=0)
    model = transformers.LlamaForCausalLM(config)
    model.eval()
    return model


def main() -> None:
    model = tiny_model()
    ids = torch.tensor([[11, 12, 13, 14, 15, 16], [0, 0, 21, 22, 23, 24]])
    mask = (ids != 0).long()

    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids, attention_mask=mask)
    print("seen through", seen.how, "in", len(seen.layers), "layers")
    for item, result in enumerate(seen.rollout(row="last").values):
        print(f"item {item}: the last token comes from", [round(float(value), 3) for value in result])

    with hw.capture(model) as seen:
        model(input_ids=ids[:1])
    print("the gradient of the best word is largest at", seen.gradient("best", row="last").top(2))

    with torch.no_grad(), hw.capture(model) as seen:
        model.generate(ids[:1], attention_mask=mask[:1], max_new_tokens=3, min_new_tokens=3, do_sample=False)
    print("generated tokens x prompt tokens x layers:", tuple(seen.generation().M.shape))


if __name__ == "__main__":
    main()
