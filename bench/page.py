"""Pages of headwater, bertviz and inspectus in the same browser: size, time to open, time of a hover.

Random attention of 12 layers and 12 heads. bertviz and inspectus need a lot of packages of their own, so they live in an
environment of their own, build/bench-page, made when it is missing. bertviz loads three scripts from the network; here
they come from the disk, which is in its favour. `python bench/page.py [--alone]`; --alone measures headwater only. Needs
chromium (tools/setup test viewer), the package playwright and headwater's own.
"""
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
COMMAND = ROOT / "build/release/bin/headwater"
VENV = ROOT / "build/bench-page"
THEIRS = ["bertviz==1.4.1", "inspectus==0.2.0", "numpy", "torch"]
SCRIPTS_OF_BERTVIZ = {"d3@5.7.0": "d3/dist/d3.min.js", "jquery@2.1.0": "jquery/dist/jquery.min.js",
                      "requirejs@2.3.6": "requirejs/require.js"}
LAYERS, HEADS = 12, 12
# tokens, layers in the page: the most bytes and seconds that a page may take
LIMITS = {(128, 0): (100_000, 0.3), (512, 0): (500_000, None), (512, 12): (2_000_000, None), (4096, 0): (10_000_000, 0.6)}
HOVER = 33  # ms, the most that a hover may take

# What their environment runs: a page from the attention that is saved.
SCRIPTS = {
    "bertviz": """
import sys, numpy as np, torch
from bertviz import head_view
data = np.load(sys.argv[1]); tokens = [str(t) for t in data["tokens"]]
maps = [torch.from_numpy(data[f"layer_{k}"])[None] for k in range(12)]
html = head_view(maps, tokens, html_action="return").data
open(sys.argv[2], "w").write("<!doctype html><meta charset=utf-8><body>" + html)
""",
    "inspectus": """
import sys, json, numpy as np, inspectus, pathlib
data = np.load(sys.argv[1]); tokens = [str(t) for t in data["tokens"]]
maps = np.stack([data[f"layer_{k}"] for k in range(12)])
shown = []
import IPython.display
IPython.display.display = lambda one, *rest, **more: shown.append(getattr(one, "data", None) or one._repr_html_())
for name, module in list(sys.modules.items()):
    if name.startswith("inspectus") and hasattr(module, "display"): module.display = IPython.display.display
inspectus.attention(maps, tokens)
open(sys.argv[2], "w").write("<!doctype html><meta charset=utf-8><body>" + "".join(shown))
""",
}
# What is there once a page is drawn.
DRAWN = {"headwater": ".matrix canvas", "bertviz": "svg line", "inspectus": "svg rect, canvas"}

FRAMES = """async selector => {
  const found = [...document.querySelectorAll(selector)].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width > 4 && box.top > 0 && box.bottom < innerHeight;
  }).slice(0, 40);
  const times = [];
  for (const one of found) {
    const start = performance.now();
    one.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, pointerType: 'mouse'}));
    await new Promise(done => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    }));
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return times.length ? times[times.length >> 1] : null;
}"""


def save(path, n, layers=LAYERS, heads=HEADS):
    random = np.random.default_rng(0)
    near = np.abs(np.arange(n)[:, None] - np.arange(n)) / 12
    arrays = {}
    for layer in range(layers):
        maps = np.empty((heads, n, n), np.float32)
        for head in range(heads):
            scores = random.normal(size=(n, 6)) @ random.normal(size=(6, n)) + random.normal(size=n) - near
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            maps[head] = weights / weights.sum(axis=1, keepdims=True)
        arrays[f"layer_{layer}"] = maps
    np.savez(path, tokens=np.array([f"word{k}" for k in range(n)]), **arrays)


def save_generated(path, new=500, prompt=4000, layers=2):
    """A page of a text of `new` tokens over a prompt."""
    from headwater.generated import Generation
    M = np.random.default_rng(0).random((new, prompt, layers), np.float32) ** 8
    M /= M.sum(axis=1, keepdims=True)
    options = {"preset": "paper", "fuse": "mean", "residual": 0.5, "discard": 0.0, "position": "predicting"}
    text = Generation(M, [f"word{k}" for k in range(prompt)], [f"new{s}" for s in range(new)], options, [])
    text._layers = layers
    text.save(path)


def from_disk(route):
    for file in SCRIPTS_OF_BERTVIZ.values():
        if Path(file).stem.removesuffix(".min") in route.request.url.rsplit("/", 1)[1]:
            return route.fulfill(path=VENV / "node_modules" / file, content_type="text/javascript")
    return route.abort()


def opened(browser, path, drawn):
    """Seconds until it is drawn, and the median of a hover in ms."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.route(lambda url: url.startswith("http"), from_disk)
    start = time.perf_counter()
    page.goto(f"file://{path}", timeout=180_000)
    page.wait_for_selector(drawn, timeout=120_000, state="attached")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    seconds = time.perf_counter() - start
    hover = page.evaluate(FRAMES, "[data-t]")
    page.close()
    return seconds, hover


def theirs(name, source, folder):
    """The page of another tool, or None and why not."""
    python = VENV / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *THEIRS], check=True)
        subprocess.run(["npm", "install", "--silent", "--no-save", "--prefix", VENV, *SCRIPTS_OF_BERTVIZ], check=True)
    path = folder / f"{name}.html"
    done = subprocess.run([python, "-c", SCRIPTS[name], source, path], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    return path, ""


def main(alone):
    wrong = []
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        print(f"{'tokens':>6} {'tool':28} {'page':>10} {'opens':>8} {'hover':>8}")

        def show(n, name, path, drawn):
            opened(browser, path, drawn)  # a cold cache is the disk's, not the page's
            runs = [opened(browser, path, drawn) for _ in range(3)]
            seconds, hover = min(one[0] for one in runs), min((one[1] or 0) for one in runs)
            size = path.stat().st_size
            print(f"{n:6} {name:28} {size / 1e6:7.2f} MB {seconds:6.2f} s {f'{hover:5.1f} ms' if hover else '-':>8}", flush=True)
            return size, seconds, hover

        for n, layers in LIMITS:
            source = folder / f"{n}.npz"
            if not source.exists():
                save(source, n, *((2, 1) if n > 1000 else ()))
            page = folder / f"{n}-{layers}.html"
            words = ["--embed-layers"] if layers else []
            subprocess.run([COMMAND, "rollout", source, *words, "-o", page], check=True)
            name = f"headwater{', all layers' if layers else ''}"
            size, seconds, hover = show(n, name, page, DRAWN["headwater"])
            most, longest = LIMITS[n, layers]
            if size > most:
                wrong.append(f"{n} tokens, {layers} layers: {size} bytes, at most {most}")
            if longest and seconds > longest:
                wrong.append(f"{n} tokens: opens in {seconds:.2f} s, at most {longest} s")
            if hover > HOVER:
                wrong.append(f"{n} tokens: a hover takes {hover:.0f} ms, at most {HOVER} ms")
            for other in () if alone or n > 128 else SCRIPTS:
                path, why = theirs(other, source, folder)
                if path is None:
                    print(f"{n:6} {other:28} made no page: {why}")
                else:
                    show(n, other, path, DRAWN[other])
        page = folder / "generated.html"
        save_generated(page)
        _, _, hover = show(4500, "headwater, 500 over 4000", page, DRAWN["headwater"])
        if hover > HOVER:
            wrong.append(f"generated text: a hover takes {hover:.0f} ms, at most {HOVER} ms")
        browser.close()
    for line in wrong:
        print(f"over the limit: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main("--alone" in sys.argv[1:]))
