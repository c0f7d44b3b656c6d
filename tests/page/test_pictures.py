"""What pages look like: a dozen pictures, compared with those of the last time. HEADWATER_RENEW=1 takes them anew; look at
git diff. A few pixels may differ: browsers move the edges of letters."""
import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from conftest import PROMPT, SENTENCE

PICTURES = Path(__file__).parent / "pictures"
TEXT = ("verb-number", "--text", SENTENCE)
ROLLOUT = ("rollout", *TEXT, "--embed-layers")
IMAGE = ("rollout", "shapes", "--image", "models/shapes/examples/0-red-star.png")
# name: the command, the view, and how the window is
VIEWS = {
    "text": (ROLLOUT, "#pinned=2", {}),
    "text-dark": (ROLLOUT, "#pinned=2", {"dark": True}),
    "text-narrow": (ROLLOUT, "#pinned=2", {"width": 380, "height": 900}),
    "who-uses": (ROLLOUT, "#ask=to&pinned=2&scale=log", {}),
    "words": (ROLLOUT, "#unit=word&hide=true&renormalise=true", {}),
    "generated": (("generate", "facts", "--prompt", PROMPT), "#pinned=1", {}),
    "relevance": (("relevance", *TEXT, "--by-layer", "--heads"), "", {}),
    "relevance-dark": (("relevance", *TEXT, "--by-layer", "--heads"), "", {"dark": True}),
    "image": (IMAGE, "", {}),
    "difference": (("compare", *TEXT, "--by", "method"), "#show=difference&b=3", {}),
    "cut": (("flow", *TEXT, "--row", "cls", "--column", "2", "--cut", "--layers", "0:3"), "", {}),
    "evaluation": (("evaluate", "pairs", "--limit", "4"), "", {}),
}
MOST = 0.02  # of the pixels may differ
SLIGHT = 40  # of 255, in any colour, is no difference


@pytest.mark.parametrize("name", VIEWS)
def test_a_page_looks_as_it_did(make, visit, name):
    words, view, window = VIEWS[name]
    page = visit(make(*words)[0], view, **{"width": 1000, "height": 700} | window)
    # The command names a folder that is another one each time.
    page.evaluate("() => document.querySelectorAll('.command code').forEach(code => code.textContent = 'headwater')")
    page.mouse.move(2, 2)
    page.wait_for_timeout(400)  # the graph of the layers comes from a worker
    seen = Image.open(io.BytesIO(page.screenshot(scale="css"))).convert("RGB")
    file = PICTURES / f"{name}.png"
    if os.environ.get("HEADWATER_RENEW"):
        PICTURES.mkdir(exist_ok=True)
        seen.quantize(64).save(file, optimize=True)
        return
    known = Image.open(file).convert("RGB")
    assert seen.size == known.size
    differs = np.abs(np.asarray(seen, int) - np.asarray(known, int)).max(axis=2) > SLIGHT
    assert differs.mean() <= MOST, f"{100 * differs.mean():.1f} % of the pixels differ from {file.name}"
