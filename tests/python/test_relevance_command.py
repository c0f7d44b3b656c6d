"""headwater relevance as a person calls it, and generate --method relevance: what is written, and what can go wrong."""
import json

import numpy as np
import pytest
import torch
import transformers as hf

from changed_network import changed
from command import ROOT, ask, fails, files_in, run
from families import TEXT, make
from test_gradient_command import IDS, models  # noqa: F401: a fixture

SENTENCE = "The keys to the cabinet"
STORY = "Ava put the red hat in the box. Where is the red hat? Answer:"


def relevance(*words):
    return ask("relevance", "verb-number", "--text", SENTENCE, *words)


def test_a_result_says_what_it_sums_to():
    found = relevance("--target", "plural")
    assert found["method"] == "relevance" and found["rule"] == "frozen" and found["options"]["rule"] == "frozen"
    assert found["target"]["name"] == "plural" and found["output"] == found["target"]["value"]
    assert found["rows"] == [0] and np.shape(found["values"]) == (1, len(found["tokens"]))
    assert found["sum"] == pytest.approx(np.sum(found["values"]), rel=1e-5)
    assert found["sum"] + found["biases"] == pytest.approx(found["output"], rel=1e-5) and found["notes"] == []
    assert found["tokens"][int(np.argmax(found["values"][0]))] == "keys" and np.min(found["values"]) < 0


def test_a_difference_of_logits_is_the_difference_of_relevances():
    both = relevance("--target", "plural", "--against", "singular")
    one, other = relevance("--target", "plural"), relevance("--target", "singular")
    assert np.allclose(both["values"], np.subtract(one["values"], other["values"]), atol=1e-5)
    assert both["output"] == pytest.approx(one["output"] - other["output"], abs=1e-5)
    assert relevance("--target", "plural", "--against", "best")["target"]["against"]["name"] == "singular"


def test_errors_show_words_without_the_marks_of_a_vocabulary():
    for method in ("relevance", "gradient"):
        said = fails(1, method, "facts", "--prompt", STORY, "--target", " to", "--against", "to")
        assert "--against to is the target itself" in said and "\u0120" not in said


def test_layers_heads_and_edges_come_from_the_same_pass():
    plain = relevance("--rule", "attnlrp")
    found = relevance("--rule", "attnlrp", "--by-layer", "--heads", "--edges", "-2")
    n = len(found["tokens"])
    assert found["by_layer"] == [-1, 0, 1, 2, 3, 4, 5] and np.shape(found["values"]) == (7, 1, n)
    assert found["values"][0] == plain["values"]
    # After the last layer, all of it is where the classifier reads.
    assert np.abs(found["values"][-1][0][1:]).max() == 0
    assert np.shape(found["heads"]) == (6, 8) and np.shape(found["edges"]) == (n, n) and found["edges_layer"] == 4
    assert np.sum(found["edges"]) == pytest.approx(np.sum(found["heads"][4]), rel=1e-4)


def test_integrated_gradients_note_what_is_missing():
    few, many = (relevance("--rule", "integrated", "--steps", steps) for steps in ("2", "200"))
    assert few["options"]["steps"] == 2 and few["options"]["baseline"] == "[MASK]"
    missing = [abs(found["output"] - found["baseline_output"] - found["sum"]) for found in (few, many)]
    assert missing[1] < 1e-3 < missing[0]
    assert "2 steps from '[MASK]'" in few["notes"][0] and "more steps" in few["notes"][0]
    assert few["values"][0][0] == few["values"][0][-1] == 0  # [CLS] and [SEP] are the same at the baseline
    assert relevance("--rule", "integrated", "--baseline", "zero")["options"]["baseline"] == "zero"
    assert relevance("--rule", "integrated", "--baseline", "the")["options"]["baseline"] == "the"
    spaced = ask("relevance", "facts", "--prompt", STORY, "--rule", "integrated", "--steps", "2", "--baseline", "box")
    assert "2 steps from 'box'" in spaced["notes"][0]  # as people read it, without the vocabulary's mark of a space


def test_a_prompt_ends_with_its_last_word(models):
    found = ask("relevance", "facts", "--prompt", STORY)
    assert found["target"]["row"] == len(found["tokens"]) - 1 and "box" in found["target"]["name"]
    assert "box" in found["tokens"][int(np.argmax(found["values"][0]))]
    assert found["biases"] == 0 and found["sum"] == pytest.approx(found["output"], rel=1e-5)
    assert "give --text" in fails(1, "relevance", "verb-number", "--prompt", "x")


def test_every_output_takes_signs(tmp_path):
    names = ["x.json", "x.npz", "x.npy", "x.png", "x.svg", "x.pdf"]
    outputs = [word for name in names for word in ("-o", tmp_path / name)]
    done = run("relevance", "verb-number", "--text", SENTENCE, *outputs)
    assert done.returncode == 0 and files_in(tmp_path) == sorted(names)
    found = json.loads((tmp_path / "x.json").read_text())
    assert np.array_equal(np.load(tmp_path / "x.npy"), np.array(found["values"][0], np.float32))
    svg = (tmp_path / "x.svg").read_text()
    assert svg.count("<") > 50
    for words in (["--heads"], ["--edges", "0"], ["--by-layer"]):
        done = run("relevance", "verb-number", "--text", SENTENCE, *words, "-o", tmp_path / "y.npz", "-o",
                   tmp_path / "y.png")
        assert done.returncode == 0, done.stderr
    image = ROOT / "models/shapes"
    pictures = [json.loads(line)["image"] for line in (image / "examples.jsonl").read_text().splitlines()]
    for words in ([], ["--by-layer"], ["--edges", "1"]):
        done = run("relevance", "shapes", "--image", image / pictures[0], *words, "-o", tmp_path / "z.png")
        assert done.returncode == 0, done.stderr


def test_the_terminal_says_what_the_signs_mean():
    said = run("relevance", "verb-number", "--text", SENTENCE, "--target", "plural").stdout
    assert "Relevance for 'plural'" in said and "of - against it" in said and "= tokens" in said
    assert any(line.endswith("--") for line in said.splitlines()) and "####" in said
    said = run("relevance", "verb-number", "--text", SENTENCE, "--by-layer", "--heads", "--edges", "1").stdout
    assert "after layer 5" in said and "head 7" in said and "largest edges of layer 1" in said
    filtered = run("relevance", "verb-number", "--text", SENTENCE, "--filter", "special").stdout
    assert "[CLS]  " not in filtered and "the filter left out" in filtered


@pytest.mark.parametrize("status, words, parts", [
    (2, ["--rule", "frozzen"], ["did you mean 'frozen'"]),
    (1, ["--target", "plurall"], ["has no class 'plurall'", "did you mean 'plural'"]),
    (1, ["--target", "plural", "--against", "plural"], ["is the target itself", "choose another"]),
    (1, ["--edges", "6"], ["has no layer 6", "0 to 5"]),
    (1, ["--row", "99"], ["has no row 99"]),
    (2, ["--row", "mean"], ["--row mean", "one output token"]),
    (2, ["--steps", "3"], ["--steps", "expected integrated"]),
    (2, ["--rule", "integrated", "--heads"], ["--heads", "expected frozen or attnlrp"]),
    (2, ["--rule", "integrated", "--steps", "0"], ["--steps 0", "1 to 100000"]),
    (1, ["--rule", "integrated", "--baseline", "xyzzyx"], ["no single token"]),
    (2, ["--heads", "-o", "x.npy"], [".npz"]),
    (2, ["--heads", "--edges", "1", "-o", "x.png"], ["one of --by-layer, --heads and --edges"]),
    (2, ["--residual", "0.3"], ["--residual"]),
])
def test_bad_input_gets_one_sentence(status, words, parts, tmp_path):
    message = fails(status, "relevance", "verb-number", "--text", SENTENCE, *words, cwd=tmp_path)
    for part in parts:
        assert part in message, message
    assert files_in(tmp_path) == []


def test_sources_that_have_no_output_are_refused(models, tmp_path):
    np.save(tmp_path / "a.npy", np.full((2, 3, 3), 1 / 3, np.float32))
    assert "has only attention" in fails(1, "relevance", tmp_path / "a.npy")
    assert "expected a classifier" in fails(1, "relevance", models / "bare", "--ids", IDS)
    assert "no tokens" in fails(1, "relevance", "verb-number", "--text", " ")
    assert "no mask token" in fails(1, "relevance", "facts", "--prompt", STORY, "--rule", "integrated")
    assert "mean colour" in fails(1, "relevance", models / "image", "--image", models / "image.png", "--rule",
                                  "integrated", "--baseline", "mask")


def test_the_same_bytes_for_every_number_of_threads():
    words = ["relevance", "facts", "--prompt", STORY, "--by-layer", "--heads"]
    for rule in ("frozen", "attnlrp"):
        assert ask(*words, "--rule", rule, "--threads", "1") == ask(*words, "--rule", rule, "--threads", "3")


def follow(model, ids, row, id, rule, log=False):
    """Relevance of each token for the logit of `id` after position `row`, or its log-probability, by autograd."""
    rows = model.get_input_embeddings()(ids).detach()[:, :row + 1].requires_grad_(True)
    with changed(model, rule):
        logits = model(inputs_embeds=rows).logits[0, row]
        y = (logits.log_softmax(-1) if log else logits)[id]
    return (torch.autograd.grad(y, rows)[0] * rows)[0].sum(-1).detach().numpy(), float(y)


@pytest.mark.parametrize("rule", ["frozen", "attnlrp"])
def test_generated_tokens_have_the_relevance_of_autograd(rule, models):
    words = ["generate", models / "causal", "--ids", IDS, "--count", "4", "--ignore-end", "--method", "relevance",
             "--rule", rule]
    found = ask(*words)
    m, made = len(found["prompt_ids"]), found["generated_ids"]
    model = hf.LlamaForCausalLM.from_pretrained(models / "causal", attn_implementation="eager").double()
    ids = torch.tensor([found["prompt_ids"] + made])
    values = np.array(found["relevance"])
    assert values.shape == (4, m + 4) and "M" not in found
    for s in range(4):
        theirs, y = follow(model, ids, m + s - 1, made[s], rule)
        assert np.abs(values[s, :m + s] - theirs).max() < 1e-4 * np.abs(theirs).max()
        assert not values[s, m + s:].any() and found["outputs"][s] == pytest.approx(y, rel=1e-4)
    span = ask(*words, "--span", "1:3")
    assert np.allclose(span["relevance"][0], values[1] + values[2], atol=1e-4) and span["span"] == [1, 3]
    assert span["outputs"][0] == pytest.approx(found["outputs"][1] + found["outputs"][2], rel=1e-4)


@pytest.mark.parametrize("rule", ["frozen", "attnlrp"])
def test_a_span_by_its_log_probabilities_has_the_relevance_of_autograd(rule, models):
    words = ["generate", models / "causal", "--ids", IDS, "--count", "5", "--ignore-end", "--method", "relevance",
             "--rule", rule, "--score", "log-probability"]
    found, span = ask(*words), ask(*words, "--span", "1:4")
    m, made = len(found["prompt_ids"]), found["generated_ids"]
    model = hf.LlamaForCausalLM.from_pretrained(models / "causal", attn_implementation="eager").double()
    ids = torch.tensor([found["prompt_ids"] + made])
    whole, outputs = np.zeros(m + 5), 0.0
    for s in range(5):
        theirs, y = follow(model, ids, m + s - 1, made[s], rule, log=True)
        assert np.abs(np.array(found["relevance"][s])[:m + s] - theirs).max() < 1e-4 * np.abs(theirs).max()
        assert found["outputs"][s] == pytest.approx(y, rel=1e-4) and y < 0
        if 1 <= s < 4:
            whole[:m + s] += theirs
            outputs += y
    assert np.abs(np.array(span["relevance"][0]) - whole).max() < 1e-4 * np.abs(whole).max()
    assert span["outputs"] == [pytest.approx(outputs, rel=1e-4)] and span["options"]["score"] == "log-probability"


def test_log_probabilities_pass_a_map_between_the_rows_and_the_table_of_words(tmp_path):
    """OPT 350m: rows are wider than words. Frozen is linear: the word's relevance less the mean of all, by probability."""
    kind, config, entries = TEXT["opt-narrow"]
    model = make(kind, config, dict(entries, vocab_size=9))
    model.save_pretrained(tmp_path)
    ids = [3, 7, 5, 8, 4]
    words = [tmp_path, "--ids", ",".join(map(str, ids))]
    found = ask("generate", *words, "--method", "relevance", "--count", "1", "--ignore-end", "--score", "log-probability")
    with torch.no_grad():
        shares = model.double()(torch.tensor([ids])).logits[0, -1].softmax(-1).numpy()
    each = np.array([ask("relevance", *words, "--target", word)["values"][0] for word in range(9)])
    theirs = each[found["generated_ids"][0]] - shares @ each
    assert np.abs(np.array(found["relevance"][0])[:5] - theirs).max() < 1e-4 * np.abs(theirs).max()
    assert not any("rounding" in note for note in found["notes"])


def test_a_log_probability_sets_a_word_against_the_others():
    words = ["generate", "facts", "--prompt", STORY, "--continuation", " cave", "--method", "relevance"]
    logit, log = ask(*words), ask(*words, "--score", "log-probability")
    # Frozen keeps the word's logit less the mean of all logits by their probabilities: log p plus the entropy.
    assert sum(logit["relevance"][0]) == pytest.approx(logit["outputs"][0], rel=1e-3)
    kept = sum(log["relevance"][0]) - log["outputs"][0]
    assert 0 <= kept < 7 and log["outputs"][0] < 0 and not any("rounding" in note for note in log["notes"])
    words[words.index(" cave")] = " cave."
    done = run(*words, "--score", "log-probability", "--span", "0:2")
    assert "sum of log-probabilities -" in done.stdout and "generated 'cave.'" in done.stdout


@pytest.mark.parametrize("words, why", [
    (["--score", "log-probability"], "--score: was given without relevance"),
    (["--method", "relevance", "--score", "p"], "unknown score 'p'"),
    (["--method", "relevance", "--span", "a:b"], "--span 'a:b': expected a range j:i of generated tokens")])
def test_a_score_or_a_span_that_cannot_be_is_refused(words, why):
    done = run("generate", "facts", "--prompt", "Anna", "--count", "1", *words)
    assert done.returncode == 2 and why in done.stderr


def test_an_image_says_what_its_class_token_takes_without_shares(tmp_path):
    image = ROOT / "models/shapes/examples/0-red-star.png"
    assert run("relevance", "shapes", "--image", image, "-o", tmp_path / "x.svg").returncode == 0
    values = ask("relevance", "shapes", "--image", image)["values"][0]
    text = (tmp_path / "x.svg").read_text()
    assert f"{values[0]:.3g} in [CLS]" in text and "mass" not in text


def test_a_continuation_is_followed_like_generated_text(tmp_path):
    made = ask("generate", "facts", "--prompt", STORY, "--count", "2", "--method", "relevance")
    given = ask("generate", "facts", "--prompt", STORY, "--continuation", made["text"], "--method", "relevance")
    assert given["generated_ids"] == made["generated_ids"]
    assert np.allclose(given["relevance"], made["relevance"], atol=1e-5)
    one = ask("relevance", "facts", "--prompt", STORY)
    assert np.allclose(made["relevance"][0][:len(one["tokens"])], one["values"][0], atol=1e-4)
    done = run("generate", "facts", "--prompt", STORY, "--count", "2", "--method", "relevance", "-o", tmp_path / "x.png")
    assert done.returncode == 0, done.stderr
    said = run("generate", "facts", "--prompt", STORY, "--count", "2", "--method", "relevance").stdout
    assert "speak for it" in said and "box" in said


@pytest.mark.parametrize("words, part", [
    (["--span", "0:1"], "--span: was given without relevance"),
    (["--rule", "attnlrp"], "--rule: was given without --method relevance"),
    (["--method", "relevance", "--residual", "0.2"], "prepares no attention"),
    (["--method", "relevance", "--position", "own"], "--position own"),
    (["--method", "relevance", "--rule", "integrated"], "expected frozen or attnlrp"),
    (["--method", "relevance", "--token", "0", "--by-layer"], "--by-layer"),
    (["--method", "relevance", "--token", "0", "--span", "0:1"], "--span"),
    (["--method", "relevance", "--plain"], "--plain"),
])
def test_options_of_generate_that_do_not_go_with_relevance(words, part):
    assert part in fails(2, "generate", "facts", "--prompt", STORY, *words)


def test_evaluate_has_only_the_methods_asked_for():
    found = ask("evaluate", "facts", "--limit", "2", "--method", "rollout,frozen", "--method", "attnlrp")
    assert list(found["truth"]["methods"]) == ["rollout", "frozen", "attnlrp", "input-gradient"]
    assert found["truth"]["methods"]["frozen"]["mean"] == [1.0]
    assert "did you mean 'frozen'" in fails(2, "evaluate", "facts", "--method", "frosen")
