"""Texts that tokenizers may stumble over."""
import random
import unicodedata

from tokenizer_kinds import TEXT

SPACES = [" ", "  ", "\t", "\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\xa0", "\u1680", "\u2000", "\u2009", "\u2028",
          "\u2029", "\u202f", "\u205f", "\u3000", "\u200b", "\ufeff", "\u180e", "▁", "Ġ", "Ċ"]
MARKS = ["\u0301", "\u0300", "\u0308", "\u0327", "\u0323", "\u0345", "\u0334", "\u05b0", "\u064b", "\u093c", "\u094d",
         "\u0e31", "\u1dc4", "\u20dd", "\u3099", "\U0001d165", "\u200c", "\u200d", "\ufe0f", "\U0001f3fd", "\u1ac4"]
ODD = ["\0", "\x01", "\x7f", "\x80", "\x9f", "\xad", "\u0378", "\ud7ff", "\ue000", "\uf8ff", "\ufdd0", "\ufffc", "\ufffd",
       "\uffff", "\U00010000", "\U0001ffff", "\U000e0001", "\U000e0041", "\U0010ffff", "\u202a", "\u202e", "\u2066",
       "\u061c", "\u0130", "\u0131", "ǅ", "ŉ", "ΐ", "ß", "ẞ", "ﬃ", "Å", "Ω", "\u1e9b\u0323", "각", "\u1100\u1161\u11a8",
       "\u1100", "\u1161", "\u11a7", "\u11a8", "가\u11a7", "豈", "\U0002f800", "ﷺ", "①", "㍿", "ﾊﾟ", "ﾞ",
       "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "👍🏽", "1️⃣", "❤️", "क्षि", "\u0600a", "\u0d4eക", "\U000110bdx", "ͅ", "߽", "\u0c3c", "\u1abf",
       "\U0001e4ef", "\U00031350", "\U0002ebf0", "\U00010d50", "\ua7cb", "\u1c89", "\U0001fae8", "\U00016d70"]
WORDS = ["'s", "'S", "'ll", "'LL", "n't", "do not", "##ing", "##", "<s>", "</s>", "<unk>", "<mask>", " <mask> ",
         "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[mask]", "[PAD]", "<|endoftext|>", "<|im_start|>", "<|im|>", "<|begin_of_text|>",
         "[INST]", "[/INST]", "<E>", "köln", "Köln", "ing", "ééé", "<0x41>", "<0x0A>", "</w>", "<|unk|>", "<|im", "|>", "|"]
TOKENS = TEXT.split()


def _character(rng):
    kind = rng.random()
    if kind < 0.35:
        return chr(rng.randrange(0x20, 0x7F))
    if kind < 0.5:
        return chr(rng.randrange(0x80, 0x800))
    if kind < 0.8:
        return chr(rng.choice([rng.randrange(0x800, 0xD800), rng.randrange(0xE000, 0x10000)]))
    return chr(rng.randrange(0x10000, 0x110000) if rng.random() < 0.3 else rng.randrange(0x10000, 0x32400))


def _part(rng):
    kind = rng.randrange(12)
    if kind == 0:
        return rng.choice(SPACES) * rng.choice([1, 1, 1, 2, 5])
    if kind == 1:
        return rng.choice(MARKS) * rng.choice([1, 1, 2])
    if kind == 2:
        return rng.choice(ODD)
    if kind == 3:
        return rng.choice(WORDS)
    if kind == 4:
        return "".join(_character(rng) for _ in range(rng.randrange(1, 6)))
    if kind == 5:
        return rng.choice("aabbnn1234é한.,!?'-_/") * rng.choice([1, 2, 3, 7, 30])
    if kind == 6:
        at = rng.randrange(len(TEXT))
        return TEXT[at:at + rng.randrange(1, 12)]
    if kind == 7:
        word = rng.choice(TOKENS)
        return rng.choice([word.upper(), word.title(), unicodedata.normalize("NFD", word),
                           unicodedata.normalize("NFC", word), word[::-1]])
    return rng.choice(TOKENS) + rng.choice(["", " ", " ", " ", ", ", "\n"])


def text(rng):
    """One text; short ones are the most telling, and now and then there is a very long word."""
    if rng.random() < 0.003:
        return "".join(rng.choice(["ab", "n", "ü", "語"]) for _ in range(rng.randrange(90, 400)))
    return "".join(_part(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12, 20])))


def texts(seed):
    rng = random.Random(seed)
    while True:
        yield text(rng)
