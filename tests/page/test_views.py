"""What a person does with a page: hover, pin, turn, compare, save."""
import csv
import io
import json

import numpy as np
import pytest

from conftest import PROMPT, SENTENCE, asked, ranking, saved, token

ROLLOUT = ("rollout", "verb-number", "--text", SENTENCE, "--embed-layers")


def close(page, row, digits=3):
    found = ranking(page)
    assert len(found) == len(row)
    for place, value in found.items():
        assert value == pytest.approx(row[place], rel=10 ** -(digits - 1), abs=1e-9)


def test_first_shows_the_row_that_the_terminal_shows(make, visit):
    path, result = make(*ROLLOUT)
    page = visit(path)
    assert "[CLS]" in asked(page) and "keys" in asked(page)
    close(page, result["values"][0])


def test_the_pointer_asks_and_a_click_pins(make, visit):
    path, result = make(*ROLLOUT)
    page = visit(path)
    token(page, 5).hover()
    page.wait_for_function("() => document.querySelector('.question').innerText.includes('cabinet\u201d')")
    token(page, 2).click()
    page.mouse.move(5, 5)
    assert "keys\u201d" in asked(page) and "pinned=2" in page.url
    close(page, result["values"][2])
    token(page, 3).click(modifiers=["Shift"])
    close(page, np.add(result["values"][2], result["values"][3]))
    page.keyboard.press("Escape")
    assert "pinned" not in page.url
    close(page, result["values"][0])


def test_a_link_leads_to_the_same_view(make, visit):
    path, result = make(*ROLLOUT)
    page = visit(path, "#ask=to&pinned=2")
    assert "is used by" in asked(page)
    close(page, [row[2] for row in result["values"]])


def test_keys_alone_are_enough(make, visit):
    path, result = make(*ROLLOUT)
    page = visit(path)
    page.keyboard.press("1")
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert "pinned=2" in page.url
    page.keyboard.press("t")
    assert "ask=to" in page.url
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    page.keyboard.press("s")
    page.keyboard.press("n")
    kept = np.array(result["values"])[1, 1:6]
    values = ranking(page)
    assert sorted(values) == [1, 2, 3, 4, 5]
    assert values[2] == pytest.approx(kept[1] / kept.sum(), rel=1e-2)
    page.keyboard.press("u")
    assert page.locator("select").nth(1).input_value() == "word"
    page.keyboard.press("/")
    page.keyboard.type("cab")
    assert list(ranking(page)) == [5]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def test_layers_and_residual_are_those_of_the_engine(make, visit):
    path, _ = make(*ROLLOUT)
    _, other = make("rollout", "verb-number", "--text", SENTENCE, "--residual", "0.2", "--layers", "1:4")
    page = visit(path, "#begin=1&end=4&residual=0.2&pinned=2")
    page.get_by_text("Reset").wait_for()
    want = other["values"][2]
    page.wait_for_function("want => Math.abs(parseFloat(document.querySelector('.ranking tbody td:nth-child(3)')"
                           ".textContent) - want) < 2e-3", arg=max(want))
    close(page, want, digits=2.5)
    assert page.locator(".graph .edge").count() > 5
    assert page.locator(".graph .axis").all_text_contents()[:4] == ["3", "2", "1", "in"]  # the topmost layer first
    page.get_by_label("Residual").fill("0.5")
    page.wait_for_function("() => !location.hash.includes('residual')")


def test_generated_text_has_two_sides_and_layers(make, visit):
    path, result = make("generate", "facts", "--prompt", PROMPT)
    values = np.array(result["M"])
    page = visit(path)
    token(page, 2, text=1).click()
    page.mouse.move(5, 5)
    close(page, values[2, :, -1])
    assert f"{100 * values[2, :, -1].sum():.0f} % from the prompt" in asked(page)
    page.keyboard.press("[")
    page.wait_for_function("() => location.hash.includes('layer=2')")
    close(page, values[2, :, 2])
    token(page, 7, text=0).click()
    page.mouse.move(5, 5)
    close(page, values[:, 7, 2])


def test_images_in_a_prompt_are_grids_beside_its_text(make, visit, attention):
    tokens = ["<s>", *[f"<image 0: {row},{column}>" for row in range(2) for column in range(3)], "What", "is", "it"]
    path, result = make("rollout", attention(10, tokens=tokens))
    page = visit(path)
    assert page.locator(".text [data-t]").locator("visible=true").all_inner_texts() == ["<s>", "What", "is", "it"]
    grid = page.locator(".patches canvas")
    assert grid.count() == 1 and "2 by 3 patches" in grid.get_attribute("aria-label")
    assert token(page, 9).bounding_box()["x"] > grid.bounding_box()["x"] + grid.bounding_box()["width"]
    token(page, 9).click()
    box = grid.bounding_box()
    page.mouse.move(box["x"] + 2.5 / 3 * box["width"], box["y"] + 1.5 / 2 * box["height"])
    value = float(page.locator(".tip b").inner_text().replace("\u2212", "-"))
    assert value == pytest.approx(result["values"][9][6], rel=1e-2)
    page.keyboard.press("Escape")
    grid.click(position={"x": box["width"] / 6, "y": box["height"] / 4})
    assert "pinned=1" in page.url


def test_an_image_has_its_patches(make, visit):
    path, result = make("rollout", "shapes", "--image", "models/shapes/examples/0-red-star.png")
    page = visit(path)
    box = page.locator(".picture canvas").bounding_box()
    page.locator(".picture canvas").click(position={"x": box["width"] - 2, "y": box["height"] - 2})
    assert "pinned=144" in page.url
    page.mouse.move(5, 5)
    close(page, result["values"][144])


def test_relevance_has_signs_heads_and_edges(make, visit):
    path, result = make("relevance", "verb-number", "--text", SENTENCE, "--heads", "--edges", "2", "--by-layer")
    page = visit(path)
    assert result["by_layer"][0] == -1  # the input, which a page shows first
    want = np.array(result["values"])[0].ravel()
    assert want.min() < 0 < want.max()
    close(page, want)
    assert page.locator(".legend").first.inner_text().startswith("\u2212")
    heads = page.locator(".heads tbody tr")
    heads.first.wait_for()
    assert heads.count() == len(result["heads"])
    shown = [float(cell.replace("\u2212", "-")) for cell in heads.last.locator("td").all_inner_texts()]
    assert shown[1:] == pytest.approx(result["heads"][0], rel=0.06, abs=1e-9)
    edges = page.locator(".graph table").filter(has_text="passes layer 2").locator("tbody tr")
    largest = np.abs(np.array(result["edges"])).max()
    assert abs(float(edges.first.locator("td").last.inner_text().replace("\u2212", "-"))) == pytest.approx(largest, rel=1e-2)


def test_compare_shows_the_difference_and_the_agreement(make, visit):
    path, result = make("compare", "verb-number", "--text", SENTENCE, "--by", "method")
    page = visit(path, "#show=difference&b=2")
    a, b = (np.array(result["panels"][k]["values"])[0] for k in (0, 2))
    assert f"{result['agreement'][0][2]:.2f}" in page.locator(".compare").inner_text()
    gaps = page.evaluate("() => [...document.querySelectorAll('.ranking tbody tr')].map(row => "
                         "[+row.children[0].textContent, +row.children[4].textContent.replace('\\u2212', '-')])")
    for place, gap in gaps:
        assert gap == pytest.approx(a[place] - b[place], rel=1e-2, abs=1e-6)
    page.keyboard.press("b")
    assert "comes from" in asked(page)
    # Whatever the other views show, the table has A, B and their difference, and so has the file.
    cells = page.locator(".ranking tbody tr").first.locator("td").all_inner_texts()
    top = int(np.argmax(b))
    shown = [float(cell.replace("\u2212", "-")) for cell in cells[:4]]
    assert shown == pytest.approx([top, a[top], b[top], a[top] - b[top]], rel=1e-2)
    rows = list(csv.reader(io.StringIO(saved(page, "Ranking, CSV").decode())))
    assert rows[0][2:] == [result["panels"][k]["label"] for k in (0, 2)]
    assert {int(row[0]): (float(row[2]), float(row[3])) for row in rows[1:]} == {
        k: pytest.approx((a[k], b[k]), rel=1e-6) for k in range(len(a))}


def test_a_value_comes_after_its_token_in_any_script(attention, make, visit):
    path, _ = make("rollout", str(attention(6, tokens=["[CLS]", "\u0645\u0631\u062d\u0628\u0627", "\u05e9\u05dc\u05d5\u05dd",
                                                       "\u0648\u0644\u062f", "\u062b\u0645", "[SEP]"])))
    page = visit(path)
    places = page.evaluate("""() => [...document.querySelectorAll('.question p > bdi')].map(token => {
        const value = document.createRange(); value.selectNode(token.nextSibling);
        return [token.getBoundingClientRect().right, value.getBoundingClientRect().left]; })""")
    assert len(places) == 3
    for token, value in places:
        assert value >= token - 1


def test_a_token_that_shows_nothing_has_a_sign(attention, make, visit):
    path, _ = make("rollout", str(attention(4, seed=3, tokens=["[CLS]", "", "word", "[SEP]"])))
    page = visit(path)
    assert token(page, 1).inner_text() == "\u2205"
    assert "\u2205" in page.locator(".ranking tbody th").all_inner_texts()


def test_a_long_text_opens_at_what_is_asked(make, visit):
    words = " ".join(f"The red key went from box {k} to shelf {k}." for k in range(60))
    path, _ = make("rollout", "recall", "--text", words, "--row", "last", "--embed-layers")
    page = visit(path)
    page.locator(".graph .node").first.wait_for()
    frame, asked_one = page.locator(".scroller").bounding_box(), page.locator(".text [data-t]").last.bounding_box()
    assert frame["y"] < asked_one["y"] < frame["y"] + frame["height"]
    graph, top = page.locator(".graph").bounding_box(), page.locator(".graph .node").first.bounding_box()
    assert graph["x"] <= top["x"] <= graph["x"] + graph["width"] - top["width"]


def test_help_lists_the_keys_that_do_something(make, visit):
    def keys(*words):
        page = visit(make(*words)[0])
        page.keyboard.press("?")
        return page.locator("dialog dt").all_inner_texts()
    rollout = keys(*ROLLOUT)
    assert "[ ]" in rollout and "a b d" not in rollout
    assert "a b d" in keys("compare", "verb-number", "--text", SENTENCE, "--by", "method")
    assert keys("info", "verb-number", "--text", SENTENCE) == ["l", "e", "?"]


@pytest.mark.parametrize("words", [ROLLOUT, (*ROLLOUT, "--row", "mean"), ("rollout", "verb-number", "--text", SENTENCE, "--by-layer"),
                                   ("compare", "verb-number", "--text", SENTENCE, "--by", "method")],
                         ids=["layers", "mean", "by layer", "compare"])
def test_a_link_may_say_anything(make, visit, words):
    path, _ = make(*words)
    for link in ("layer=1.5", "item=0.5&beside=0.5", "a=9&b=7.5", "begin=9&end=2", "begin=1.5&end=3.2", "end=0",
                 "residual=5&least=-1&opacity=7", "pinned=999,-1,1.5"):
        page = visit(path, f"#{link}")
        assert page.locator(".ranking tbody tr").count() == 7, link


def test_labels_of_a_graph_can_be_read_in_the_dark(make, visit):
    path, _ = make(*ROLLOUT)
    page = visit(path, dark=True)
    page.locator(".graph .axis").first.wait_for()
    inks = page.evaluate("() => [...document.querySelectorAll('.graph .axis')].map(one => getComputedStyle(one).fill)")
    assert set(inks) == {"rgb(163, 171, 183)"}


def strip(page):
    """The values of the strip of layers, layer by layer from the lowest."""
    box = page.locator(".layers canvas").bounding_box()
    values = []
    label = page.locator(".layers canvas").get_attribute("aria-label").split()
    layers, tokens = int(label[0]), int(label[3])
    for layer in range(layers):
        for token in range(tokens):
            page.mouse.move(box["x"] + 34 + (token + 0.5) / tokens * (box["width"] - 34),
                            box["y"] + (layers - layer - 0.5) / layers * box["height"])
            values.append(float(page.locator(".tip b").inner_text().replace("\u2212", "-")))
    return np.array(values).reshape(layers, tokens)


def test_the_strip_of_layers_answers_both_questions(make, visit):
    path, result = make("generate", "facts", "--prompt", PROMPT)
    values = np.array(result["M"])
    page = visit(path, "#ask=to&pinned=7")
    page.locator(".layers canvas").wait_for()
    assert strip(page) == pytest.approx(values[:, 7, :].T, rel=1e-2, abs=1e-6)


def test_the_mean_of_the_outputs_has_layers_too(make, visit):
    path, result = make(*ROLLOUT, "--row", "mean")
    page = visit(path)
    page.locator(".graph .edge").first.wait_for()
    assert strip(page)[-1] == pytest.approx(np.ravel(result["values"]), rel=2e-2)


def test_paths_that_are_not_of_the_method_say_so(make, visit):
    path, _ = make("flow", "verb-number", "--text", SENTENCE, "--embed-layers")
    assert "The graph is a plain rollout" in visit(path).get_by_label("Layers", exact=True).inner_text()


TEXT = ("verb-number", "--text", SENTENCE)


@pytest.mark.parametrize("words", [
    ("raw", *TEXT), ("average", *TEXT, "--embed-layers"), ("gradient", *TEXT, "--rule", "chefer"),
    ("flow", *TEXT, "--row", "cls", "--column", "2", "--cut"), ("flow", *TEXT, "--embed-layers"),
    ("rollout", *TEXT, "--by-layer"), ("rollout", *TEXT, "--row", "mean", "--embed-layers"),
    ("rollout", *TEXT, "--row", "2", "--discard", "0.3", "--embed-layers"),
    ("compare", *TEXT, "--by", "evolution"), ("compare", *TEXT, "--by", "discard", "--row", "cls"),
], ids=lambda words: " ".join(word for word in words if word not in TEXT))
def test_every_result_has_all_views(make, visit, words):
    path, _ = make(*words)
    page = visit(path)
    for key in "tuscf[]u":
        page.keyboard.press(key)
    token(page, 2).click()
    page.mouse.move(5, 5)
    assert page.locator(".ranking tbody tr").count() >= 1
    assert page.locator(".matrix canvas").bounding_box()["height"] > 100


@pytest.mark.parametrize("words", [("generate", "facts", "--prompt", PROMPT, "--plain"), ("info", "verb-number", "--text", SENTENCE),
                                   ("metrics", "verb-number", "--text", SENTENCE)])
def test_numbers_are_a_table(make, visit, words):
    path, _ = make(*words)
    assert visit(path).locator("table tr").count() > 5


def test_tokens_of_a_source_are_a_table_and_metrics_come_first(make, visit):
    path, result = make("info", "verb-number", "--text", SENTENCE)
    page = visit(path, accept_downloads=True)
    heads = page.get_by_label("7 tokens").locator("thead th").all_inner_texts()
    assert heads[:3] == ["#", "ids", "tokens"]
    assert json.loads(saved(page, "Record, JSON"))["ids"] == result["ids"]
    path, _ = make("metrics", "verb-number", "--text", SENTENCE)
    assert visit(path).locator("h2").first.inner_text().lower() == "metrics"


def test_a_batch_is_one_page(make, visit, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("The keys\nThe small key\n")
    path, result = make("rollout", "verb-number", "--text-file", str(texts), "--item", "all")
    page = visit(path)
    page.get_by_label("Item").select_option("1")
    page.wait_for_function("() => document.querySelectorAll('.ranking tbody tr').length === 5")
    close(page, result[1]["values"][0])


def test_two_inputs_of_a_batch_stand_side_by_side(make, visit, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("The keys\nThe small key\n")
    path, _ = make("rollout", "verb-number", "--text-file", str(texts), "--item", "all")
    page = visit(path, "#beside=1")
    second = page.locator("aside")
    second.locator(".text [data-t]", has_text="small").wait_for()
    second.locator("[data-t='2']").click()
    assert "small" in second.locator(".question p").inner_text() and "pinned" not in page.url
    page.keyboard.press("u")  # the keys go to where the pointer is
    assert second.get_by_label("Unit").input_value() == "word" and "unit" not in page.url
    page.locator("#beside").select_option("-1")
    second.wait_for(state="detached")
    assert "beside" not in page.url


def test_the_cut_of_a_flow_is_a_graph(make, visit):
    path, result = make("flow", "verb-number", "--text", SENTENCE, "--row", "cls", "--column", "2", "--cut", "--layers", "0:3")
    page = visit(path)
    page.locator(".graph .cut").first.wait_for()
    assert page.locator(".graph .cut").count() == min(300, len(result["cut"]["layer"]))
    assert "keys" in page.locator(".graph svg").text_content()


def test_the_filter_is_where_the_page_starts(make, visit):
    path, result = make("rollout", "verb-number", "--text", SENTENCE, "--filter", "special", "--renormalise")
    page = visit(path)
    close(page, {place: value for place, value in enumerate(result["values"][1]) if 0 < place < 6}
          if "keys" not in asked(page) else ranking(page))
    assert sorted(ranking(page)) == [1, 2, 3, 4, 5]
    assert sum(ranking(page).values()) == pytest.approx(1, abs=5e-3)
