"""Texts that models with an encoder write (T5, mT5, BART, mBART), and where they come from, against transformers."""
import json

import numpy as np
import pytest
import torch

from command import ask, fails, run
from families import BART, T5, make
from tokenizer_kinds import LINES
from transformers import PreTrainedTokenizerFast

START = dict(decoder_start_token_id=3, eos_token_id=70, pad_token_id=0)
TWO = {
    "t5": ("T5ForConditionalGeneration", "T5Config", dict(T5, num_decoder_layers=2)),
    "t5-gated": ("T5ForConditionalGeneration", "T5Config",
                 dict(T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False,
                      relative_attention_num_buckets=8, relative_attention_max_distance=10)),
    "mt5": ("MT5ForConditionalGeneration", "MT5Config", dict(T5, feed_forward_proj="gated-gelu")),
    "bart": ("BartForConditionalGeneration", "BartConfig",
             dict(BART, decoder_layers=2, scale_embedding=True, forced_eos_token_id=None)),
    "mbart": ("MBartForConditionalGeneration", "MBartConfig", dict(BART, decoder_layers=3, forced_eos_token_id=None)),
}
LONG, SHORT = [5, 9, 33, 12, 7, 41, 60, 2, 19, 1], [8, 30]


def two(name, folder, **more):
    kind, config, entries = TWO[name]
    model = make(kind, config, dict(entries, **START, **more))
    with torch.no_grad():
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias))
        if name == "t5-gated":  # weights of its own, as those of version 1.1
            model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))
    model.save_pretrained(folder)
    if name == "t5-gated":  # which save_pretrained does not write
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | dict(tie_word_embeddings=False)))
        from safetensors.torch import load_file, save_file
        tensors = load_file(folder / "model.safetensors")
        save_file(tensors | {"lm_head.weight": model.lm_head.weight.detach()}, folder / "model.safetensors")
    return model


@pytest.fixture(params=TWO)
def pair(request, tmp_path):
    return two(request.param, tmp_path), tmp_path


def run_model(model, source, target):
    with torch.no_grad():
        return model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([target]), output_attentions=True)


def chosen(model, source, count, start=(3,)):
    """The best token, one after the other, without a cache."""
    target = list(start)
    for _ in range(count):
        target.append(int(run_model(model, source, target).logits[0, -1].argmax()))
    return target


def mixed(layer, residual):
    """One map of a layer, with its residual, in double."""
    a = (1 - residual) * layer[0].double().mean(0).numpy() + residual * np.eye(layer.shape[-1])
    return a / a.sum(-1, keepdims=True)


def rolled(model, source, target, residual=0.5):
    """S after each layer, T and E, by the equations of docs/methods.md."""
    out = run_model(model, source, target)
    E = np.eye(len(source))
    for layer in out.encoder_attentions:
        E = mixed(layer, residual) @ E
    T, S, each = np.eye(len(target)), np.zeros((len(target), len(source))), []
    for own, cross in zip(out.decoder_attentions, out.cross_attentions):
        A, C = mixed(own, residual), cross[0].double().mean(0).numpy()
        T, S = A @ T, A @ S
        T, S = residual * T, residual * S + (1 - residual) * C @ E
        each.append(S)
    return np.stack(each, -1), T, E


def ids(numbers):
    return ["--ids", ",".join(map(str, numbers))]


@pytest.mark.parametrize("source", [LONG, SHORT], ids=["long", "short"])
def test_greedy_tokens_and_both_halves_equal_transformers(pair, source):
    model, folder = pair
    result = ask("generate", folder, *ids(source), "--count", 8, "--ignore-end")
    target = chosen(model, source, 8)
    assert result["source_ids"] == source and result["target_ids"] == target and result["generated_ids"] == target[1:]
    S, T, E = rolled(model, source, target[:-1])
    assert np.abs(np.array(result["M"]) - S).max() < 1e-5
    assert np.abs(np.array(result["target"])[:, :-1] - T).max() < 1e-5 and not np.array(result["target"])[:, -1].any()
    assert np.abs(np.array(result["encoder"]) - E).max() < 1e-5
    sums = np.array(result["M"])[:, :, -1].sum(1) + np.array(result["target"]).sum(1)
    assert np.abs(sums - 1).max() < 1e-5


def test_probabilities_and_ids_are_those_of_generate(pair):
    model, folder = pair
    made = model.generate(torch.tensor([LONG]), max_new_tokens=6, do_sample=False, num_beams=1,
                          output_scores=True, return_dict_in_generate=True)
    result = ask("generate", folder, *ids(LONG), "--count", 6)
    assert result["target_ids"] == made.sequences[0].tolist()
    for score, best, found in zip(made.scores, result["generated_ids"], result["choices"]["probability"]):
        assert found == pytest.approx(float(score[0].double().softmax(-1)[best]), abs=1e-4)


def test_options_of_the_rollout(pair):
    model, folder = pair
    target = chosen(model, LONG, 4)
    own = ask("generate", folder, *ids(LONG), "--count", 4, "--ignore-end", "--position", "own", "--residual", 0.3)
    S, T, _ = rolled(model, LONG, target, 0.3)
    assert np.abs(np.array(own["M"]) - S[1:]).max() < 1e-5 and np.abs(np.array(own["target"]) - T[1:]).max() < 1e-5
    for refused in (["--layers", "0:1"], ["--discard", 0.1]):
        assert "one stack of layers" in fails(2, "generate", folder, *ids(LONG), *refused)


def test_sampling_is_repeatable_and_of_the_right_shares(tmp_path):
    model = two("bart", tmp_path)
    draw = ["generate", tmp_path, *ids(SHORT), "--count", 1, "--ignore-end", "--temperature", 3, "--plain"]
    shares = torch.softmax(run_model(model, SHORT, [3]).logits[0, -1].double() / 3, -1)
    drawn = [ask(*draw, "--seed", seed)["generated_ids"][0] for seed in range(20)]
    assert drawn[0] == ask(*draw, "--seed", 0)["generated_ids"][0]
    surprise = -torch.log(shares)
    mean = float((shares * surprise).sum())
    spread = float(((shares * surprise**2).sum() - mean**2).clamp(min=0).sqrt())
    assert abs(float(surprise[drawn].mean()) - mean) < 5 * spread / len(drawn)**0.5 + 1e-6


def test_a_first_token_that_is_forced_belongs_to_the_start(tmp_path):
    model = two("bart", tmp_path)
    made = json.loads((tmp_path / "generation_config.json").read_text())
    (tmp_path / "generation_config.json").write_text(json.dumps(made | dict(forced_bos_token_id=11)))
    result = ask("generate", tmp_path, *ids(LONG), "--count", 3, "--ignore-end")
    assert result["target_ids"] == chosen(model, LONG, 3, start=(3, 11))


def test_texts_prompts_and_continuations(tmp_path):
    """The target starts with the prompt; a known continuation is attributed in one pass."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    names = ["<pad>", "</s>", "<unk>", "<start>", *sorted({word for line in LINES for word in line.split()})[:60]]
    tokenizer = Tokenizer(models.WordLevel({name: k for k, name in enumerate(names)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    model = two("t5", tmp_path)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>").save_pretrained(tmp_path)
    text, prompt, rest = " ".join(names[4:9]), " ".join(names[20:22]), " " + " ".join(names[30:33])
    source, start, known = [4, 5, 6, 7, 8, 1], [3, 20, 21], [30, 31, 32]
    written = ask("generate", tmp_path, "--text", text, "--prompt", prompt, "--count", 3, "--ignore-end")
    assert written["source_ids"] == source and written["source_tokens"][-1] == "</s>"
    assert written["target_ids"] == chosen(model, source, 3, start)
    given = ask("generate", tmp_path, "--text", text, "--prompt", prompt, "--continuation", rest)
    assert given["target_ids"] == [*start, *known] and given["generated_ids"] == known
    S, T, _ = rolled(model, source, [*start, *known[:-1]])
    assert np.abs(np.array(given["M"]) - S[2:]).max() < 1e-5 and np.abs(np.array(given["target"])[:, :-1] - T[2:]).max() < 1e-5
    (tmp_path / "sources.txt").write_text(f"{text}\n{prompt}\n")
    both = ask("generate", tmp_path, "--text-file", tmp_path / "sources.txt", "--count", 2)
    assert [one["source_ids"] for one in both] == [source, [20, 21, 1]]
    shown = run("generate", tmp_path, "--text", text, "--count", 2, "--ignore-end").stdout
    assert "source" in shown and "target" in shown and "leans on" in shown and "and on" in shown
    for name in ("x.png", "x.svg", "x.html", "x.npz"):
        done = run("generate", tmp_path, "--text", text, "--count", 2, "--ignore-end", "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "x.npz")["target"].shape == (2, 3)
    assert "reads a source" in fails(1, "generate", tmp_path, "--prompt", prompt)
    assert run("rollout", tmp_path, "--text", text).returncode == 0


def test_what_cannot_write_says_so(tmp_path):
    from families import TEXT
    (tmp_path / "encoder").mkdir()
    make(*TEXT["t5"]).save_pretrained(tmp_path / "encoder")
    assert "weights of an encoder only" in fails(1, "generate", tmp_path / "encoder", *ids(SHORT))
    assert "continues a prompt" in fails(1, "generate", "facts", "--text", "Anna took the key")
    (tmp_path / "bare").mkdir()
    two("t5", tmp_path / "bare")
    for name in ("config.json", "generation_config.json"):
        entries = json.loads((tmp_path / "bare" / name).read_text())
        entries.pop("decoder_start_token_id", None)
        (tmp_path / "bare" / name).write_text(json.dumps(entries))
    assert "decoder_start_token_id" in fails(1, "generate", tmp_path / "bare", *ids(SHORT))


@pytest.mark.parametrize("name, entries", [
    ("t5", dict(scale_decoder_outputs=False)),  # 1.1, as transformers 5 saves it
    ("t5", dict(dense_act_fn="silu")),
    ("bart", dict(tie_word_embeddings=False)),  # tables of words of their own, and of lm_head
])
def test_entries_that_change_the_probabilities(name, entries, tmp_path):
    model = two(name, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text()) | entries
    (tmp_path / "config.json").write_text(json.dumps(config))
    kind = type(model)
    if "tie_word_embeddings" in entries:
        model = kind(kind.config_class.from_pretrained(tmp_path)).eval()
        model.save_pretrained(tmp_path)
        (tmp_path / "config.json").write_text(json.dumps(config))
    model = kind.from_pretrained(tmp_path, attn_implementation="eager").eval()
    result = ask("generate", tmp_path, *ids(LONG), "--count", 4, "--ignore-end")
    target = chosen(model, LONG, 4)
    shares = run_model(model, LONG, target).logits[0].double().softmax(-1)
    assert result["target_ids"] == target
    for k, found in enumerate(result["choices"]["probability"]):
        assert found == pytest.approx(float(shares[k, target[k + 1]]), abs=1e-4)


def test_what_the_folder_says_about_choosing_tokens_and_is_not_followed_is_said(tmp_path):
    two("bart", tmp_path)
    made = json.loads((tmp_path / "generation_config.json").read_text())
    (tmp_path / "generation_config.json").write_text(json.dumps(made | dict(
        num_beams=4, no_repeat_ngram_size=3, repetition_penalty=1.0, suppress_tokens=[])))
    result = ask("generate", tmp_path, *ids(LONG), "--count", 2)
    assert result["notes"] == ["generation_config.json sets num_beams 4, no_repeat_ngram_size 3, which headwater does not "
                               "follow: tokens may differ from those of transformers"]
