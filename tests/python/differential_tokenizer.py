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
import time
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
    """What our tokenizer says: a dict, or the error as a str."""
    done = subprocess.run([TOKENIZE, str(path)], input=b"".join(requests), stdout=subprocess.PIPE,
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


def in_characters(text, offsets):
    """Offsets in bytes as the package turns them into characters."""
    if text.isascii():
        return offsets
    where = {}
    byte = 0
    for i, c in enumerate(text):
        for _ in range(len(c.encode())):
            where[byte] = i
            byte += 1
    where[byte] = len(text)
    out = []
    for begin, end in offsets:
        if begin in where and end in where:
            out.append((where[begin], where[end]))
        elif begin in where:
            out.append((where[begin], where[begin] + 2))
        else:
            out.append((begin, end))
    return out


def theirs(tokenizer, text, pair=None, special=True):
    """The same of the package, or the error as a str: it panics where a normalizer goes wrong."""
    try:
        encoding = tokenizer.encode(text, pair, add_special_tokens=special)
        return encoding, tokenizer.decode(encoding.ids)
    except BaseException as error:  # pyo3's panics are no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return str(error), ""


def difference(ours, encoding, decoded, text, pair=None):
    """What differs, in words, or None."""
    if isinstance(ours, str) or isinstance(encoding, str):
        both = isinstance(ours, str) and isinstance(encoding, str)
        return None if both else f"errors: ours {ours!r}, theirs {encoding!r}"
    if ours["ids"] != encoding.ids:
        return f"ids: ours {ours['ids']}, theirs {encoding.ids}"
    offsets = list(zip(ours["begins"].tolist(), ours["ends"].tolist()))
    if pair is None:
        offsets = in_characters(text, offsets)
    else:
        first, second = in_characters(text, offsets), in_characters(pair, offsets)
        offsets = [second[i] if s == 1 else first[i] for i, s in enumerate(ours["sequences"])]
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
    """(text, what differs) for each text that does."""
    some = list(some)
    for text, ours in zip(some, answers(path, [request(text, special=special) for text in some]), strict=True):
        encoding, decoded = theirs(tokenizer, text, special=special)
        if why := difference(ours, encoding, decoded, text):
            yield text, why


def run(name, tokenizer, path, count, seed):
    start, different = time.process_time(), 0
    source = texts(seed)
    for done in range(0, count, BATCH):
        for text, why in compare(path, tokenizer, islice(source, min(BATCH, count - done)), special=done % 3 == 0):
            different += 1
            if different <= 5:
                print(f"{name}: {text!r}: {why}", flush=True)
    print(f"{name}: {count} texts, {different} differ, {time.process_time() - start:.0f} s", flush=True)
    return different


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--texts", type=int, default=1_000_000)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("names", nargs="*", metavar="KIND or FILE")
    options = words.parse_args()
    made = {make.__name__: make for make in KINDS}
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or made:
            path = Path(name)
            if name in made:
                path = Path(folder) / f"{name}.json"
                made[name]().save(str(path))
            tokenizer = Tokenizer.from_file(str(path))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            different += run(name, tokenizer, path, options.texts, options.seed)
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
