"""Generated text and its attribution against transformers."""
import json

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image

from command import ask, fails, run
from families import TEXT, make
from test_model_command import tiny  # noqa: F401  a fixture

PROMPT = [5, 9, 33, 12, 7]


@pytest.fixture(params=["gpt2", "llama", "mistral", "qwen2", "qwen3", "opt", "opt-narrow", "neox", "phi3", "smollm3", "olmo2", "gemma3"])
def decoder(request, tmp_path):
    model = make(*TEXT[request.param])
    model.save_pretrained(tmp_path)
    return model, tmp_path


def chosen(model, ids, count):
    """The best token, one after the other, without a cache."""
    ids = list(ids)
    for _ in range(count):
        with torch.no_grad():
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids


def rolled(model, ids, own=False, prompt=len(PROMPT), residual=0.5):
    """M [n, m, L] by the whole rollout of every layer, in double."""
    with torch.no_grad():
        attentions = model(torch.tensor([ids if own else ids[:-1]]), output_attentions=True).attentions
    product, layers = None, []
    for layer in attentions:
        a = (1 - residual) * layer[0].double().mean(0).numpy() + residual * np.eye(layer.shape[-1])
        a /= a.sum(-1, keepdims=True)
        product = a if product is None else a @ product
        layers.append(product)
    first, count = prompt - (0 if own else 1), len(ids) - prompt
    return np.stack([layer[first:first + count, :prompt] for layer in layers], -1)


def words(ids):
    return ["--ids", ",".join(map(str, ids))]


def test_greedy_tokens_and_their_rows_equal_transformers(decoder):
    model, folder = decoder
    result = ask("generate", folder, *words(PROMPT), "--count", 9, "--ignore-end")
    ids = chosen(model, PROMPT, 9)
    assert result["prompt_ids"] + result["generated_ids"] == ids
    assert np.array(result["M"]).shape == (9, 5, 3)
    assert np.abs(np.array(result["M"]) - rolled(model, ids)).max() < 1e-5


def test_a_token_may_be_looked_at_in_its_own_position(decoder):
    model, folder = decoder
    result = ask("generate", folder, *words(PROMPT), "--count", 4, "--ignore-end", "--position", "own", "--residual", 0.3)
    expected = rolled(model, chosen(model, PROMPT, 4), own=True, residual=0.3)
    assert np.abs(np.array(result["M"]) - expected).max() < 1e-5


def test_drawing_is_repeatable_and_follows_the_probabilities(decoder):
    model, folder = decoder
    draw = ["generate", folder, *words(PROMPT), "--count", 1, "--ignore-end", "--temperature", 2.5, "--plain"]
    with torch.no_grad():
        logits = model(torch.tensor([PROMPT])).logits[0, -1].double() / 2.5
    shares = torch.softmax(logits, -1)
    drawn = [ask(*draw, "--seed", seed)["generated_ids"][0] for seed in range(60)]
    assert drawn[:5] == [ask(*draw, "--seed", seed)["generated_ids"][0] for seed in range(5)]
    # The mean of -log p over draws is the entropy, within five standard deviations.
    surprise = -torch.log(shares)
    entropy, spread = float((shares * surprise).sum()), float(((shares * surprise**2).sum() - (shares * surprise).sum()**2).sqrt())
    assert abs(float(surprise[drawn].mean()) - entropy) < 5 * spread / len(drawn)**0.5 + 1e-6
    best = set(torch.topk(logits, 3).indices.tolist())
    assert {ask(*draw, "--seed", seed, "--top-k", 3)["generated_ids"][0] for seed in range(20)} <= best
    assert {ask(*draw, "--seed", seed, "--top-p", 1e-9)["generated_ids"][0] for seed in range(3)} == {int(logits.argmax())}


def test_it_stops_at_the_end_token(decoder):
    model, folder = decoder
    second = chosen(model, PROMPT, 2)[-1]
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"eos_token_id": [second, 70]}))
    (folder / "generation_config.json").unlink(missing_ok=True)
    result = ask("generate", folder, *words(PROMPT), "--count", 9)
    assert result["ended"] and result["generated_ids"][-1] == second and len(result["generated_ids"]) <= 2
    assert len(ask("generate", folder, *words(PROMPT), "--count", 9, "--ignore-end")["generated_ids"]) == 9


def test_it_stops_at_tokens_that_are_named(decoder):
    model, folder = decoder
    ids = chosen(model, PROMPT, 6)[len(PROMPT):]
    for words_of_it in (["--stop", ids[2]], ["--stop", 70, "--stop", ids[2]]):
        result = ask("generate", folder, *words(PROMPT), "--count", 6, *words_of_it)
        assert result["generated_ids"] == ids[:ids.index(ids[2]) + 1] and result["ended"]
    assert "has no word 71" in fails(1, "generate", folder, *words(PROMPT), "--stop", 71)
    assert "no tokenizer" in fails(1, "generate", folder, *words(PROMPT), "--stop", "cat")
    assert "together with --ignore-end" in fails(2, "generate", folder, *words(PROMPT), "--stop", 1, "--ignore-end")


def test_a_stop_may_be_a_word():
    prompt = "Anna took the key to the box. Ben went to the cave. Where is the key?"
    assert ask("generate", "facts", "--prompt", prompt, "--stop", "box")["text"] == " Answer: box"
    assert "no single token" in fails(1, "generate", "facts", "--prompt", prompt, "--stop", "zebrafish")


def test_a_continuation_gives_the_rows_of_the_same_text(tiny):  # noqa: F811
    model = hf.AutoModelForCausalLM.from_pretrained(tiny["llama"], attn_implementation="eager")
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_file=str(tiny["llama"] / "tokenizer.json"))
    result = ask("generate", tiny["llama"], "--prompt", "the keys to", "--continuation", " the cabinet")
    ids = tokenizer("the keys to the cabinet")["input_ids"]
    assert result["prompt_ids"] + result["generated_ids"] == ids
    assert result["text"] == " the cabinet"
    expected = rolled(model, ids, prompt=len(result["prompt_ids"]))
    assert np.abs(np.array(result["M"]) - expected).max() < 1e-5


@pytest.mark.parametrize("more", [[], ["--method", "relevance"], ["--plain"], ["--merge", "words"]])
def test_a_file_of_prompts_gives_what_each_gives_alone(tmp_path, more):
    prompts = [f"The red key went from the {place} to the shelf. Where is the red key? Answer:" for place in
               ("box", "chest", "attic")] + ["The", "The blue key went"]
    (tmp_path / "prompts.txt").write_text("\n".join(prompts))
    together = ask("generate", "facts", "--text-file", tmp_path / "prompts.txt", "--count", 5, *more)
    assert len(together) == 5
    for found, prompt in zip(together, prompts):
        alone = ask("generate", "facts", "--prompt", prompt, "--count", 5, *more)
        assert found | {"source": {}} == alone | {"source": {}}  # it says which item of how many


def test_pictures_and_tables(tiny, tmp_path):  # noqa: F811
    prompt = ["generate", tiny["llama"], "--prompt", "the keys to the cabinet", "--count", 5, "--ignore-end"]
    for name, more in {"all.png": [], "one.png": ["--token", 2], "layers.svg": ["--token", -1, "--by-layer"]}.items():
        done = run(*prompt, *more, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
    assert Image.open(tmp_path / "all.png").size[0] > 200
    assert "Generated" in (tmp_path / "layers.svg").read_text() or (tmp_path / "layers.svg").stat().st_size > 1000
    assert run(*prompt, "-o", tmp_path / "M.npy").returncode == 0
    assert np.load(tmp_path / "M.npy").shape[0] == 5
    shown = run(*prompt).stdout
    assert "leans on" in shown and len(shown.splitlines()) >= 8
    assert "index  token" in run(*prompt, "--token", 1).stdout


def test_bad_requests(tiny, tmp_path):  # noqa: F811
    llama = tiny["llama"]
    assert "expected 1 or more tokens" in fails(2, "generate", llama, "--prompt", "a", "--count", 0)
    assert "no --prompt was given" in fails(2, "generate", llama)
    assert "expected at most 40 in all" in fails(1, "generate", llama, "--prompt", "the cat " * 30)
    assert "set --count to 38 or less" in fails(1, "generate", llama, "--prompt", "the cat", "--count", 90)
    assert "cannot predict the next word" in fails(1, "generate", tiny["bert"], "--prompt", "the cat")
    assert "generation never builds" in fails(2, "generate", llama, "--prompt", "the cat", "--discard", 0.5)
    assert "expected 0 to 100" in fails(2, "generate", llama, "--prompt", "the cat", "--temperature", -1)
    assert "does not exist, expected a model" in fails(1, "generate", tmp_path / "none", "--prompt", "the cat")
    assert "did you mean 'facts'" in fails(1, "generate", "fact", "--prompt", "the cat")
    assert "together with --prompt" in fails(2, "generate", llama, "--prompt", "the cat", "--ids", "1,2")
    assert "together with --continuation" in fails(2, "generate", llama, "--ids", "1,2", "--continuation", " sat")
    for word in (["--temperature", 1], ["--ignore-end"]):
        assert "a continuation has them already" in fails(2, "generate", llama, "--prompt", "the cat", "--continuation", " sat", *word)
    assert "together with --continuation" in fails(2, "generate", llama, "--prompt", "a", "--continuation", " sat", "--count", 3)
    for word in (["--fuse", "max"], ["--layers", "0:1"], ["--position", "own"]):
        assert "--plain" in fails(2, "generate", llama, "--prompt", "the cat", "--plain", *word)
    assert "give shorter texts" in fails(1, "generate", llama, "--prompt", "the cat", "--continuation", " sat" * 60)
    for drawing in (["--top-k", 3], ["--top-p", 0.5], ["--seed", 4]):
        assert "add --temperature 1" in fails(2, "generate", llama, "--prompt", "the cat", *drawing)
    assert "expected a whole number, 0 or more" in fails(2, "generate", llama, "--prompt", "the cat", "--seed", -1)
    assert "out of range" in fails(2, "generate", llama, "--prompt", "the cat", "--count", 10**12)
    assert "together with --token" in fails(2, "generate", llama, "--prompt", "the cat", "--plain", "--token", 0)
    assert "has no generated token 9" in fails(1, "generate", llama, "--prompt", "the cat", "--count", 2, "--ignore-end",
                                               "--token", 9, "-o", tmp_path / "x.png")
