"""Builds a "precompiled charsmap": a double-array trie and the texts that it points to."""
import base64
import struct


def charsmap(rules):
    """Base64 of the map that replaces each key of `rules` by its value, as sentencepiece saves it."""
    texts, where = bytearray(), {}
    for text in sorted(set(rules.values())):
        where[text] = len(texts)
        texts += text.encode() + b"\0"
    root = {}
    for key, text in rules.items():
        node = root
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = where[text]
    units = _units(root)
    trie = b"".join(struct.pack("<I", unit) for unit in units)
    return base64.b64encode(struct.pack("<I", len(trie)) + trie + bytes(texts)).decode()


def _units(root):
    units, bases, free = [None], set(), 1
    waiting = [(0, 0, root)]
    while waiting:
        at, label, node = waiting.pop()
        while free < len(units) and units[free] is not None:
            free += 1
        first = min(node)
        base = max(free, 1)
        while True:
            if base not in bases and all((base ^ c) != 0 and ((base ^ c) >= len(units) or units[base ^ c] is None)
                                         for c in node):
                break
            base += 1
        bases.add(base)
        end = (base | 255) + 1
        units += [None] * (end - len(units))
        offset = at ^ base
        assert offset < 1 << 21
        units[at] = offset << 10 | label | (256 if 0 in node else 0)
        for c, child in node.items():
            if c == 0:
                units[base] = child | 1 << 31
            else:
                units[base ^ c] = 0
                waiting.append((base ^ c, c, child))
    return [0 if unit is None else unit for unit in units]
