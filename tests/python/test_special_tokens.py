"""Special tokens of a folder, which several of its files may name: those of transformers."""
import json

import pytest
import transformers as hf

from test_tokenizer_files import (LINES, PLAIN, albert_files, bert_files, camembert_files, clip_files, deberta_files,
                                  gemma_files, gpt2_files, ids_of, llama_files, qwen2_files, roberta_files, settings,
                                  t5_files, xlm_files)


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
