"""Model folders as people have them: what config.json and weights may hold besides what transformers writes today."""
import inspect
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from command import HEADWATER, ask, fails
from families import IMAGES, TEXT, make

CONFIG = Path(HEADWATER).with_name("headwater_config")
KNOWN = {name: entry[:3] for name, entry in (TEXT | IMAGES).items()}


def saved(name, folder):
    model = make(*KNOWN[name])
    model.save_pretrained(folder)
    return model


def change(folder, **entries):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config.update(entries)
    path.write_text(json.dumps(config))


def change_weights(folder, how):
    weights = load_file(folder / "model.safetensors")
    save_file(how(weights), folder / "model.safetensors", metadata={"format": "pt"})


def with_tensor(folder, name, *shape):
    change_weights(folder, lambda weights: weights | {name: torch.ones(*shape)})


def rollout(folder, *more):
    return ask("rollout", folder, "--ids", "5,6,7,8", *more)


def verdicts(*paths):
    done = subprocess.run([CONFIG, *paths], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", KNOWN)
def test_headwater_knows_each_entry_that_transformers_reads(name, tmp_path):
    """A new entry in a family's code, or in what it saves, shows up here as one that headwater does not know."""
    kind, config, entries = KNOWN[name]
    saved_config = getattr(hf, config)(**entries)
    saved_config.architectures = [kind]
    saved_config.save_pretrained(tmp_path)
    source = inspect.getsource(inspect.getmodule(getattr(hf, kind)))
    read = set(re.findall(r"\bconfig\.([a-z]\w*)", source)) & set(dir(saved_config))
    plain = {key: getattr(saved_config, key) for key in read
             if isinstance(getattr(saved_config, key), (bool, int, float, str)) and key != "name_or_path"}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(plain | json.loads(path.read_text())))
    assert verdicts(path) == ["ok"]


def test_real_configs_run_where_transformers_runs_them():
    folder = Path(os.environ.get("HEADWATER_DATA", "no folder")) / "configs"
    if not folder.exists():
        pytest.skip("HEADWATER_DATA has no configs")
    rows = re.findall(r"^\| (\S+\.json) \| .* \| (.*) \|$", (folder / "README.md").read_text(), re.M)
    assert len(rows) > 100
    said = dict(zip([name for name, _ in rows], verdicts(*[folder / name for name, _ in rows]), strict=True))
    for name, outcome in rows:
        assert said[name].startswith("ok") == (outcome == "runs"), (name, outcome, said[name])


def test_unknown_entries_are_named_in_one_note(tmp_path):
    saved("bert-classifier", tmp_path)
    change(tmp_path, window_of_doom=7, author="me", badwordsids=[])
    note = "entries of config.json that headwater does not know were ignored: window_of_doom, badwordsids"
    assert rollout(tmp_path)["notes"] == [note]
    assert ask("gradient", tmp_path, "--ids", "5,6,7", "--target", "1")["notes"] == [note]
    assert note in ask("info", tmp_path)["reading"]


def test_code_in_the_folder_is_refused_or_ignored(tmp_path):
    saved("gpt2", tmp_path)
    change(tmp_path, auto_map={"AutoModelForCausalLM": "modeling_mine.Mine"})
    assert "'auto_map' takes AutoModelForCausalLM from code in the folder" in fails(
        1, "rollout", tmp_path, "--ids", "5,6")
    assert "--ignore-code" in fails(1, "generate", tmp_path, "--ids", "5,6")
    assert rollout(tmp_path, "--ignore-code")["notes"] == [
        "config.json takes AutoModelForCausalLM from code in the folder, which was not run"]
    written = ask("generate", tmp_path, "--ids", "5,6", "--count", "2", "--ignore-code")
    assert any("which was not run" in note for note in written["notes"])


@pytest.mark.parametrize("name, tensor, shape", [
    ("llama", "model.layers.1.self_attn.q_norm.weight", [6]),
    ("llama", "model.layers.0.self_attn.k_proj.bias", [12]),
    ("bert", "encoder.layer.2.attention.self.distance_embedding.weight", [79, 14]),
    ("bert-classifier", "bert.encoder.layer.0.crossattention.self.query.weight", [42, 42]),
    ("gpt2", "transformer.h.1.ln_3.weight", [42]),
    ("vit", "encoder.layer.0.layer_scale1.lambda1", [42]),
])
def test_a_tensor_that_a_block_does_not_use_is_refused(name, tensor, shape, tmp_path):
    saved(name, tmp_path)
    with_tensor(tmp_path, tensor, *shape)
    assert f"has a tensor '{tensor}' that a block" in fails(1, "info", tmp_path)


def test_more_layers_than_config_says_are_refused(tmp_path):
    saved("bert", tmp_path)
    change(tmp_path, num_hidden_layers=2)
    assert "expected no more than 2 layers, as in config.json" in fails(1, "info", tmp_path)


@pytest.mark.parametrize("name, tensor, shape", [
    ("llama", "model.layers.1.self_attn.rotary_emb.inv_freq", [3]),
    ("gpt2", "transformer.h.0.attn.bias", [1, 1, 40, 40]),
    ("gpt2", "transformer.h.0.attn.masked_bias", [1]),
    ("bert", "embeddings.position_ids", [1, 40]),
])
def test_buffers_are_no_weights(name, tensor, shape, tmp_path):
    saved(name, tmp_path)
    before = rollout(tmp_path)
    with_tensor(tmp_path, tensor, *shape)
    after = rollout(tmp_path)
    assert after["values"] == before["values"] and after["notes"] == []


def test_labels_may_be_numbers(tmp_path):
    saved("bert-classifier", tmp_path)
    change(tmp_path, id2label={"0": 1, "1": 5})
    assert ask("gradient", tmp_path, "--ids", "5,6,7", "--target", "5")["target"]["name"] == "5"
