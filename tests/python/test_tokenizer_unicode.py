"""Every character of Unicode through every component that asks what a character is."""
import base64

import pytest
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from charsmap import charsmap
from differential_tokenizer import characters_at, compare
from tokenizer_kinds import BYTES, RULES

CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
# Ideographs, syllables, private use and planes without characters: of each block that behaves alike, a few.
ALIKE = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA000, 0xA48C), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0x12000, 0x123FF),
         (0x13000, 0x1342F), (0x13460, 0x143FA), (0x17000, 0x18CD5), (0x1B170, 0x1B2FB), (0x20000, 0xDFFFF),
         (0xE0200, 0x10FFFF)]
TELLING = [c for c in CHARACTERS if ord(c) % 0x61 == 0 and ord(c) < 0x33480 or ord(c) % 0x400 < 2
           or not any(first <= ord(c) <= last for first, last in ALIKE)]


def bert(**options):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**(off | options))


NORMALIZERS = {
    "nfc": normalizers.NFC(), "nfd": normalizers.NFD(), "nfkc": normalizers.NFKC(), "nfkd": normalizers.NFKD(),
    "lowercase": normalizers.Lowercase(), "strip accents": normalizers.StripAccents(), "nmt": normalizers.Nmt(),
    "strip": normalizers.Strip(), "clean": bert(clean_text=True), "chinese": bert(handle_chinese_chars=True),
    "bert accents": bert(strip_accents=True), "byte level": normalizers.ByteLevel(),
    "charsmap": normalizers.Precompiled(base64.b64decode(charsmap(RULES | {c: "Y" for c in "a\u0937\u2764"}))),
}
PRE_TOKENIZERS = {
    "bert": pre_tokenizers.BertPreTokenizer(), "whitespace": pre_tokenizers.Whitespace(),
    "whitespace split": pre_tokenizers.WhitespaceSplit(), "digits": pre_tokenizers.Digits(),
    "punctuation": pre_tokenizers.Punctuation(), "byte level": pre_tokenizers.ByteLevel(),
    "categories": pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(rf"\p{{{name}}}+"), "isolated") for name in (
        "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co").split()]),
    "classes": pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(name), "merged_with_previous") for name in (
        r"\w", r"\d", r"\s", r"\p{Han}", r"(?i:s)", r"[[:alpha:]]", r"[[:punct:]]", r"\R")]),
}


def spelling(tmp_path, **parts):
    """A tokenizer whose tokens are bytes, so that all that its parts do can be seen."""
    t = Tokenizer(models.BPE(vocab={name: i for i, name in enumerate(BYTES)}, merges=[], byte_fallback=True))
    for name, part in parts.items():
        setattr(t, name, part)
    t.save(str(tmp_path / "tokenizer.json"))
    return t, tmp_path / "tokenizer.json"


def between(*frames):
    """All characters, a few dozen to a text, each in every frame."""
    for at in range(0, len(TELLING), 40):
        text = " ".join(frame.replace("*", c) for c in TELLING[at:at + 40] for frame in frames)
        yield text, characters_at(text)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers_know_every_character(name, tmp_path):
    tokenizer, path = spelling(tmp_path, normalizer=NORMALIZERS[name])
    frames = ["a*b", "*\u0301"] if name != "charsmap" else ["a*", "*\u0301a", "\u0915\u094d*\u0301", "*\u094d\u0937\u0301"]
    assert list(compare(path, tokenizer, list(between(*frames))))[:3] == []


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_pre_tokenizers_know_every_character(name, tmp_path):
    tokenizer, path = spelling(tmp_path, pre_tokenizer=PRE_TOKENIZERS[name])
    assert list(compare(path, tokenizer, list(between("a*1"))))[:3] == []
