"""hw.evaluate gives what the command writes."""
import json
import pickle

import numpy as np
import pytest

import headwater as hw


@pytest.fixture(scope="module")
def found():
    return hw.evaluate("verb-number", limit=3, methods=["rollout", "frozen"], faithfulness=True)


def test_tables_are_those_of_its_json(found, tmp_path):
    read = json.loads(found.to_json())
    table = read["correlation"]["blank-out"]["rollout"]
    assert found.count == 3 and found.methods[:2] == ["rollout", "frozen"] and found.correlation.keys() == {"blank-out", "gradient"}
    assert np.array_equal(found.correlation["blank-out"]["rollout"], table["mean"]) and len(table["mean"]) == 6
    assert np.array_equal(found.table("gradient")["frozen"]["count"], read["correlation"]["gradient"]["frozen"]["count"])
    assert found.faithfulness["rollout"]["area"] == read["faithfulness"]["rollout"]["area"]["mean"][0]
    found.save(tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == read
    for ending in ("npz", "svg", "html"):
        found.save(tmp_path / f"x.{ending}")


def test_it_is_printed_compared_and_pickled(found):
    assert "rollout" in str(found) and "<pre>" in found._repr_html_() and "3 examples" in repr(found)
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.to_json() == found.to_json()
    assert hw.evaluate("verb-number", limit=2, methods=["rollout"]) != found
    lines = found.to_pandas()
    one = lines[(lines.table == "blank-out") & (lines.method == "rollout")]
    assert list(one.layer) == list(range(6)) and np.array_equal(one["mean"], found.correlation["blank-out"]["rollout"])


def test_truth_is_there_where_examples_name_it():
    found = hw.evaluate("facts", limit=2, methods=["rollout"], against="gradient")
    assert 0 <= found.truth["rollout"][-1] <= 1 and 0 < found.chance < 1 and list(found.correlation) == ["gradient"]


def test_progress_and_errors():
    seen = []
    hw.evaluate("verb-number", limit=2, methods="raw", against="gradient", progress=lambda *done: seen.append(done))
    assert seen == [(1, 2), (2, 2)]
    for words, sentence in ((dict(limit=0), "`limit` 0: expected 1 or more"), (dict(methods=["rolout"]), "did you mean 'rollout'"),
                            (dict(against="gradeint"), "did you mean 'gradient'"), (dict(row=[0, 1]), "names several tokens"),
                            (dict(examples="none.jsonl"), "none.jsonl")):
        with pytest.raises(hw.Error, match=sentence):
            hw.evaluate("verb-number", **words)
