"""Writes examples for `headwater evaluate`, as JSON objects a line, with what is known to be true.

    python examples.py verb-number --data FOLDER --out verb-number.jsonl    # held-out prefixes and their number
    python examples.py facts --out facts.jsonl        # held-out stories; the words that the answer must come from
    python examples.py recall --out recall.jsonl      # held-out texts of 512 to 2048 tokens; the password and the name
    python examples.py pairs --out pairs.jsonl        # new stories; the two words that the answer follows from
    python examples.py shapes --out shapes.jsonl      # fresh pictures beside the file; the box of the shape
"""
import argparse
import json
import random
from itertools import islice
from pathlib import Path

FEWEST, MOST = 4, 60  # words of a prefix: enough that ranks mean something, and within the positions of the model


def verb_number(args):
    from verb_number_data import LABELS, read_sentences
    held = [row for row in read_sentences(args.data / "wiki-test.txt") if FEWEST <= len(row.words) <= MOST]
    random.Random(args.seed).shuffle(held)
    for words, label in held[:args.count]:
        yield {"text": " ".join(words), "label": LABELS[label]}


def facts(args):
    from facts_data import Teller
    for story in islice(Teller(f"examples {args.seed}", held_out=True), args.count):
        # The generator counts characters, and its words are ASCII: bytes are the same.
        yield {"prompt": story.prompt, "answer": f" {story.answer}", "truth": [story.source]}


def recall(args):
    from recall_data import Writer, lengths
    writer = Writer(f"examples {args.seed}", held_out=True)
    for tokens in lengths(args.count):
        text = writer.ask(tokens)
        yield {"prompt": text.prompt, "answer": f" {text.answer}", "truth": [text.key, text.value]}


def pairs(args):
    from pairs_data import Teller
    for journey in islice(Teller(f"examples {args.seed}"), args.count):
        yield {"text": journey.text, "label": journey.arrival.lower(), "truth": [journey.day, journey.number]}


def shapes(args):
    import numpy as np
    from PIL import Image
    from shapes_data import LABELS, draw
    rng = np.random.default_rng([10 ** 7, args.seed])
    folder = args.out.with_name(args.out.stem + "-pictures")
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(args.count):
        picture = draw(rng)
        Image.fromarray(picture.pixels).save(folder / f"{i}.png")
        left, top, right, bottom = picture.box
        yield {"image": f"{folder.name}/{i}.png", "label": LABELS[picture.label],
               "box": [left, top, right - left, bottom - top]}


MODELS = {"verb-number": verb_number, "facts": facts, "recall": recall, "pairs": pairs, "shapes": shapes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=list(MODELS))
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="verb-number: folder with wiki-test.txt")
    args = parser.parse_args()
    if args.model == "verb-number" and args.data is None:
        parser.error("verb-number needs --data")
    examples = MODELS[args.model](args)
    args.out.write_text("".join(json.dumps(example) + "\n" for example in examples), encoding="utf-8")


if __name__ == "__main__":
    main()
