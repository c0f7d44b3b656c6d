"""Tokenizers of folders without tokenizer.json against what transformers and sentencepiece make of the same files."""
import json
import os
import random
from itertools import islice

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest
import transformers as hf

from command import ask, fails
from differential_tokenizer import answers, characters_at, difference, request, theirs
from families import TEXT as MODELS, make
from tokenizer_kinds import LINES, TEXT, bert, gpt2, qwen2, roberta
from tokenizer_texts import texts

PLAIN = ["Hello world", "The quick brown fox jumps over the lazy dog; 3.14159 is not 22/7.", "Grüße aus Köln, où?",
         "Привет, мир!", "日本語のテキスト", "a  b   c", " x", "one\ntwo\tthree", "", "x" * 120]


def pieces(tmp_path, name, **options):
    """A SentencePiece model, trained on a few lines."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(line for line in LINES if line.strip()))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / name), vocab_size=options.pop("size", 400), character_coverage=0.98,
        hard_vocab_limit=False, minloglevel=2, **options)
    (tmp_path / f"{name}.vocab").unlink()
    corpus.unlink()
    return sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / f"{name}.model"))


def write_words(folder, tokenizer):
    words = sorted(tokenizer.get_vocab(with_added_tokens=False).items(), key=lambda item: item[1])
    (folder / "vocab.txt").write_text("\n".join(word for word, _ in words) + "\n")


def write_merges(folder, tokenizer):
    model = json.loads(tokenizer.to_str())["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in model["merges"]))


def settings(folder, name="tokenizer_config.json", **entries):
    (folder / name).write_text(json.dumps(entries))


# name: the files, the class of transformers, the family
def bert_files(folder):
    write_words(folder, bert())
    return hf.BertTokenizer, "bert"


def cased_files(folder):
    write_words(folder, bert(strip_accents=False, lowercase=False))
    settings(folder, do_lower_case=False, strip_accents=False, tokenize_chinese_chars=False,
             tokenizer_class="BertTokenizer", cls_token="[CLS]", model_max_length=512)
    settings(folder, "special_tokens_map.json", unk_token="[UNK]", mask_token={
        "content": "[MASK]", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False})
    return hf.BertTokenizer, "bert"


def added_files(folder):
    write_words(folder, bert())
    settings(folder, "added_tokens.json", **{"<new>": 1001, "Köln": 1000})
    settings(folder, "special_tokens_map.json", additional_special_tokens=["<e1>", "<e2>"])
    return hf.BertTokenizer, "bert"


def decoder_files(folder):
    write_words(folder, bert())
    settings(folder, tokenizer_class="DistilBertTokenizer", added_tokens_decoder={
        str(k): dict(content=word, special=special, lstrip=False, rstrip=special, normalized=not special, single_word=False)
        for k, word, special in [(0, "[PAD]", True), (4, "[MASK]", True), (600, "<x>", False), (601, "<y>", True)]})
    return hf.DistilBertTokenizer, "distilbert"


def gpt2_files(folder):
    write_merges(folder, gpt2())
    return hf.GPT2Tokenizer, "gpt2"


def opt_files(folder):
    write_merges(folder, gpt2())
    settings(folder, tokenizer_class="GPT2Tokenizer", add_bos_token=True, add_prefix_space=False, bos_token="</s>",
             eos_token="</s>", unk_token="</s>", pad_token="<pad>")
    return hf.GPT2Tokenizer, "opt"


def roberta_files(folder):
    write_merges(folder, roberta())
    return hf.RobertaTokenizer, "roberta"


def roberta_space_files(folder):
    write_merges(folder, roberta())
    settings(folder, tokenizer_class="RobertaTokenizerFast", add_prefix_space=True, trim_offsets=True)
    return hf.RobertaTokenizer, "roberta"


def qwen2_files(folder):
    write_merges(folder, qwen2())
    settings(folder, tokenizer_class="Qwen2Tokenizer", additional_special_tokens=["<|im_start|>", "<|im_end|>"],
             eos_token="<|im_end|>", bos_token=None, pad_token="<|endoftext|>")
    return hf.Qwen2Tokenizer, "qwen2"


def xlm_files(folder):
    pieces(folder, "sentencepiece.bpe")
    return hf.XLMRobertaTokenizer, "xlm-roberta"


def camembert_files(folder):
    pieces(folder, "sentencepiece.bpe")
    return hf.CamembertTokenizer, "camembert"


def albert_files(folder):
    pieces(folder, "spiece", control_symbols="[CLS],[SEP],[MASK]", pad_id=0, unk_id=1, bos_id=-1, eos_id=-1)
    return hf.AlbertTokenizer, "albert"


def deberta_files(folder):
    pieces(folder, "spm", control_symbols="[CLS],[SEP]", pad_id=0, unk_id=3, bos_id=-1, eos_id=-1, pad_piece="[PAD]",
           unk_piece="[UNK]")
    return hf.DebertaV2Tokenizer, "deberta-v2"


def deberta_lower_files(folder):
    deberta_files(folder)
    settings(folder, tokenizer_class="DebertaV2Tokenizer", do_lower_case=True, split_by_punct=True)
    return hf.DebertaV2Tokenizer, "deberta-v2"


def t5_files(folder):
    pieces(folder, "spiece", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_piece="<pad>")
    return hf.T5Tokenizer, "t5"


def bart_files(folder):
    write_merges(folder, roberta())
    settings(folder, tokenizer_class="BartTokenizer")
    return hf.RobertaTokenizer, "bart"


def llama_files(folder):
    pieces(folder, "tokenizer", size=600, model_type="bpe", byte_fallback=True, normalization_rule_name="identity",
           split_digits=True, remove_extra_whitespaces=False)
    settings(folder, tokenizer_class="LlamaTokenizer", add_bos_token=True, add_eos_token=False)
    return hf.LlamaTokenizer, "llama"


def mistral_files(folder):
    pieces(folder, "tokenizer", size=600, model_type="bpe", byte_fallback=True, normalization_rule_name="identity",
           user_defined_symbols="[INST],[/INST]", remove_extra_whitespaces=False)
    settings(folder, add_bos_token=True, add_eos_token=True, legacy=True)
    return hf.LlamaTokenizer, "mistral"


def gemma_files(folder):
    pieces(folder, "tokenizer", size=700, model_type="bpe", byte_fallback=True, normalization_rule_name="identity",
           split_digits=True, remove_extra_whitespaces=False, add_dummy_prefix=False, pad_id=0, eos_id=1, bos_id=2, unk_id=3,
           pad_piece="<pad>", eos_piece="<eos>", bos_piece="<bos>", allow_whitespace_only_pieces=True,
           user_defined_symbols="<mask>,<start_of_turn>,<end_of_turn>,\n\n,\t")
    settings(folder, tokenizer_class="GemmaTokenizer", add_bos_token=True, add_eos_token=False)
    return hf.GemmaTokenizer, "gemma2"


def clip_files(folder):
    """CLIP marks the ends of words, which the trainer does not know: the merges of GPT-2, where they end a word."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False)])
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([*LINES, *alphabet], trainers.BpeTrainer(
        vocab_size=1200, end_of_word_suffix="</w>", initial_alphabet=alphabet, show_progress=False,
        special_tokens=["<|startoftext|>", "<|endoftext|>"]))
    write_merges(folder, tokenizer)
    return hf.CLIPTokenizer, "clip"


def mbart_files(folder):
    pieces(folder, "sentencepiece.bpe")
    settings(folder, tokenizer_class="MBartTokenizer")
    return hf.MBartTokenizer, "mbart"


def mbart50_files(folder):
    pieces(folder, "sentencepiece.bpe")
    settings(folder, tokenizer_class="MBart50Tokenizer", src_lang="de_DE")
    return hf.MBart50Tokenizer, "mbart"


def neox_files(folder):
    write_merges(folder, gpt2())
    settings(folder, tokenizer_class="GPTNeoXTokenizer", add_bos_token=True)
    return hf.GPTNeoXTokenizer, "gpt_neox"


def code_llama_files(folder):
    llama_files(folder)
    settings(folder, tokenizer_class="CodeLlamaTokenizer")
    return hf.CodeLlamaTokenizer, "llama"


KINDS = [bert_files, cased_files, added_files, decoder_files, gpt2_files, opt_files, roberta_files, roberta_space_files,
         qwen2_files, xlm_files, camembert_files, albert_files, deberta_files, deberta_lower_files, t5_files, bart_files,
         llama_files, mistral_files, gemma_files, clip_files, mbart_files, mbart50_files, neox_files, code_llama_files]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request, tmp_path):
    known, family = request.param(tmp_path)
    return known.from_pretrained(tmp_path).backend_tokenizer, (tmp_path, family)


def test_tokens_are_those_of_transformers(kind):
    tokenizer, path = kind
    some = [*PLAIN, *LINES, TEXT, *islice(texts(1), 600), "a [MASK] b", "x <mask> y", "<s>z</s>", "Köln<new>[CLS]",
            "a <extra_id_0> b<extra_id_99>"]
    asked = [(text, special) for text in some for special in (True, False)]
    for (text, special), ours in zip(asked, answers(path, [request(*[text, None, special]) for text, special in asked]),
                                     strict=True):
        encoding, decoded = theirs(tokenizer, text, special=special)
        why = difference(ours, encoding, decoded, characters_at(text))
        assert why is None, (text, why)


def test_pairs_are_those_of_transformers(kind):
    tokenizer, path = kind
    rng, source = random.Random(5), texts(6)
    pairs = [(next(source), rng.choice(LINES)) for _ in range(100)]
    for (text, pair), ours in zip(pairs, answers(path, [request(text, pair) for text, pair in pairs]), strict=True):
        encoding, decoded = theirs(tokenizer, text, pair)
        assert difference(ours, encoding, decoded, characters_at(text), characters_at(pair)) is None, (text, pair)


def ids_of(path, some, special=False):
    return [ours["ids"] for ours in answers(path, [request(text, None, special) for text in some])]


def test_pieces_are_those_of_sentencepiece(tmp_path):
    """The package that trained them, without transformers between: fairseq's ids begin one later."""
    (tmp_path / "xlm").mkdir()
    processor = pieces(tmp_path / "xlm", "sentencepiece.bpe")
    some = [line for line in LINES if line.strip() and line.isascii() and "  " not in line and "\\" not in line]
    assert len(some) > 5
    expected = [[3 if id == 0 else id + 1 for id in processor.encode(text)] for text in some]
    assert ids_of((tmp_path / "xlm", "xlm-roberta"), some) == expected
    (tmp_path / "llama").mkdir()
    llama_files(tmp_path / "llama")
    import sentencepiece
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "llama/tokenizer.model"))
    # transformers takes a space at the start of a text for the one that sentencepiece adds to it.
    some = [line for line in LINES if not line.startswith(" ")]
    assert ids_of((tmp_path / "llama", "llama"), some) == [processor.encode(text) for text in some]


@pytest.mark.parametrize("lower", [True, False])
def test_tokens_of_siglip_are_those_of_its_slow_tokenizer(lower, tmp_path):
    """The only one that it has: punctuation is left out, and no text has two ends."""
    pieces(tmp_path, "spiece", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_piece="<pad>")
    if not lower:
        settings(tmp_path, tokenizer_class="SiglipTokenizer", do_lower_case=False)
    tokenizer = hf.SiglipTokenizer.from_pretrained(tmp_path)
    some = [*PLAIN, *LINES, *islice(texts(1), 600), "a <pad> b", "A photo, of 2 CATS!", "\u2581x", "...", "a \x1c b"]
    # Without a word that can be cut in two equally likely ways.
    some = [text for text in some if "bbb" not in "".join(filter(str.isalnum, text)).lower()]
    assert ids_of((tmp_path, "siglip"), some, special=True) == [tokenizer(text).input_ids for text in some]
    assert ids_of((tmp_path, "siglip_text_model"), some) == [
        tokenizer(text, add_special_tokens=False).input_ids for text in some]


def test_vocab_txt_of_a_real_model_gives_the_ids_of_its_tokenizer_json(tmp_path):
    from test_checkpoints import data
    known = data("tokenizers/bert-base-uncased")
    (tmp_path / "vocab.txt").symlink_to(known / "vocab.txt")
    cases = json.loads((known.parent / "golden/Xenova_bert-base-uncased.json").read_text())
    assert len(cases) > 20
    asked = [request(case["text"], case.get("text_pair")) for case in cases]
    assert [one["ids"] for one in answers((tmp_path, "bert"), asked)] == [case["ids"] for case in cases]
    some = [*PLAIN, *LINES, *islice(texts(2), 500)]
    ours = ids_of((tmp_path, "bert"), some, special=True)
    assert ours == [one["ids"] for one in answers(known / "tokenizer.json", [request(text) for text in some])]


def test_merges_of_the_real_gpt2_give_the_ids_of_transformers(tmp_path):
    from test_checkpoints import data
    known = data("tokenizers/gpt2")
    (tmp_path / "vocab.json").symlink_to(known / "encoder.json")
    (tmp_path / "merges.txt").symlink_to(known / "vocab.bpe")
    tokenizer = hf.GPT2Tokenizer.from_pretrained(tmp_path)
    some = [*PLAIN, *LINES, *islice(texts(2), 500)]
    assert ids_of((tmp_path, "gpt2"), some) == [tokenizer(text).input_ids for text in some]


def test_the_command_takes_such_a_folder(tmp_path):
    make(*MODELS["gpt2"]).save_pretrained(tmp_path)
    write_merges(tmp_path, gpt2())
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["vocab_size"] < 700
    said = fails(1, "rollout", tmp_path, "--text", "zzz zzz zzz")
    assert "expected 0 to 70, the vocabulary of the model" in said
    assert ask("rollout", tmp_path, "--text", "A?B")["tokens"] == ["A", "?", "B"]


@pytest.mark.parametrize("entries, words", [
    (dict(tokenizer_class="BertJapaneseTokenizer"), "does not know how BertJapaneseTokenizer is made of other files"),
    (dict(tokenizer_class="GPT2Tokenizer"), "expected vocab.json and merges.txt for GPT2Tokenizer"),
    (dict(cls_token=3), "\"cls_token\" is 3, expected a token"),
    (dict(cls_token="[NOWHERE]", added_tokens_decoder={}), None),
])
def test_what_is_wrong_with_the_files_is_said(entries, words, tmp_path):
    make(*MODELS["bert"]).save_pretrained(tmp_path)
    write_words(tmp_path, bert())
    settings(tmp_path, **entries)
    said = fails(1, "rollout", tmp_path, "--text", "the quick fox")
    assert words is None or words in said


BESIDE = [
    (bert_files, dict(do_lower_case=False)), (bert_files, dict(strip_accents=False)),
    (bert_files, dict(tokenize_chinese_chars=False)), (cased_files, dict(do_lower_case=True)),
    (cased_files, dict(strip_accents=True)), (decoder_files, dict(do_lower_case=False)),
    (roberta_files, dict(add_prefix_space=True)), (roberta_space_files, dict(add_prefix_space=False)),
    (gpt2_files, dict(add_prefix_space=True)), (bart_files, dict(add_prefix_space=True)),
    (bert_files, dict(additional_special_tokens=["<new>", "fox"])), (gpt2_files, dict(extra_special_tokens=["<new>"])),
    (qwen2_files, dict(extra_special_tokens=["<x>"], additional_special_tokens=["<y>"])),
    (roberta_files, dict(extra_special_tokens={"new_token": "<new>"})), (xlm_files, dict(extra_special_tokens=["<new>"])),
    (llama_files, dict(pad_token={"__type": "AddedToken", "content": "<x>", "lstrip": True, "rstrip": False, "normalized": False,
                                  "single_word": False, "special": True})),
    (bert_files, dict(tokenizer_class="PreTrainedTokenizerFast", do_lower_case=False, mask_token="<mask>")),
]


@pytest.mark.parametrize("made, entries", BESIDE)
def test_what_lies_beside_tokenizer_json_counts_more(made, entries, tmp_path):
    known, family = made(tmp_path)
    folder = tmp_path / "saved"
    known.from_pretrained(tmp_path).save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(dict(model_type=family)))
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))
    some = [*PLAIN, *LINES, *islice(texts(3), 100), "a <new> b <x> c <y> d", "the [MASK] <mask>fox"]
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    assert ids_of((folder, family), some, special=True) == [tokenizer(text).input_ids for text in some]


def test_no_limit_of_length_is_a_number_of_31_digits(tmp_path):
    """As transformers writes it into most folders."""
    roberta_files(tmp_path)
    before = ids_of((tmp_path, "roberta"), PLAIN)
    settings(tmp_path, model_max_length=int(1e30), cls_token="<s>")
    assert ids_of((tmp_path, "roberta"), PLAIN) == before


def test_config_json_may_name_the_class(tmp_path):
    """As Chinese models of GPT-2 do, and Japanese ones of BERT, whose class cuts words with a dictionary."""
    make(*MODELS["gpt2"]).save_pretrained(tmp_path)
    write_words(tmp_path, bert())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | dict(tokenizer_class="BertTokenizer")))
    some = [*PLAIN, "a [MASK] b"]
    known = hf.AutoTokenizer.from_pretrained(tmp_path)
    assert ids_of((tmp_path, "gpt2"), some, special=True) == [known(text).input_ids for text in some]
    (tmp_path / "config.json").write_text(json.dumps(config | dict(tokenizer_class="BertJapaneseTokenizer")))
    assert "does not know how BertJapaneseTokenizer is made" in fails(1, "rollout", tmp_path, "--text", "the quick fox")
    settings(tmp_path, tokenizer_class="BertTokenizerFast")
    assert ids_of((tmp_path, "gpt2"), some, special=True) == [known(text).input_ids for text in some]


@pytest.mark.parametrize("name, content, words", [
    ("vocab.json", b"[]", "vocab.json: is not a JSON object"), ("vocab.json", b'{"a": -1}', "vocab.json"),
    ("merges.txt", b"a b c\n", "merges.txt: line 1 is 'a b c', expected two tokens"),
    ("merges.txt", b"\xff\xfe\n", "merges.txt"), ("tokenizer_config.json", b"3", "is not a JSON object"),
])
def test_damaged_files_are_named(name, content, words, tmp_path):
    make(*MODELS["gpt2"]).save_pretrained(tmp_path)
    write_merges(tmp_path, gpt2())
    (tmp_path / name).write_bytes(content)
    assert words in fails(1, "rollout", tmp_path, "--text", "the quick fox")


@pytest.mark.parametrize("change", [lambda data: data[:-3], lambda data: b"\xff" * 40, lambda data: b"\n\x80",
                                    lambda data: b"\x12\x02\x18\x03" + data, lambda data: b"\x0a\x04\x0a\x02\xff\xfe"])
def test_damaged_pieces_are_named(change, tmp_path):
    make(*MODELS["albert"]).save_pretrained(tmp_path)
    albert_files(tmp_path)
    path = tmp_path / "spiece.model"
    path.write_bytes(change(path.read_bytes()))
    assert "spiece.model: " in fails(1, "rollout", tmp_path, "--text", "the quick fox")
