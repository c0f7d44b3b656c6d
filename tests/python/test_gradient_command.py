"""headwater gradient as a person calls it: rules, targets, what is written, and what can go wrong."""
import json

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image

from command import ask, fails, run
from families import DECODER, ENCODER, TEXT, VISION, make
from test_gradients import Torch, error
from test_model_command import byte_pairs, word_pieces

LABELS = dict(id2label={0: "singular", 1: "plural", 2: "neither"}, label2id={"singular": 0, "plural": 1, "neither": 2})
IDS = "5,9,33,12,60,7,41"


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """name -> folder of a tiny model with a head, and its tokenizer or processor."""
    root = tmp_path_factory.mktemp("gradients")

    def save(name, kind, config, entries, tokenizer=None):
        make(kind, config, entries).save_pretrained(root / name)
        if tokenizer:
            tokenizer.save(str(root / name / "tokenizer.json"))

    words = word_pieces()
    words.add_special_tokens(["[MASK]"])
    size = words.get_vocab_size()
    save("classes", "BertForSequenceClassification", "BertConfig", dict(ENCODER, **LABELS), word_pieces())
    save("masked", "BertForMaskedLM", "BertConfig", dict(ENCODER, vocab_size=size), words)
    save("answers", "BertForQuestionAnswering", "BertConfig", ENCODER)
    save("bare", "BertModel", "BertConfig", ENCODER, word_pieces())
    save("causal", "LlamaForCausalLM", "LlamaConfig", DECODER, byte_pairs())
    save("image", "ViTForImageClassification", "ViTConfig", dict(VISION, intermediate_size=53, **LABELS))
    hf.ViTImageProcessorPil(size={"height": 20, "width": 20}).save_pretrained(root / "image")
    pixels = np.random.default_rng(0).integers(0, 255, (20, 20, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(root / "image.png")
    return root


@pytest.fixture(scope="session")
def maps(models):
    """Of class 1: max(0, A dA), mean over heads, [L, n, n], by torch."""
    model = hf.BertForSequenceClassification.from_pretrained(models / "classes", attn_implementation="eager").double()
    ids = torch.tensor([[int(word) for word in IDS.split(",")]])
    return Torch(model, dict(input_ids=ids)).differentiate((0, 1), None)[0].mean(axis=1)


def gradient(models, *words, name="classes"):
    """Of all rows unless the words ask for some."""
    rows = [] if "--row" in words else ["--row", "all"]
    return ask("gradient", models / name, "--ids", IDS, *words, *rows)


def test_rule_gradient_is_the_mean_of_layers(models, maps):
    found = gradient(models, "--target", "plural")
    assert found["method"] == "gradient" and found["rule"] == "gradient"
    assert error(np.array(found["values"]), maps.mean(axis=0)) < 1e-4
    one = gradient(models, "--target", "1", "--layer", "-2")
    assert error(np.array(one["values"]), maps[1]) < 1e-4 and one["options"]["layers"] == [1, 2]
    some = gradient(models, "--target", "1", "--layers", "1:")
    assert error(np.array(some["values"]), maps[1:].mean(axis=0)) < 1e-4


def test_rule_gradient_rollout_adds_the_residual_and_multiplies(models, maps):
    expected = np.eye(maps.shape[1])
    for layer in maps:
        mixed = 0.5 * layer + 0.5 * np.eye(len(layer))
        expected = mixed / mixed.sum(axis=1, keepdims=True) @ expected
    found = np.array(gradient(models, "--target", "plural", "--rule", "gradient-rollout")["values"])
    assert error(found, expected) < 1e-4 and np.allclose(found.sum(axis=1), 1, atol=1e-5)


def test_rule_chefer_adds_what_each_layer_passes_on(models, maps):
    relevance = np.eye(maps.shape[1])
    for layer in maps:
        relevance = relevance + layer @ relevance
    found = gradient(models, "--target", "plural", "--rule", "chefer")
    assert error(np.array(found["values"]), relevance) < 1e-4


@pytest.mark.parametrize("rule", ["gradient", "gradient-rollout", "chefer"])
def test_rows_are_those_of_the_whole(rule, models):
    whole = np.array(gradient(models, "--rule", rule)["values"])
    assert error(np.array(gradient(models, "--rule", rule, "--row", "3")["values"][0]), whole[3]) < 1e-5
    assert error(np.array(gradient(models, "--rule", rule, "--row", "mean")["values"][0]), whole.mean(axis=0)) < 1e-5


@pytest.mark.parametrize("words", [[], ["--rule", "chefer", "--against", "best"]])
def test_every_kernel_and_number_of_threads_agree(words, models):
    best = gradient(models, *words)
    assert gradient(models, *words, "--threads", "1")["values"] == gradient(models, *words, "--threads", "3")["values"]
    plain = gradient(models, *words, "--kernel", "reference")
    assert error(np.array(best["values"]), np.array(plain["values"])) < 1e-4
    assert error(np.array(best["input_gradient"]), np.array(plain["input_gradient"])) < 1e-4


def test_target_is_recorded(models):
    best = gradient(models)["target"]
    named = gradient(models, "--target", best["name"])["target"]
    assert best == named and best["row"] == 0 and best["name"] == ["singular", "plural", "neither"][best["id"]]
    both = gradient(models, "--target", "plural", "--against", "singular")["target"]
    assert both["name"] == "plural" and both["against"]["name"] == "singular"
    logits = [gradient(models, "--target", str(k))["target"]["value"] for k in range(3)]
    assert best["value"] == max(logits) and both["against"]["value"] == logits[0]


def test_words_are_found_at_the_mask(models):
    said = ["gradient", models / "masked", "--text", "the [MASK] sat on the mat"]
    found = ask(*said, "--target", "cat")
    assert found["target"]["name"] == "cat" and found["tokens"][found["target"]["row"]] == "[MASK]"
    assert ask(*said, "--target", "token:cat") == found
    assert ask(*said, "--target", str(found["target"]["id"])) == found
    assert ask(*said, "--target", "cat", "--row", "2")["target"]["row"] == 2
    assert "0 mask tokens" in fails(1, "gradient", models / "masked", "--text", "the cat")
    assert "--row 1 or 3" in fails(1, "gradient", models / "masked", "--text", "[MASK] cat [MASK]")
    assert "no single token for 'zzz'" in fails(1, *said, "--target", "zzz")
    assert "has no word 7000" in fails(1, *said, "--target", "7000")


def test_words_come_after_the_last_token(models):
    found = ask("gradient", models / "causal", "--text", "the cat")
    assert found["target"]["row"] == len(found["tokens"]) - 1
    first = ask("gradient", models / "causal", "--text", "the cat", "--row", "0")
    assert first["target"]["row"] == 0 and first["rows"] == [0]
    assert first["input_gradient"][1:] == [0.0] * (len(first["tokens"]) - 1)


def test_answers_have_starts_and_ends(models):
    found = gradient(models, "--target", "start:2", "--against", "end:-1", name="answers")["target"]
    assert (found["name"], found["row"], found["against"]["name"]) == ("start:2", 2, "end:6")
    assert gradient(models, "--target", "end", name="answers")["target"]["name"].startswith("end:")
    assert "start:K or end:K" in fails(1, "gradient", models / "answers", "--ids", IDS, "--target", "yes")
    assert "7 tokens" in fails(1, "gradient", models / "answers", "--ids", IDS, "--target", "start:7")


def test_the_start_of_an_answer_is_shown_as_its_token(models):
    words = ["rollout", models / "answers", "--ids", IDS, "--row", "0"]
    said, ids = ask(*words)["prediction"], IDS.split(",")
    row, second = said["row"], said["runner_up"]["row"]
    assert said["name"] == f"start:{row}"
    text = run(*words).stdout
    assert f"answer's start {row} '{ids[row]}' (" in text and f", then {second} '{ids[second]}' (" in text


def test_everything_can_be_written(models, tmp_path):
    names = ["a.json", "a.npy", "a.npz", "a.png", "a.svg", "a.pdf"]
    outputs = [word for name in names for word in ("-o", str(tmp_path / name))]
    done = run("gradient", models / "classes", "--ids", IDS, "--rule", "chefer", *outputs)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "a.json").read_text())
    arrays = np.load(tmp_path / "a.npz")
    assert np.array_equal(arrays["values"], np.array(found["values"], np.float32))
    assert np.array_equal(arrays["input_gradient"], np.array(found["input_gradient"], np.float32))
    assert json.loads(str(arrays["target"])) == found["target"] and str(arrays["rule"]) == "chefer"
    assert "Chefer" in (tmp_path / "a.svg").read_text() or (tmp_path / "a.svg").stat().st_size > 1000
    said = run("gradient", models / "classes", "--ids", IDS, "--target", "plural").stdout
    assert "Gradient x attention of 'plural', output token 0" in said and "residual" not in said
    image = run("gradient", models / "image", "--image", models / "image.png", "-o", tmp_path / "i.png")
    assert image.returncode == 0 and (tmp_path / "i.png").stat().st_size > 1000


def test_what_cannot_be_differentiated_says_so(models, fox):
    assert "has only attention" in fails(1, "gradient", fox)
    assert "saved from BertModel" in fails(1, "gradient", models / "bare", "--text", "the cat")
    said = ["gradient", models / "classes", "--ids", IDS]
    assert "has no class 'plurall'; did you mean 'plural'?" in fails(1, *said, "--target", "plurall")
    assert "has no class 3, expected 0 to 2" in fails(1, *said, "--target", "3")
    assert "the target itself" in fails(1, *said, "--target", "1", "--against", "plural")
    assert "did you mean 'chefer'" in fails(2, *said, "--rule", "cheffer")
    assert "--rule gradient: uses no residual" in fails(2, *said, "--residual", "0.3")
    assert "preset metrics" in fails(2, *said, "--rule", "gradient-rollout", "--preset", "metrics")
    assert "head" in fails(1, *said, "--head", "3")
    assert "layer" in fails(1, *said, "--layer", "3")


def test_a_head_without_its_tensors_says_so(models, tmp_path):
    make(*TEXT["bert"]).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["architectures"] = ["BertForSequenceClassification"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert "has no tensor 'classifier.weight'" in fails(1, "gradient", tmp_path, "--ids", IDS)
    config["architectures"] = ["BertForMultipleChoice"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert "BertForMultipleChoice" in fails(1, "gradient", tmp_path, "--ids", IDS)
    config["architectures"] = []
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert "names no class" in fails(1, "gradient", tmp_path, "--ids", IDS)
