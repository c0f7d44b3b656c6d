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
        assert (done.returncode, done.stderr) == (0, "")
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
