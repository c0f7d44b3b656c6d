"""Variations of the training text, so that the model also reads what people type and what experiments blank out.

The data writes NN for a rare noun, which nobody types. So a tag becomes an invented word with the ending of its part
of speech half of the time, and now and then a known word is spelt in small pieces: the model learns to read the
ending of a word that it has never seen. Tokens are replaced by [MASK] or [UNK] at random, so that blanking one out is
nothing new to the model.
"""
from functools import lru_cache

from vocabulary import CLS, MASK, SEP, UNK

ENDINGS = {"NN": ["", "", "er", "tion", "ness", "ment"], "NNP": [""], "NNS": ["s"], "NNPS": ["s"],
           "JJ": ["", "al", "ous", "ive", "ic", "ish"], "JJR": ["er"], "JJS": ["est"], "RB": ["ly"],
           "VB": [""], "VBP": [""], "VBZ": ["s"], "VBG": ["ing"], "VBN": ["ed"], "VBD": ["ed"]}


def add_s(word):
    """The plural of a noun, the third person of a verb."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word[-1] == "y" and word[-2:-1] not in "aeiou" else word + "s"


class Variations:
    """Encodes examples, each time a little differently; `plain` is how the tokenizer does it."""

    def __init__(self, tokenizer, words, rng):
        """words: those of the training text, from which new ones are made up."""
        self.tokenizer = tokenizer
        self.vocabulary = tokenizer.get_vocab()
        self.stems = sorted(word for word in words if word.isascii() and word.isalpha() and word.islower()
                            and len(word) > 4 and not word.endswith(("s", "ed", "ing", "ly")))
        self.rng = rng
        self.pieces = lru_cache(None)(self.pieces)
        self.spelt = lru_cache(100_000)(self.spelt)

    def pieces(self, word):
        return self.tokenizer.encode(word, add_special_tokens=False).ids

    def plain(self, words):
        return [CLS, *(i for word in words for i in self.pieces(word)), SEP]

    def spelt(self, word, longest):
        """The word in pieces of at most `longest` letters."""
        ids, start = [], 0
        while start < len(word):
            for end in range(min(len(word), start + longest), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self.vocabulary:
                    break
            else:
                return self.pieces(word)  # a letter that the vocabulary does not hold
            ids.append(self.vocabulary[piece])
            start = end
        return ids

    def invented(self, tag):
        """A word that might be English and is none, with the ending of that part of speech."""
        rng = self.rng
        if tag == "CD":
            return str(rng.randrange(10 ** rng.randint(1, 5)))
        begin, end = rng.choice(self.stems), rng.choice(self.stems)
        stem = begin[:rng.randint(2, 5)] + end[-rng.randint(2, 4):]
        ending = rng.choice(ENDINGS[tag])
        return add_s(stem) if ending == "s" else stem + ending

    def retyped(self, words):
        """The words as a person might type them: "don't" for do n't, one kind of quotation mark, no tags."""
        out = []
        for word in words:
            if word in ("``", "''"):
                word = '"'
            if word == "n't" and out:
                out[-1] += word
            elif word in ENDINGS or word == "CD":
                out.append(self.invented(word))
            else:
                out.append(word)
        return out

    def varied(self, words):
        rng = self.rng
        if rng.random() < 0.5:
            words = self.retyped(words)
        ids = [CLS]
        for word in words:
            small = rng.random() < 0.05 and len(word) > 3 and word.islower() and word.isalpha()
            ids += self.spelt(word, rng.randint(1, 5)) if small else self.pieces(word)
        if rng.random() < 0.5:
            rate, blank = rng.uniform(0, 0.3), rng.choice([MASK, UNK])
            ids = [blank if i != CLS and rng.random() < rate else i for i in ids]
        return [*ids, SEP]
