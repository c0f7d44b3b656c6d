"""Relevance of a captured model on a GPU against its plain forward pass: relevance_gpu.py [TOKENS...]

A decoder of the shape of Qwen2 1.5B (28 layers, 12 heads, 2 key heads of 128) in bfloat16 with random weights. For each
length: seconds and gigabytes above the weights, of a forward pass without gradients and of `seen.relevance` by both
rules. Needs torch with CUDA, transformers and headwater; 131,072 tokens take about 30 GB.
"""
import json
import sys
import time

import torch
import transformers

import headwater as hw

LENGTHS = (2048, 8192, 32768, 131072)
SHAPE = dict(vocab_size=151936, hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12,
             num_key_value_heads=2, max_position_embeddings=262144, tie_word_embeddings=True, initializer_range=0.02)


def measured(work, times):
    """What it returns, the best time in seconds, and the peak in GB above what was there before."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    found = work()
    torch.cuda.synchronize()
    peak = (torch.cuda.max_memory_allocated() - before) / 1e9
    best = float("inf")
    for _ in range(times):
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begin)
    return found, best, peak


def main(lengths):
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SHAPE)).to(torch.bfloat16).eval()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, transformers {transformers.__version__}",
          flush=True)
    for n in lengths:
        ids = torch.randint(1000, (1, n), device="cuda")
        times = 3 if n < 60000 else 1

        @torch.no_grad()
        def forward():
            model(input_ids=ids, logits_to_keep=1, use_cache=False)

        _, plain, plain_memory = measured(forward, times)
        line = dict(tokens=n, forward_s=round(plain, 4), forward_gb=round(plain_memory, 2))
        with hw.capture(model, keep="nothing") as seen, torch.no_grad():
            model(input_ids=ids, logits_to_keep=1)
        for rule in ("frozen", "attnlrp"):
            found, seconds, memory = measured(lambda: seen.relevance(5, rule=rule), times)
            line |= {f"{rule}_s": round(seconds, 4), f"{rule}_forwards": round(seconds / plain, 2),
                     f"{rule}_gb": round(memory, 2)}
            if rule == "frozen":
                facts = found.relevance
                line["sum_and_output"] = [round(facts["sum"] + facts["biases"], 3), round(facts["output"], 3)]
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or LENGTHS)
