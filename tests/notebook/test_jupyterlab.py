"""Results in JupyterLab itself, in a notebook that is trusted and in one that is not. `make notebook` runs it."""
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import headwater as hw

sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build/jupyter/bin"
pytestmark = pytest.mark.skipif(not (PROGRAMS / "jupyter-lab").exists(),
                                reason="JupyterLab is not in build/jupyter; make notebook installs it")
TOKENS = ["[CLS]", "The", "keys", "</script>", "<b>", "[SEP]"]


def result():
    weights = np.random.default_rng(0).random((2, 1, 6, 6), np.float32)
    return hw.rollout(weights / weights.sum(axis=-1, keepdims=True), tokens=TOKENS)


def write(path, *outputs):
    cells = [{"cell_type": "code", "id": f"cell{k}", "execution_count": 1, "metadata": {}, "source": "result",
              "outputs": [{"output_type": "execute_result", "execution_count": 1, "metadata": {},
                           "data": {"text/html": html, "text/plain": "result"}}]} for k, html in enumerate(outputs)]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab, whose folder has the same notebook twice: one of them signed by its owner."""
    folder = tmp_path_factory.mktemp("notebooks")
    home = tmp_path_factory.mktemp("home")
    environment = os.environ | {"HOME": str(home), "JUPYTER_DATA_DIR": str(home / "data"),
                                "JUPYTER_CONFIG_DIR": str(home / "config"), "JUPYTER_RUNTIME_DIR": str(home / "run")}
    shown = result()._repr_html_()
    write(folder / "trusted.ipynb", shown)
    # A signature is of the contents, so that this one must differ.
    write(folder / "untrusted.ipynb", shown + "<!-- -->")
    subprocess.run([PROGRAMS / "jupyter", "trust", folder / "trusted.ipynb"], check=True, env=environment, timeout=120)
    words = ["--no-browser", "--allow-root", "--ServerApp.token=", "--ServerApp.port=0", "--ServerApp.open_browser=False",
             f"--ServerApp.root_dir={folder}"]
    log = home / "log"
    with open(log, "w") as file:
        run = subprocess.Popen([PROGRAMS / "jupyter-lab", *words], stderr=file, stdout=file, env=environment)
    try:
        for _ in range(600):
            if found := re.search(r"http://(?:localhost|127\.0\.0\.1):\d+/lab", log.read_text()):
                break
            time.sleep(0.1)
        else:
            pytest.fail(f"JupyterLab did not start:\n{log.read_text()}")
        yield found[0]
    finally:
        run.kill()
        run.wait()


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("chromium is not there; tools/setup test installs it")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


def visit(browser, lab, name):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{lab}/workspaces/{name}/tree/{name}.ipynb?reset")
    output = page.locator(".jp-OutputArea-output").first
    output.wait_for(state="attached", timeout=120_000)
    return page, output


def test_a_trusted_notebook_shows_the_page(browser, lab):
    page, output = visit(browser, lab, "trusted")
    inside = output.frame_locator("iframe")
    inside.locator(".text [data-t='2']").wait_for(timeout=60_000)
    assert inside.locator(".text [data-t='3']").inner_text() == "</script>"
    # A dialog asks for a kernel, and is in the way of a mouse.
    inside.locator(".text [data-t='2']").dispatch_event("pointermove", {"pointerType": "mouse", "bubbles": True})
    inside.locator(".question", has_text="keys").wait_for()
    assert output.locator("iframe").bounding_box()["height"] == pytest.approx(620, abs=2)
    assert "output token" not in output.inner_text()  # the shaded text is for those without the page
    page.close()


def test_one_that_is_not_trusted_shows_spans_and_a_table(browser, lab):
    page, output = visit(browser, lab, "untrusted")
    assert output.locator("iframe, script, svg").count() == 0
    spans = output.locator("span[title]")
    assert spans.all_inner_texts() == TOKENS
    colours = spans.evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(set(colours)) > 3
    assert output.locator("table td").count() == 36
    cells = output.locator("table td").evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(set(cells)) > 10
    assert "srcdoc" not in output.inner_text() and "<div" not in output.inner_text()
    page.close()
