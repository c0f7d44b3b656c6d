"""hw.summarise: means by hand, merging that does not depend on the order, drift."""
import itertools
import json
import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.stats as stats
from hypothesis import given
from hypothesis import strategies as st

import headwater as hw
from headwater.data.moments import Moments, add_values
from test_attribute import run, sentences


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """300 rows in 7 blocks, with labels and spans, some of which fail."""
    here = tmp_path_factory.mktemp("summary")
    rows = [dict(text=text, label=random.Random(k).choice(["news", "mail"]),
                 spans={"start": [0, 8], "rest": [8, len(text)]}) for k, text in enumerate(sentences(300))]
    rows[10]["text"] = rows[200]["text"] = ""
    (here / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run("verb-number", here / "rows.jsonl", "-o", here / "out", "--block", 47, "--keep", "label,spans")
    return here / "out"


def by_hand(table, group=None):
    """token: its values, over all rows of a group."""
    found = {}
    for row in table.to_pylist():
        if row["error"] is None and group in (None, row["label"]):
            for token, value in zip(row["tokens"], row["values"]):
                found.setdefault(token, []).append(value)
    return found


def test_the_means_are_those_by_hand(folder):
    summary = hw.summarise(folder)
    assert (summary.texts, summary.failed) == (298, 2)
    expected = by_hand(hw.read(folder))
    rows = summary.rows("token")
    assert {row["key"] for row in rows} == set(expected)
    for row in rows:
        values = np.float64(expected[row["key"]])
        assert row["count"] == len(values)
        np.testing.assert_allclose(row["mean"], values.mean(), atol=1e-11)
        if len(values) > 2:
            error = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
            np.testing.assert_allclose(row["high"] - row["mean"], error, rtol=1e-5, atol=1e-9)
    assert [row["mean"] for row in rows] == sorted((row["mean"] for row in rows), reverse=True)


def test_labels_positions_texts_and_parts(folder):
    summary, table = hw.summarise(folder, by="label", parts="spans"), hw.read(folder)
    for label in ("news", "mail"):
        expected = by_hand(table, label)
        for row in summary.rows("token"):
            if row["group"] == label:
                np.testing.assert_allclose(row["mean"], np.mean(np.float64(expected[row["key"]])), atol=1e-11)
    good = [row for row in table.to_pylist() if row["error"] is None]
    third = [row["values"][3] for row in good if row["label"] == "mail" and row["length"] > 3]
    found = next(row for row in summary.rows("position") if (row["group"], row["key"]) == ("mail", 3))
    assert found["count"] == len(third)
    np.testing.assert_allclose(found["mean"], np.mean(third), atol=1e-11)
    shares = {"start": [], "rest": [], "(none)": []}
    for row in good:
        size = np.abs(row["values"])
        inside = [(begin, end) for begin, end in zip(row["starts"], row["ends"])]
        parts = ["(none)" if end == 0 else "start" if begin < 8 else "rest" for begin, end in inside]
        for name in shares:
            if row["label"] == "news":
                shares[name].append(sum(s for s, part in zip(size, parts) if part == name) / sum(size))
    for row in summary.rows("part"):
        if row["group"] == "news":
            np.testing.assert_allclose(row["mean"], np.mean(shares[row["key"]]), atol=1e-9)
    largest = next(row for row in summary.rows("text") if (row["group"], row["key"]) == ("news", "largest"))
    np.testing.assert_allclose(largest["mean"], np.mean([max(np.abs(row["values"])) / sum(np.abs(row["values"]))
                                                         for row in good if row["label"] == "news"]), atol=1e-9)


def test_merging_parts_is_exact_in_any_order(folder, tmp_path):
    whole = hw.summarise(folder, by="label")
    parts = []
    for k, path in enumerate(sorted(folder.iterdir())):
        part = hw.DataSummary(whole.settings, "label")
        part.add(pq.read_table(path))
        part.save(tmp_path / f"{k}.json")
        parts.append(part)
    for order in itertools.islice(itertools.permutations(parts), 0, 5040, 997):
        total = order[0]
        for part in order[1:]:
            total = total + part
        assert total.to_json() == whole.to_json()
    assert hw.summarise([tmp_path / f"{k}.json" for k in (3, 1, 6, 0, 2, 5, 4)]) == whole


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-1e9, 1e9, width=32)), max_size=60), st.integers(0, 2**32))
def test_moments_do_not_depend_on_how_values_are_cut(pairs, seed):
    def add(table, some):
        places = np.array([place for place, _ in some], np.int64)
        add_values(table, list(range(4)), places, np.array([value for _, value in some], np.float64))
    whole, parts = {}, {}
    add(whole, pairs)
    shuffled = list(pairs)
    random.Random(seed).shuffle(shuffled)
    for k in range(0, len(pairs), 7):
        add(parts, shuffled[k:k + 7])
    assert whole == parts
    for place, moments in whole.items():
        values = [value for other, value in pairs if other == place]
        assert moments.count == len(values)
        np.testing.assert_allclose(moments.mean, np.mean(np.float64(values)), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e-7, 1, 1e9, 1e30])
def test_intervals_do_not_depend_on_the_scale(scale):
    """Gradients of a sure model are as small as 1e-9."""
    values = np.float64(np.float32(np.random.default_rng(0).normal(1, 0.5, 50) * scale))
    table = {}
    add_values(table, ["x"], np.zeros(50, np.int64), values)
    assert table["x"].mean == pytest.approx(values.mean(), rel=1e-14)
    assert table["x"].error == pytest.approx(values.std(ddof=1) / 50 ** 0.5, rel=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_what_has_no_mean_is_refused(value):
    with pytest.raises(hw.Error, match="not numbers"):
        add_values({}, ["x"], np.zeros(2, np.int64), np.array([1.0, value]))


def test_a_summary_of_another_version_is_refused(folder, tmp_path):
    hw.summarise(folder).save(tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text().replace('"headwater_summary": 2', '"headwater_summary": 1')
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(hw.Error, match="another version"):
        hw.summarise(tmp_path / "x.json")


def test_a_constant_has_no_spread():
    moments = Moments()
    table = {}
    add_values(table, ["x"], np.zeros(1000, np.int64), np.full(1000, 0.1))
    moments.add(table["x"])
    assert moments.count == 1000 and abs(moments.mean - 0.1) < 1e-12 and moments.error < 1e-6


def test_drift_finds_what_has_changed_and_nothing_else(folder, tmp_path):
    same = hw.summarise(folder)
    assert all(row["difference"] == 0 for row in same.drift(same))
    changed = hw.read(folder).to_pylist()
    for row in changed:
        if row["error"] is None:
            row["values"] = [value + (2 if token == "dogs" else 0) for token, value in zip(row["tokens"], row["values"])]
    other = hw.DataSummary(same.settings)
    other.add(pa.Table.from_pylist(changed, hw.read(folder).schema))
    first, *rest = same.drift(other)
    assert first["key"] == "dogs" and abs(first["difference"] - 2) < 1e-6
    assert all(row["difference"] == 0 for row in rest)


def test_the_command_shows_tables_and_writes_files(folder, tmp_path):
    def summarise(*words, status=0):
        done = subprocess.run([sys.executable, "-m", "headwater.data.command", "summarise", *map(str, words)],
                              capture_output=True, text=True)
        assert done.returncode == status and "Traceback" not in done.stderr, done.stderr
        return done.stdout if status == 0 else done.stderr
    shown = summarise(folder, "--by", "label", "--count", 3)
    assert "298 texts, 2 failed" in shown and "Tokens, by their mean value of label mail" in shown and "... and" in shown
    summarise(folder, "--by", "label", "-o", tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet")
    assert set(table["kind"].to_pylist()) == {"token", "position", "text"}
    summarise(folder, "-o", tmp_path / "x.json")
    assert hw.summarise(tmp_path / "x.json") == hw.summarise(folder)
    assert "standard errors" in summarise(folder, "--against", folder)
    assert "--by day: is not in" in summarise(folder, "--by", "day", status=1)
    assert "is not a folder" in summarise(tmp_path / "nowhere", status=1)
    assert "did you mean '--tokens'" in summarise(folder, "--tokns", status=2)
    assert "no format has the ending '.xls'" in summarise(folder, "-o", tmp_path / "x.xls", status=1)


def test_summaries_of_different_work_are_not_added(folder):
    a, b = hw.summarise(folder), hw.summarise(folder, by="label")
    with pytest.raises(hw.Error, match="one is by None, the other by label"):
        a + b
    b = hw.summarise(folder)
    b.settings["method"] = "rollout"
    with pytest.raises(hw.Error, match="other models, methods or options"):
        a + b
