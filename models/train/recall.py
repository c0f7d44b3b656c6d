"""Trains models/recall: reads a long text that tells many passwords, and recalls the one that is asked for.

    python recall.py

A small decoder in the layout of Llama, with grouped heads. In training a text is followed by several questions, one
after the other. It is scored on texts of 512 to 2048 tokens with one question, about a combination of a person and a
password that it has never met; an answer counts if greedy decoding writes it exactly and then ends.
"""
from collections import namedtuple
from multiprocessing import get_context

import torch
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM

from recall_data import LONGEST, SHORTEST, Writer, count_tokens, lengths
from training import describe_machine, fit, fix_seed, join, options, publish, publish_decoder_tokenizer
from vocabulary import BEGIN, END, PAD, byte_pairs

QUESTIONS = 16  # at most, about one text
ROOM = LONGEST + 256  # positions: for the answer, and for more questions in training
FRESH = 3000  # texts for the score
PART = 500  # texts that are written and encoded at once
ANSWER = 3  # tokens: the password, the full stop, the end

# A password every `spacing` tokens. A stage ends early when the mean loss is below `enough`.
Stage = namedtuple("Stage", "texts shortest longest spacing steps enough")
# Looking a thing up is learnt all of a sudden, and soonest where there is little to look at.
STAGES = [Stage(200_000, shortest=40, longest=64, spacing=12, steps=4000, enough=0.02),
          Stage(100_000, shortest=64, longest=128, spacing=16, steps=1500, enough=0.01),
          Stage(50_000, shortest=128, longest=512, spacing=32, steps=1500, enough=0.01),
          Stage(50_000, shortest=SHORTEST, longest=LONGEST, spacing=32, steps=3000, enough=0.0)]


def write(stage, seed, count=PART):
    """Texts to train on, each a list of at most QUESTIONS that share a text."""
    writer = Writer(seed)
    lengths = (writer.rng.randint(stage.shortest, stage.longest) for _ in range(count))
    written = (writer.ask_all(tokens, stage.spacing) for tokens in lengths)
    return [writer.rng.sample(asked, min(QUESTIONS, len(asked))) for asked in written]


def make_model(vocabulary):
    # Slow rotations leave a match of two words the same over thousands of tokens.
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=vocabulary, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
        head_dim=64, intermediate_size=352, max_position_embeddings=ROOM, tie_word_embeddings=True, pad_token_id=PAD,
        bos_token_id=BEGIN, eos_token_id=END, rope_parameters={"rope_type": "default", "rope_theta": 1e6}))


def encode(tokenizer, written):
    """Per list of questions that share a text, two rows: ids, and 1 on the tokens of an answer."""
    texts = tokenizer.encode_batch([asked[0].text for asked in written])
    tails = iter(tokenizer.encode_batch([f" {one.question} {one.answer}." for asked in written for one in asked],
                                        add_special_tokens=False))
    rows = []
    for text, asked in zip(texts, written):
        columns = [(token, 0) for token in text.ids]
        for one in asked:
            tail = next(tails).ids + [END]
            columns += [(token, i >= len(tail) - ANSWER) for i, token in enumerate(tail)]
        rows.append(torch.tensor(columns, dtype=torch.int16))
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).permute(2, 0, 1).contiguous()


def write_part(stage, seed, tokenizer):
    return encode(Tokenizer.from_str(tokenizer), write(stage, seed)).numpy()


def write_many(pool, stage, seed, tokenizer):
    """Written and encoded in parallel; the same ones whatever the number of processors."""
    seeds = range(1000 * seed, 1000 * seed + -(-stage.texts // PART))
    return join(pool.starmap(write_part, [(stage, s, tokenizer.to_str()) for s in seeds], chunksize=1))


def batches(encoded, size):
    while True:
        for rows in torch.randperm(encoded.shape[1]).to(encoded.device).split(size):
            chosen = encoded[:, rows].long()
            longest = int((chosen[0] != PAD).sum(1).max())
            yield dict(zip(("ids", "answers"), chosen[:, :, :longest]))


def predict(model, ids, answers):
    """Logits of the tokens of the answers, and those tokens, of all texts together."""
    answers = answers > 0
    hidden = model.model(ids, use_cache=False).last_hidden_state[:, :-1]
    return model.lm_head(hidden[answers[:, 1:]]).float(), ids[answers]


def loss(model, batch):
    return cross_entropy(*predict(model, **batch))


@torch.no_grad()
def right(model, encoded, device):
    """Per text with one question, whether the model by itself writes the answer and the end."""
    out = []
    for rows in encoded.split(50, dim=1):
        logits, wanted = predict(model, *rows.long().to(device))
        out.append((logits.argmax(-1) == wanted).view(-1, ANSWER).all(1).cpu())
    return torch.cat(out)


def main():
    whole = sum(stage.steps for stage in STAGES)
    args = options(__doc__.splitlines()[0], "recall", steps=whole).parse_args()
    print(describe_machine(args.device), flush=True)
    sizes = [max(1, args.batch * 256 // stage.longest) for stage in STAGES]
    stages = [stage._replace(steps=max(1, args.steps * stage.steps // whole)) for stage in STAGES]
    stages = [stage._replace(texts=min(stage.texts, stage.steps * size)) for stage, size in zip(stages, sizes)]
    writer = Writer("test", held_out=True)
    fresh = min(FRESH, args.steps * args.batch)  # a trial is over soon
    held = [writer.ask(tokens) for tokens in lengths(fresh)]

    texts = write(STAGES[-1], 1000 * args.seed)
    tokenizer = byte_pairs(f"{asked[0].prompt} {asked[0].answer}." for asked in texts)
    with get_context("spawn").Pool() as pool:  # a fork would copy the locks of torch's threads, perhaps held
        written = [write_many(pool, stage, args.seed, tokenizer) for stage in stages]
    fix_seed(args.seed)
    model = make_model(tokenizer.get_vocab_size())
    for stage, size, encoded in zip(stages, sizes, written):
        print(f"{encoded.shape[1]} texts of up to {stage.longest} tokens, {size} a step", flush=True)
        fit(model, batches(encoded.to(args.device), size), loss, stage.steps, args.device, rate=2e-3,
            attention="sdpa", enough=stage.enough)

    publish_decoder_tokenizer(tokenizer, args.out, ROOM)
    model = publish(model, args.out).to(args.device)
    good = right(model, encode(tokenizer, [[one] for one in held]), args.device)
    tokens = [count_tokens(one.prompt) + 1 for one in held]
    for low in range(SHORTEST, LONGEST, 256):
        these = good[[low <= min(length, LONGEST - 1) < low + 256 for length in tokens]]
        print(f"from {low} tokens: exact answers {these.float().mean():.4f} of {len(these)}")
    print(f"all, unseen combinations: exact answers {good.float().mean():.4f} of {len(held)}")


if __name__ == "__main__":
    main()
