"""Holds our tokenizer against the tokenizers package, text by text.

    build/venv/bin/python tests/python/differential_tokenizer.py [--texts 1000000] [--seed 0] [KIND or FILE...]

Says how many texts were tried for each kind and shows those that differ.
"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
from tokenizers import Tokenizer

from tokenizer_kinds import KINDS
from tokenizer_texts import texts

ROOT = Path(__file__).resolve().parents[2]
TOKENIZE = os.environ.get("HEADWATER_TOKENIZE", str(ROOT / "build/release/bin/headwater_tokenize"))
BATCH = 2000


def request(text, pair=None, special=True, limit=None):
    flags = (pair is not None) + 2 * special + 4 * (limit is not None)
    first, second = text.encode(), (pair or "").encode()
    return struct.pack("<III", flags, limit or 0, len(first)) + first + struct.pack("<I", len(second)) + second


def answers(path, requests):
    """What our tokenizer says: a dict, or the error as a str. `path` is a tokenizer.json, or (folder, family)."""
    words = [TOKENIZE, *map(str, path)] if isinstance(path, tuple) else [TOKENIZE, str(path)]
    done = subprocess.run(words, input=b"".join(requests), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()
    data, at = done.stdout, 0
    while at < len(data):
        status, count = struct.unpack_from("<II", data, at + 4)
        if status == 1:
            yield data[at + 12:at + 12 + count].decode()
        else:
            lists = np.frombuffer(data, np.int32, 5 * count, at + 12).reshape(5, count)
            place = at + 12 + 20 * count
            size, = struct.unpack_from("<I", data, place)
            tokens = data[place + 4:place + 4 + size]
            size2, = struct.unpack_from("<I", data, place + 4 + size)
            decoded = data[place + 8 + size:place + 8 + size + size2]
            yield {"ids": lists[0].tolist(), "begins": lists[1], "ends": lists[2], "types": lists[3].tolist(),
                   "sequences": lists[4], "tokens": tokens, "decoded": decoded.decode()}
        at += 4 + struct.unpack_from("<I", data, at)[0]


def characters_at(text):
    """The character that each byte belongs to, and behind them how many there are; None if a byte is a character."""
    if text.isascii():
        return None
    leads = np.frombuffer(text.encode(), np.uint8) & 0xC0 != 0x80
    return [*(np.cumsum(leads) - 1).tolist(), len(text)]


def in_characters(where, offsets):
    """Offsets in bytes as the package turns them into characters."""
    if where is None:
        return offsets
    if not offsets or max(end for _, end in offsets) < len(where):
        return [(where[begin], where[end]) for begin, end in offsets]
    size = len(where)
    return [(begin, end) if begin >= size else (where[begin], where[end] if end < size else where[begin] + 2)
            for begin, end in offsets]


def theirs(tokenizer, text, pair=None, special=True):
    """The same of the package, or the error as a str: it panics where a normalizer goes wrong."""
    try:
        encoding = tokenizer.encode(text, pair, add_special_tokens=special)
        return encoding, tokenizer.decode(encoding.ids)
    except BaseException as error:  # pyo3's panics are no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return str(error), ""


def difference(ours, encoding, decoded, where, pair_where=None):
    """What differs, in words, or None. `where` as characters_at() has it, of the text and of its pair."""
    if isinstance(ours, str) or isinstance(encoding, str):
        both = isinstance(ours, str) and isinstance(encoding, str)
        return None if both else f"errors: ours {ours!r}, theirs {encoding!r}"
    if ours["ids"] != encoding.ids:
        return f"ids: ours {ours['ids']}, theirs {encoding.ids}"
    offsets = list(zip(ours["begins"].tolist(), ours["ends"].tolist()))
    if 1 in ours["sequences"]:
        first, second = in_characters(where, offsets), in_characters(pair_where, offsets)
        offsets = [second[i] if s == 1 else first[i] for i, s in enumerate(ours["sequences"])]
    else:
        offsets = in_characters(where, offsets)
    if offsets != encoding.offsets:
        return f"offsets: ours {offsets}, theirs {encoding.offsets}"
    if ours["types"] != encoding.type_ids:
        return f"types: ours {ours['types']}, theirs {encoding.type_ids}"
    if ours["tokens"] != "\0".join(encoding.tokens).encode():
        return f"tokens: ours {ours['tokens']}, theirs {encoding.tokens}"
    if (ours["sequences"] == -1).astype(int).tolist() != encoding.special_tokens_mask:
        return f"special: ours {ours['sequences']}, theirs {encoding.special_tokens_mask}"
    if ours["decoded"] != decoded:
        return f"decoded: ours {ours['decoded']!r}, theirs {decoded!r}"
    return None


def compare(path, tokenizer, some, special=True):
    """(text, what differs) for each of the (text, characters_at(text)) that does."""
    asked = [request(text, special=special) for text, _ in some]
    for (text, where), ours in zip(some, answers(path, asked), strict=True):
        encoding, decoded = theirs(tokenizer, text, special=special)
        if why := difference(ours, encoding, decoded, where):
            yield text, why


class Kind:
    """A tokenizer, theirs and ours, and how they fared so far."""

    def __init__(self, name, path):
        self.name, self.path, self.different = name, path, 0
        self.tokenizer = Tokenizer.from_file(str(path))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def take(self, some, special):
        for text, why in compare(self.path, self.tokenizer, some, special):
            self.different += 1
            if self.different <= 5:
                print(f"{self.name}: {text!r}: {why}", flush=True)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--texts", type=int, default=1_000_000)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("names", nargs="*", metavar="KIND or FILE")
    options = words.parse_args()
    made = {make.__name__: make for make in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        kinds = []
        for name in options.names or made:
            path = Path(name)
            if name in made:
                path = Path(folder) / f"{name}.json"
                made[name]().save(str(path))
            kinds.append(Kind(name, path))
        source, done = texts(options.seed), 0
        while done < options.texts:
            some = [(text, characters_at(text)) for text in islice(source, min(BATCH, options.texts - done))]
            for kind in kinds:
                kind.take(some, special=done // BATCH % 2 == 0)
            done += len(some)
            if done % (10 * BATCH) == 0 or done == options.texts:
                print(f"{done} texts, different: " + ", ".join(f"{kind.name} {kind.different}" for kind in kinds),
                      flush=True)
    sys.exit(any(kind.different for kind in kinds))


if __name__ == "__main__":
    main()
