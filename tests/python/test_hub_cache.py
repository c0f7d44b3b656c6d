"""Models by their names in the local Hugging Face cache."""
import json
import os

import pytest

from command import fails, run
from test_folders import change, rollout, saved


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A Hugging Face cache with a BERT of two revisions, a GPT-2 of an owner, and one that cannot be run."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    hub = tmp_path / "hub"
    for folder, name in [("models--bert-tiny/snapshots/aaa111", "bert"), ("models--bert-tiny/snapshots/bbb222", "bert-relu"),
                         ("models--me--gpt-tiny/snapshots/ccc333", "gpt2"), ("models--you--odd/snapshots/ddd444", "bert")]:
        (hub / folder).mkdir(parents=True)
        saved(name, hub / folder)
    change(hub / "models--you--odd/snapshots/ddd444", quantization_config={"quant_method": "gptq", "bits": 4})
    refs = hub / "models--bert-tiny/refs"
    refs.mkdir()
    (refs / "main").write_text("aaa111")
    (refs / "v2").write_text("bbb222")
    (hub / "models--nobody--empty/snapshots/eee555").mkdir(parents=True)
    (hub / "version.txt").write_text("1")
    return hub


def test_models_of_the_cache_have_names(hub):
    values = {name: rollout(name)["values"] for name in ("bert-tiny", "bert-tiny@aaa111", "bert-tiny@v2", "bert-tiny@bbb")}
    assert values["bert-tiny"] == values["bert-tiny@aaa111"] != values["bert-tiny@v2"] == values["bert-tiny@bbb"]
    assert rollout("me/gpt-tiny")["values"] == rollout("gpt-tiny")["values"]
    assert rollout("bert-tiny")["source"]["name"] == "bert-tiny"
    (hub / "models--bert-tiny/refs/main").unlink()
    os.utime(hub / "models--bert-tiny/snapshots/aaa111", (1, 1))
    assert rollout("bert-tiny")["values"] == values["bert-tiny@v2"]


def test_parts_of_sentence_transformers_in_the_cache(hub):
    folder = hub / "models--st--odd/snapshots/abc"
    (folder / "0_Transformer").mkdir(parents=True)
    saved("bert", folder / "0_Transformer")
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "0_Transformer", "type": "m.Transformer"}]))
    assert len(rollout("st/odd")["tokens"]) == 4 and "st/odd" in run("models").stdout
    assert "'hf download st/odd --revision v7' gets" in fails(1, "info", "st/odd@v7")


def test_names_that_are_not_in_the_cache_say_how_to_get_a_model(hub):
    said = fails(1, "rollout", "google-bert/bert-base-uncased", "--text", "a")
    assert "'hf download google-bert/bert-base-uncased' gets a model" in said
    assert "did you mean 'bert-tiny'?" in fails(1, "info", "bert-tinny")
    for name in ("bert-tiny@zzz", "nobody/empty", "bert-tiny@", "../hub", "bert-tiny@../main"):
        assert "does not exist" in fails(1, "rollout", name, "--text", "a"), name
    saved("gpt2", hub / "models--you--gpt-tiny/snapshots/fff")
    assert "has me/gpt-tiny, you/gpt-tiny, expected one of them" in fails(1, "info", "gpt-tiny")
    for folder in ("aaa112", "aaa113"):
        saved("bert", hub / "models--bert-tiny/snapshots" / folder)
    assert "3 snapshots in the cache start with 'aaa11'" in fails(1, "info", "bert-tiny@aaa11")


@pytest.mark.parametrize("variable, below", [("HF_HUB_CACHE", "hub"), ("XDG_CACHE_HOME", ""), ("HOME", "")])
def test_places_of_the_cache(variable, below, hub, tmp_path, monkeypatch):
    monkeypatch.delenv("HF_HOME")
    place = {"HF_HUB_CACHE": hub, "XDG_CACHE_HOME": tmp_path / "x", "HOME": tmp_path / "y"}[variable]
    if not below:
        inside = place / ("huggingface/hub" if variable == "XDG_CACHE_HOME" else ".cache/huggingface/hub")
        inside.parent.mkdir(parents=True)
        inside.symlink_to(hub)
    monkeypatch.setenv(variable, str(place))
    assert rollout("bert-tiny")["source"]["name"] == "bert-tiny"


def test_the_home_folder_may_be_a_tilde(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HF_HOME", "~")
    assert rollout("bert-tiny")["source"]["name"] == "bert-tiny"


def test_models_lists_what_can_be_run_and_why_not(hub):
    lines = {line.split()[0]: line for line in run("models").stdout.splitlines()}
    assert {"verb-number", "facts", "shapes", "bert-tiny", "me/gpt-tiny", "you/odd"} <= set(lines)
    assert "ships with headwater" in lines["shapes"] and "vit" in lines["shapes"]
    assert lines["me/gpt-tiny"].split()[1:] == ["gpt2", "0.1", "M", "f32"]
    assert "cannot be run: config.json: 'quantization_config' says that the weights are quantised (GPTQ" in lines["you/odd"]
    assert "nobody/empty" not in lines


def test_a_snapshot_without_config_is_listed_with_what_it_holds(hub):
    snapshot = hub / "models--her--llama-gguf/snapshots/abc"
    snapshot.mkdir(parents=True)
    (snapshot / "llama.Q4_K_M.gguf").write_text("GGUF")
    line = next(line for line in run("models").stdout.splitlines() if line.startswith("her/llama-gguf"))
    assert "cannot be run: llama.Q4_K_M.gguf holds weights for llama.cpp (GGUF)" in line
    assert "holds weights for llama.cpp" in fails(1, "rollout", "her/llama-gguf", "--text", "a")
    (hub / "models--bert-tiny/snapshots/partial").mkdir()
    (hub / "models--bert-tiny/snapshots/partial/tokenizer_config.json").write_text("{}")
    (hub / "models--bert-tiny/refs/main").write_text("partial")
    assert rollout("bert-tiny")["source"]["name"] == "bert-tiny"
    assert "without config.json, with tokenizer_config.json" in fails(1, "info", "bert-tiny@partial")


def test_models_says_where_it_looked_if_there_are_none(tmp_path):
    done = run("models", env={"HF_HUB_CACHE": str(tmp_path / "none")})
    assert f"No models in the Hugging Face cache, {tmp_path / 'none'}" in done.stdout
