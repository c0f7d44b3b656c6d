"""The two kinds of tokenizer of our models: word pieces for encoders, pairs of bytes for decoders."""
from collections import Counter
from itertools import product

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ENCODER_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PAD, UNK, CLS, SEP, MASK = range(5)
DECODER_SPECIAL = ["<pad>", "<s>", "</s>"]
BEGIN, END = 1, 2  # the padding is 0 here too


def list_pieces(tokenizer, counts, pieces, size):
    """ASCII, then pieces of words that many words share, then whole words, the frequent ones first."""
    words, grams = Counter(), Counter()
    for text, count in counts.items():
        for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text)):
            if word.isascii():
                words[word] += count
    for word in filter(str.isalpha, words):
        for start, length in product(range(len(word)), range(2, 6)):
            if start + length <= len(word):
                grams["##" * (start > 0) + word[start:start + length]] += length - 1  # letters that it saves
    ranked = lambda counter: sorted(counter, key=lambda piece: (-counter[piece], piece))
    letters = [chr(i) for i in range(33, 127) if not chr(i).isupper()]
    vocabulary = dict.fromkeys([*ENCODER_SPECIAL, *letters, *("##" + c for c in letters if c.isalnum()),
                                *ranked(grams)[:pieces], *ranked(words)])
    return {piece: i for i, piece in enumerate(list(vocabulary)[:size])}


def word_pieces(counts, pieces, size=8192):
    """WordPiece, lower-case: frequent words are whole, all others are spelt in pieces, down to letters."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=ENCODER_SPECIAL[UNK]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.model = models.WordPiece(list_pieces(tokenizer, counts, pieces, size), unk_token=ENCODER_SPECIAL[UNK])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)])
    return tokenizer


def byte_pairs(texts):
    """Byte-level BPE, trained until every word of the texts is one token; any other text is spelt in bytes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=4096, special_tokens=DECODER_SPECIAL, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", BEGIN)])
    return tokenizer
