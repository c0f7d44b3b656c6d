"""What the command prints and writes."""
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from attention import TOKENS, save, softmax_rows
from command import COMMANDS, HEADWATER, ask, fails, files_in, run

OPTIONS = ["preset", "fuse", "residual", "discard", "order", "empty", "divide", "layers"]


# What is printed


def test_rollout_without_an_output_is_a_plain_table_of_one_row(tmp_path):
    save(tmp_path / "two.npy", [np.array([[[1, 0], [.5, .5]], [[1, 0], [.25, .75]]], np.float32)])
    done = run("rollout", "two.npy", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "# Attention rollout, output token 1 '1': two.npy, 2 tokens, layers 0:2, one head, residual 0.5\n"
        "index  token   value\n"
        "    0  0      0.3438  #############\n"
        "    1  1      0.6562  ########################\n")


def test_the_row_shown_is_the_last_for_causal_attention_and_the_first_otherwise(tmp_path, fox):
    causal = save(tmp_path / "causal.npy", [softmax_rows(np.random.default_rng(2), (2, 2, 5, 5), causal=True)
                                            .astype(np.float32)])
    assert "output token 4 '4'" in run("rollout", causal).stdout
    assert "output token 0 '[CLS]'" in run("rollout", fox).stdout
    assert "output token 2 'fox'" in run("rollout", fox, "--row", 2).stdout


def test_several_rows_are_those_rows_in_their_order(fox):
    for command in ("rollout", "average", "raw", "flow"):
        whole, some = ask(command, fox), ask(command, fox, "--row", "4,0,last")
        assert some["rows"] == [4, 0, 5] and np.allclose(some["values"], np.array(whole["values"])[[4, 0, 5]], atol=1e-6)
    shown = run("rollout", fox, "--row", "4,0").stdout
    assert shown == run("rollout", fox, "--row", 4).stdout + "\n" + run("rollout", fox, "--row", 0).stdout
    assert fails(2, "rollout", fox, "--row", "4,mean").startswith("--row mean: is not one row of a list")
    assert fails(1, "rollout", fox, "--row", "4,9").startswith(f"{fox}: has no row 9")
    assert fails(2, "evaluate", "verb-number", "--row", "0,1").startswith("--row: names several tokens")


@pytest.mark.parametrize("words", [["raw", "--layer", 1], ["average"], ["metrics"], ["info"],
                                   *(["compare", "--by", by] for by in ("layer", "evolution", "discard", "fuse",
                                                                         "method"))])
def test_every_command_prints_plain_text(words, fox):
    done = run(words[0], "fox.npz", *words[1:], cwd=fox.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\n") and done.stdout.isascii()
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", done.stdout)


def test_info_says_what_is_in_a_file_and_what_runs(fox):
    words = dict(line.split(maxsplit=1) for line in run("info", fox).stdout.splitlines())
    assert words["source"] == str(fox)
    assert words["reading"] == "npz, 3 arrays, one a layer (layer_0 ... layer_2), axes H n n, f32"
    assert (words["layers"], words["heads"], words["tokens"], words["causal"]) == ("3", "2", "6", "no")
    assert words["kernel"] in kernels()


def test_control_characters_of_tokens_and_names_reach_no_terminal(tmp_path):
    path = save(tmp_path / "x.json", [np.eye(2)], tokens=["\x1b[2J", "a\nb"])
    done = run("rollout", path)
    assert done.returncode == 0 and "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 4
    assert "\x1b" not in fails(1, "rollout", "\x1b[2J\n.npy")


def test_version():
    assert run("--version").stdout == "headwater 0.1.0\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_an_example(command):
    for words in ([command, "--help"], [command, "-h"]):
        done = run(*words)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Example:\n  headwater {command}" in done.stdout


def test_help_names_every_command():
    for words in ([], ["--help"]):
        done = run(*words)
        assert done.returncode == 0
        for command in COMMANDS:
            assert re.search(rf"^  {command} ", done.stdout, re.M)


def test_demo_leaves_the_pictures_that_it_names(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    named = sorted(set(re.findall(r"^  demo/(\S+)", done.stdout, re.M)))
    assert files_in(tmp_path / "demo") == named
    assert {"sentence.png", "gradient.png", "methods.png", "answer.png", "relevance.png", "image.png", "quick-fox.json", "rollout.png",
            "evolution.png", "discard.png", "index.html"} == set(named)
    assert '"The keys to the cabinet ..." is plural' in done.stdout
    assert 'Answer:" shelf' in done.stdout and "a red star" in done.stdout
    assert '"The authors that the guard likes ..." is plural; attention times gradient is largest on authors' in done.stdout
    assert "Why this output? Ask relevance" in done.stdout and "rollout (47 %) or flow (1 %)" in done.stdout
    assert f"headwater is {HEADWATER} here" in run("demo", cwd=tmp_path, env={"PATH": "/nowhere"}).stdout
    assert "make install" not in run("demo", cwd=tmp_path, env={"PATH": str(Path(HEADWATER).parent)}).stdout
    tried = [shlex.split(line, comments=True) for line in re.findall(r"^  headwater (.*)$", done.stdout, re.M) if "YOUR" not in line]
    assert len(tried) == 6
    for words in tried:
        assert run(*words, cwd=tmp_path).returncode == 0


# JSON, .npy and .npz


def test_json_of_a_rollout_has_just_what_the_design_says(fox):
    result = ask("rollout", fox)
    assert list(result) == ["headwater", "method", "options", "source", "tokens", "rows", "values", "notes"]
    assert result["headwater"] == "0.1.0" and result["method"] == "rollout"
    assert result["options"] == {"preset": "paper", "fuse": "mean", "residual": 0.5, "discard": 0.0,
                                 "order": "residual-first", "empty": "identity", "divide": "always", "layers": [0, 3]}
    assert result["source"] == {"kind": "file", "name": str(fox), "layers": 3, "heads": 2, "tokens": 6}
    assert result["tokens"] == TOKENS and result["rows"] == list(range(6)) and result["notes"] == []
    assert np.shape(result["values"]) == (6, 6)


@pytest.mark.parametrize("row, rows", [("0", [0]), ("-1", [5]), ("cls", [0]), ("last", [5]), ("mask", [4]),
                                       ("mean", ["mean"]), ("all", list(range(6)))])
def test_values_have_two_axes_whatever_the_row(row, rows, fox):
    result = ask("rollout", fox, f"--row={row}")
    assert result["rows"] == rows
    assert np.shape(result["values"]) == (len(rows), 6)


def test_by_layer_adds_a_leading_axis(fox, tmp_path):
    result = ask("rollout", fox, "--by-layer", "--layers", "1:3")
    assert list(result)[5:] == ["rows", "by_layer", "values", "notes"]
    assert result["by_layer"] == [1, 2]
    assert np.shape(result["values"]) == (2, 6, 6)
    run("rollout", fox, "--by-layer", "--row", 0, "-o", tmp_path / "x.npy")
    assert np.load(tmp_path / "x.npy").shape == (3, 6)


def test_json_of_the_other_commands(fox):
    metrics = ask("metrics", fox, "--layer", 1)
    assert list(metrics) == ["headwater", "method", "options", "source", "layer", "metrics", "notes"]
    assert metrics["layer"] == 1 and metrics["options"]["preset"] == "metrics"
    assert list(metrics["metrics"]) == ["mean_attention", "max_attention", "attention_entropy",
                                        "attention_concentration", "rollout_max", "rollout_entropy", "batch_size",
                                        "seq_length"]
    info = ask("info", fox)
    assert {"headwater", "method", "source", "kernel", "threads", "causal", "reading", "tokens"} == set(info)
    assert ask("average", fox)["method"] == "average"
    raw = ask("raw", fox, "--layer", 1, "--head", 0)
    assert raw["method"] == "raw" and raw["options"]["fuse"] == "head:0" and raw["options"]["layers"] == [1, 2]


def test_json_of_a_comparison(fox):
    result = ask("compare", fox, "--by", "discard")
    assert list(result) == ["headwater", "method", "by", "panels", "agreement"]
    assert [panel["label"] for panel in result["panels"]] == ["discard 0", "discard 0.1", "discard 0.3", "discard 0.5"]
    for panel in result["panels"]:
        assert list(panel) == ["headwater", "method", "label", "options", "source", "tokens", "rows", "values", "notes"]
        assert list(panel["options"]) == OPTIONS
    assert np.shape(result["agreement"]) == (4, 4)
    assert [result["agreement"][k][k] for k in range(4)] == [1, 1, 1, 1]


def test_numbers_are_the_shortest_that_read_back_as_the_same_float(fox, tmp_path):
    run("rollout", fox, "-o", tmp_path / "x.json", "-o", tmp_path / "x.npy")
    floats = np.load(tmp_path / "x.npy")
    assert (np.array(json.loads((tmp_path / "x.json").read_text())["values"], np.float32) == floats).all()
    words = re.findall(r"\d[\d.e-]*", (tmp_path / "x.json").read_text().split('"values"')[1].split('"notes"')[0])
    assert [len(word) for word in words] == [len(repr(float(str(value)))) for value in floats.ravel()]


def test_several_outputs_at_once(fox, tmp_path):
    done = run("rollout", fox, "--row", 0, "-o", tmp_path / "x.json", "-o", tmp_path / "x.npy", "--output",
               tmp_path / "x.npz", "-o", tmp_path / "x.svg", "-o", "-")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout == (tmp_path / "x.json").read_text()
    values = np.array(json.loads(done.stdout)["values"], np.float32)
    npy = np.load(tmp_path / "x.npy")
    assert npy.shape == (6,) and npy.dtype == np.float32 and (npy == values[0]).all()
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        assert set(arrays.files) == set(json.loads(done.stdout))
        assert (arrays["values"] == values).all() and arrays["values"].dtype == np.float32
        assert json.loads(str(arrays["options"])) == json.loads(done.stdout)["options"]
        assert arrays["tokens"].tolist() == TOKENS


def test_npz_of_metrics_and_comparisons_can_be_read_without_pickle(fox, tmp_path):
    for words in (["metrics", fox], ["compare", fox, "--by", "fuse"], ["info", fox]):
        assert run(*words, "-o", tmp_path / "x.npz").returncode == 0
        with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
            content = {name: arrays[name] for name in arrays.files}
        if words[0] == "metrics":
            assert content["metrics/batch_size"] == 1
        if words[0] == "compare":
            assert content["0/values"].shape == content["2/values"].shape == (6, 6)
            assert content["agreement"].shape == (3, 3)


def test_all_items_are_a_list_numbered_pictures_and_prefixed_names(batch, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    done = run("rollout", batch, "--item", "all", "-o", "-", "-o", out / "x.npz", "-o", out / "x.png")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert [len(result["tokens"]) for result in results] == [6, 4]
    assert [result["source"]["item"] for result in results] == [0, 1]
    assert files_in(out) == ["x-0.png", "x-1.png", "x.npz"]
    with np.load(out / "x.npz", allow_pickle=False) as arrays:
        assert arrays["0/values"].shape == (6, 6) and arrays["1/values"].shape == (4, 4)
        assert {name.split("/")[0] for name in arrays.files} == {"0", "1"}


def test_all_items_is_a_list_even_of_one(fox):
    results = ask("rollout", fox, "--item", "all")
    assert isinstance(results, list) and len(results) == 1


def test_one_item_is_named_in_its_result(batch):
    result = ask("rollout", batch, "--item=-1")
    assert result["source"]["item"] == 1 and result["source"]["items"] == 2
    assert result["tokens"] == TOKENS[:4]


def test_metrics_of_a_batch_take_all_items(batch):
    numbers = ask("metrics", batch)["metrics"]
    assert numbers["batch_size"] == 2 and numbers["seq_length"] == 6
    assert ask("metrics", batch, "--item", 1)["metrics"]["batch_size"] == 1


def test_filter_reports_the_mass_that_it_leaves_out(fox, tmp_path):
    (tmp_path / "words.txt").write_text("fox\n")
    plain = ask("rollout", fox)
    result = ask("rollout", fox, "--filter", f"special,punctuation,common,@{tmp_path / 'words.txt'}")
    assert result["filter"]["left_out"] == [0, 1, 2, 3, 4, 5]
    result = ask("rollout", fox, "--filter", "special,punctuation")
    assert result["filter"]["left_out"] == [0, 3, 4, 5]
    assert result["values"] == plain["values"]
    expected = np.array(plain["values"])[:, [0, 3, 4, 5]].sum(axis=1)
    assert np.allclose(result["filter"]["mass"], expected, atol=1e-6)


def test_renormalise_divides_what_is_left(fox):
    values = np.array(ask("rollout", fox, "--filter", "special", "--renormalise")["values"])
    plain = np.array(ask("rollout", fox)["values"])[:, [1, 2, 3]]
    assert (values[:, [0, 4, 5]] == 0).all()
    assert np.allclose(values[:, [1, 2, 3]], plain / plain.sum(axis=1, keepdims=True), atol=1e-6)


def test_filtered_tokens_are_not_in_the_table(fox):
    table = run("rollout", fox, "--row", 2, "--filter", "special").stdout
    assert re.search(r"^ +1  The", table, re.M)
    assert not re.search(r"^ +\d  \[", table, re.M)
    assert "left out" in table


def test_timing_is_there_when_asked_for(fox):
    timing = ask("rollout", fox, "--timing")["timing"]
    assert list(timing) == ["reading", "preparing", "method"]
    assert all(0 <= seconds < 10 for seconds in timing.values())


def test_tokens_can_come_from_a_file(tmp_path):
    path = save(tmp_path / "x.npy", [np.eye(3, dtype=np.float32)])
    (tmp_path / "t.txt").write_text("a\nb\r\nc\n")
    (tmp_path / "t.json").write_text('["a", "b", "c"]')
    assert ask("rollout", path)["tokens"] == ["0", "1", "2"]
    assert ask("rollout", path, "--tokens", tmp_path / "t.txt")["tokens"] == ["a", "b", "c"]
    assert ask("rollout", path, "--tokens", tmp_path / "t.json")["tokens"] == ["a", "b", "c"]


# The same bytes everywhere


def kernels():
    return re.search(r"expected one of (.*)", fails(2, "info", "x.npy", "--kernel", "?")).group(1).split(", ")


@pytest.mark.parametrize("words", [["rollout"], ["rollout", "--row", 7], ["rollout", "--discard", 0.3], ["average"],
                                   ["metrics"]])
def test_any_number_of_threads_gives_the_same_bytes(words, wide):
    outputs = {run(words[0], wide, *words[1:], "--threads", count, "-o", "-").stdout for count in (1, 2, 3, 7)}
    assert len(outputs) == 1 and outputs.pop()


def test_every_kernel_runs_and_agrees_with_the_reference(wide):
    names = kernels()
    assert names[-1] == "reference"
    reference = np.array(ask("rollout", wide, "--kernel", "reference")["values"])
    for name in names:
        assert ask("info", wide, "--kernel", name)["kernel"] == name
        assert np.abs(np.array(ask("rollout", wide, "--kernel", name)["values"]) - reference).max() < 1e-6
