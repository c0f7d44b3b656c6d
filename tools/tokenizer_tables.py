"""Writes unicode_kinds.cpp and unicode_forms.cpp of headwater/model/tokenizer; make format then sets their lines.

The `tokenizers` package asks five libraries about characters, and each knows another version of Unicode. What they
answer is found by asking the package about every character, so that ours answers the same. Takes some minutes; runs
with a Python that knows Unicode 14, as Debian 12's Oniguruma does.
"""
import base64
import sys
import unicodedata
from pathlib import Path

from tokenizers import Regex, normalizers, pre_tokenizers

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/python"))
from charsmap import charsmap  # noqa: E402

CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
CATEGORIES = ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Cf").split()

# Characters of each category and length in UTF-8 that Oniguruma has known since Unicode 14.
STAND_INS = {("Lu", 3): 0x2C60, ("Ll", 3): 0x2C61, ("Lm", 3): 0x1D2C, ("Lo", 3): 0x0E01, ("Mn", 3): 0x0E31,
             ("Mc", 3): 0x0903, ("Me", 3): 0x20DD, ("Nd", 3): 0x0966, ("Nl", 3): 0x2180, ("No", 3): 0x2070,
             ("Po", 3): 0x2E0A, ("Pd", 3): 0x2E1A, ("Ps", 3): 0x2E22, ("Pe", 3): 0x2E23, ("Sm", 3): 0x2A00,
             ("Sc", 3): 0x20A0, ("Sk", 3): 0xA700, ("So", 3): 0x2800, ("Cf", 3): 0x2060,
             ("Lu", 4): 0x10400, ("Ll", 4): 0x10428, ("Lm", 4): 0x16B40, ("Lo", 4): 0x10280, ("Mn", 4): 0x10A01,
             ("Mc", 4): 0x11000, ("Nd", 4): 0x104A0, ("Nl", 4): 0x10140, ("No", 4): 0x10107, ("Po", 4): 0x10100,
             ("Pd", 4): 0x10EAD, ("Sm", 4): 0x1D6C1, ("Sc", 4): 0x1E2FF, ("Sk", 4): 0x1F3FB, ("So", 4): 0x10137,
             ("Cf", 4): 0x110BD}
HAN = 0x20000


def ranges(characters):
    """Pairs of first and last code point. Surrogates are no characters: a range may run over them."""
    out = []
    for c in sorted(map(ord, characters)):
        if out and (c == out[-1][1] + 1 or (out[-1][1] == 0xD7FF and c == 0xE000)):
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def between(tokenizer, count):
    """Characters that split "acb" into `count` parts."""
    return [c for c in CHARACTERS if len(tokenizer.pre_tokenize_str("a" + c + "b")) == count]


def removed(normalizer):
    return [c for c in CHARACTERS if normalizer.normalize_str("a" + c + "b") == "ab"]


def bert(**options):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**(off | options))


def in_normal_forms():
    """Characters that decompose or that have a combining class, and those between two of them that never will."""
    nfd, nfkd = normalizers.NFD(), normalizers.NFKD()
    active = {c for c in CHARACTERS if nfkd.normalize_str(c) != c or nfd.normalize_str(c + "\u0334") != c + "\u0334"
              or nfd.normalize_str("\u0301" + c) != "\u0301" + c}
    # Normal forms of assigned characters never change, so those without one may stand in a range.
    inert = {c for c in CHARACTERS if c not in active and unicodedata.category(c) != "Cn"
             and unicodedata.normalize("NFKD", c) == c and unicodedata.combining(c) == 0}
    out = []
    for first, last in ranges(active):
        if out and all(chr(c) in inert for c in range(out[-1][1] + 1, first) if not 0xD800 <= c <= 0xDFFF):
            out[-1][1] = last
        else:
            out.append([first, last])
    return out


def lowercase():
    """Runs (first, last, step, difference) of characters whose lower case is one other character."""
    lower = normalizers.Lowercase()
    runs = []
    for c in CHARACTERS:
        small = lower.normalize_str(c)
        if small == c or len(small) > 1:
            continue
        code, difference = ord(c), ord(small) - ord(c)
        if runs and runs[-1][3] == difference and (code - runs[-1][1] in (1, 2)) and (
                runs[-1][1] == runs[-1][0] or code - runs[-1][1] == runs[-1][2]):
            runs[-1][2] = code - runs[-1][1]
            runs[-1][1] = code
        else:
            runs.append([code, code, 1, difference])
    return runs


def graphemes():
    """Characters that extend a grapheme, that begin one with the next, and both parts of Indic conjuncts."""
    def replacing(*keys):
        return normalizers.Precompiled(base64.b64decode(charsmap({key: "Y" for key in keys})))
    letter, consonant = replacing("a"), replacing("\u0937")
    extend = [c for c in CHARACTERS if letter.normalize_str("a" + c) == "Y"]
    prepend = []
    for at in range(0, 0x20000, 2000):
        some = [c for c in CHARACTERS[at:at + 2000] if unicodedata.category(c)[0] in "CLMS"]
        if some:
            asked = replacing(*(c for c in some if c != "\0"))
            prepend += [c for c in some if c not in "\r\0" and asked.normalize_str(c + "\n") != "Y"
                        and asked.normalize_str(c + "a") == "Y"]
    linkers = [c for c in extend if c > "\u07ff"
               and consonant.normalize_str("\u0915" + c + "\u0937\u0301").endswith("Y\u0301")]
    consonants = [c for c in CHARACTERS if consonant.normalize_str(c + "\u094d\u0937\u0301").endswith("Y\u0301")]
    return extend, prepend, linkers, consonants


def stand_ins():
    """(first, last, stand-in): characters that Oniguruma learned after Unicode 14."""
    assert unicodedata.unidata_version == "14.0.0", unicodedata.unidata_version
    found = {}
    for category in CATEGORIES:
        asked = pre_tokenizers.Split(Regex(r"\p{%s}" % category), "isolated")
        x = "a" if category == "Po" else '"'
        found |= {c: category for c in CHARACTERS if unicodedata.category(c) != category
                  and len(asked.pre_tokenize_str(x + c + x)) == 3}
    han = pre_tokenizers.Split(Regex(r"\p{Han}"), "isolated")
    runs = []
    for c in sorted(found):
        ideograph = len(han.pre_tokenize_str("a" + c + "a")) == 3
        stand_in = HAN if ideograph and len(c.encode()) == 4 else STAND_INS[found[c], len(c.encode())]
        if runs and runs[-1][1] == ord(c) - 1 and runs[-1][2] == stand_in:
            runs[-1][1] = ord(c)
        else:
            runs.append([ord(c), ord(c), stand_in])
    return runs


def table(kind, name, rows):
    body = ", ".join("{" + ", ".join(f"{value:#x}" if value >= 0 and place < 2 else str(value) for place, value in
                                     enumerate(row)) + "}" for row in rows)
    return f"constexpr {kind} {name}_rows[] = {{{body}}};\nconst std::span<const {kind}> {name}({name}_rows);\n"


def write(name, tables):
    text = ("// Written by tools/tokenizer_tables.py from the answers of the tokenizers package.\n"
            '#include "headwater/model/tokenizer/unicode_tables.h"\n\nnamespace headwater::unicode {\n\n')
    text += "\n".join(tables) + "\n}  // namespace headwater::unicode\n"
    (ROOT / "headwater/model/tokenizer" / name).write_text(text)


def main():
    extend, prepend, linkers, consonants = graphemes()
    kinds = {
        "cleaned": removed(bert(clean_text=True)),
        "punctuation": between(pre_tokenizers.Punctuation("isolated"), 3),
        "nonspacing_marks": removed(bert(strip_accents=True)),
        "combining_marks": removed(normalizers.StripAccents()),
        "word": between(pre_tokenizers.Whitespace(), 1),
    }
    clusters = {"extend": extend, "prepend": prepend, "conjunct_linkers": linkers, "conjunct_consonants": consonants,
                "numeric": between(pre_tokenizers.Digits(individual_digits=True), 3)}
    write("unicode_kinds.cpp", [table("Range", name, ranges(some)) for name, some in kinds.items()])
    write("unicode_forms.cpp", [table("Range", name, ranges(some)) for name, some in clusters.items()]
          + [table("Range", "in_normal_forms", in_normal_forms()),
             table("LowercaseRun", "lowercase_runs", lowercase()),
             table("StandIn", "stand_ins", stand_ins())])


if __name__ == "__main__":
    main()
