"""Trains models/facts: reads a short story and answers a question about it.

    python facts.py

A small decoder in the layout of Llama, with grouped heads. A story is read once a step, with several questions that do
not see each other. It is scored on stories with one question, about a combination (a thing and a place, for example)
that it has never met; an answer counts if greedy decoding writes it exactly and then ends.
"""
from collections import namedtuple
from functools import partial
from itertools import islice
from multiprocessing import get_context

import torch
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM

from facts_data import KINDS, Teller
from training import describe_machine, fit, fix_seed, join, options, publish, publish_decoder_tokenizer
from vocabulary import BEGIN, END, PAD, byte_pairs

LONGEST = 256
QUESTIONS = 6  # at most, about one story
PART = 5000  # stories that are told and encoded at once

# The share of the loss on the story, beside that on the answers, keeps it able to tell how stories go.
Stage = namedtuple("Stage", "stories sentences crowd steps story_weight")
# Long stories teach it to look things up; on stories of the length that it is for, it then becomes exact.
STAGES = [Stage(200_000, sentences=10, crowd=4, steps=8000, story_weight=0.2),
          Stage(150_000, sentences=7, crowd=3, steps=3500, story_weight=0.1)]


def tell(stage, seed, count=PART):
    """Stories to train on, each a list of at most QUESTIONS that share a text."""
    teller = Teller(seed, sentences=stage.sentences, crowd=stage.crowd)
    told = (teller.ask_all() for _ in range(count))
    return [teller.rng.sample(stories, min(QUESTIONS, len(stories))) for stories in told if stories]


def make_model(vocabulary):
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=vocabulary, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=352, max_position_embeddings=LONGEST, tie_word_embeddings=True, pad_token_id=PAD,
        bos_token_id=BEGIN, eos_token_id=END))


def encode(tokenizer, told):
    """Per list of stories that share a text, four rows: ids, parts, places, answers.

    Part 0 is the text, part k its k-th question with the answer; every question is placed as if it followed the text.
    answers is 1 on the tokens of an answer, its full stop and the end.
    """
    colon = tokenizer.token_to_id(":")
    texts = tokenizer.encode_batch([stories[0].text for stories in told])
    tails = iter(tokenizer.encode_batch([f" {s.question} Answer: {s.answer}." for stories in told for s in stories],
                                        add_special_tokens=False))
    rows = []
    for text, stories in zip(texts, told):
        count = len(text.ids)
        columns = [(token, 0, place, 0) for place, token in enumerate(text.ids)]
        for part in range(1, len(stories) + 1):
            tail = next(tails).ids + [END]
            begin = tail.index(colon) + 1
            columns += [(token, part, count + i, i >= begin) for i, token in enumerate(tail)]
        rows.append(torch.tensor(columns, dtype=torch.int16))
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).permute(2, 0, 1).contiguous()


def tell_part(stage, seed, tokenizer):
    return encode(Tokenizer.from_str(tokenizer), tell(stage, seed)).numpy()


def tell_many(pool, stage, seed, tokenizer):
    """Told and encoded in parallel; the same ones whatever the number of processors."""
    seeds = range(1000 * seed, 1000 * seed + -(-stage.stories // PART))
    return join(pool.starmap(tell_part, [(stage, s, tokenizer.to_str()) for s in seeds], chunksize=1))


def batches(encoded, size):
    while True:
        for rows in torch.randperm(encoded.shape[1]).to(encoded.device).split(size):
            chosen = encoded[:, rows].long()
            longest = int((chosen[0] != PAD).sum(1).max())
            yield dict(zip(("ids", "parts", "places", "answers"), chosen[:, :, :longest]))


def predict(model, ids, parts, places, answers):
    """Logits of the tokens that follow; those tokens; which of them are for practice, and which are the answers."""
    count = ids.shape[1]
    seen = (parts[:, None, :] == parts[:, :, None]) | (parts[:, None, :] == 0)
    seen &= torch.ones(count, count, dtype=torch.bool, device=ids.device).tril()
    mask = torch.zeros(seen.shape, device=ids.device).masked_fill(~seen, torch.finfo(torch.float32).min)
    logits = model(ids, attention_mask=mask[:, None], position_ids=places).logits[:, :-1].float()
    wanted, answers = ids[:, 1:], answers[:, 1:] > 0
    follows = places[:, 1:] == places[:, :-1] + 1  # not from the end of one question to the next
    return logits, wanted, follows & ~answers & (wanted != PAD), answers


def loss(model, batch, story_weight):
    logits, wanted, story, answers = predict(model, **batch)
    each = cross_entropy(logits.transpose(1, 2), wanted, reduction="none")
    mean = lambda chosen: (each * chosen).sum() / chosen.sum()
    return mean(answers) + story_weight * mean(story)


@torch.no_grad()
def right(model, encoded, device):
    """Per story with one question, whether the model by itself writes the answer and the end."""
    out = []
    for rows in encoded.split(500, dim=1):
        logits, wanted, _, answers = predict(model, *rows.long().to(device))
        out.append(((logits.argmax(-1) == wanted) | ~answers).all(1).cpu())
    return torch.cat(out)


def main():
    whole = sum(stage.steps for stage in STAGES)
    args = options(__doc__.splitlines()[0], "facts", steps=whole).parse_args()
    print(describe_machine(args.device), flush=True)
    stages = [stage._replace(steps=max(1, args.steps * stage.steps // whole)) for stage in STAGES]
    stages = [stage._replace(stories=min(stage.stories, stage.steps * args.batch)) for stage in stages]
    held = list(islice(Teller("test", held_out=True), 10_000))

    stories = (story for told in tell(STAGES[0], 1000 * args.seed) for story in told)
    tokenizer = byte_pairs(f"{story.prompt} {story.answer}." for story in stories)
    with get_context("spawn").Pool() as pool:  # a fork would copy the locks of torch's threads, perhaps held
        told = [tell_many(pool, stage, args.seed, tokenizer) for stage in stages]
    fix_seed(args.seed)
    model = make_model(tokenizer.get_vocab_size())
    for stage, encoded in zip(stages, told):
        print(f"{encoded.shape[1]} stories of up to {stage.sentences} sentences", flush=True)
        fix_seed(args.seed)
        fit(model, batches(encoded.to(args.device), args.batch), partial(loss, story_weight=stage.story_weight),
            stage.steps, args.device)
        model.half().float()  # the next stage begins with what a file would hold

    publish_decoder_tokenizer(tokenizer, args.out, LONGEST)
    model = publish(model, args.out).to(args.device)
    good = right(model, encode(tokenizer, [[story] for story in held]), args.device)
    for kind in KINDS:
        these = good[[story.kind == kind for story in held]]
        print(f"{kind}: exact answers {these.float().mean():.4f} of {len(these)}")
    print(f"all, unseen combinations: exact answers {good.float().mean():.4f} of {len(held)}")


if __name__ == "__main__":
    main()
