"""Nothing leaves a page, nothing in a token becomes markup, and nobody is left out."""
import base64
import gzip
import html
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conftest import COMMAND, PROMPT, SENTENCE, ROOT, ranking, token

HOSTILE = ["[CLS]", "</script>", "<script>alert(1)</script>", "<b>", "<!--", "-->", "&lt;", "\"'`", "\u2028", "\\u003c",
           "<img src=x onerror=alert(2)>", "\u05e9\u05dc\u05d5\u05dd", "\U0001f469\u200d\U0001f680", "e\u0301",
           "\u202eabc", "{{x}}", "${x}", "[SEP]"]


def test_tokens_are_text(attention, make, visit):
    path, _ = make("rollout", str(attention(len(HOSTILE), tokens=HOSTILE)))
    page = visit(path)
    shown = page.locator("[data-t]").all_text_contents()
    for name in ("</script>", "<script>alert(1)</script>", "<b>", "<!--", "&lt;", "<img src=x onerror=alert(2)>"):
        assert name in shown
    assert {"</script>", "<b>", "<!--", "&lt;"} <= set(page.locator(".ranking tbody th").all_inner_texts())
    assert page.evaluate("document.querySelectorAll('b > *, main img, main script').length") == 0
    source = path.read_text()
    assert source.count("<script") == 5 and source.count("</script>") == 5
    assert token(page, 1).inner_text() == "</script>"


@pytest.mark.parametrize("text", ["The key \U0001f469\u200d\U0001f680 is caf\u00e9, na\u0303o.",
                                  "\u05d4\u05de\u05e4\u05ea\u05d7\u05d5\u05ea the keys \u0645\u0641\u062a\u0627\u062d",
                                  "The keys\nto   the\tcabinet <b>&amp;</script>"])
def test_the_text_is_the_text_that_was_given(make, visit, text):
    path, _ = make("rollout", "facts", "--text", text)
    page = visit(path)
    shown = page.evaluate("""() => [...document.querySelectorAll('.content p')].map(p => [...p.childNodes]
        .filter(node => !node.classList?.contains('chip')).map(node => node.textContent).join('')).join('\\n')""")
    assert shown.replace("\u23ce\n", "\n").replace("\u23ce", "\n").strip() == text.strip()


def test_a_word_stays_whole_and_the_text_has_its_own_direction(make, visit):
    word = "\u05d4\u05de\u05e4\u05ea\u05d7\u05d5\u05ea"  # of many tokens, most of which are halves of letters
    path, _ = make("rollout", "facts", "--text", f"{word} the keys")
    page = visit(path)
    assert page.evaluate("() => getComputedStyle(document.querySelector('.content p')).direction") == "rtl"
    runs = page.evaluate("""() => [...document.querySelector('.content p').childNodes]
        .map(node => node.classList?.contains('chip') ? '|' : node.textContent).join('')""")
    assert f"|{word}|" in runs
    left = [token(page, k).bounding_box()["x"] for k in (0, 1)]
    assert left[1] < left[0]  # it begins on the right


def test_only_what_has_its_hash_runs(make, visit):
    path, _ = make("rollout", "verb-number", "--text", SENTENCE)
    page = visit(path)
    policy = page.get_attribute("meta[http-equiv]", "content")
    assert "default-src 'none'" in policy and "unsafe" not in policy
    page.evaluate("""() => { const script = document.createElement('script'); script.textContent = 'window.bad = 1';
        document.body.append(script); }""")
    assert page.evaluate("window.bad") is None
    assert page.evaluate("fetch('data:text/plain,x').then(() => 'went out', () => 'refused')") == "refused"


def test_it_works_in_a_frame_without_rights(make, visit, tmp_path):
    path, result = make("rollout", "verb-number", "--text", SENTENCE, "--embed-layers")
    outer = tmp_path / "outer.html"
    outer.write_text(f"<main><iframe sandbox='allow-scripts allow-downloads' style='width:1200px;height:900px' "
                     f"srcdoc=\"{html.escape(path.read_text())}\"></iframe></main>")
    frame = visit(outer).frame_locator("iframe")
    frame.locator("[data-t='2']").click()
    frame.locator(".question", has_text="unpin").wait_for()
    frame.locator(".graph .edge").first.wait_for()
    assert frame.locator(".ranking tbody tr").count() == len(result["values"])


PAGES = {"text": (("rollout", "verb-number", "--text", SENTENCE, "--embed-layers"), "#pinned=2"),
         "generated": (("generate", "facts", "--prompt", PROMPT), "#pinned=1"),
         "image": (("rollout", "shapes", "--image", "models/shapes/examples/0-red-star.png"), ""),
         "compare": (("compare", "verb-number", "--text", SENTENCE, "--by", "method"), "#show=difference"),
         "evaluate": (("evaluate", "verb-number", "--limit", "6", "--faithfulness"), ""),
         "relevance": (("relevance", "verb-number", "--text", SENTENCE, "--by-layer", "--heads", "--edges", "2"), ""),
         "info": (("info", "verb-number", "--text", SENTENCE), "")}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(make, visit, name):
    words, hash = PAGES[name]
    path, _ = make(*words)
    page = visit(path, hash)
    page.evaluate((ROOT / "viewer/node_modules/axe-core/axe.min.js").read_text())
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)
        page.wait_for_timeout(200)  # the tables of the layers follow
        found = page.evaluate("axe.run().then(result => result.violations.map(one => `${one.id}: ${one.help} "
                              "${one.nodes.map(node => node.target + ' ' + node.failureSummary)}`))")
        assert found == [], scheme


def test_dark_is_as_the_system_is(make, visit):
    path, _ = make("rollout", "verb-number", "--text", SENTENCE)
    for dark, light in ((True, "rgb(14, 16, 19)"), (False, "rgb(245, 246, 248)")):
        page = visit(path, dark=dark)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light
    page.keyboard.press("l")
    page.keyboard.press("l")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 16, 19)"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    subprocess.run([COMMAND, "demo"], check=True, cwd=folder, capture_output=True, timeout=120)
    return folder / "demo/index.html"


def test_a_page_of_many_results_fits_a_narrow_window(visit, demo):
    for hash in ("", "#item=6&beside=2"):
        page = visit(demo, hash, width=360)
        page.locator(".ranking tbody tr").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_window(make, visit, name):
    words, hash = PAGES[name]
    page = visit(make(*words)[0], hash)
    for width in (360, 768, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def script_and_style(path):
    """Their bytes, unpacked."""
    page = path.read_text()
    plain = re.findall(r"<(?:style|script)>(.*?)</", page, re.S)
    packed = re.findall(r'<script type="text/plain">(.*?)</script>', page)
    assert len(packed) >= 3
    return sum(len(text.encode()) for text in plain) + sum(len(gzip.decompress(base64.b64decode(one))) for one in packed)


def test_no_page_has_more_than_60_kB_of_script_and_style(demo, make, tmp_path):
    assert script_and_style(demo) <= 60_000
    # All parts that one command can put into a page: several prompts with images, their layers and their cuts.
    random = np.random.default_rng(0)
    weights = random.random((2, 2, 1, 6, 6), np.float32)
    tokens = ["[CLS]", "<image 0: 0,0>", "<image 0: 0,1>", "what", "is", "[SEP]"]
    np.savez(tmp_path / "prompts.npz", tokens=np.array(tokens), attention=weights / weights.sum(-1, keepdims=True))
    path, _ = make("flow", str(tmp_path / "prompts.npz"), "--item", "all", "--row", "5", "--column", "1", "--cut",
                   "--embed-layers")
    assert 58_000 < script_and_style(path) <= 60_000  # its parts are there


SIZES = {10: 100_000, 128: 100_000, 512: 500_000, 4096: 10_000_000}


@pytest.mark.parametrize("n", SIZES)
def test_pages_are_small_and_right(attention, make, visit, n):
    path, result = make("rollout", str(attention(n)))
    assert Path(path).stat().st_size <= SIZES[n]
    row = n // 2
    page = visit(path, f"#pinned={row}")
    values, want = ranking(page), result["values"][row]
    assert len(values) == n
    # Large pages store numbers in fewer digits, and say how many.
    note = re.search(r"within ([0-9.]+) % of the largest", page.inner_text("main"))
    assert note is not None if n > 1000 else note is None or n > 500
    slack = max(want) * (float(note[1]) / 100 if note else 2**-24)
    for place, value in values.items():
        assert value == pytest.approx(want[place], rel=0.051 if note else 6e-3, abs=1.01 * slack)


def test_layers_make_a_page_of_512_tokens_two_megabytes(attention, make):
    path, _ = make("rollout", str(attention(512, layers=12)), "--embed-layers")
    assert Path(path).stat().st_size <= 2_000_000
