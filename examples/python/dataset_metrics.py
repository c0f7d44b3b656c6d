"""Attention metrics over a data set, in two parts that are merged. If interrupted, it resumes from metrics.json."""
from __future__ import annotations

import torch
import transformers

import headwater as hw


def main() -> None:
    torch.manual_seed(0)
    model = transformers.BertModel(transformers.BertConfig(hidden_size=64, num_hidden_layers=3, num_attention_heads=4,
                                                           intermediate_size=128, vocab_size=100))
    model.eval()
    batches = [dict(input_ids=torch.randint(5, 100, (4, 12))) for _ in range(6)]
    first = hw.metrics_over(model, batches[:3], resume="metrics.json")
    second = hw.metrics_over(model, batches[3:])
    print(first + second)


if __name__ == "__main__":
    main()
