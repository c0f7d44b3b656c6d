"""The models that bench/capture_gpu.py runs, and the ways to their rollout."""
import torch
import transformers
from tutorial import AttentionRollout

import headwater as hw


def decoder(bench, dtype, **shape):
    torch.manual_seed(0)
    words = dict(vocab_size=1000, max_position_embeddings=32768, initializer_range=0.05, use_cache=False) | shape
    with torch.device(bench.device):
        model = transformers.Qwen2Model(transformers.Qwen2Config(**words))
    return model.to(dtype).eval()


def usual(model, ids):
    model.set_attn_implementation("eager")
    with torch.no_grad():
        layers = model(input_ids=ids, output_attentions=True).attentions
        return AttentionRollout(discard_ratio=0).compute_rollout(layers)


def plain(model, ids):
    model.set_attn_implementation("sdpa")
    with torch.no_grad():
        model(input_ids=ids)


def ours(model, ids, **words):
    model.set_attn_implementation("sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids)
    return seen.rollout(**words).values
