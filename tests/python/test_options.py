"""Options of the command that a first day asked for."""
import json
import re
import subprocess

import numpy as np
import pytest

from attention import save
from command import COMMANDS, HEADWATER, ask, fails, run
from test_command_shell import complete, on_terminal

KEYS = "The keys to the keys"


def piped(text, *words):
    return subprocess.run([HEADWATER, *map(str, words)], input=text, capture_output=True, encoding="utf-8", timeout=60)


# Input


def test_texts_come_from_standard_input():
    alone = ask("rollout", "verb-number", "--text", KEYS)
    done = piped(KEYS + "\n", "rollout", "verb-number", "--text", "-", "-o", "-")
    assert json.loads(done.stdout)["values"] == alone["values"]
    lines = piped(KEYS + "\nThe cat\n", "rollout", "verb-number", "--text-file", "-", "--item", "all", "-o", "-")
    first, second = json.loads(lines.stdout)
    assert first["values"] == alone["values"] and len(second["tokens"]) == 4
    one = json.loads(piped(KEYS, "generate", "facts", "--prompt", "-", "--count", "1", "-o", "-").stdout)
    assert one["prompt"] == ask("generate", "facts", "--prompt", KEYS, "--count", 1)["prompt"]
    empty = piped("", "rollout", "verb-number", "--text", "-")
    assert empty.returncode == 1 and "standard input: is empty" in empty.stderr
    assert "line 2 is empty" in piped("a\n\nb\n", "rollout", "verb-number", "--text-file", "-").stderr


def test_generate_takes_a_file_of_prompts(tmp_path):
    prompts = ["Where is the key? Answer:", "The red hat"]
    (tmp_path / "prompts.txt").write_text("\n".join(prompts) + "\n")
    together = ask("generate", "facts", "--text-file", tmp_path / "prompts.txt", "--count", 2)
    for k, (prompt, result) in enumerate(zip(prompts, together, strict=True)):
        alone = ask("generate", "facts", "--prompt", prompt, "--count", 2)
        assert result["M"] == alone["M"] and result["text"] == alone["text"]
        assert result["source"]["item"] == k and result["source"]["items"] == 2
    assert "--prompt" in fails(2, "generate", "facts", "--text-file", tmp_path / "prompts.txt", "--prompt", "x")


def test_an_empty_value_is_a_value():
    assert "has no tokens of its own" in fails(1, "rollout", "verb-number", "--text=", "--row", "0")
    assert "no --prompt was given, or an empty one" in fails(2, "generate", "facts", "--prompt=", "--count", "1")


# Rows by word


def test_a_row_can_be_a_word():
    rows = ask("rollout", "verb-number", "--text", KEYS)
    assert rows["tokens"] == ["[CLS]", "the", "keys", "to", "the", "keys", "[SEP]"]
    for word, place in [("keys", 2), ("keys#1", 2), ("keys#2", 5), ("[SEP]", 6), ("the#2", 4)]:
        some = ask("rollout", "verb-number", "--text", KEYS, "--row", word)
        assert some["rows"] == [place]
        assert np.abs(np.array(some["values"][0]) - rows["values"][place]).max() < 1e-6
    assert ask("gradient", "verb-number", "--text", KEYS, "--row", "keys")["rows"] == [2]
    assert ask("relevance", "pairs", "--text", "a [MASK] b", "--row", "[MASK]")["rows"] == [2]
    assert "output token 5 'keys'" in run("rollout", "verb-number", "--text", KEYS, "--row", "keys#2").stdout
    assert "has 'keys' 2 times, expected at least 3" in fails(1, "rollout", "verb-number", "--text", KEYS, "--row", "keys#3")
    assert "has no token 'kays'" in (message := fails(1, "rollout", "verb-number", "--text", KEYS, "--row", "kays"))
    assert message.endswith("did you mean 'keys'?")
    assert fails(1, "rollout", "verb-number", "--text", KEYS, "--row", "lst").endswith("did you mean 'last'?")


# What is compared and shown


def test_discards_can_be_chosen(fox):
    result = ask("compare", fox, "--by", "discard", "--values", "0,0.2,0.4")
    assert [panel["options"]["discard"] for panel in result["panels"]] == [0, 0.2, 0.4]
    alone = ask("rollout", fox, "--discard", 0.2)
    assert result["panels"][1]["values"] == alone["values"]
    assert "--discard 1.5" in fails(2, "compare", fox, "--by", "discard", "--values", "0,1.5")
    assert "--values 'x'" in fails(2, "compare", fox, "--by", "discard", "--values", "0,x")


def test_layers_shown_can_be_chosen(fox):
    every = ask("rollout", fox, "--by-layer")
    some = ask("rollout", fox, "--by-layer", "--layers-shown", "-1,0")
    assert some["by_layer"] == [0, 2] and some["values"] == [every["values"][0], every["values"][2]]
    panels = ask("compare", fox, "--by", "evolution", "--layers-shown", "1")["panels"]
    assert [panel["label"] for panel in panels] == ["after layer 1"] and panels[0]["values"] == every["values"][1]
    assert "has no layer 3" in fails(1, "rollout", fox, "--by-layer", "--layers-shown", "3")
    assert "is not within --layers 0:2" in fails(1, "rollout", fox, "--by-layer", "--layers", ":2", "--layers-shown", "2")


def test_heads_are_compared_in_a_grid(fox, tmp_path):
    stack = [np.load(fox)[f"layer_{k}"] for k in range(3)]
    result = ask("compare", fox, "--by", "head")
    assert [panel["label"] for panel in result["panels"]] == [f"layer {l} head {h}" for l in range(3) for h in range(2)]
    for k, panel in enumerate(result["panels"]):
        assert np.abs(np.array(panel["values"]) - stack[k // 2][k % 2]).max() < 1e-6
    row = ask("compare", fox, "--by", "head", "--row", 2, "--layers", "1:")
    assert len(row["panels"]) == 4 and np.allclose(row["panels"][0]["values"][0], stack[1][0][2], atol=1e-6)
    shown = run("compare", fox, "--by", "head", "--row", 0).stdout
    assert re.search(r"^layer +head 0 +head 1", shown, re.M) and len(re.findall(r"^ +\d  ", shown, re.M)) == 3
    model = ask("compare", "verb-number", "--by", "head", "--text", KEYS)
    raw = ask("raw", "verb-number", "--text", KEYS, "--layer", 4, "--head", 3)
    assert np.abs(np.array(model["panels"][4 * 8 + 3]["values"]) - raw["values"]).max() < 1e-6
    done = run("compare", "verb-number", "--by", "head", "--text", KEYS, "-o", tmp_path / "x.svg")
    assert done.returncode == 0 and (tmp_path / "x.svg").read_text().count(">layer ") == 48
    wide = save(tmp_path / "wide.npy", [np.full((2, 600, 3, 3), 1 / 3, np.float32)])
    assert "too many to show side by side" in fails(1, "compare", wide, "--by", "head")


def test_by_layer_is_one_name_and_shows_layers(fox):
    for command in ("rollout", "flow"):
        result = ask(command, fox, "--by-layer", "--row", 1)
        shown = run(command, fox, "--by-layer", "--row", 1).stdout
        assert "by layer, output token 1" in shown
        header, *rows = shown[shown.index("index"):].splitlines()
        assert header.split() == ["index", "token", "layer", "0", "layer", "1", "layer", "2"]
        for j, row in enumerate(rows):
            assert np.allclose([float(x) for x in row.split()[2:]], [layer[0][j] for layer in result["values"]], rtol=1e-3)
    assert ask("flow", fox, "--every-layer", "--row", 1) == ask("flow", fox, "--by-layer", "--row", 1)
    assert "--every-layer" not in run("flow", "--help").stdout
    coloured = run("rollout", fox, "--by-layer", "--row", 1, env={"FORCE_COLOR": "1", "COLUMNS": "60"}).stdout
    assert len(re.findall(r"\x1b\[48;2[^m]*m\x1b\[38;2;0;0;0m   ", coloured)) == 6 * 3
    token = run("generate", "facts", "--prompt", "The red key", "--count", 1, "--token", 0, "--by-layer").stdout
    assert "layer 3" in token


def test_values_have_four_significant_digits(tmp_path):
    path = save(tmp_path / "x.npy", [np.array([[0.99995, 0.00005], [0.3, 0.7]], np.float32)])
    shown = run("raw", path, "--row", 0).stdout
    assert re.search(r" 0  0 +1\.000 ", shown) or re.search(r" 0  0 +0\.9999 ", shown) or "0.9999" in shown or "1.000" in shown
    assert re.search(r"5\.00\de-05", shown)


# Pictures and pages


def test_titles_and_colours_of_pictures(fox, tmp_path):
    done = run("rollout", fox, "--title", "My <fox> & me", "--colours", "greys", "-o", tmp_path / "x.svg", "-o", tmp_path / "x.html",
               "-o", tmp_path / "x.png")
    assert (done.returncode, done.stderr) == (0, "")
    assert "My &lt;fox&gt; &amp; me" in (tmp_path / "x.svg").read_text()
    assert "<title>My &lt;fox> &amp; me</title>" in (tmp_path / "x.html").read_text()
    from PIL import Image
    pixels = np.array(Image.open(tmp_path / "x.png").convert("RGB")).astype(int)
    assert (np.abs(pixels - pixels.mean(axis=2, keepdims=True)).max() < 3), "only greys"


# Help


def test_help_is_a_command():
    assert run("help").stdout == run("--help").stdout == run().stdout
    for command in COMMANDS:
        assert run("help", command).stdout == run(command, "--help").stdout
    assert "did you mean 'rollout'" in fails(2, "help", "rolout")
    assert fails(2, "help", "rollout", "x").startswith("'x' was not expected")


@pytest.mark.parametrize("width", [60, 80, 132])
def test_help_keeps_to_the_width(width):
    for command in ("rollout", "generate", "evaluate"):
        lines = run(command, "--help", env={"COLUMNS": str(width)}).stdout.splitlines()
        body = lines[:lines.index("Example:")]
        assert max(map(len, body)) <= width
        assert max(map(len, body)) > width - 20
    assert "Show this help" in on_terminal(["rollout", "--help"])


def test_info_alone_says_what_runs_here(tmp_path):
    done = run("info", env={"HF_HUB_CACHE": str(tmp_path)})
    words = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert words["version"] == "0.1.0" and int(words["threads"]) >= 1
    assert words["cache"] == f"{tmp_path} (0 models)" and "verb-number" in words["models"]
    assert run("info", "--threads", 3, "--kernel", "reference").stdout.splitlines()[1].split() == ["kernel", "reference"]
    assert "no SOURCE was given" in fails(2, "info", "--text", "x")
    assert "no SOURCE was given" in fails(2, "info", "-o", "-")


def test_colour_can_be_forced(fox):
    assert "\x1b[" in run("rollout", fox, env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" in run("rollout", fox, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b" not in run("rollout", fox, env={"FORCE_COLOR": ""}).stdout
    assert "\x1b" not in on_terminal(["rollout", fox], {"FORCE_COLOR": "0"})


def test_names_of_models_and_rows_are_completed():
    assert {"verb-number", "facts", "shapes"} <= set(run("models", "--names").stdout.split())
    assert complete("rollout", "verb") == ["verb-number"]
    assert complete("rollout", "verb-number", "--text", "The keys", "--row", "k") == ["keys"]
    assert set(complete("rollout", "verb-number", "--text", "The keys", "--row", "")) == {
        "all", "cls", "last", "mask", "mean", "The", "keys"}
    assert complete("help", "rol") == ["rollout"]
    assert "complete -c headwater -n '__fish_seen_subcommand_from rollout' -a '(headwater models --names 2>/dev/null)'" in run(
        "completion", "fish").stdout
