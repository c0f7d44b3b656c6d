"""Trains models/pairs: on which day does somebody arrive who left on a Monday and travelled for three days?

    python pairs.py

A small encoder in the layout of BERT that fills in masked words. To find one of the two words is worth nothing without
the other, so there is no easy beginning. Training therefore begins with stories of two sentences, and also asks for the
two words themselves. The model is scored on new stories with the day of arrival to fill in.
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
from vocabulary import ENCODER_SPECIAL, MASK, PAD, word_pieces

LONGEST = 128  # tokens, with [CLS] and [SEP]
WIDTH = 128
FRESH = 10_000  # stories for the score, told with a seed of their own
PART = 5000  # stories that are told and encoded at once

# Asks up to `kinds` kinds of question. In half of the stories, up to a share `blanks` of the other words is masked too.
# A stage ends early when the mean loss is below `enough`.
Stage = namedtuple("Stage", "stories fillers kinds blanks steps enough")
# Other words are masked at the end only, so that blanking one out is nothing new to the model.
STAGES = [Stage(200_000, fillers=0, kinds=3, blanks=0.0, steps=2000, enough=0.02),
          Stage(400_000, fillers=8, kinds=3, blanks=0.0, steps=3000, enough=0.01),
          Stage(400_000, fillers=8, kinds=1, blanks=0.3, steps=4000, enough=0.0)]


def tell(stage, seed, count=PART):
    """Stories to train on, each with a list of questions and answers."""
    teller = Teller(seed, stage.fillers)
    for journey in islice(teller, count):
        asked = journey.questions[:stage.kinds]
        yield journey.story, teller.rng.sample(asked, teller.rng.randint(1, len(asked)))


def make_model(vocabulary):
    model = BertForMaskedLM(BertConfig(
        vocab_size=vocabulary, hidden_size=WIDTH, num_hidden_layers=4, num_attention_heads=4,
        intermediate_size=4 * WIDTH, max_position_embeddings=LONGEST, pad_token_id=PAD, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0))
    # Positions begin as waves, of the size of the words: to look three words back is then the same everywhere.
    angles = torch.arange(LONGEST)[:, None] * 10_000 ** -torch.linspace(0, 1, WIDTH // 2)
    waves = torch.cat([angles.sin(), angles.cos()], dim=1) * 2 ** 0.5 * model.config.initializer_range
    model.bert.embeddings.position_embeddings.weight.data.copy_(waves)
    return model


def encode(tokenizer, told):
    """Per story with its questions, two rows: ids, and at each [MASK] the answer."""
    told = list(told)
    texts = tokenizer.encode_batch([" ".join([story, *(question for question, _ in asked)]) for story, asked in told])
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(text.ids) for text in texts], batch_first=True)
    answers = torch.zeros_like(ids)
    answers[ids == MASK] = torch.tensor([tokenizer.token_to_id(answer.lower()) for _, asked in told
                                         for _, answer in asked])
    return torch.stack([ids, answers]).short()


def tell_part(stage, seed, tokenizer):
    return encode(Tokenizer.from_str(tokenizer), tell(stage, seed)).numpy()


def tell_many(pool, stage, seed, tokenizer):
    """Told and encoded in parallel; the same ones whatever the number of processors."""
    seeds = range(1000 * seed, 1000 * seed + -(-stage.stories // PART))
    return join(pool.starmap(tell_part, [(stage, s, tokenizer.to_str()) for s in seeds], chunksize=1))


def batches(encoded, size, blanks):
    while True:
        for rows in torch.randperm(encoded.shape[1]).to(encoded.device).split(size):
            ids, answers = encoded[:, rows].long()
            longest = int((ids != PAD).sum(1).max())
            ids, answers = ids[:, :longest], answers[:, :longest]
            rate = blanks * torch.rand(len(rows), 1, device=ids.device).mul(2).sub(1).clamp(min=0)
            blank = (torch.rand(ids.shape, device=ids.device) < rate) & (ids >= len(ENCODER_SPECIAL))
            yield {"ids": ids.masked_fill(blank, MASK), "answers": answers}


def predict(model, ids, answers):
    """Logits of the words where an answer belongs, and the answers, of all stories together."""
    logits = model(ids, attention_mask=(ids != PAD).long()).logits
    return logits[answers > 0].float(), answers[answers > 0]


def loss(model, batch):
    return cross_entropy(*predict(model, **batch))


@torch.no_grad()
def right(model, encoded, device):
    """Per story with one question, whether the model fills in the answer."""
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
    stages = [stage._replace(stories=min(stage.stories, stage.steps * args.batch)) for stage in stages]
    held = list(islice(Teller("test"), FRESH))

    stories = islice(Teller(1000 * args.seed), PART)
    tokenizer = word_pieces(Counter(word for journey in stories for word in journey.text.split()), pieces=0)
    tokenizer.add_special_tokens(ENCODER_SPECIAL)  # a text has its own [MASK]
    with get_context("spawn").Pool() as pool:  # a fork would copy the locks of torch's threads, perhaps held
        told = [tell_many(pool, stage, args.seed, tokenizer) for stage in stages]
    fix_seed(args.seed)
    model = make_model(tokenizer.get_vocab_size())
    for stage, encoded in zip(stages, told):
        print(f"{encoded.shape[1]} stories with up to {stage.fillers} other sentences", flush=True)
        fit(model, batches(encoded.to(args.device), args.batch, stage.blanks), loss, stage.steps, args.device,
            enough=stage.enough)

    publish_encoder_tokenizer(tokenizer, args.out, LONGEST)
    model = publish(model, args.out).to(args.device)
    good = right(model, encode(tokenizer, [(journey.story, journey.questions[:1]) for journey in held]), args.device)
    for day in DAYS:
        these = good[[journey.arrival == day for journey in held]]
        print(f"{day}: accuracy {these.float().mean():.4f} of {len(these)}")
    print(f"all, new stories: accuracy {good.float().mean():.4f} of {len(held)}")


if __name__ == "__main__":
    main()
