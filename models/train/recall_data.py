"""Long texts that tell many passwords, with a question about one of them, and where the text says it.

    python recall_data.py --count 3 --tokens 512          # one JSON object a line

"... Anna met Hugo at the bridge. The password of Anna is falcon. Clara saw a heron near the well. ... What is the
password of Anna? Answer: falcon."

A password is told once. The same people and the same words also occur in sentences that tell no password, so neither
a name nor a word gives the answer away. One combination of a person and a password in ten never occurs in a training
text; a held-out text asks for such a combination.
"""
import argparse
import json
import random
import re
from dataclasses import asdict, dataclass

PEOPLE = ("Ada Adam Agnes Alan Alice Amy Anna Arno Basil Bella Ben Boris Carl Carol Cecil Clara Colin Cora Daniel "
          "Dora David Diana Doris Edgar Edith Elias Ella Emil Emma Eric Esther Eva Fanny Felix Fiona Frank Frida "
          "George Gloria Greta Gustav Hanna Harry Hector Helen Henry Hilda Hugo Ida Ines Iris Isaac Ivan Jack Jane "
          "Jonas Judith Julia Karl Kate Klara Laura Lena Leo Linus Lucy Luke Lydia Magda Marco Maria Mark Martha Max "
          "Mila Moritz Nadia Nina Noah Nora Olga Oscar Otto Paul Paula Peter Philip Quentin Ralph Rita Robert Rosa "
          "Ruth Sam Sarah Simon Stella Theo Victor Yara").split()
PASSWORDS = ("acorn amber anchor apple arrow badger barrel basket beetle bell birch button candle canary carrot "
             "castle cedar cherry clover coin copper coral cotton crane crystal daisy dolphin donkey dove dragon "
             "eagle ember falcon feather fern ferret fiddle flute fox ginger goose granite grape hammer harp hazel "
             "heron honey iron ivory jasper kettle kite ladder lantern lemon lily lion lizard magnet maple marble "
             "melon mirror mole nettle nutmeg olive onion orchid otter owl panther parrot pearl pebble pepper pigeon "
             "plum poppy quartz rabbit raven ribbon river robin saddle salmon silver spider squirrel swan thistle "
             "tiger tulip turtle velvet violet walnut willow").split()
PLACES = "bridge harbour market tower garden station library stable mill church school forest well gate".split()
TIMES = "morning afternoon evening night".split()
INDEX = {word: i for words in (PEOPLE, PASSWORDS) for i, word in enumerate(words)}

SHORTEST, LONGEST = 512, 2048  # tokens of a prompt
SLACK = 8  # tokens that may be missing to the length that was asked for
OPENING = "Here is the news."  # no name is the first word, which is another token than the same word after a space


@dataclass
class Recall:
    """A model reads `prompt` and writes " answer.". Spans are half-open character ranges in the prompt."""
    text: str
    question: str  # with "Answer:"
    answer: str
    key: tuple     # the name beside the answer
    value: tuple   # the answer

    @property
    def prompt(self):
        return f"{self.text} {self.question}"


def is_held_out(who, password):
    """Whether the two are kept out of the texts to train on."""
    return (INDEX[who] + INDEX[password]) % 10 == 3


def count_tokens(text):
    """Each word is one token, and so is each mark; <s> is not counted."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def lengths(count):
    """So many lengths to ask for, from the shortest prompt to the longest."""
    step = (LONGEST - SHORTEST - SLACK) / max(1, count - 1)
    return [round(SHORTEST + SLACK + i * step) for i in range(count)]


class Writer:
    """Writes one text after the other, to train on or held-out ones."""

    def __init__(self, seed, held_out=False):
        self.rng = random.Random(f"{seed} {held_out}")
        self.held_out = held_out

    def ask(self, tokens):
        """One text with one question."""
        while not (asked := self.ask_all(tokens)):
            pass  # a held-out text without a held-out combination
        return self.rng.choice(asked)

    def ask_all(self, tokens, spacing=32):
        """One text with every question that it answers.

        A prompt has at most `tokens` tokens, and at most SLACK fewer. It tells a password every `spacing` tokens.
        """
        people = self.rng.sample(PEOPLE, tokens // spacing)
        told = {self.tell(who, password): (who, password) for who, password in zip(people, map(self.choose, people))}
        sentences = [*told, *self.fillers(tokens - 1 - count_tokens(" ".join([OPENING, *told, ask_about(people[0])])))]
        self.rng.shuffle(sentences)
        text, begin, asked = " ".join([OPENING, *sentences]), len(OPENING) + 1, []
        for sentence in sentences:
            end = begin + len(sentence)
            if sentence in told and (not self.held_out or is_held_out(*told[sentence])):
                who, password = told[sentence]
                key, value = begin + sentence.index(who), end - 1 - len(password)
                asked.append(Recall(text, ask_about(who), password, (key, key + len(who)), (value, end - 1)))
            begin = end + 1
        return asked

    def choose(self, who):
        while True:
            password = self.rng.choice(PASSWORDS)
            if self.held_out or not is_held_out(who, password):
                return password

    def tell(self, who, password):
        return self.rng.choice([f"The password of {who} is {password}.", f"{who} chose the password {password}."])

    def fillers(self, tokens):
        """Sentences that tell no password, together at most so many tokens."""
        fillers = []
        while (tokens := tokens - count_tokens(sentence := self.filler())) >= 0:
            fillers.append(sentence)
        return fillers

    def filler(self):
        rng = self.rng
        who, other = rng.sample(PEOPLE, 2)
        word, place, time = rng.choice(PASSWORDS), rng.choice(PLACES), rng.choice(TIMES)
        return rng.choice([f"{who} met {other} at the {place}.", f"{who} went to the {place} in the {time}.",
                           f"{who} gave the {word} to {other}.", f"{who} drew the {word} near the {place}.",
                           f"The {word} of {who} is at the {place}.", f"The {place} was closed in the {time}."])


def ask_about(who):
    return f"What is the password of {who}? Answer:"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=SHORTEST)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--training", action="store_true", help="texts to train on, not held-out ones")
    args = parser.parse_args()
    writer = Writer(args.seed, held_out=not args.training)
    for _ in range(args.count):
        print(json.dumps(asdict(writer.ask(args.tokens))))


if __name__ == "__main__":
    main()
