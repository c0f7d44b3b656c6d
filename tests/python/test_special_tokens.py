"""Special tokens of a folder, which several of its files may name: those of transformers."""
import json
import re
from itertools import islice

import pytest
import transformers as hf

from command import ask
from differential_tokenizer import answers, request
from families import TEXT as MODELS, make
from test_tokenizer_files import (LINES, PLAIN, added_files, albert_files, bart_files, bert_files, camembert_files, cased_files,
                                  clip_files, deberta_files, deberta_lower_files, decoder_files, gemma_files,
                                  gpt2_files, ids_of, llama_files, mbart50_files, mbart_files, neox_files, qwen2_files, roberta_files, roberta_space_files,
                                  settings, t5_files, xlm_files)
from tokenizer_kinds import bert_cased
from tokenizer_texts import texts


def added(content, **options):
    return dict(content=content, lstrip=False, rstrip=False, normalized=False, single_word=False) | options | {
        "__type": "AddedToken"}


MAP = "special_tokens_map.json"
MORE = [(kind, dict(additional_special_tokens=["<e1>", "fox"]), {}) for kind in (
    xlm_files, camembert_files, albert_files, deberta_files, t5_files, llama_files, gemma_files, gpt2_files)] + [
    (llama_files, dict(additional_special_tokens=[]), {}), (llama_files, dict(extra_special_tokens={}), {}),
    (llama_files, dict(additional_special_tokens=[added("<e1>", lstrip=True)]), {}),
    (llama_files, dict(eos_token=added("</s>", rstrip=True)), {}),
    (roberta_files, dict(eos_token=added("</s>", rstrip=True)), {}),
    (qwen2_files, dict(eos_token=added("<|im_end|>", rstrip=True), pad_token="<|im_end|>"), {}),
    (qwen2_files, dict(image_token="<image>"), {}), (bert_files, dict(image_token=added("<image>")), {}),
    (qwen2_files, dict(extra_special_tokens=dict(image_token="<image>")), {}),
    (qwen2_files, {}, {MAP: dict(unk_token="<u>")}), (qwen2_files, {}, {MAP: dict(additional_special_tokens=["<e1>"])}),
    (bert_files, dict(additional_special_tokens=["<e1>"]), {MAP: dict(additional_special_tokens=["<e2>"])}),
    (bert_files, dict(additional_special_tokens=["<e1>"]), {MAP: dict(extra_special_tokens=["<e2>"])}),
    (bert_files, {}, {MAP: dict(extra_special_tokens=["<e2>"], additional_special_tokens=["<e1>"])}),
    (t5_files, dict(additional_special_tokens=["<extra_id_0>", "<e1>"]), {}), (t5_files, dict(add_prefix_space=False), {}),
    (clip_files, dict(add_prefix_space=True), {}), (gemma_files, dict(bos_token="<s>", eos_token="<end_of_turn>"), {}),
    (bert_files, dict(split_special_tokens=True), {}), (gpt2_files, dict(split_special_tokens=True), {}),
]


@pytest.mark.parametrize("made, entries, others", MORE)
def test_special_tokens_are_those_that_the_files_name(made, entries, others, tmp_path):
    _, family = made(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(dict(model_type=family)))
    path = tmp_path / "tokenizer_config.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(before | entries))
    for name, content in others.items():
        settings(tmp_path, name, **content)
    some = [*PLAIN, *LINES, "a <e1> b<e2>c", "the <image>fox <e1>", "x <extra_id_0> y<extra_id_7>", "a </s> b <u> c",
            "<|im_start|>a <|im_end|> b", "the [MASK] <mask>fox <eos> <end_of_turn>x<|endoftext|>"]
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    assert ids_of((tmp_path, family), some, special=True) == [tokenizer(text).input_ids for text in some]


def test_special_tokens_beside_tokenizer_json_may_be_split(tmp_path):
    known, family = bert_files(tmp_path)
    folder = tmp_path / "saved"
    known.from_pretrained(tmp_path).save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(dict(model_type=family)))
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | dict(split_special_tokens=True)))
    tokenizer, some = hf.AutoTokenizer.from_pretrained(folder), ["a [MASK] b", "[CLS]x"]
    assert tokenizer(some[0]).input_ids.count(tokenizer.mask_token_id) == 0
    assert ids_of((folder, family), some, special=True) == [tokenizer(text).input_ids for text in some]


# What one of the files says against tokenizer.json: the family, the entries (... takes one out), other files.
AGAINST = [
    (bert_files, "bert", dict(cls_token="<s>"), {}), (bert_files, "bert", dict(sep_token="</s>"), {}),
    (bert_files, "bert", dict(cls_token=added("[MASK]"), sep_token="[PAD]"), {}),
    (bert_files, "bert", dict(added_tokens_decoder=..., cls_token=..., sep_token="[PAD]"), {MAP: dict(cls_token="[MASK]")}),
    (bert_files, "bert", dict(tokenizer_class="PreTrainedTokenizerFast", cls_token="<s>"), {}),
    (bert_files, "modernbert", dict(cls_token="<s>", do_lower_case=False), {}),
    (cased_files, "bert", dict(do_lower_case=...), {}), (cased_files, "bert", dict(do_lower_case=..., strip_accents=...), {}),
    (cased_files, "bert", dict(tokenize_chinese_chars=...), {}), (decoder_files, "distilbert", dict(cls_token="<odd>"), {}),
    (roberta_files, "roberta", dict(cls_token="[CLS]", sep_token="<mask>"), {}),
    (roberta_space_files, "roberta", dict(add_prefix_space=...), {}), (bart_files, "bart", dict(sep_token="<odd>"), {}),
    (xlm_files, "xlm-roberta", dict(bos_token="<odd>"), {}), (xlm_files, "xlm-roberta", dict(eos_token="<mask>"), {}),
    (xlm_files, "xlm-roberta", dict(add_prefix_space=False), {}), (xlm_files, "xlm-roberta", dict(add_prefix_space=None), {}),
    (xlm_files, "xlm-roberta", dict(cls_token="<odd>"), {}), (camembert_files, "camembert", dict(eos_token="<odd>"), {}),
    (camembert_files, "camembert", dict(add_prefix_space=None), {}), (albert_files, "albert", dict(do_lower_case=False), {}),
    (albert_files, "albert", dict(do_lower_case=None), {}), (albert_files, "albert", dict(keep_accents=True), {}),
    (albert_files, "albert", dict(add_prefix_space=None), {}), (albert_files, "albert", dict(cls_token="[MASK]"), {}),
    (deberta_files, "deberta-v2", dict(do_lower_case=True), {}), (deberta_files, "deberta-v2", dict(split_by_punct=True), {}),
    (deberta_files, "deberta-v2", dict(add_prefix_space=None), {}), (deberta_files, "deberta-v2", dict(cls_token="<odd>"), {}),
    (deberta_lower_files, "deberta-v2", dict(do_lower_case=..., split_by_punct=None), {}),
    (t5_files, "t5", dict(eos_token="<odd>"), {}), (clip_files, "clip", dict(bos_token="<s>", eos_token="</s>"), {}),
    (gpt2_files, "olmo2", dict(tokenizer_class="GPT2Tokenizer", add_prefix_space=True), {}),
    (bert_files, "bert", dict(unk_token="[MASK]"), {}), (bert_files, "distilbert", dict(unk_token="the"), {}),
    (camembert_files, "camembert", dict(unk_token="</s>"), {}), (camembert_files, "camembert", dict(unk_token="<odd>"), {}),
    (llama_files, "llama", dict(legacy=True), {}), (llama_files, "llama", dict(add_prefix_space=False), {}),
    (qwen2_files, "qwen2", dict(add_prefix_space=True), {}), (neox_files, "gpt_neox", dict(add_prefix_space=True), {}),
    (added_files, "bert", dict(added_tokens_decoder={}), {}),
    (gpt2_files, "gpt2", dict(added_tokens_decoder={" 1_2": added("fox"), "+3": added("two"), "-1": added("lazy")}), {}),
    (gpt2_files, "llama", dict(tokenizer_class="GPT2Tokenizer"), {}), (llama_files, "llama", dict(tokenizer_class=...), {}),
    (mbart_files, "mbart", dict(src_lang="ro_RO"), {}), (mbart_files, "mbart", dict(tokenizer_class=...), {}),
    (mbart50_files, "mbart", dict(added_tokens_decoder={"0": added("fox")}), {}),
]


@pytest.mark.parametrize("made, family, entries, others", AGAINST)
def test_what_contradicts_tokenizer_json_is_taken_as_transformers_takes_it(made, family, entries, others, tmp_path):
    known, _ = made(tmp_path)
    folder = tmp_path / "saved"
    known.from_pretrained(tmp_path).save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(dict(model_type=family)))
    path = folder / "tokenizer_config.json"
    before = json.loads(path.read_text()) | entries
    path.write_text(json.dumps({key: value for key, value in before.items() if value is not ...}))
    for name, content in others.items():
        settings(folder, name, **content)
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    some = [*PLAIN, *LINES, *islice(texts(3), 40), "Hello Éa 你好, the <s>fox</s>. [MASK]x", " two  spaces "]
    asked = [request(text) for text in some] + [request(text, "a Fox, isn't it?") for text in some]
    expected = [tokenizer(text) for text in some] + [tokenizer(text, "a Fox, isn't it?") for text in some]
    ours = list(answers((folder, family), asked))
    assert [one["ids"] for one in ours] == [one.input_ids for one in expected]
    if "token_type_ids" in expected[0]:
        assert [one["types"] for one in ours] == [one.token_type_ids for one in expected]


def saved_beside(made, folder, **entries):
    known, family = made(folder)
    known.from_pretrained(folder).save_pretrained(folder / "saved")
    (folder / "saved/config.json").write_text(json.dumps(dict(model_type=family)))
    path = folder / "saved/tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))
    return folder / "saved", family


@pytest.mark.parametrize("entries, words", [
    (dict(added_tokens_decoder={"x": added("fox")}), "\"added_tokens_decoder\" has 'x', expected a number there"),
    (dict(added_tokens_decoder={"12abc": added("fox")}), "\"added_tokens_decoder\" has '12abc', expected a number"),
    (dict(added_tokens_decoder=None), "\"added_tokens_decoder\" is null, expected an object"),
    (dict(tokenizer_class="HerbertTokenizer"), "names HerbertTokenizer, which makes parts of tokenizer.json anew"),
    (dict(tokenizer_class="GPT2Tokenizer"), "names GPT2Tokenizer, which has a BPE model, not a WordPiece one")])
def test_what_transformers_cannot_take_over_is_refused_with_a_way_out(entries, words, tmp_path):
    path = saved_beside(bert_files, tmp_path, **entries)
    with pytest.raises(AssertionError, match=".*" + re.escape(words)):
        list(answers(path, [request("a")]))


def test_a_word_without_a_token_for_the_unknown_is_refused(tmp_path):
    path = saved_beside(bert_files, tmp_path, unk_token="<odd>")
    known, unknown = answers(path, [request("the fox"), request("\u2603 snow")])
    assert "ids" in known and "\"unk_token\" '<odd>' is not in its vocabulary" in unknown


def test_a_language_that_mbart_does_not_know_is_refused(tmp_path):
    with pytest.raises(AssertionError, match="src_lang 'zz' is not in the vocabulary"):
        list(answers(saved_beside(mbart_files, tmp_path, src_lang="zz"), [request("a")]))


def notes_of(folder, model):
    make(*MODELS[model][:2], dict(MODELS[model][2], vocab_size=1500)).save_pretrained(folder)
    return ask("info", folder, "--text", "The fox").get("notes", [])


@pytest.mark.parametrize("made, model, entries, lost", [
    (bert_files, "bert", {}, None), (cased_files, "bert", {}, None), (gpt2_files, "gpt2", {}, None),
    (roberta_files, "roberta", {}, None), (xlm_files, "xlm-roberta", {}, None), (llama_files, "llama", {}, None),
    (cased_files, "bert", dict(do_lower_case=True), "normalizer of tokenizer.json did not count: BertTokenizer"),
    (bert_files, "bert", dict(cls_token="[MASK]"), "post_processor of tokenizer.json did not count: BertTokenizer"),
    (bert_files, "bert", dict(unk_token="[MASK]"), "unk_token of tokenizer.json did not count: BertTokenizer"),
    (gpt2_files, "gpt2", dict(add_prefix_space=True), "pre_tokenizer of tokenizer.json did not count: GPT2Tokenizer"),
    (gpt2_files, "gpt2", dict(added_tokens_decoder={"0": added("fox")}, bos_token="fox", eos_token="fox", unk_token="fox"),
     "added_tokens of tokenizer.json did not count: GPT2Tokenizer")])
def test_a_result_says_which_parts_of_tokenizer_json_did_not_count(made, model, entries, lost, tmp_path):
    folder, _ = saved_beside(made, tmp_path, **entries)
    notes = notes_of(folder, model)
    assert notes == ([] if lost is None else [lost + " makes its own, as in transformers 5"])


def test_the_same_part_by_another_name_is_not_lost(tmp_path):
    bert_cased().save(str(tmp_path / "tokenizer.json"))  # BertProcessing, for which transformers has a template
    settings(tmp_path, do_lower_case=False)
    assert notes_of(tmp_path, "bert") == []
    settings(tmp_path)
    assert notes_of(tmp_path, "bert") == [
        "normalizer of tokenizer.json did not count: BertTokenizer makes its own, as in transformers 5"]


@pytest.mark.parametrize("made", [albert_files, deberta_files, xlm_files])
def test_null_is_false_without_tokenizer_json_too(made, tmp_path):
    _, family = made(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(dict(model_type=family)))
    settings(tmp_path, add_prefix_space=None, do_lower_case=None)
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    assert ids_of((tmp_path, family), [*PLAIN, *LINES], special=True) == [tokenizer(text).input_ids
                                                                         for text in [*PLAIN, *LINES]]
