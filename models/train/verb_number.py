"""Trains models/verb-number: from the beginning of a sentence, will its next verb be singular or plural?

    python verb_number.py --data FOLDER

The encoder of the experiment of Abnar and Zuidema (2020), in the layout of BERT: 6 layers, 8 heads, 128 wide.
"""
import random
from collections import Counter
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForSequenceClassification

from training import describe_machine, fit, fix_seed, on_device, options, publish, publish_encoder_tokenizer
from verb_number_data import LABELS, read
from verb_number_words import Variations
from vocabulary import CLS, PAD, word_pieces

LONGEST = 128  # tokens, with [CLS] and [SEP]


def make_model(vocabulary):
    return BertForSequenceClassification(BertConfig(
        vocab_size=vocabulary, hidden_size=128, num_hidden_layers=6, num_attention_heads=8, intermediate_size=512,
        max_position_embeddings=LONGEST, pad_token_id=PAD, id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)}))


def collate(encoded, labels):
    """Rows of ids, the long ones without their beginning: the verb comes next, so the end matters most."""
    rows = [ids if len(ids) <= LONGEST else [CLS, *ids[-LONGEST + 1:]] for ids in encoded]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor(labels)}


def batches(examples, variations, size, rng):
    order = list(examples)
    while True:
        rng.shuffle(order)
        for i in range(0, len(order) - size + 1, size):
            rows = order[i:i + size]
            yield collate([variations.varied(row.words) for row in rows], [row.label for row in rows])


def loss(model, batch):
    labels = batch.pop("labels")
    return cross_entropy(model(**batch).logits.float(), labels, label_smoothing=0.02)


@torch.no_grad()
def accuracy(model, examples, variations, device):
    right = 0
    for i in range(0, len(examples), 500):
        rows = examples[i:i + 500]
        batch = on_device(collate([variations.plain(row.words) for row in rows], [row.label for row in rows]), device)
        labels = batch.pop("labels")
        right += int((model(**batch).logits.argmax(-1) == labels).sum())
    return right / len(examples)


def main():
    parser = options(__doc__.splitlines()[0], "verb-number", steps=6000)
    parser.add_argument("--data", type=Path, required=True, help="folder with wiki-train.txt, numpred.val, ...")
    args = parser.parse_args()
    train, held = read(args.data)
    print(f"{len(train)} prefixes to train on; {describe_machine(args.device)}", flush=True)

    fix_seed(args.seed)
    counts = Counter(word for example in train for word in example.words)
    tokenizer = word_pieces(counts, pieces=1500)
    rng = random.Random(args.seed)
    variations = Variations(tokenizer, counts, rng)
    model = make_model(tokenizer.get_vocab_size())
    fit(model, batches(train, variations, args.batch, rng), loss, args.steps, args.device)

    publish_encoder_tokenizer(tokenizer, args.out, LONGEST)
    model = publish(model, args.out).to(args.device)
    for name, examples in held.items():
        print(f"{name}: accuracy {accuracy(model, examples, variations, args.device):.4f} of {len(examples)}")


if __name__ == "__main__":
    main()
