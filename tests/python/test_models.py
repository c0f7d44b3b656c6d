"""The models that ship load in transformers as they are, and answer as their cards say."""
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when transformers is imported

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors import safe_open
from transformers import (AutoImageProcessor, AutoModelForCausalLM, AutoModelForImageClassification,
                          AutoModelForMaskedLM, AutoModelForSequenceClassification, AutoTokenizer)

MODELS = Path(__file__).parents[2] / "models"
NAMES = ["verb-number", "facts", "recall", "pairs", "shapes"]
sys.path.insert(0, str(MODELS / "train"))

import facts as facts_training
import facts_data
import pairs_data
import recall_data
import shapes_data


def examples(name):
    return [json.loads(line) for line in (MODELS / name / "examples.jsonl").read_text().splitlines()]


def load(kind, name):
    return kind.from_pretrained(MODELS / name, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def verb_number():
    """A function from texts to the probability of a plural verb."""
    tokenizer = AutoTokenizer.from_pretrained(MODELS / "verb-number")
    model = load(AutoModelForSequenceClassification, "verb-number")
    plural = model.config.label2id["plural"]

    def ask(texts):
        with torch.no_grad():
            return model(**tokenizer(texts, padding=True, return_tensors="pt")).logits.softmax(-1)[:, plural]
    return ask


def answers_of(name):
    """A function from a prompt to what is written after it, with the end."""
    tokenizer = AutoTokenizer.from_pretrained(MODELS / name)
    model = load(AutoModelForCausalLM, name)

    def answer(prompt):
        ids = tokenizer(prompt, return_tensors="pt")
        written = model.generate(**ids, max_new_tokens=6, do_sample=False)
        return tokenizer.decode(written[0, ids["input_ids"].shape[1]:])
    return answer


@pytest.fixture(scope="module")
def facts():
    return answers_of("facts")


@pytest.fixture(scope="module")
def recall():
    return answers_of("recall")


@pytest.fixture(scope="module")
def pairs():
    """The tokenizer, and a function from ids and a place to the probability of each day there."""
    tokenizer = AutoTokenizer.from_pretrained(MODELS / "pairs")
    model = load(AutoModelForMaskedLM, "pairs")

    def ask(ids, row):
        with torch.no_grad():
            found = model(ids[None]).logits[0, row].softmax(-1)
        return {day: float(found[tokenizer.convert_tokens_to_ids(day.lower())]) for day in pairs_data.DAYS}
    return tokenizer, ask


def test_all_models_together_stay_within_16_mb_and_are_f16():
    assert sum(file.stat().st_size for name in NAMES for file in (MODELS / name).rglob("*")) <= 16e6
    for name in NAMES:
        assert (MODELS / name / "README.md").is_file()
        with safe_open(MODELS / name / "model.safetensors", "np") as file:
            assert {file.get_tensor(key).dtype for key in file.keys()} == {np.dtype(np.float16)}


def test_verb_number_answers_its_examples(verb_number):
    rows = examples("verb-number")
    plural = verb_number([row["text"] for row in rows]) > 0.5
    right = sum(("plural" if p else "singular") == row["label"] for p, row in zip(plural, rows))
    assert right == 46 and len(rows) == 50


def test_verb_number_reads_the_endings_of_words_that_it_does_not_know(verb_number):
    flibber, flibbers = verb_number(["The flibber near the lamps", "The flibbers near the lamp"])
    assert flibber < 0.1 and flibbers > 0.9


def test_verb_number_looks_past_a_blanked_attractor_but_not_past_a_blanked_subject(verb_number):
    whole, attractor, subject = verb_number(["The keys to the cabinet", "The keys to the [MASK]",
                                             "The [MASK] to the cabinet"])
    assert whole > 0.9 and attractor > 0.9
    assert subject < whole - 0.2


def test_verb_number_takes_the_tags_of_the_data_for_words(verb_number):
    one, many = verb_number(["the NN of the NNS", "the NNS of the NN"])
    assert one < 0.1 and many > 0.9


def test_facts_answers_its_examples_and_ends(facts):
    for story in examples("facts"):
        assert facts(story["prompt"]) == f"{story['answer']}.</s>"
        assert [story["prompt"][slice(*span)] for span in story["truth"]] == [story["answer"].strip()]


def test_facts_writes_the_word_answer_by_itself(facts):
    story = "The red key started at the box. Ben went to the garden. Anna moved the red key to the shelf."
    assert facts(f"{story} Where is the red key?") == " Answer: shelf.</s>"
    assert facts(f"{story} Who moved the red key?") == " Answer: Anna.</s>"


def test_each_word_of_a_story_is_one_token():
    tokenizer = AutoTokenizer.from_pretrained(MODELS / "facts")
    for story in islice(facts_data.Teller(3), 20):
        tokens = tokenizer.tokenize(story.prompt)
        assert len(tokens) == sum(len(word) and 1 + (not word[-1].isalpha()) for word in story.prompt.split())
        assert tokenizer.decode(tokenizer(story.prompt)["input_ids"], skip_special_tokens=True) == story.prompt


def test_the_generated_stories_say_where_the_answer_is():
    for story in islice(facts_data.Teller(1, held_out=True), 200):
        fact = story.prompt[slice(*story.fact)]
        assert fact in story.text.replace(". ", ".\n").splitlines()
        assert story.prompt[slice(*story.source)] == story.answer and story.answer in fact
        if story.kind == "where":
            thing = story.question.removeprefix("Where is the ").removesuffix("?")
            assert not any(f" {thing} " in later for later in story.text[story.fact[1]:].split("."))


def test_stories_to_train_on_hold_no_held_out_combination():
    teller = facts_data.Teller(1)
    for _ in range(300):
        for event in teller.events():
            name = event.thing or event.who
            assert not facts_data.is_held_out(name, event.place)
            assert not (event.thing and event.who and facts_data.is_held_out(event.who, event.thing))


def test_questions_that_share_a_story_in_training_are_answered_as_if_alone():
    tokenizer = facts_training.Tokenizer.from_file(str(MODELS / "facts/tokenizer.json"))
    model = load(AutoModelForCausalLM, "facts")

    def answers(stories):
        logits, wanted, _, answer = facts_training.predict(model, *facts_training.encode(tokenizer, [stories]).long())
        return logits[answer], wanted[answer]
    told = facts_training.tell(facts_training.STAGES[0], 5, count=4)
    assert max(map(len, told)) > 2
    with torch.no_grad():
        for stories in told:
            together, alone = answers(stories), [answers([story]) for story in stories]
            assert torch.equal(together[1], torch.cat([wanted for _, wanted in alone]))
            assert (together[0] - torch.cat([logits for logits, _ in alone])).abs().max() < 1e-3
            assert tokenizer.decode(alone[0][1].tolist()) == f" {stories[0].answer}."


def test_recall_answers_its_examples_and_ends(recall):
    for text in examples("recall"):
        name, password = (text["prompt"][slice(*span)] for span in text["truth"])
        assert text["prompt"].endswith(f" What is the password of {name}? Answer:") and text["answer"] == f" {password}"
        assert recall(text["prompt"]) == f"{text['answer']}.</s>"


def test_the_examples_of_recall_have_512_to_2048_tokens_and_each_word_is_one():
    tokenizer = AutoTokenizer.from_pretrained(MODELS / "recall")
    counts = [len(tokenizer(text["prompt"])["input_ids"]) for text in examples("recall")]
    assert counts == [recall_data.count_tokens(text["prompt"]) + 1 for text in examples("recall")]
    assert 512 <= min(counts) < 528 and 2032 < max(counts) <= 2048


@pytest.mark.parametrize("held_out", [False, True])
def test_a_text_tells_a_password_once_and_says_where(held_out):
    writer = recall_data.Writer(1, held_out)
    for tokens in (512, 1000, 2048):
        asked = writer.ask_all(tokens)
        assert asked and len({one.question for one in asked}) == len(asked)
        assert tokens - recall_data.SLACK <= recall_data.count_tokens(asked[0].prompt) + 1 <= tokens
        for one in asked:
            who, password = one.prompt[slice(*one.key)], one.prompt[slice(*one.value)]
            told = [s for s in one.text.split(". ") if "password" in s and who in s.split()]
            assert told in ([f"The password of {who} is {password}"], [f"{who} chose the password {password}"],
                            [f"The password of {who} is {password}."], [f"{who} chose the password {password}."])
            assert one.answer == password and one.question == f"What is the password of {who}? Answer:"
            assert recall_data.is_held_out(who, password) == held_out


def test_pairs_fills_in_its_examples(pairs):
    tokenizer, ask = pairs
    for story in examples("pairs"):
        ids = tokenizer(story["text"], return_tensors="pt")["input_ids"][0]
        days = ask(ids, int((ids == tokenizer.mask_token_id).nonzero()))
        assert max(days, key=days.get).lower() == story["label"]


def test_pairs_needs_both_words(pairs):
    """With one of the two blanked out, no day is likely."""
    tokenizer, ask = pairs
    for story in examples("pairs"):
        found = tokenizer(story["text"], return_tensors="pt")
        row = int((found["input_ids"][0] == tokenizer.mask_token_id).nonzero())
        for begin, _ in story["truth"]:
            ids = found["input_ids"][0].clone()
            ids[found.char_to_token(begin)] = tokenizer.mask_token_id
            assert max(ask(ids, row).values()) < 0.5


def test_a_journey_ends_on_the_day_that_its_two_words_say_and_one_of_them_says_nothing():
    arrivals = {}
    for journey in islice(pairs_data.Teller(1), 2000):
        day, number = (journey.text[slice(*span)] for span in (journey.day, journey.number))
        assert (day, number) == (journey.departure, journey.duration)
        assert any(s in journey.story for s in (f"{journey.who} left on {day}.", f"On {day} {journey.who} left."))
        assert any(s in journey.story for s in (f"{journey.who} travelled for {number} days.",
                                                f"The journey of {journey.who} took {number} days."))
        later = (pairs_data.DAYS.index(day) + pairs_data.NUMBERS[number]) % 7
        assert journey.arrival == pairs_data.DAYS[later]
        arrivals.setdefault(day, set()).add(journey.arrival)
        arrivals.setdefault(number, set()).add(journey.arrival)
    assert len(arrivals) == 14 and all(days == set(pairs_data.DAYS) for days in arrivals.values())


@pytest.mark.parametrize("name", ["recall", "pairs"])
def test_the_examples_are_what_the_script_writes(name, tmp_path):
    script = MODELS / "train" / "examples.py"
    subprocess.run([sys.executable, script, name, "--count", "12", "--out", tmp_path / "x.jsonl"], check=True)
    assert (tmp_path / "x.jsonl").read_text() == (MODELS / name / "examples.jsonl").read_text()


def test_shapes_names_its_examples():
    processor = AutoImageProcessor.from_pretrained(MODELS / "shapes")
    model = load(AutoModelForImageClassification, "shapes")
    known = examples("shapes")
    pictures = [Image.open(MODELS / "shapes" / row["image"]) for row in known]
    with torch.no_grad():
        best = model(**processor(pictures, return_tensors="pt")).logits.argmax(-1)
    assert [model.config.id2label[int(i)] for i in best] == [row["label"] for row in known]


def test_the_examples_of_shapes_are_what_the_generator_draws():
    rng = np.random.default_rng(12)
    for row in examples("shapes"):
        picture = shapes_data.draw(rng)
        x, y, width, height = row["box"]
        assert list(picture.box) == [x, y, x + width, y + height]
        assert shapes_data.LABELS[picture.label] == row["label"]
        shown = np.asarray(Image.open(MODELS / "shapes" / row["image"])).astype(int)
        assert np.abs(shown - picture.pixels).max() <= 1


@pytest.mark.parametrize("shape", shapes_data.SHAPES)
def test_a_drawn_shape_lies_within_its_box_and_has_its_colour(shape):
    rng = np.random.default_rng(4)
    picture = next(p for p in iter(lambda: shapes_data.draw(rng), None) if shapes_data.LABELS[p.label].endswith(shape))
    left, top, right, bottom = picture.box
    assert picture.mask[top:bottom, left:right].sum() == picture.mask.sum() > 100
    colour = shapes_data.COLOURS[shapes_data.LABELS[picture.label].split()[0]]
    assert np.abs(np.median(picture.pixels[picture.mask], axis=0) - colour).max() < 50
