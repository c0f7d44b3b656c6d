"""A generated text of 500 tokens over a prompt of 4000, in a real browser: it opens, scrolls and answers the pointer."""
import shutil

import numpy as np
import pytest

from headwater.generated import Generation

sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright

PROMPT, GENERATED, LAYERS = 4000, 500, 2


def made():
    """Rows that look at a few places of the prompt, and at everything a little."""
    random = np.random.default_rng(0)
    M = random.random((GENERATED, PROMPT, LAYERS), np.float32) ** 8
    M[np.arange(GENERATED), 7 * np.arange(GENERATED)] += 300
    M *= 0.6 / M.sum(axis=1, keepdims=True)
    options = {"preset": "paper", "fuse": "mean", "residual": 0.5, "discard": 0.0, "position": "predicting"}
    prompt = [f"word{k}" if k % 400 else "\n" for k in range(PROMPT)]
    out = Generation(M, prompt, [f"new{s}" for s in range(GENERATED)], options, [])
    out._layers = LAYERS
    return out


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.html"
    made().save(path)
    return path


def test_a_long_generation_opens_scrolls_and_answers(path):
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("chromium is not there; tools/setup test installs it")
    assert path.stat().st_size < 10_000_000
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.set_default_timeout(60_000)
        page.goto(f"file://{path}")
        page.wait_for_selector("main .ranking")
        prompt, output = page.locator(".text").nth(0), page.locator(".text").nth(1)
        assert prompt.locator("[data-t]").count() == PROMPT and output.locator("[data-t]").count() == GENERATED
        output.locator("[data-t='450']").hover()
        page.locator(".question", has_text="new450").wait_for()
        assert f"word{7 * 450}" in page.locator(".question p").inner_text()
        assert "60 % from the prompt" in page.locator(".question p").inner_text()
        output.locator("[data-t='450']").click()
        assert page.locator(".ranking tbody th").first.inner_text() == f"word{7 * 450}"
        # Its largest input is far down in the prompt; what scrolls into sight is shaded.
        prompt.locator(f"[data-t='{7 * 450}']").scroll_into_view_if_needed()
        page.wait_for_function("""() => {
            const canvas = document.querySelector('.text canvas');
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return pixels.some((value, k) => k % 4 === 3 && value === 255);
        }""")
        browser.close()
    assert wrong == []
