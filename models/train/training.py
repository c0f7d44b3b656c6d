"""What the trainings share: a fixed seed, one loop, and weights written as half-precision files."""
import argparse
import json
import os
import random
import time
from pathlib import Path

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when CUDA starts; sums in a fixed order

import numpy as np
import torch
from torch.nn.functional import pad

from vocabulary import BEGIN, CLS, DECODER_SPECIAL, ENCODER_SPECIAL, END, MASK, PAD, SEP, UNK

REPORT = 500  # steps between two lines that say how it goes


def options(description, out, steps):
    """The command line of every training; `out` and `steps` are its defaults."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / out, help="folder of the model")
    parser.add_argument("--steps", type=int, default=steps, help="steps of training")
    parser.add_argument("--batch", type=int, default=256, help="examples a step")
    parser.add_argument("--seed", type=int, default=1, help="of the data, the first weights and the order")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser


def fix_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)


def on_device(batch, device):
    return {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items()}


def join(parts):
    """Arrays [..., rows, tokens] as one tensor with the rows of all, padded with 0 to the longest."""
    longest = max(part.shape[-1] for part in parts)
    return torch.cat([pad(torch.from_numpy(part), (0, longest - part.shape[-1])) for part in parts], dim=-2)


def fit(model, batches, loss, steps, device, rate=1e-3, attention="eager", enough=0.0):
    """Trains `model` in place: AdamW, the rate warmed up over a twentieth of the steps, then down a cosine.

    batches is an endless iterator of dictionaries of tensors; loss(model, batch) gives a scalar. The gradient of eager
    attention is summed in a fixed order; long inputs need "sdpa". Ends early if the mean loss of REPORT steps is below
    `enough`.
    """
    model.to(device).train()
    model.set_attn_implementation(attention)
    # Vectors are biases and the scales of norms: nothing is gained by pulling those to zero.
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim <= 1]
    optimiser = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05},
                                   {"params": vectors, "weight_decay": 0.0}], lr=rate, betas=(0.9, 0.98),
                                  fused=device == "cuda")
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps + 1, pct_start=0.05)
    began, total = time.time(), 0.0
    for step in range(1, steps + 1):
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            value = loss(model, on_device(next(batches), device))
        optimiser.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        total += value.detach()
        if step % REPORT == 0 or step == steps:
            mean = float(total) / (step % REPORT or REPORT)
            print(f"step {step} of {steps}, loss {mean:.4f}, {time.time() - began:.0f} s", flush=True)
            total = 0.0
            if mean < enough:
                break
    return model.eval()


def publish(model, out):
    """Writes config.json and model.safetensors in f16; gives the model as those files hold it, in float32."""
    model.to("cpu").half().save_pretrained(out)
    (out / "generation_config.json").unlink(missing_ok=True)  # says nothing that config.json does not say
    (out / "model.safetensors").chmod(0o644)
    mine = type(model).from_pretrained(out, dtype=torch.float32)
    size = (out / "model.safetensors").stat().st_size
    print(f"{out / 'model.safetensors'}: {mine.num_parameters():,} parameters, {size / 1e6:.2f} MB")
    return mine.eval()


def publish_tokenizer(tokenizer, out, **settings):
    """Writes tokenizer.json and tokenizer_config.json; every version of transformers knows the class named there."""
    out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(out / "tokenizer.json"))
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    (out / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")


def publish_encoder_tokenizer(tokenizer, out, longest):
    publish_tokenizer(tokenizer, out, model_max_length=longest,
                      pad_token=ENCODER_SPECIAL[PAD], unk_token=ENCODER_SPECIAL[UNK], cls_token=ENCODER_SPECIAL[CLS],
                      sep_token=ENCODER_SPECIAL[SEP], mask_token=ENCODER_SPECIAL[MASK],
                      model_input_names=["input_ids", "token_type_ids", "attention_mask"])


def publish_decoder_tokenizer(tokenizer, out, longest):
    publish_tokenizer(tokenizer, out, model_max_length=longest, clean_up_tokenization_spaces=False,
                      pad_token=DECODER_SPECIAL[PAD], bos_token=DECODER_SPECIAL[BEGIN], eos_token=DECODER_SPECIAL[END])


def describe_machine(device):
    """The line that a table of accuracies needs beside it."""
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    return f"torch {torch.__version__}, {name}"
