"""The matrix: the pointer, keys, the wheel and two fingers."""
import pytest

from conftest import SENTENCE

ROLLOUT = ("rollout", "verb-number", "--text", SENTENCE, "--embed-layers")


def test_the_matrix_answers_the_pointer_and_the_keys(make, visit):
    path, result = make(*ROLLOUT)
    page = visit(path)
    canvas = page.locator(".matrix canvas")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 10)  # the first cell
    assert page.locator(".tip b").inner_text() == f"{result['values'][0][0]:.3g}"
    canvas.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.locator(".tip b").inner_text() == f"{result['values'][1][1]:.3g}"
    page.keyboard.press("Enter")
    assert "pinned=1" in page.url
    page.mouse.move(box["x"] + 100, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 80, steps=4)
    page.mouse.up()
    assert "pinned=0%2C1" in page.url


def test_a_zoomed_matrix_moves_with_the_keys(attention, make, visit):
    path, result = make("rollout", str(attention(40)))
    page = visit(path)
    page.locator(".matrix canvas").focus()
    for key in ["+"] * 4 + ["ArrowDown"]:  # the middle of the matrix, and a cell that is not in it
        page.keyboard.press(key)
    box, tip = page.locator(".matrix canvas").bounding_box(), page.locator(".tip").bounding_box()
    assert page.locator(".tip b").inner_text() == f"{result['values'][1][0]:.3g}"
    assert box["x"] < tip["x"] < box["x"] + box["width"] and box["y"] - 60 < tip["y"] < box["y"] + box["height"]
    page.mouse.move(box["x"] + 95, box["y"] + 10)  # the first cell that is seen
    assert page.locator(".tip b").inner_text() == f"{result['values'][1][0]:.3g}"


@pytest.mark.parametrize("how", ["wheel", "fingers"])
def test_the_wheel_and_two_fingers_zoom_the_matrix(attention, make, visit, how):
    path, result = make("rollout", str(attention(40)))
    page = visit(path, has_touch=True)
    canvas = page.locator(".matrix canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + 90 + (box["width"] - 96) / 2, box["y"] + 6 + (box["height"] - 80) / 2  # the middle of the cells

    def first_cell():
        page.mouse.move(x, y)
        page.mouse.move(box["x"] + 95, box["y"] + 10)
        return page.locator(".tip b").inner_text()

    assert first_cell() == f"{result['values'][0][0]:.3g}"
    page.mouse.move(x, y)
    if how == "wheel":
        for _ in range(4):
            page.mouse.wheel(0, -200)
    else:
        touch = page.context.new_cdp_session(page)
        for kind, apart in [("Start", 20), ("Move", 40), ("Move", 60), ("Move", 80), ("End", 0)]:
            places = [{"x": x + side * apart, "y": y, "id": k} for k, side in enumerate((-1, 1))]
            touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": places if apart else []})
    page.wait_for_timeout(100)
    shown = first_cell()
    inside = [value for row in result["values"][10:20] for value in row[10:20]]  # what is left after a zoom by 2 or more
    assert shown != f"{result['values'][0][0]:.3g}" and shown in {f"{value:.3g}" for value in inside}
    canvas.dblclick()
    assert first_cell() == f"{result['values'][0][0]:.3g}"
