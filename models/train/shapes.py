"""Trains models/shapes: what is the coloured shape in the picture?

    python shapes.py

A vision transformer in the layout of ViT: 96 x 96 pixels in patches of 8 x 8, 30 classes such as "red star".
"""
import json
from multiprocessing import Pool

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import ViTConfig, ViTForImageClassification

from shapes_data import LABELS, SIZE, draw
from training import describe_machine, fit, fix_seed, options, publish

FRESH = 10_000  # pictures for the score, drawn with a seed of their own


def draw_part(seed, count=500):
    rng = np.random.default_rng(seed)
    pictures = [draw(rng) for _ in range(count)]
    return np.stack([p.pixels for p in pictures]), np.array([p.label for p in pictures])


def draw_many(count, seed):
    """Pixels [count, 3, SIZE, SIZE] in bytes, and labels; drawn in parallel, the same on any number of processors."""
    with Pool() as pool:
        parts = pool.map(draw_part, [(seed, part) for part in range(-(-count // 500))], chunksize=1)
    pixels, labels = (torch.from_numpy(np.concatenate(of)[:count]) for of in zip(*parts))
    return pixels.permute(0, 3, 1, 2).contiguous(), labels


def make_model():
    return ViTForImageClassification(ViTConfig(
        hidden_size=128, num_hidden_layers=6, num_attention_heads=4, intermediate_size=384, image_size=SIZE,
        patch_size=8, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)}))


def prepared(pixels):
    """As preprocessor_config.json says: from -1 to 1."""
    return pixels.float() / 127.5 - 1


def batches(pixels, labels, size):
    while True:
        for rows in torch.randperm(len(pixels)).to(pixels.device).split(size):
            chosen = pixels[rows]
            for axis in (2, 3):  # a mirrored picture is as good as a new one
                turn = torch.rand(len(rows), device=pixels.device) < 0.5
                chosen = torch.where(turn[:, None, None, None], chosen.flip(axis), chosen)
            yield {"pixels": chosen, "labels": labels[rows]}


def loss(model, batch):
    logits = model(prepared(batch["pixels"])).logits.float()
    return cross_entropy(logits, batch["labels"], label_smoothing=0.05)


@torch.no_grad()
def right(model, pixels, labels, device):
    best = [model(prepared(part.to(device))).logits.argmax(-1).cpu() for part in pixels.split(500)]
    return torch.cat(best) == labels


def main():
    parser = options(__doc__.splitlines()[0], "shapes", steps=7000)
    parser.add_argument("--pictures", type=int, default=100_000, help="drawn to train on")
    args = parser.parse_args()
    (pixels, labels), fresh = draw_many(args.pictures, args.seed), draw_many(FRESH, seed=10 ** 6)
    print(f"{len(pixels)} pictures to train on; {describe_machine(args.device)}", flush=True)

    fix_seed(args.seed)
    model = make_model()
    fit(model, batches(pixels.to(args.device), labels.to(args.device), args.batch), loss, args.steps, args.device)

    model = publish(model, args.out).to(args.device)
    (args.out / "preprocessor_config.json").write_text(json.dumps({
        "image_processor_type": "ViTImageProcessor", "do_resize": True, "size": {"height": SIZE, "width": SIZE},
        "resample": 2, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}, indent=2) + "\n")
    good = right(model, *fresh, args.device)
    for shape in sorted({label.split()[1] for label in LABELS}):
        these = good[[LABELS[label].endswith(shape) for label in fresh[1]]]
        print(f"{shape}: accuracy {these.float().mean():.4f} of {len(these)}")
    print(f"all: accuracy {good.float().mean():.4f} of {len(good)}")


if __name__ == "__main__":
    main()
