"""Short stories with one question each, and the place in the text that the answer must come from.

    python facts_data.py --count 3 --seed 7          # one JSON object a line

"The red key started at the box. Anna moved the red key to the shelf. Where is the red key? Answer: shelf."

Most things are told apart by two words, places change and the last one counts, and other things and people move about
in between. One combination in ten (a thing and a place, a person and a place, a person and a thing) never occurs in a
training story; what is asked of a held-out story is always such a combination.
"""
import argparse
import json
import random
import re
from dataclasses import asdict, dataclass

COLOURS = "red blue green yellow black white brown pink grey purple".split()
OBJECTS = ("key cup ball book hat lamp coin rope map ring pen bell drum kite shoe spoon clock knife doll brush "
           "candle ladder bottle blanket").split()
PLACES = ("box shelf garden kitchen table drawer attic cellar bridge tower barn market harbour library bench cave "
          "office stable window chest forest well gate boat").split()
PEOPLE = ("Anna Ben Clara David Emma Felix Greta Hugo Iris Jack Kate Leo Maria Nora Oscar Paul Rosa Sam Tina Victor "
          "Walter Yara Zoe Lucy").split()
KINDS = ["where", "start", "who", "person", "what"]
INDEX = {word: i for words in (COLOURS, OBJECTS, PLACES, PEOPLE) for i, word in enumerate(words)}


@dataclass
class Story:
    """A model reads `prompt` and writes " answer.". Spans are half-open character ranges in the prompt."""
    text: str
    question: str
    answer: str
    kind: str
    fact: tuple    # the sentence that settles the question
    source: tuple  # the words in it that are the answer

    @property
    def prompt(self):
        return f"{self.text} {self.question} Answer:"


@dataclass
class Event:
    """One sentence: `who` or nobody in particular brings `thing` to `place`; a person goes without a thing."""
    who: str
    thing: str
    place: str
    text: str
    origin: str = ""


def is_held_out(first, second):
    """Whether the two (a thing is two words) are kept out of the stories to train on."""
    return sum(INDEX[word] for word in f"{first} {second}".split()) % 10 == 3


class Teller:
    """Tells one story after the other, to train on or held-out ones."""

    def __init__(self, seed, held_out=False, sentences=7, crowd=3):
        """Stories of three to `sentences` sentences about at most `crowd` people and as many things."""
        self.rng = random.Random(f"{seed} {held_out}")
        self.held_out, self.sentences, self.crowd = held_out, sentences, crowd

    def __iter__(self):
        return self

    def __next__(self):
        """One story with one question, all kinds of question being about equally frequent."""
        while True:
            kind = self.rng.choice(KINDS)
            if asked := [story for story in self.ask_all() if story.kind == kind]:
                return self.rng.choice(asked)

    def ask_all(self):
        """One story with every question that it answers."""
        events = self.events()
        text = " ".join(event.text for event in events)
        begin, stories = 0, []
        for event in events:
            fact = begin, begin + len(event.text)
            for kind in KINDS:
                if asked := self.question(kind, event, events):
                    answer, question = asked
                    at = begin + re.search(rf"\b{answer}\b", event.text).start()
                    stories.append(Story(text, question, answer, kind, fact, (at, at + len(answer))))
            begin = fact[1] + 1
        return stories

    def allowed(self, *pair):
        return self.held_out or not is_held_out(*pair)

    def things(self):
        """At least two; often they share a colour or are of one kind, so that both words matter."""
        rng = self.rng
        if rng.random() < 0.2:
            return rng.sample(OBJECTS, rng.randint(2, self.crowd))
        colours, objects = rng.sample(COLOURS, 2), rng.sample(OBJECTS, 2)
        pairs = [f"{colour} {object_}" for colour in colours for object_ in objects]
        pairs += [f"{rng.choice(COLOURS)} {rng.choice(OBJECTS)}" for _ in range(3)]
        return rng.sample(sorted(set(pairs)), rng.randint(2, self.crowd))

    def events(self):
        """What happens in one story. Nothing and nobody comes back to a place."""
        rng = self.rng
        people, things = rng.sample(PEOPLE, rng.randint(1, self.crowd)), self.things()
        visited = {name: [] for name in people + things}
        events = []
        for _ in range(rng.randint(3, self.sentences)):
            name = rng.choice(people + things + things)
            been = visited[name]
            free = [p for p in PLACES if p not in been and self.allowed(name, p)]
            event = (self.walk if name in people else self.move)(name, been, free, people)
            been += [place for place in dict.fromkeys([event.origin, event.place]) if place]
            events.append(event)
        return events

    def walk(self, who, been, free, _):
        place = self.rng.choice(free)
        if not been:
            return Event(who, "", place, self.rng.choice([f"{who} was at the {place}.", f"{who} went to the {place}."]))
        return Event(who, "", place, f"{who} {self.rng.choice(['went', 'walked'])} to the {place}.")

    def move(self, thing, been, free, people):
        """A thing's first place is named once; where it came from is said again of later places only."""
        rng = self.rng
        if not been and rng.random() < 0.5:
            place = rng.choice(free)
            return Event("", thing, place, f"The {thing} started at the {place}.", place)
        origin, place = rng.sample(free, 2)
        told = ""
        if not been or (len(been) > 1 and rng.random() < 0.3):
            origin = been[-1] if been else origin
            told = f" from the {origin}"
        carriers = [who for who in people if self.allowed(who, thing)]
        who = rng.choice(carriers) if carriers and rng.random() < 0.6 else ""
        begin = f"{who} {rng.choice(['moved', 'took'])} the {thing}" if who else f"The {thing} went"
        return Event(who, thing, place, f"{begin}{told} to the {place}.", "" if been else origin)

    def question(self, kind, event, events):
        """What `kind` asks about this event, with the answer; nothing where the event is not the one that counts."""
        def is_last(role):
            """Of the events of its sort (somebody walks, a thing is moved) with the same `role`."""
            sort = [e for e in events if bool(e.thing) == bool(event.thing)]
            return event is [e for e in sort if getattr(e, role) == getattr(event, role)][-1]

        thing, who, asked = event.thing, event.who, None
        if kind == "person" and not thing and is_last("who"):
            asked = who, event.place, f"Where is {who}?"
        elif kind == "start" and event.origin:
            asked = thing, event.origin, f"Where did the {thing} start?"
        elif kind == "where" and thing and is_last("thing"):
            asked = thing, event.place, f"Where is the {thing}?"
        elif kind == "who" and thing and who and is_last("thing"):
            asked = thing, who, f"Who moved the {thing}{self.rng.choice(['', ' last'])}?"
        elif kind == "what" and thing and who and is_last("who"):
            asked = who, thing, f"What did {who} move{self.rng.choice(['', ' last'])}?"
        if asked is None or (self.held_out and not is_held_out(*asked[:2])):
            return None
        return asked[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--training", action="store_true", help="stories to train on, not held-out ones")
    args = parser.parse_args()
    teller = Teller(args.seed, held_out=not args.training)
    for _ in range(args.count):
        story = next(teller)
        print(json.dumps({"prompt": story.prompt, **asdict(story)}))


if __name__ == "__main__":
    main()
