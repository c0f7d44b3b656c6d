"""Pictures of every kind can be read by others and are the same bytes every time."""
import re
import struct
import xml.etree.ElementTree
import zlib

import numpy as np
import pytest

from attention import save, softmax_rows
from command import run

ENDINGS = ["png", "svg", "pdf"]
COMMANDS = {
    "heatmap": ["rollout"],
    "row": ["rollout", "--row", "0"],
    "by layer": ["rollout", "--row", "0", "--by-layer"],
    "evolution": ["rollout", "--by-layer"],
    "average": ["average"],
    "raw": ["raw", "--layer", "0", "--head", "1"],
    "filter": ["rollout", "--filter", "special"],
    **{f"compare {by}": ["compare", "--by", by] for by in ("layer", "evolution", "discard", "fuse", "method")},
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    stack = softmax_rows(np.random.default_rng(0), (7, 2, 9, 9)).astype(np.float32)
    tokens = ["[CLS]", "Die", "\u00dcbung", "##en", "\u732b", "<b>&", "a\x1bb", "", "[SEP]"]
    return save(tmp_path_factory.mktemp("pictures") / "x.json", [stack], tokens=tokens)


def read_png(content):
    """Width, height and the rows of pixels, after every check that the format offers."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, []
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at:at + 8])
        body = content[at + 8:at + 8 + length]
        checksum, = struct.unpack(">I", content[at + 8 + length:at + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        chunks.append((kind, body))
        at += 12 + length
    assert chunks[0][0] == b"IHDR" and chunks[-1] == (b"IEND", b"")
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    assert depth == 8 and interlace == 0
    channels = {2: 3, 6: 4}[colour]
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    assert len(pixels) == height * (1 + width * channels)
    return width, height, pixels


def check_picture(content, ending):
    if ending == "png":
        width, height, pixels = read_png(content)
        assert 200 <= width <= 10000 and 60 <= height <= 10000
        assert len(set(pixels[::97])) > 10, "one colour only"
    elif ending == "svg":
        root = xml.etree.ElementTree.fromstring(content)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(re.match(r"[\d.]+", root.get("width")).group()) > 100
    else:
        assert content.startswith(b"%PDF-1.") and content.rstrip().endswith(b"%%EOF")
        start = int(re.search(rb"startxref\s+(\d+)\s+%%EOF", content).group(1))
        assert content[start:start + 4] == b"xref" or re.match(rb"\d+ \d+ obj", content[start:])
        for stream in re.findall(rb"/FlateDecode.*?stream\r?\n(.*?)\r?\nendstream", content, re.S):
            zlib.decompressobj().decompress(stream)


@pytest.mark.parametrize("name", COMMANDS)
def test_pictures_can_be_read_and_are_the_same_twice(name, source, tmp_path):
    words = COMMANDS[name]
    outputs = {}
    for turn in ("first", "second"):
        (tmp_path / turn).mkdir()
        asked = [word for ending in ENDINGS for word in ("-o", tmp_path / turn / f"x.{ending}")]
        done = run(words[0], source, *words[1:], *asked, "--threads", 1 if turn == "first" else 2)
        assert done.returncode == 0, done.stderr
        outputs[turn] = {ending: (tmp_path / turn / f"x.{ending}").read_bytes() for ending in ENDINGS}
    assert outputs["first"] == outputs["second"]
    for ending, content in outputs["first"].items():
        check_picture(content, ending)


@pytest.mark.parametrize("n", [1, 2, 60, 300, 2048])
def test_pictures_of_any_size(n, tmp_path):
    source = save(tmp_path / "x.npy", [softmax_rows(np.random.default_rng(n), (1, n, n)).astype(np.float32)])
    done = run("rollout", source, *(word for ending in ENDINGS for word in ("-o", tmp_path / f"x.{ending}")))
    assert (done.returncode, done.stderr) == (0, "")
    for ending in ENDINGS:
        content = (tmp_path / f"x.{ending}").read_bytes()
        check_picture(content, ending)
        assert len(content) < 20e6


def test_tokens_stay_text_in_a_drawing(source, tmp_path):
    """Markup in a token is shown, not obeyed."""
    assert run("rollout", source, "-o", tmp_path / "x.svg").returncode == 0
    root = xml.etree.ElementTree.fromstring((tmp_path / "x.svg").read_text())
    assert not [element for element in root.iter() if element.tag.endswith("}b")]


# What a reader finds in them


def svg_texts(path):
    root = xml.etree.ElementTree.fromstring(path.read_text())
    return ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_svg_has_its_text_as_text(source, tmp_path):
    assert run("rollout", source, "-o", tmp_path / "x.svg").returncode == 0
    texts = svg_texts(tmp_path / "x.svg")
    for word in ("Attention rollout", "[CLS]", "Die", "\u00dcbung", "\u00b7en", "\u732b", "<b>&", "Input tokens"):
        assert word in texts, word
    assert "<path" not in (tmp_path / "x.svg").read_text()


def test_pdf_has_its_fonts_and_what_their_letters_are(source, tmp_path):
    assert run("rollout", source, "-o", tmp_path / "x.pdf").returncode == 0
    content = (tmp_path / "x.pdf").read_bytes()
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.S):
        try:
            content += zlib.decompress(stream)
        except zlib.error:
            pass
    assert b"/FontFile" in content and b"/ToUnicode" in content and b"DejaVu" in content


def test_a_character_without_a_font_is_named(tmp_path):
    missing = "\U0001337f\U00013380"  # hieroglyphs
    path = save(tmp_path / "x.json", [np.eye(2)], tokens=[missing, "b"])
    done = run("rollout", path, "-o", tmp_path / "x.png", "-o", tmp_path / "x.pdf", "-o", tmp_path / "x.svg")
    lines = done.stderr.splitlines()
    assert done.returncode == 0 and len(lines) == 1, "one warning is enough"
    assert f"x.png: no font here has {missing[0]} (U+1337F), {missing[1]} (U+13380), drawn as boxes" in lines[0]
    assert missing in svg_texts(tmp_path / "x.svg")


def places_of(path):
    root = xml.etree.ElementTree.fromstring(path.read_text())
    return {"".join(element.itertext()): float(element.get("x")) for element in root.iter("{http://www.w3.org/2000/svg}text")
            if element.get("x") and float(element.get("font-size")) == 11}


def test_scripts_from_right_to_left_are_read_in_their_order(tmp_path):
    words = ["\u0627\u0644\u0642\u0637", "\u062c\u0644\u0633", "\u0647\u0646\u0627"]
    path = save(tmp_path / "x.json", [np.full((5, 5), .2)], tokens=["[CLS]", *words, "[SEP]"])
    assert run("rollout", path, "--row", 0, "-o", tmp_path / "x.svg").returncode == 0
    places = places_of(tmp_path / "x.svg")
    assert places["[CLS]"] > places[words[0]] > places[words[1]] > places[words[2]] > places["[SEP]"]
    mixed = ["The", words[0], words[1], "cat", "sat"]
    path = save(tmp_path / "x.json", [np.full((5, 5), .2)], tokens=mixed)
    assert run("rollout", path, "--row", 0, "-o", tmp_path / "x.svg").returncode == 0
    places = places_of(tmp_path / "x.svg")
    assert places["The"] < places[words[1]] < places[words[0]] < places["cat"] < places["sat"]


def test_methods_of_different_ranges_have_scales_of_their_own(tmp_path):
    stack = np.full((4, 12, 12), 1 / 12, np.float32)
    stack[-1] = np.eye(12)
    path = save(tmp_path / "x.npy", [stack])
    done = run("compare", path, "--by", "method", "-o", tmp_path / "x.svg")
    assert (done.returncode, done.stderr) == (0, "")
    texts = svg_texts(tmp_path / "x.svg")
    assert any("each panel has its own scale" in text for text in texts) and texts.count("0") >= 4
    save(tmp_path / "x.npy", [np.full((4, 12, 12), 1 / 12, np.float32)])
    assert run("compare", path, "--by", "fuse", "-o", tmp_path / "x.svg").returncode == 0
    assert not any("own scale" in text for text in svg_texts(tmp_path / "x.svg"))


def colours_in(path):
    from PIL import Image
    pixels = np.array(Image.open(path).convert("RGB")).reshape(-1, 3)
    colours, counts = np.unique(pixels, axis=0, return_counts=True)
    return {tuple(int(x) for x in colour): int(count) for colour, count in zip(colours, counts)}


def test_a_special_token_does_not_flatten_a_small_heatmap(tmp_path):
    rows = np.full((6, 6), .01)
    rows[:, 0] = .95
    rows[2, 3] = .03
    rows /= rows.sum(axis=1, keepdims=True)
    path = save(tmp_path / "x.json", [rows], tokens=["[CLS]", "a", "b", "c", "d", "[SEP]"])
    assert run("raw", path, "-o", tmp_path / "x.svg", "-o", tmp_path / "x.png").returncode == 0
    assert any("colours cut at 0.0" in text for text in svg_texts(tmp_path / "x.svg"))
    plain = save(tmp_path / "y.json", [rows], tokens=["x", "a", "b", "c", "d", "y"])
    assert run("raw", plain, "-o", tmp_path / "y.svg").returncode == 0
    assert not any("colours cut" in text for text in svg_texts(tmp_path / "y.svg"))


def test_a_matrix_of_nearly_equal_values_is_not_all_bright(tmp_path):
    path = save(tmp_path / "x.npy", [np.full((8, 8), 1 / 8, np.float32)])
    assert run("raw", path, "-o", tmp_path / "x.png", "-o", tmp_path / "x.svg").returncode == 0
    yellow = sum(count for (r, g, b), count in colours_in(tmp_path / "x.png").items() if r > 200 and g > 200 and b < 80)
    assert yellow < 0.05 * sum(colours_in(tmp_path / "x.png").values())
    assert "0.25" in svg_texts(tmp_path / "x.svg"), "the scale goes to twice the value"
    rows = np.tile(np.linspace(.1, .15, 8, dtype=np.float32), (8, 1))
    save(path, [rows / rows.sum(axis=1, keepdims=True)])
    assert run("raw", path, "-o", tmp_path / "x.png").returncode == 0
    dark = [colour for colour in colours_in(tmp_path / "x.png") if sum(colour) < 200 and colour != (0, 0, 0)]
    assert len(dark) > 2, "the scale starts at the smallest value"


def test_no_absolute_path_is_in_a_picture(source, tmp_path):
    assert source.is_absolute()
    for words in (["rollout"], ["compare", "--by", "fuse"]):
        assert run(words[0], source, *words[1:], "-o", tmp_path / "x.svg").returncode == 0
        assert str(source.parent) not in (tmp_path / "x.svg").read_text() and "x.json" in (tmp_path / "x.svg").read_text()
