"""Prefixes of Wikipedia sentences up to a verb in the present tense, and the verb's number.

The folder holds the agreement data of Linzen, Dupoux and Goldberg (2016) as two kinds of file: `wiki-*.txt`, whole
sentences with the place and the tag of the verb, and `numpred.*`, prefixes with the tag before them (`numpred.test.K`:
those with K attractors, nouns of the other number between subject and verb). Words are lower-case, split by spaces;
rare ones are replaced by their part of speech, in capitals.
"""
import random
from collections import namedtuple

LABELS = ["singular", "plural"]
NUMBER = {"VBZ": 0, "VBP": 1}
ATTRACTORS = range(1, 6)

Example = namedtuple("Example", "words label")


def read_sentences(path):
    """Rows of sentence, place of the subject, place and tag of the verb, the verb, its other form."""
    rows = path.read_text(encoding="utf-8").splitlines()[1:]
    for sentence, _, verb, tag, *_ in (row.split("\t") for row in rows):
        yield Example(tuple(sentence.split()[:int(verb)]), NUMBER[tag])


def read_prefixes(path):
    for tag, prefix in (row.split("\t")[:2] for row in path.read_text(encoding="utf-8").splitlines()):
        yield Example(tuple(prefix.split()), NUMBER[tag])


def read(folder):
    """The training examples, and the held-out sets by name. No held-out prefix is among the training examples."""
    held = {"wiki-dev": list(read_sentences(folder / "wiki-dev.txt")),
            "wiki-test": list(read_sentences(folder / "wiki-test.txt"))}
    train = list(read_sentences(folder / "wiki-train.txt"))

    # The split of these files is ours, and the same for every seed of the training.
    natural = list(read_prefixes(folder / "numpred.val"))
    random.Random(0).shuffle(natural)
    held["natural"] = natural[:4000]
    train += natural[4000:]
    for count in ATTRACTORS:
        rows = list(read_prefixes(folder / f"numpred.test.{count}"))
        keep = min(1000, len(rows) // 2)
        held[f"{count} attractors" if count > 1 else "1 attractor"] = rows[:keep]
        train += rows[keep:]

    seen = {example.words for rows in held.values() for example in rows}
    return [example for example in train if example.words and example.words not in seen], held
