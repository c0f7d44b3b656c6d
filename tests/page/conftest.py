"""Pages that the command writes, in a real browser."""
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ROOT / "build/release/bin/headwater"
SENTENCE = "The keys to the cabinet"
PROMPT = "Anna took the key to the box. Ben went to the cave. Where is the key?"


def run(*words):
    subprocess.run([COMMAND, *map(str, words)], check=True, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="session")
def make(tmp_path_factory):
    """make(name, words...): the page of a command and its JSON, made once."""
    folder, made = tmp_path_factory.mktemp("pages"), {}

    def one(*words):
        if words not in made:
            stem = folder / str(len(made))
            plain = [word for word in words if word != "--embed-layers"]
            run(*words, "-o", f"{stem}.html")
            run(*plain, "-o", f"{stem}.json")
            made[words] = Path(f"{stem}.html"), json.loads(Path(f"{stem}.json").read_text())
        return made[words]
    return one


@pytest.fixture(scope="session")
def attention(tmp_path_factory):
    """attention(n, layers, tokens): a file of random attention."""
    folder = tmp_path_factory.mktemp("attention")

    def one(n, layers=1, tokens=None, seed=0):
        random = np.random.default_rng(seed)
        arrays = {}
        for layer in range(layers):
            near = np.abs(np.arange(n)[:, None] - np.arange(n)) / 12
            scores = random.normal(size=(n, 6)) @ random.normal(size=(6, n)) + random.normal(size=n) - near
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            arrays[f"layer_{layer}"] = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
        path = folder / f"{n}-{layers}-{seed}.npz"
        names = tokens or ["[CLS]", *[f"word{k}" for k in range(n - 2)], "[SEP]"]
        np.savez(path, tokens=np.array(names), **arrays)
        return path
    return one


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("chromium is not there; tools/setup test installs it")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser):
    """visit(path, hash): an open page, on which no error may happen and from which no request may leave."""
    contexts, wrong = [], []

    def one(path, hash="", dark=False, width=1280, height=900, **more):
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce",
                                      color_scheme="dark" if dark else "light", **more)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(f"a dialog: {dialog.message}"))
        page.on("request", lambda request: request.url.startswith(("file:", "blob:", "data:"))
                or wrong.append(f"a request to {request.url}"))
        page.goto(f"file://{path}{hash}")
        page.wait_for_selector("main")
        return page
    yield one
    for context in contexts:
        context.close()
    assert wrong == []


def ranking(page):
    """{position: value} of the ranking."""
    more = page.locator(".more")
    if more.count():
        more.click()
    cells = page.evaluate("""() => [...document.querySelectorAll('.ranking tbody tr')]
        .map(row => [row.children[0].textContent, row.children[2].textContent.replace('\\u2212', '-')])""")
    return {int(place): float(value) for place, value in cells}


def asked(page):
    return page.locator(".question p").inner_text()


def token(page, k, text=0):
    return page.locator(".text").nth(text).locator(f"[data-t='{k}']").first


def saved(page, name):
    with page.expect_download() as download:
        page.locator("#export").select_option(label=name)
    return download.value.path().read_bytes()
