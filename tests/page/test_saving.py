"""What is seen, as files."""
import csv
import io
import json
from xml.etree import ElementTree

import numpy as np
import pytest

from conftest import SENTENCE, saved


def test_a_saved_picture_says_what_its_colours_mean(attention, make, visit):
    long = "".join(chr(97 + k % 26) for k in range(180))  # broken over several lines
    path, result = make("rollout", str(attention(4, seed=5, tokens=["[CLS]", long, "\u0634\u0645\u0633", "[SEP]"])))
    picture = ElementTree.fromstring(saved(visit(path, accept_downloads=True), "Picture, SVG"))
    texts = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    most = [f"{np.max(values):.3g}" for values in (result["values"][0], result["values"])]
    assert f"0 to {most[0]} inputs of this output" in texts and f"0 to {most[1]} all values" in texts
    parts = [text for text in texts if text in long]
    assert len(parts) > 1 and "".join(parts) == long
    rects = [one.attrib for one in picture.iter("{http://www.w3.org/2000/svg}rect")]
    assert sum("stroke" in one and one["stroke"] != "none" for one in rects) == 1  # the output that is asked about


def test_what_is_seen_can_be_saved(make, visit):
    path, result = make("rollout", "verb-number", "--text", SENTENCE, "--embed-layers")
    page = visit(path, "#pinned=2", accept_downloads=True)
    rows = list(csv.DictReader(io.StringIO(saved(page, "Ranking, CSV").decode())))
    assert {int(row["position"]): float(row["value"]) for row in rows} == pytest.approx(
        dict(enumerate(result["values"][2])), rel=1e-6)
    matrix = list(csv.reader(io.StringIO(saved(page, "Matrix, CSV").decode())))
    assert np.array(matrix[1:])[:, 1:].astype(float) == pytest.approx(np.array(result["values"]), rel=1e-6)
    assert json.loads(saved(page, "Ranking, JSON"))["question"] == {"ask": "from", "of": "\u201ckeys\u201d"}
    picture = saved(page, "Picture, SVG").decode()
    assert picture.startswith("<svg") and ">keys</text>" in picture
    assert saved(page, "Picture, PNG").startswith(b"\x89PNG")
