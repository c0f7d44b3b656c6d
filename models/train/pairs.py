"""Trains models/pairs: on which day does somebody arrive who left on a Monday and travelled for three days?

    python pairs.py

A small encoder in the layout of BERT that fills in masked words. In training a story has several days to fill in. It is
scored on new stories with one.
"""
from collections import Counter, namedtuple
from itertools import islice
from multiprocessing import get_context

import torch
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForMaskedLM

from pairs_data import DAYS, Teller
from training import describe_machine, fit, fix_seed, join, options, publish, publish_encoder_tokenizer
from vocabulary import CLS, ENCODER_SPECIAL, MASK, PAD, SEP, word_pieces

LONGEST = 128  # tokens, with [CLS] and [SEP]
STORIES = 400_000  # to train on
FRESH = 10_000  # stories for the score, told with a seed of their own
PART = 5000  # stories that are told and encoded at once

# A stage ends early when the mean loss is below `enough`.
Stage = namedtuple("Stage", "blanks steps enough")
# First the days alone are masked, then other words too, so that blanking one out is nothing new to the model.
STAGES = [Stage(blanks=0.0, steps=8000, enough=0.02), Stage(blanks=0.3, steps=4000, enough=0.0)]


def make_model(vocabulary):
    return BertForMaskedLM(BertConfig(
        vocab_size=vocabulary, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, intermediate_size=512,
        max_position_embeddings=LONGEST, pad_token_id=PAD, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


def encode(tokenizer, told):
    """Per list of journeys of one story, two rows: ids, and at each [MASK] the day."""
    texts = tokenizer.encode_batch([" ".join([journeys[0].story, *(one.question for one in journeys)])
                                    for journeys in told])
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(text.ids) for text in texts], batch_first=True)
    days = torch.zeros_like(ids)
    days[ids == MASK] = torch.tensor([tokenizer.token_to_id(one.arrival.lower()) for journeys in told
                                      for one in journeys])
    return torch.stack([ids, days]).short()


def tell_part(seed, tokenizer):
    """Stories to train on, each with one to all of its days to fill in."""
    teller = Teller(seed)
    told = (teller.tell() for _ in range(PART))
    told = [teller.rng.sample(journeys, teller.rng.randint(1, len(journeys))) for journeys in told]
    return encode(Tokenizer.from_str(tokenizer), told).numpy()


def batches(encoded, size, blanks):
    """In half of the stories, up to a share `blanks` of the words is masked."""
    while True:
        for rows in torch.randperm(encoded.shape[1]).to(encoded.device).split(size):
            ids, days = encoded[:, rows].long()
            longest = int((ids != PAD).sum(1).max())
            ids, days = ids[:, :longest], days[:, :longest]
            rate = torch.rand(len(rows), 1, device=ids.device).mul(2).sub(1).clamp(min=0) * blanks
            blank = (torch.rand(ids.shape, device=ids.device) < rate) & (ids != PAD) & (ids != CLS) & (ids != SEP)
            yield {"ids": ids.masked_fill(blank, MASK), "days": days}


def predict(model, ids, days):
    """Logits of the words at the days to fill in, and the days, of all stories together."""
    logits = model(ids, attention_mask=(ids != PAD).long()).logits
    return logits[days > 0].float(), days[days > 0]


def loss(model, batch):
    return cross_entropy(*predict(model, **batch))


@torch.no_grad()
def right(model, encoded, device):
    """Per story with one day to fill in, whether the model does."""
    out = []
    for rows in encoded.split(500, dim=1):
        logits, wanted = predict(model, *rows.long().to(device))
        out.append((logits.argmax(-1) == wanted).cpu())
    return torch.cat(out)


def main():
    whole = sum(stage.steps for stage in STAGES)
    args = options(__doc__.splitlines()[0], "pairs", steps=whole).parse_args()
    print(describe_machine(args.device), flush=True)
    stages = [stage._replace(steps=max(1, args.steps * stage.steps // whole)) for stage in STAGES]
    held = list(islice(Teller("test"), FRESH))

    stories = islice(Teller(1000 * args.seed), PART)
    tokenizer = word_pieces(Counter(word for journey in stories for word in journey.text.split()), pieces=0)
    tokenizer.add_special_tokens(ENCODER_SPECIAL)  # a text has its own [MASK]
    seeds = range(1000 * args.seed, 1000 * args.seed + -(-min(STORIES, args.steps * args.batch) // PART))
    with get_context("spawn").Pool() as pool:  # a fork would copy the locks of torch's threads, perhaps held
        encoded = join(pool.starmap(tell_part, [(seed, tokenizer.to_str()) for seed in seeds], chunksize=1))
    print(f"{encoded.shape[1]} stories to train on", flush=True)
    fix_seed(args.seed)
    model = make_model(tokenizer.get_vocab_size())
    for stage in stages:
        fit(model, batches(encoded.to(args.device), args.batch, stage.blanks), loss, stage.steps, args.device,
            enough=stage.enough)

    publish_encoder_tokenizer(tokenizer, args.out, LONGEST)
    model = publish(model, args.out).to(args.device)
    good = right(model, encode(tokenizer, [[journey] for journey in held]), args.device)
    for day in DAYS:
        these = good[[journey.arrival == day for journey in held]]
        print(f"{day}: accuracy {these.float().mean():.4f} of {len(these)}")
    print(f"all, new stories: accuracy {good.float().mean():.4f} of {len(held)}")


if __name__ == "__main__":
    main()
