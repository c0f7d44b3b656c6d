"""The tables and curves of evaluate."""
import csv
import io
import json

import pytest

from conftest import saved


def test_evaluate_can_be_read_in_a_narrow_window(make, visit):
    path, _ = make("evaluate", "verb-number", "--limit", "6", "--faithfulness")
    page = visit(path, width=400)
    wide = "all => all.map(one => one.getBoundingClientRect().right)"
    for part in ("figure svg", ".wide caption"):
        assert max(page.locator(part).evaluate_all(wide)) <= 400, part


def test_evaluate_has_tables_that_sort(make, visit):
    path, result = make("evaluate", "verb-number", "--limit", "6", "--faithfulness")
    page = visit(path)
    table = page.locator("table").first
    table.get_by_role("button", name="best").click()
    means = [max(one["mean"]) for one in result["correlation"]["blank-out"].values()]
    cells = table.locator("tbody tr td:last-child").all_inner_texts()
    assert [float(cell) for cell in cells] == pytest.approx(sorted(means, reverse=True), abs=6e-4)
    assert page.locator("polyline").count() > 6


def test_evaluate_can_be_saved(make, visit):
    path, result = make("evaluate", "verb-number", "--limit", "6", "--faithfulness")
    page = visit(path, accept_downloads=True)
    assert json.loads(saved(page, "Record, JSON"))["correlation"] == result["correlation"]
    tables = list(csv.reader(io.StringIO(saved(page, "Tables, CSV").decode())))
    assert ["method", "comprehensiveness", "sufficiency", "area"] in tables
    shown = page.locator("table").first.locator("tbody tr").first.locator("th, td").all_inner_texts()
    assert shown[0] == "raw" and shown in tables and float(shown[1]) == pytest.approx(
        result["correlation"]["blank-out"]["raw"]["mean"][0], abs=6e-4)
    picture = saved(page, "Curves, SVG").decode()
    assert picture.count("<svg") == 1 + page.locator("figure").count() and ">attnlrp</text>" in picture
    assert saved(page, "Curves, PNG").startswith(b"\x89PNG")


def test_a_legend_tells_all_lines_apart(make, visit):
    path, _ = make("evaluate", "verb-number", "--limit", "6", "--faithfulness")
    looks = visit(path).evaluate("""() => [...document.querySelector('figure').querySelectorAll('.key i')].map(key => {
        const {borderTopColor, borderTopStyle} = getComputedStyle(key); return borderTopColor + borderTopStyle; })""")
    assert len(looks) > 6 and len(set(looks)) == len(looks)


def test_evaluate_says_how_many_of_several_true_tokens_are_found(make, visit):
    path, result = make("evaluate", "pairs", "--limit", "4")
    section = visit(path).get_by_label("Truth")
    found = result["truth"]["found"]
    assert "How many of several true tokens are on top" in section.text_content()
    rows = section.locator("table").nth(1).locator("tbody tr")
    assert rows.count() == len(found)
