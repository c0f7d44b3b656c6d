"""What a notebook shows of a result, in frames that are as closed as those of VS Code and Colab. (tests/notebook has
JupyterLab itself.)
"""
import html
import json
import shutil

import numpy as np
import pytest

import headwater as hw

sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright

# What src/vs/workbench/contrib/webview/browser/pre/index.html gives the frame of a notebook's outputs, and, where
# notebook.experimental.enableCsp is on, renderers/backLayerWebView.ts its page. extensions/notebook-renderers puts an
# output's HTML into the page as innerHTML.
VSCODE = "allow-same-origin allow-pointer-lock allow-scripts allow-downloads allow-forms"
VSCODE_POLICY = ("default-src 'none'; script-src 'self' https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval'; "
                 "style-src 'self' https://*.vscode-cdn.net 'unsafe-inline'; img-src 'self' https: http: data:; "
                 "font-src 'self' https:; connect-src https:; child-src https: data:")
# Colab shows each output in a frame from another origin.
COLAB = ("allow-downloads allow-forms allow-pointer-lock allow-popups allow-same-origin allow-scripts "
         "allow-storage-access-by-user-activation")
FRAMES = {"VS Code": (VSCODE, ""), "VS Code with its policy": (VSCODE, VSCODE_POLICY), "Colab": (COLAB, ""),
          "a frame without an origin": ("allow-scripts allow-downloads", "")}
TOKENS = ["[CLS]", "The", "keys", "</script>", "<b>", "[SEP]"]


@pytest.fixture(scope="module")
def shown():
    """The HTML that a notebook gets of a result with its layers."""
    weights = np.random.default_rng(0).random((3, 1, 6, 6), np.float32)
    return hw.rollout(weights / weights.sum(-1, keepdims=True), tokens=TOKENS, embed_layers=True)._repr_html_()


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("chromium is not there; tools/setup test installs it")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


def notebook(path, shown, sandbox, policy):
    """A page with a frame, whose script shows HTML as a notebook does."""
    output = json.dumps(shown).replace("</", "<\\/")
    inside = (f'<meta http-equiv="Content-Security-Policy" content="{policy}"><div id="output"></div>'
              f'<script>document.getElementById("output").innerHTML = {output}</script>')
    path.write_text(f'<iframe sandbox="{sandbox}" srcdoc="{html.escape(inside)}" width="1200" height="700"></iframe>')
    return f"file://{path}"


@pytest.mark.parametrize("frame", FRAMES)
def test_the_page_works_in_the_frame_of_a_notebook(browser, shown, frame, tmp_path):
    sandbox, policy = FRAMES[frame]
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: "Content Security Policy" in line.text and wrong.append(line.text))
    page.on("request", lambda one: one.url.startswith(("file:", "data:", "blob:", "about:")) or wrong.append(one.url))
    page.set_default_timeout(20_000)
    page.goto(notebook(tmp_path / "notebook.html", shown, sandbox, policy))
    result = page.frame_locator("iframe").frame_locator("iframe")
    assert page.frame_locator("iframe").locator("iframe").bounding_box()["height"] == 620
    result.locator(".text [data-t='2']").hover()
    result.locator(".question", has_text="keys").wait_for()
    assert result.locator(".text [data-t='3']").inner_text() == "</script>"
    result.locator(".text [data-t='2']").click()
    result.locator(".question", has_text="unpin").wait_for()
    values = result.locator(".ranking tbody td")
    before = values.all_inner_texts()
    # The layers are rolled again by a worker.
    result.get_by_label("Residual").fill("0.95")
    result.get_by_text("Recomputed in the page").wait_for()
    result.locator(".graph .edge").first.wait_for(state="attached")
    for _ in range(100):
        if (after := values.all_inner_texts()) != before:
            break
        page.wait_for_timeout(100)
    assert len(after) == len(before) and after != before
    with page.expect_download() as download:
        result.locator("#export").select_option(label="Ranking, CSV")
    assert "</script>" in download.value.path().read_text()
    page.close()
    assert wrong == []


def test_a_frame_that_forbids_workers_says_so(browser, shown, tmp_path):
    page = browser.new_page()
    policy = VSCODE_POLICY.replace("child-src https: data:", "child-src https:")
    page.goto(notebook(tmp_path / "notebook.html", shown, VSCODE, policy))
    result = page.frame_locator("iframe").frame_locator("iframe")
    result.get_by_text("Layers cannot be changed here: no worker may run here.").wait_for(timeout=20_000)
    assert result.get_by_label("Residual").count() == 0
    page.close()
