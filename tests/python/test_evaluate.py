"""headwater evaluate against transformers, autograd, NumPy and scipy, and what can be wrong with a file of examples."""
import json

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image
from scipy.stats import spearmanr
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from command import ask, fails, run
from families import DECODER, ENCODER, VISION, make

TEXTS = ["the keys to the cabinet are on the table", "the cat sat on the mat", "cats believe in the keys of the cabinet"]
METHODS = ["raw", "rollout", "flow", "gradient", "gradient-rollout", "chefer"]


def word_pieces(mask):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]"] + ["[MASK]"] * mask
    tokenizer.train_from_iterator(TEXTS, trainers.WordPieceTrainer(
        vocab_size=71, special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return tokenizer


def byte_pairs():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=71, show_progress=False))
    return tokenizer


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Tiny models: bert (blanks with [MASK]), unknown (with [UNK]), llama (with nothing), vit."""
    root = tmp_path_factory.mktemp("evaluate")
    for name, mask in (("bert", True), ("unknown", False)):
        # Weights small enough that probabilities are not all 0 or 1.
        make("BertForSequenceClassification", "BertConfig",
             dict(ENCODER, initializer_range=0.2, num_labels=3)).save_pretrained(root / name)
        word_pieces(mask).save(str(root / name / "tokenizer.json"))
    make("LlamaForCausalLM", "LlamaConfig", DECODER).save_pretrained(root / "llama")
    byte_pairs().save(str(root / "llama/tokenizer.json"))
    make("ViTForImageClassification", "ViTConfig",
         dict(VISION, intermediate_size=53, num_labels=4)).save_pretrained(root / "vit")
    hf.ViTImageProcessorPil(size={"height": 20, "width": 20}).save_pretrained(root / "vit")
    pixels = np.random.default_rng(0).integers(0, 255, (20, 20, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(root / "noise.png")
    return root


def save(folder, examples, name="examples.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(example) + "\n" for example in examples), encoding="utf-8")
    return path


def correlation(a, b):
    return spearmanr(a, b).statistic


@pytest.mark.parametrize("name, blank", [("bert", "[MASK]"), ("unknown", "[UNK]")])
def test_importances_and_correlations_are_those_of_transformers_and_scipy(name, blank, folder, tmp_path):
    labels = [2, 0, 1]
    path = save(tmp_path, [{"text": text, "label": label} for text, label in zip(TEXTS, labels)])
    result = ask("evaluate", folder / name, "--examples", path)
    model = hf.BertForSequenceClassification.from_pretrained(folder / name, attn_implementation="eager").eval()
    tokenizer = Tokenizer.from_file(str(folder / name / "tokenizer.json"))
    for text, label, example in zip(TEXTS, labels, result["examples"]):
        ids = torch.tensor([tokenizer.encode(text).ids])
        n = ids.shape[1]
        rows = model.bert.embeddings.word_embeddings(ids).detach().requires_grad_()
        out = model(inputs_embeds=rows, output_attentions=True)
        out.logits[0, label].backward()
        probability = out.logits.softmax(-1)[0, label].item()
        with torch.no_grad():
            without = ids.repeat(n, 1)
            without.fill_diagonal_(tokenizer.token_to_id(blank))
            drops = probability - model(without).logits.softmax(-1)[:, label].numpy()
        assert example["target"]["id"] == label and example["row"] == 0
        assert example["probability"] == pytest.approx(probability, abs=1e-5)
        np.testing.assert_allclose(example["blank-out"], drops, atol=1e-5)
        np.testing.assert_allclose(example["gradient"], rows.grad[0].norm(dim=-1).numpy(), rtol=1e-3)
        assert np.ptp(drops) > 0.01  # enough for ranks to mean something

        attention = np.stack([a[0].mean(0).detach().numpy() for a in out.attentions])
        rolled = np.eye(n)
        words = [folder / name, "--text", text, "--row", "0"]
        flows = ask("flow", *words, "--every-layer")["values"]
        for layer in range(3):
            rolled = (attention[layer] + np.eye(n)) / 2 @ rolled
            expected = {"raw": attention[layer][0], "rollout": rolled[0], "flow": flows[layer][0]}
            for rule in METHODS[3:]:
                layers = f"{layer}:{layer + 1}" if rule == "gradient" else f"0:{layer + 1}"
                answer = ask("gradient", *words, "--target", label, "--rule", rule, "--layers", layers)
                expected[rule] = answer["values"][0]
            for reference in ("blank-out", "gradient"):
                for method in METHODS:
                    assert example["correlation"][reference][method][layer] == pytest.approx(
                        correlation(expected[method], example[reference]), abs=1e-6), (reference, method, layer)
    for reference in ("blank-out", "gradient"):
        for method in METHODS:
            all_values = [example["correlation"][reference][method] for example in result["examples"]]
            summary = result["correlation"][reference][method]
            np.testing.assert_allclose(summary["mean"], np.mean(all_values, axis=0))
            np.testing.assert_allclose(summary["deviation"], np.std(all_values, axis=0))
            assert summary["count"] == [3, 3, 3]


def test_patches_are_blanked_with_the_mean_colour(folder, tmp_path):
    path = save(folder, [{"image": "noise.png", "label": 1, "box": [0, 0, 10, 10]}], "image.jsonl")
    result = ask("evaluate", folder / "vit", "--examples", path)
    model = hf.ViTForImageClassification.from_pretrained(folder / "vit").eval()
    pixels = hf.ViTImageProcessorPil.from_pretrained(folder / "vit")(Image.open(folder / "noise.png"),
                                                                     return_tensors="pt")["pixel_values"]
    without = pixels.repeat(16, 1, 1, 1)
    for patch in range(16):
        y, x = divmod(patch, 4)
        without[patch, :, 5 * y:5 * y + 5, 5 * x:5 * x + 5] = 0
    with torch.no_grad():
        probability = model(pixels).logits.softmax(-1)[0, 1].item()
        drops = probability - model(without).logits.softmax(-1)[:, 1].numpy()
    example = result["examples"][0]
    assert example["counted"] == list(range(1, 17))
    np.testing.assert_allclose(example["blank-out"][1:], drops, atol=1e-5)
    assert result["truth"]["chance"]["mean"] == [0.25]
    assert result["truth"]["methods"]["blank-out"]["mean"] == [float(np.argmax(drops) in (0, 1, 4, 5))]


def test_a_prompt_is_judged_by_the_first_token_of_its_answer(folder, tmp_path):
    prompt, answer = "the keys to the cabinet", " are on"
    path = save(tmp_path, [{"prompt": prompt, "answer": answer, "truth": [[4, 8]]}])
    result = ask("evaluate", folder / "llama", "--examples", path, "--against", "gradient")
    tokenizer = Tokenizer.from_file(str(folder / "llama/tokenizer.json"))
    ids, count = tokenizer.encode(prompt + answer).ids, len(tokenizer.encode(prompt).ids)
    example = result["examples"][0]
    assert example["target"]["id"] == ids[count]
    assert example["row"] == example["target"]["row"] == count - 1
    assert len(example["tokens"]) == count
    assert "blank-out" not in example and list(result["correlation"]) == ["gradient"]


def test_without_a_blank_token_gradients_are_left_and_a_note_says_so(folder, tmp_path):
    path = save(tmp_path, [{"prompt": "the keys to the", "answer": " cabinet"}])
    words = ["evaluate", folder / "llama", "--examples", path]
    result = ask(*words)
    assert list(result["correlation"]) == ["gradient"]
    assert any("no blank-out" in note for note in result["notes"])
    assert not any("no blank-out" in note for note in ask(*words, "--against", "gradient")["notes"])
    for asked in (["--against", "blank-out"], ["--against", "both"], ["--faithfulness"]):
        message = fails(1, *words, *asked)
        assert "neither a mask token nor an unknown token" in message and "--against gradient" in message


def test_the_last_line_is_checked_before_the_first_is_evaluated(folder, tmp_path):
    good = [{"text": text, "label": 1} for text in TEXTS] * 100
    for bad, part in (({"text": "the cat", "label": "felime"}, "felime"), ({"text": "the " * 60}, "62 tokens"),
                      ({"text": "the cat", "truth": [[3, 4]]}, "covers no token"), ({"prompt": "the cat"}, "no next word")):
        path = save(tmp_path, good + [bad])
        message = fails(1, "evaluate", folder / "bert", "--examples", path, "-o", tmp_path / "x.json")
        assert f"line {len(good) + 1}: " in message and part in message
        assert not (tmp_path / "x.json").exists()


def test_files_of_other_editors_are_the_same_file(folder, tmp_path):
    plain = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    (tmp_path / "a.jsonl").write_bytes(plain.encode())
    (tmp_path / "b.jsonl").write_bytes(b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    (tmp_path / "c.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(TEXTS).encode())
    a, b, c = (ask("evaluate", folder / "bert", "--examples", tmp_path / name)["examples"]
               for name in ("a.jsonl", "b.jsonl", "c.txt"))
    assert a == b == c
    (tmp_path / "c.txt").write_bytes(b"\xef\xbb\xbf")
    assert "has no lines" in fails(1, "evaluate", folder / "bert", "--examples", tmp_path / "c.txt")
    (tmp_path / "c.txt").write_bytes(b"\xef\xbb\xbfthe cat")
    words = ["rollout", folder / "llama", "--row", "last"]
    assert ask(*words, "--text-file", tmp_path / "c.txt") == ask(*words, "--text", "the cat")


def test_a_model_may_bring_its_own_examples(folder, tmp_path):
    own = save(folder / "bert", [{"text": TEXTS[0], "label": 1}])
    try:
        assert ask("evaluate", folder / "bert", "--against", "gradient")["count"] == 1
    finally:
        own.unlink()


def test_special_tokens_count_unless_filtered(folder, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("the cat sat\nthe mat\n")
    words = ["evaluate", folder / "bert", "--examples", path, "--against", "gradient"]
    example = ask(*words)["examples"][0]
    n = len(example["tokens"])
    assert example["counted"] == list(range(n))
    filtered = ask(*words, "--filter", "special")
    assert filtered["examples"][0]["counted"] == list(range(1, n - 1))
    assert ask(*words, "--limit", 1)["count"] == 1


def test_tables_and_curves(folder, tmp_path):
    path = save(tmp_path, [{"text": text, "truth": [[4, 8]]} for text in TEXTS])
    words = ["evaluate", folder / "bert", "--examples", path, "--layers", "1:3", "--faithfulness"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    for part in ("3 examples", "layers 1:3", "Spearman correlation with blank-out", "input gradients", "chance",
                 "comprehensiveness", "gradient-rollout"):
        assert part in done.stdout, part
    assert run(*words, "-o", tmp_path / "c.svg", "-o", tmp_path / "c.png", "-o", tmp_path / "c.npz").returncode == 0
    assert (tmp_path / "c.svg").read_text().startswith("<?xml")
    assert Image.open(tmp_path / "c.png").width > 400
    assert "correlation/blank-out" in np.load(tmp_path / "c.npz").files


@pytest.mark.parametrize("line, parts", [
    (b"", ["line 2 is empty"]),
    (b"\xff\xfe\x00", ["line 2 is not UTF-8"]),
    (b"{oops", ["line 2: is not JSON"]),
    (b"[1]", ["line 2: is not a JSON object"]),
    (b'{"txt": "the cat"}', ['"txt": is unknown', "'text'"]),
    (b'{"label": 1}', ["line 2: has none of"]),
    (b'{"text": "a", "prompt": "b"}', ["line 2: has several of"]),
    (b'{"text": "a", "text": "b"}', ["twice"]),
    (b'{"text": 5}', ['"text": is not a string']),
    (b'{"text": "  "}', ['"text": is empty']),
    (b'{"text": "a", "answer": "b"}', ['"answer"', 'only with "prompt"']),
    (b'{"text": "a", "box": [0, 0, 1, 1]}', ['"box"', 'only with "image"']),
    (b'{"text": "the cat", "truth": [[3, 9]]}', ["line 2", "not a span of the text", "0 to 7"]),
    (b'{"text": "the cat", "truth": [[2, 1]]}', ["not a span of the text"]),
    (b'{"text": "the cat", "truth": []}', ['"truth": is empty']),
    (b'{"text": "the cat", "truth": [[3, 4]]}', ["line 2", "truth [3, 4] covers no token"]),
    (b'{"text": "the cat", "label": "7"}', ["line 2", "has no class 7"]),
    (b'{"image": "nowhere.png"}', ["line 2", "a model of text"]),
    (b'{"prompt": "the cat"}', ["line 2", "predicts no next word"]),
    (b'{"text": "\xe2\x80\x8b"}', ["line 2", "no tokens of its own"]),
    (b'{"text": "' + b"the " * 60 + b'"}', ["line 2", "62 tokens", "at most 40", "shorten it"]),
])
def test_a_bad_line_is_named(line, parts, folder, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"text": "the cat"}\n' + line + b"\n{}\n")
    message = fails(1, "evaluate", folder / "bert", "--examples", path, "--limit", 2)
    assert message.startswith(str(path)), message
    for part in parts:
        assert part in message, message


def test_bad_usage(folder, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("the cat\n")
    words = ["evaluate", folder / "bert"]
    assert "--examples" in fails(2, *words)
    assert "use .npz" in fails(2, *words, "--examples", path, "-o", tmp_path / "x.npy")
    assert "did you mean 'verb-number'" in fails(1, "evaluate", "verb-nmber", "--examples", path)
    assert "did you mean 'gradient'" in fails(2, *words, "--examples", path, "--against", "gradeint")
    assert "--limit 0" in fails(2, *words, "--examples", path, "--limit", 0)
    assert ".jsonl or a .txt" in fails(2, *words, "--examples", tmp_path / "texts.csv")
    assert "is a file, expected a model" in fails(1, "evaluate", path, "--examples", path)
    assert fails(1, *words, "--examples", tmp_path / "nowhere.txt").startswith(str(tmp_path / "nowhere.txt"))
