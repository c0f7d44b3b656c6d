"""What a result records about how it was made, in files and in the terminal."""
import json

import numpy as np
import pytest
import torch
import transformers as hf

from command import ROOT, ask, fails, run
from test_model_command import tiny  # noqa: F401, a fixture

KEYS = "The keys to the cabinet"
STORY = "The red key went from the box to the shelf. Where is the red key? Answer:"


# Rows, filters and cuts


def test_gradient_shows_and_writes_the_row_of_its_target(tmp_path):
    words = ["gradient", "verb-number", "--text", KEYS]
    written = ask(*words)
    assert written["rows"] == [0] and np.shape(written["values"]) == (1, 7)
    assert "output token 0 '[CLS]'" in run(*words).stdout
    everything = ask(*words, "--row", "all")
    assert everything["rows"] == list(range(7)) and everything["values"][0] == written["values"][0]
    word = ask("gradient", "facts", "--prompt" if False else "--text", STORY)
    assert word["rows"] == [len(word["tokens"]) - 1]


def test_generate_renormalises_what_it_says_it_does():
    words = ["generate", "facts", "--prompt", STORY, "--count", 2]
    plain = ask(*words)
    assert "filter" not in plain
    some = ask(*words, "--filter", "special,punctuation")
    left = some["filter"]["left_out"]
    assert some["filter"]["renormalised"] is False and some["M"] == plain["M"]
    assert [some["prompt"][j] for j in left] and all(some["prompt"][j].strip("\u0120") in ("<s>", ".", "?", ":") for j in left)
    m = np.array(plain["M"])
    assert np.allclose(some["filter"]["mass"], m[:, left, -1].sum(axis=1) / m[:, :, -1].sum(axis=1), atol=1e-6)
    divided = ask(*words, "--filter", "special,punctuation", "--renormalise")
    assert divided["filter"]["renormalised"] is True
    kept = [j for j in range(m.shape[1]) if j not in left]
    expected = np.zeros_like(m)
    expected[:, kept] = m[:, kept] / m[:, kept].sum(axis=1, keepdims=True)
    assert np.allclose(divided["M"], expected, atol=1e-6)
    shown = run(*words, "--filter", "special,punctuation", "--renormalise").stdout
    assert "the rest renormalised" in shown and f"{expected[0, :, -1].max():.3f}" in shown
    assert "--renormalise" in fails(2, *words, "--method", "relevance", "--filter", "special", "--renormalise")


def test_renormalise_is_recorded(fox, tmp_path):
    assert ask("rollout", fox, "--filter", "special")["filter"]["renormalised"] is False
    assert ask("rollout", fox, "--filter", "special", "--renormalise")["filter"]["renormalised"] is True
    assert run("rollout", fox, "--filter", "special", "--renormalise", "-o", tmp_path / "x.npz").returncode == 0
    with np.load(tmp_path / "x.npz") as arrays:
        assert json.loads(str(arrays["filter"]))["renormalised"] is True


def test_a_cut_text_has_a_note(tmp_path):
    text = "the keys " * 300
    for words in (["rollout"], ["gradient"], ["relevance"], ["flow"], ["metrics"], ["info"]):
        result = ask(words[0], "verb-number", "--text", text, "--truncate")
        assert "the text was cut from 602 tokens to 128, the positions of the model" in result["notes"], words
    assert "cut from 602 tokens to 128" in run("rollout", "verb-number", "--text", text, "--truncate").stdout
    done = run("rollout", "verb-number", "--text", text, "--truncate", "--row", "cls", "-o", tmp_path / "x.png")
    assert "x.png: note: the text was cut from 602 tokens to 128" in done.stderr
    ids = ask("rollout", "verb-number", "--ids", ",".join(["5"] * 200), "--truncate", "--row", "0")
    assert ids["notes"] == ["the input was cut from 200 tokens to 128, the positions of the model"]
    assert ask("rollout", "verb-number", "--text", KEYS, "--truncate")["notes"] == []


def test_notes_of_two_models_are_shown(tiny, tmp_path):  # noqa: F811
    words = ["compare", tiny["bert"], tiny["llama"], "--by", "model", "--text", "the unbelievable cat"]
    shown = run(*words).stdout
    notes = [panel["notes"] for panel in ask(*words)["panels"]]
    assert any(notes)
    for panel, label in zip(notes, ("bert", "llama")):
        for note in panel:
            assert f"# {label}: {note}\n" in shown
    done = run(*words, "-o", tmp_path / "x.svg")
    assert done.returncode == 0 and all(note in done.stderr for panel in notes for note in panel)


# Predictions


def test_a_model_says_nothing_for_another():
    words = ["compare", "verb-number", "pairs", "--by", "model", "--text", "The keys to the house."]
    assert "# verb-number: the model says: class" in run(*words).stdout
    first, second = ask(*words)["panels"]
    assert first["prediction"]["name"] == "plural" and "prediction" not in second


def predicted(model, ids, row=None):
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].double()
    shares = (logits if row is None else logits[row]).softmax(-1)
    return shares.topk(2)


@pytest.mark.parametrize("words", [["rollout"], ["rollout", "--row", "cls"], ["rollout", "--layers", "0:2"], ["flow"],
                                   ["raw"], ["average"], ["gradient"], ["relevance"], ["metrics"], ["info"],
                                   ["compare", "--by", "fuse"]])
def test_every_command_says_what_the_model_said(words):
    model = hf.AutoModelForSequenceClassification.from_pretrained(ROOT / "models/verb-number").float()
    ids = ask("info", "verb-number", "--text", KEYS)["ids"]
    shares, places = predicted(model, ids)
    result = ask(words[0], "verb-number", "--text", KEYS, *words[1:])
    for one in result.get("panels", [result]):
        found = one["prediction"]
        assert found["what"] == "class" and found["name"] == model.config.id2label[places[0].item()] == "plural"
        assert abs(found["probability"] - shares[0].item()) < 1e-4
        assert found["runner_up"]["name"] == "singular"
        assert abs(found["runner_up"]["probability"] - shares[1].item()) < 1e-4
    shown = run(words[0], "verb-number", "--text", KEYS, *words[1:]).stdout
    assert "class 'plural' (" in shown and ", then 'singular' (" in shown


def test_words_are_predictions_too(tmp_path):
    model = hf.AutoModelForCausalLM.from_pretrained(ROOT / "models/facts").float()
    info = ask("info", "facts", "--text", STORY)
    shares, places = predicted(model, info["ids"], -1)
    found = info["prediction"]
    assert found["what"] == "next word" and found["id"] == places[0].item()
    assert abs(found["probability"] - shares[0].item()) < 1e-3
    generated = ask("generate", "facts", "--prompt", STORY, "--count", 2)
    first = generated["choices"]
    assert generated["generated_ids"][0] == places[0].item() and len(first["probability"]) == 2
    assert abs(first["probability"][0] - shares[0].item()) < 1e-3
    assert abs(first["runner_up_probability"][0] - shares[1].item()) < 1e-3
    done = run("rollout", "facts", "--text", STORY, "--row", "last", "-o", tmp_path / "x.svg")
    assert done.returncode == 0 and "next word 'shelf' (" in (tmp_path / "x.svg").read_text()


@pytest.mark.parametrize("command", ["relevance", "gradient"])
def test_what_is_explained_at_a_token_is_what_the_model_says_there(command):
    words = hf.AutoModelForCausalLM.from_pretrained(ROOT / "models/facts").float()
    masked = hf.AutoModelForMaskedLM.from_pretrained(ROOT / "models/pairs").float()
    for model, name, text, row, what, shown in (
            (words, "facts", STORY, 7, "next word after a token", "next word after token 7 '"),
            (words, "facts", STORY, "last", "next word", "next word '"),
            (masked, "pairs", "a [MASK] here", 1, "word of a token", "word of token 1 '"),
            (masked, "pairs", "a [MASK] here", "mask", "masked word", "masked word '")):
        told = ask(command, name, "--text", text, "--row", row)
        found, at = told["prediction"], told["target"]["row"]
        shares, places = predicted(model, ask("info", name, "--text", text)["ids"], at)
        assert found["what"] == what and found["row"] == at and found["id"] == places[0].item()
        assert abs(found["probability"] - shares[0].item()) < 1e-3
        assert shown in run(command, name, "--text", text, "--row", row).stdout


def test_every_command_on_a_model_takes_a_prompt():
    for command in ("rollout", "flow", "raw", "average", "gradient", "relevance", "metrics", "info"):
        same = [ask(command, "facts", option, STORY) for option in ("--text", "--prompt")]
        assert same[0] == same[1]
    assert "expected one text, prompt" in fails(2, "rollout", "facts", "--text", STORY, "--prompt", STORY)
    assert "cannot predict the next word" in fails(1, "rollout", "verb-number", "--prompt", KEYS)


def test_a_model_without_a_head_predicts_nothing(tiny):  # noqa: F811
    assert "prediction" not in ask("rollout", tiny["bert"], "--text", "the cat")
    assert "prediction" not in ask("rollout", "pairs", "--text", "no mask here")
    assert ask("rollout", "pairs", "--text", "a [MASK] here")["prediction"]["what"] == "masked word"


def test_info_lists_head_classes_positions_and_parameters(tiny):  # noqa: F811
    told = ask("info", "verb-number")["model"]
    assert told["head"] == "classes of the input" and told["classes"] == ["singular", "plural"]
    assert told["positions"] == 128 and told["outputs"] == 2 and told["family"] == "bert"
    count = sum(p.numel() for p in hf.AutoModelForSequenceClassification.from_pretrained(ROOT / "models/verb-number").parameters())
    assert told["parameters"] == count
    shown = run("info", "verb-number").stdout
    for line in ("head ", "classes ", "positions ", "parameters "):
        assert f"\n{line}" in shown
    assert "singular, plural" in shown
    assert "head" not in ask("info", tiny["bert"])["model"]
    assert ask("info", "facts")["model"]["head"] == "next words"
