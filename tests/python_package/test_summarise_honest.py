"""headwater summarise says what its numbers do not mean, and refuses what they cannot: by hand, and against scipy."""
import json
import math
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.stats as stats

import headwater as hw
from headwater.data.command import run
from headwater.data.moments import add_values
from headwater.data.student import quantile

TEXTS = ["the keys to the cabinet", "a dog", "the author near the senators is here", "dogs near the table"] * 6


def attribute(folder, texts=TEXTS, *words, block=5):
    folder.parent.mkdir(exist_ok=True)
    source = folder.with_suffix(".jsonl")
    source.write_text("\n".join(json.dumps(dict(text=text, label=k % 2)) for k, text in enumerate(texts)))
    assert run(["attribute", "verb-number", str(source), "-o", str(folder), "--block", str(block), "--keep", "label",
                *map(str, words)]) == 0
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return attribute(tmp_path_factory.mktemp("honest") / "whole")


@pytest.fixture(scope="module")
def top(tmp_path_factory):
    return attribute(tmp_path_factory.mktemp("honest") / "top", TEXTS, "--top", 5)


def shown(capsys, *words, status=0):
    capsys.readouterr()
    assert run(["summarise", *map(str, words)]) == status
    out = capsys.readouterr()
    return out.out if status == 0 else out.err


def test_a_folder_of_top_values_says_so_and_gives_no_numbers_that_need_all(top, capsys, tmp_path):
    summary, table = hw.summarise(top), hw.read(top)
    cut = sum(length > 5 for length in table["length"].to_pylist())
    assert 0 < cut < 24 and summary.cut == cut
    assert f"{cut} texts of 24 are cut to the top 5 values" in summary.notes[0]
    for kind in ("text", "part"):
        with pytest.raises(hw.Error, match="needs all values"):
            summary.rows(kind)
    kept = {}
    for tokens, values in zip(table["tokens"].to_pylist(), table["values"].to_pylist()):
        for token, value in zip(tokens, values):
            kept.setdefault(token, []).append(value)
    assert {row["key"]: row["count"] for row in summary.rows("token")} == {key: len(of) for key, of in kept.items()}
    text = shown(capsys, top)
    assert text.splitlines()[1].startswith("note: ") and "cut to the top 5" in text and "without --top" in text
    assert "Tokens, by their mean value, where they were kept" in text and "entropy" not in text
    assert "needs all values" in shown(capsys, top, "--texts", status=1)
    summary.save(tmp_path / "x.json")
    saved = json.loads((tmp_path / "x.json").read_text())
    assert saved["notes"] == summary.notes and saved["text"] == [] and hw.summarise(tmp_path / "x.json") == summary
    summary.save(tmp_path / "x.parquet")
    assert json.loads(pq.read_schema(tmp_path / "x.parquet").metadata[b"headwater_notes"]) == summary.notes


def test_top_values_of_texts_that_are_no_longer_are_all(whole, tmp_path, capsys):
    everything = hw.summarise(attribute(tmp_path / "out", TEXTS, "--top", 50))
    assert everything.cut == 0 and not any("cut" in note for note in everything.notes)
    for kind in ("token", "position", "text"):
        for a, b in zip(everything.rows(kind), hw.summarise(whole).rows(kind)):
            assert a["key"] == b["key"] and a["count"] == b["count"] and math.isclose(a["mean"], b["mean"], abs_tol=1e-9)


def test_runs_that_were_asked_different_things_are_not_compared(whole, top, tmp_path, capsys):
    message = shown(capsys, whole, "--against", top, status=1)
    assert "were made with different options (top None and 5)" in message
    rollout = attribute(tmp_path / "rollout", TEXTS, "--method", "rollout")
    assert "method relevance and rollout" in shown(capsys, whole, "--against", rollout, status=1)
    target = attribute(tmp_path / "target", TEXTS, "--target", 1)
    assert "target best and 1" in shown(capsys, whole, "--against", target, status=1)


def test_two_models_are_compared_and_named(whole, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(hw.models()["verb-number"], copy)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"note": 1}))
    source = whole.with_suffix(".jsonl")
    assert run(["attribute", str(copy), str(source), "-o", str(tmp_path / "out"), "--block", "5", "--keep", "label"]) == 0
    assert f"note: the models differ: verb-number, then {copy}" in shown(capsys, whole, "--against", tmp_path / "out")


def test_missing_blocks_are_noticed_wherever_they_are(whole, tmp_path, capsys):
    for gone, left in (([4], 4), ([3, 4], 3), ([0], 4), ([0, 1, 2, 4], 1)):
        folder = tmp_path / str(gone)
        shutil.copytree(whole, folder)
        for index in gone:
            next(folder.glob(f"{index:07}-*")).unlink()
        with pytest.raises(hw.Error, match=f"{left} of 5 blocks (is|are) there, the first that is missing is block {gone[0]}"):
            hw.read(folder)
        message = shown(capsys, folder, status=1)
        assert "with --partial" in message and "partial=True" not in message
        shown(capsys, folder, "--partial")


def test_a_block_of_other_work_among_the_others_is_refused(whole, top, tmp_path):
    shutil.copytree(whole, tmp_path / "mixed")
    next((tmp_path / "mixed").glob("0000002-*")).unlink()
    shutil.copy(next(top.glob("0000002-*")), tmp_path / "mixed")
    for ask in (hw.read, hw.summarise):
        with pytest.raises(hw.Error, match="belongs to other work than 0000000-"):
            ask(tmp_path / "mixed")


def test_different_targets_are_named_and_kept_apart(whole, capsys):
    table, summary = hw.read(whole), hw.summarise(whole)
    names = table["target"].to_pylist()
    counts = {name: names.count(name) for name in set(names)}
    assert len(counts) == 2 and summary.targets == counts
    note, = summary.notes
    assert all(f"{name} in {count}" in note for name, count in counts.items())
    assert "--by target" in shown(capsys, whole) and "note" not in shown(capsys, whole, "--by", "target")
    split = hw.summarise(whole, by="target")
    for row in split.rows("token"):
        values = [value for one in table.to_pylist() if one["target"] == row["group"]
                  for token, value in zip(one["tokens"], one["values"]) if token == row["key"]]
        assert row["count"] == len(values) and math.isclose(row["mean"], np.mean(values), abs_tol=1e-9)
    assert {row["group"] for row in hw.summarise(whole, by="row").rows("text")} == {"0"}


def test_rows_that_are_in_two_folders_do_not_count_twice(whole, tmp_path, capsys):
    shutil.copytree(whole, tmp_path / "again")
    assert "would count twice" in shown(capsys, whole, tmp_path / "again", status=1)
    more = attribute(tmp_path / "more", TEXTS + ["a dog near the keys"])
    assert "would count twice" in shown(capsys, whole, more, status=1)
    other = attribute(tmp_path / "other", ["a dog near the keys"] * 3)
    assert hw.summarise([whole, other]) == hw.summarise([other, whole]) and hw.summarise([whole, other]).texts == 27


def test_a_saved_summary_cannot_be_grouped_afterwards(whole, tmp_path, capsys):
    hw.summarise(whole).save(tmp_path / "x.json")
    assert "--by label: " in shown(capsys, tmp_path / "x.json", "--by", "label", status=1)
    hw.summarise(whole, by="label").save(tmp_path / "y.json")
    assert "made with label" in shown(capsys, tmp_path / "y.json", "--by", "target", status=1)
    assert hw.summarise(tmp_path / "y.json", by="label") == hw.summarise(whole, by="label")


def test_a_comparison_counts_what_it_leaves_out(whole, tmp_path, capsys):
    other = attribute(tmp_path / "other", TEXTS[:8] + ["a table"])
    first, then = ({row["key"]: row["count"] for row in hw.summarise(one).rows("token")} for one in (whole, other))
    few = sum(min(first[key], then[key]) < 4 for key in first.keys() & then.keys())
    text = shown(capsys, whole, "--against", other, "--least", 4)
    assert few and f"{few} tokens with fewer than 4 values left out" in text
    alone = len(first.keys() ^ then.keys())
    assert ("in one of the runs alone" in text) == bool(alone)
    rare = attribute(tmp_path / "rare", ["a dog"] * 3)
    alone = len(first.keys() ^ {row["key"] for row in hw.summarise(rare).rows("token")})
    assert alone and f"{alone} tokens in one of the runs alone left out" in shown(capsys, whole, "--against", rare)


def test_columns_are_no_folder():
    with pytest.raises(hw.Error, match="expected the name of a folder"):
        hw.summarise({"tokens": [["a"]], "values": [[1.0]]})


@pytest.mark.parametrize("freedom", [1, 2, 3, 4.5, 9, 29.9, 30, 30.1, 47, 1e3, 1e6])
def test_quantiles_are_those_of_students_t(freedom):
    assert math.isclose(quantile(freedom), stats.t.ppf(0.975, freedom), rel_tol=1e-7)


def test_intervals_are_those_of_scipy():
    draw = np.random.default_rng(4)
    a, b, table = draw.normal(size=7), draw.normal(1, 3, 4), {}
    add_values(table, ["a", "b", "one"], np.repeat([0, 1, 2], [7, 4, 1]), np.concatenate([a, b, [3.0]]))
    expected = stats.t.interval(0.95, 6, a.mean(), stats.sem(a))
    np.testing.assert_allclose(table["a"].interval, expected, rtol=1e-6)
    difference, error, reach = table["a"].difference(table["b"])
    welch = stats.ttest_ind(b, a, equal_var=False)
    np.testing.assert_allclose(difference / error, welch.statistic, rtol=1e-6)
    np.testing.assert_allclose([difference - reach, difference + reach], welch.confidence_interval(), rtol=1e-6)
    assert all(map(math.isnan, table["one"].interval))


def test_what_is_left_out_is_counted_and_measures_are_explained(whole, capsys):
    text = shown(capsys, whole, "--least", 7)
    fewer = sum(row["count"] < 7 for row in hw.summarise(whole).rows("token"))
    assert fewer and f"{fewer} tokens with fewer than 7 values left out" in text
    split = shown(capsys, whole, "--by", "target", "--count", 1)
    assert text.count("half: how many tokens have half of all") == split.count("half: how many tokens") == 1
    assert all(split.count(f"\n  {name} ") == 2 for name in ("sum", "largest", "half", "entropy"))
    assert [row["key"] for row in hw.summarise(whole).rows("text")] == ["sum", "largest", "half", "entropy"]
