"""Short stories about a journey, with a day to fill in that follows from two words, and where the story says them.

    python pairs_data.py --count 3 --seed 7          # one JSON object a line

"It rained on Sunday. Anna left on Monday. The mill has six doors. Hugo slept on Friday. Anna travelled for three days.
Anna arrived on [MASK]."

It is Thursday, and that takes both words: Monday and three. Seven numbers lead from any day to all seven days, so one
of the two words without the other says nothing about the answer. In between are days and numbers that have nothing to
do with the journey.
"""
import argparse
import json
import random
from dataclasses import asdict, dataclass

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
NUMBERS = {word: number for number, word in enumerate("two three four five six seven eight".split(), 2)}
PEOPLE = ("Anna Ben Clara David Emma Felix Greta Hugo Iris Jack Kate Leo Maria Nora Oscar Paul Rosa Sam Tina Victor "
          "Walter Yara Zoe Lucy").split()
PLACES = "bridge harbour market tower garden station library stable mill church school forest".split()
THINGS = "rooms boats lamps horses windows chairs doors letters".split()


@dataclass
class Journey:
    """Somebody's journey in a story. Spans are half-open character ranges in the story."""
    story: str
    who: str
    departure: str
    duration: str
    arrival: str
    day: tuple     # where the departure is
    number: tuple  # where the duration is

    @property
    def text(self):
        """A model fills in `arrival` at [MASK]."""
        return f"{self.story} {self.questions[0][0]}"

    @property
    def questions(self):
        """What follows from two words; and, to learn from, what is in the story; each with the answer."""
        return [(f"{self.who} arrived on [MASK].", self.arrival), (f"{self.who} left on [MASK].", self.departure),
                (f"{self.who} travelled for [MASK] days.", self.duration)]


class Teller:
    """Tells one story after the other."""

    def __init__(self, seed, fillers=8):
        """Stories with up to `fillers` sentences about anything but the journey."""
        self.rng = random.Random(f"{seed}")
        self.fillers = fillers

    def __iter__(self):
        return self

    def __next__(self):
        rng = self.rng
        who, day, number = rng.choice(PEOPLE), rng.choice(DAYS), rng.choice(list(NUMBERS))
        leave, travel = self.leave(who, day), self.travel(who, number)
        sentences = [leave, travel] + [self.filler() for _ in range(rng.randint(0, self.fillers))]
        rng.shuffle(sentences)
        story = " ".join(sentences)

        def span(sentence, word):  # no other sentence is like these two
            at = story.index(sentence) + sentence.index(word)
            return at, at + len(word)
        arrival = DAYS[(DAYS.index(day) + NUMBERS[number]) % 7]
        return Journey(story, who, day, number, arrival, span(leave, day), span(travel, number))

    def leave(self, who, day):
        return self.rng.choice([f"{who} left on {day}.", f"On {day} {who} left."])

    def travel(self, who, number):
        return self.rng.choice([f"{who} travelled for {number} days.", f"The journey of {who} took {number} days."])

    def filler(self):
        rng = self.rng
        who, day, number = rng.choice(PEOPLE), rng.choice(DAYS), rng.choice(list(NUMBERS))
        place, things = rng.choice(PLACES), rng.choice(THINGS)
        return rng.choice([f"It rained on {day}.", f"The {place} was closed on {day}.", f"{who} slept on {day}.",
                           f"The {place} has {number} {things}.", f"{who} saw {number} {things} at the {place}.",
                           f"{who} likes the {place}."])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    teller = Teller(args.seed)
    for _ in range(args.count):
        journey = next(teller)
        print(json.dumps({"text": journey.text, **asdict(journey)}))


if __name__ == "__main__":
    main()
