"""A small tokenizer of each kind, made by the tokenizers package."""
import base64

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

from charsmap import charsmap

TEXT = """The quick brown fox jumps over the lazy dog; 3.14159 is not 22/7, isn't it? We'll see: they've said "no".
Attention rollout multiplies the maps of all layers, from the first to the last. It's 2024-05-17, 12:30 o'clock.
Ein Grüßchen aus Köln, où l'été est naïf, façade, Ångström. Straße STRASSE straße. Ελληνικά γράμματα, ΣΊΣΥΦΟΣ.
Привет, мир! Ёлка и ёж. שלום עולם. السلام عليكم. नमस्ते दुनिया, क्षत्रिय. ภาษาไทย. 你好，世界。日本語のテキスト、カタカナ。
한국어 문장입니다. 각 나라. 👩‍👩‍👧 emoji 🏳️‍🌈 👍🏽 ☺ ∑ √2 ≈ 1.41, x² + y³, ½ ¼ Ⅷ ﬁne ﬂow ™ … — – ‘quotes’ “here”.
def encode(self, text: str) -> list[int]:\n    return [self.vocab[t] for t in text.split()]\n\tindented\r\n
unhappiness unhappily happiness happily walking walked walker talks talking talked believable unbelievable
a aa aaa aaaa aaaaa b bb bbb ab abab ababab banana bananas anna nanna 1 12 123 1234 12345 123456 1234567
""" * 3
LINES = TEXT.splitlines()
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
         r"|\s+(?!\S)|\s+")


def _train(tokenizer, trainer):
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def _template(tokenizer, single, pair, names):
    return processors.TemplateProcessing(single=single, pair=pair,
                                         special_tokens=[(name, tokenizer.token_to_id(name)) for name in names])


def bert(strip_accents=None, lowercase=True, clean_text=True, handle_chinese_chars=True):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(clean_text=clean_text, handle_chinese_chars=handle_chinese_chars,
                                              strip_accents=strip_accents, lowercase=lowercase)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    _train(t, trainers.WordPieceTrainer(vocab_size=600, special_tokens=special, show_progress=False))
    t.post_processor = _template(t, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])
    return t


def bert_cased():
    t = bert(strip_accents=False, lowercase=False)
    t.post_processor = processors.BertProcessing(("[SEP]", t.token_to_id("[SEP]")), ("[CLS]", t.token_to_id("[CLS]")))
    t.add_tokens([AddedToken("Köln", single_word=True), AddedToken("<E>", lstrip=True, rstrip=True, normalized=False),
                  AddedToken("ééé", normalized=True), AddedToken("ing", single_word=True, rstrip=True)])
    return t


def bert_odd():
    t = bert(strip_accents=True, lowercase=False, clean_text=False, handle_chinese_chars=False)
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(),
                                         normalizers.Strip(left=True, right=True), t.normalizer])
    return t


def _byte_level(vocab_size=700, add_prefix_space=False, trim_offsets=True, **options):
    t = Tokenizer(models.BPE(**options))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, trim_offsets=trim_offsets)
    t.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return _train(t, trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False,
                                         special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))


def gpt2():
    t = _byte_level()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    t.add_special_tokens(["<|endoftext|>"])
    return t


def roberta():
    t = _byte_level(add_prefix_space=True)
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    return t


def gpt2_trimmed():
    t = _byte_level(add_prefix_space=True)
    t.add_special_tokens([AddedToken("<|im|>", lstrip=True, rstrip=True)])
    t.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=True)
    return t


def llama3():
    t = _byte_level(ignore_merges=True)
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>"])
    t.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        _template(t, "<|begin_of_text|> $A", "<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", ["<|begin_of_text|>"])])
    return t


def qwen2():
    t = _byte_level()
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(QWEN2), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    t.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def _llama2_model(**options):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True, **options))
    t.normalizer = normalizers.Replace(" ", "▁")
    return _train(t, trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", "<s>", "</s>", *BYTES],
                                         show_progress=False, limit_alphabet=120))


def llama2():
    t = _llama2_model()
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.post_processor = _template(t, "<s> $A", "<s> $A <s>:1 $B:1", ["<s>"])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    return t


def mistral():
    t = _llama2_model()
    t.normalizer = None
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    t.decoder = decoders.Metaspace(prepend_scheme="first")
    t.add_special_tokens([AddedToken("[INST]", normalized=False), AddedToken("[/INST]", normalized=False, rstrip=True)])
    t.post_processor = _template(t, "<s> $A </s>", "<s> $A </s> $B </s>:1", ["<s>", "</s>"])
    return t


RULES = {"ﬁ": "fi", "ﬂ": "fl", "™": "TM", "…": "...", "½": "1/2", "²": "2", "³": "3", "Ⅷ": "VIII", "\u3000": " ",
         "\u00a0": " ", "\t": " ", "\n": " ", "\r": " ", "\u200b": "", "\u00ad": "", "\x01": "", "\x1e": "", "é": "e",
         "e\u0301": "é", "A\u030a": "Å", "가": "ga", "👍": "+1", "　": " ", "ß": "ss", "\u0600": "N", "क": "ka",
         "ﾊﾟ": "パ", "ﷺ": "صلى الله عليه وسلم", "a": "a", "\r\n": " ", "İ": "i"}


def _precompiled():
    return normalizers.Precompiled(base64.b64decode(charsmap(RULES)))


def _unigram(byte_fallback=False, vocab_size=500):
    t = Tokenizer(models.Unigram())
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.normalizer = _precompiled()
    _train(t, trainers.UnigramTrainer(vocab_size=vocab_size, unk_token="<unk>", show_progress=False,
                                      special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))
    if byte_fallback:
        pieces = [(t.id_to_token(i), -3.25 - i / 97) for i in range(t.get_vocab_size())]
        pieces = pieces[:5] + [(name, 0.0) for name in BYTES] + pieces[5:]
        t.model = models.Unigram(pieces, 3, True)
    return t


def t5():
    t = _unigram()
    t.normalizer = normalizers.Sequence([_precompiled(), normalizers.Strip(left=False, right=True),
                                         normalizers.Replace(Regex(" {2,}"), "▁")])
    t.post_processor = _template(t, "$A </s>", "$A </s> $B </s>", ["</s>"])
    t.decoder = decoders.Metaspace()
    return t


def xlm_roberta():
    t = _unigram()
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), _precompiled(),
                                         normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    t.post_processor = _template(t, "<s> $A </s>", "<s> $A </s> </s> $B </s>", ["<s>", "</s>"])
    t.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    t.decoder = decoders.Metaspace()
    return t


def unigram_bytes():
    t = _unigram(byte_fallback=True)
    t.normalizer = _precompiled()
    t.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return t


def word_level():
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    return _train(t, trainers.WordLevelTrainer(vocab_size=200, special_tokens=["[UNK]", "[PAD]"], show_progress=False))


def clip():
    """Lower case, a suffix at the end of words, text cleaned by regular expressions."""
    t = Tokenizer(models.BPE(unk_token="<|unk|>", end_of_word_suffix="</w>", continuing_subword_prefix=""))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "),
                                         normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"<\|unk\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed",
                             invert=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    _train(t, trainers.BpeTrainer(vocab_size=600, end_of_word_suffix="</w>", special_tokens=["<|unk|>", "<|end|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.post_processor = processors.BertProcessing(("<|end|>", 1), ("<|unk|>", 0))
    t.decoder = decoders.BPEDecoder()
    return t


def prefixed():
    """BPE with a prefix inside words and tokens for what it does not know, one each."""
    t = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"))
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Nmt()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(),
                                               pre_tokenizers.Punctuation("merged_with_previous")])
    _train(t, trainers.BpeTrainer(vocab_size=400, continuing_subword_prefix="##", special_tokens=["[UNK]"],
                                  limit_alphabet=60, show_progress=False))
    t.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    return t


def cuts():
    """Every way to cut."""
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.ByteLevel()])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split("Ġ", "merged_with_next"), pre_tokenizers.Split(Regex("[aeiou]"), "merged_with_previous"),
        pre_tokenizers.Split(Regex("n+"), "contiguous"), pre_tokenizers.Split("x", "removed"),
        pre_tokenizers.CharDelimiterSplit("|"), pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.FixedLength(4)])
    t.decoder = decoders.CTC(pad_token="a", word_delimiter_token="b")
    return _train(t, trainers.BpeTrainer(vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                         show_progress=False))


KINDS = [bert, bert_cased, bert_odd, gpt2, gpt2_trimmed, roberta, llama3, qwen2, llama2, mistral, t5, xlm_roberta,
         unigram_bytes, word_level, clip, prefixed, cuts]
