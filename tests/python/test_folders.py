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
from test_families import compare

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
    notes = re.compile("; (only the encoder was run, not the decoder|texts had .* with another input"
                       "|a convolution beside the first block .*)")
    assert [notes.sub("", said) for said in verdicts(path)] == ["ok"]
    # Those that it reads only where they are: known if they are refused or change nothing.
    maybe = set(re.findall(r"getattr\((?:self\.)?config, \"([a-z]\w*)\"", source)) - set(json.loads(path.read_text()))
    for key in maybe:
        (tmp_path / key).write_text(json.dumps(json.loads(path.read_text()) | {key: 1}))
    said = verdicts(*[tmp_path / key for key in maybe]) if maybe else []
    assert [one for one in said if "headwater does not know" in one] == []


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


def test_class_numbers_and_index_files_have_limits(tmp_path):
    saved("bert-classifier", tmp_path)
    change(tmp_path, id2label={"16777216": "far"})
    assert "expected class numbers below 1048576 as keys" in fails(1, "info", tmp_path)
    change(tmp_path, id2label={"0": "a", "1": "b"})
    (tmp_path / "model.safetensors").unlink()
    with open(tmp_path / "model.safetensors.index.json", "wb") as file:
        file.truncate(6 << 30)  # sparse
    assert "model.safetensors.index.json: is 6442450944 bytes long, expected at most" in fails(1, "info", tmp_path)


def test_the_encoder_of_a_model_with_a_decoder_says_so(tmp_path):
    saved("bart-both", tmp_path)
    assert rollout(tmp_path)["notes"] == ["only the encoder was run, not the decoder"]
    assert "was saved from BartForConditionalGeneration" in fails(1, "gradient", tmp_path, "--ids", "5,6,7")
    assert "is a bart model that cannot predict the next word" in fails(1, "relevance", tmp_path, "--prompt", "a")


def test_a_result_says_that_attention_does_not_show_the_convolution_of_deberta(tmp_path):
    saved("deberta-convolution", tmp_path)
    assert rollout(tmp_path)["notes"] == [
        "a convolution beside the first block mixes neighbouring tokens, which no attention shows; relevance counts it"]
    assert ask("relevance", tmp_path, "--ids", "5,6,7", "--target", "1")["notes"]


@pytest.mark.parametrize("entries, words", [
    (dict(conv_kernel_size=4), "'conv_kernel_size' is 4, expected an odd number of neighbours up to 255"),
    (dict(conv_kernel_size=257), "'conv_kernel_size' is 257, expected an odd number"),
    (dict(conv_groups=4), "'conv_groups' is 4, expected a divisor of 'hidden_size', 42"),
    (dict(conv_groups=0), "'conv_groups' is 0"),
    (dict(conv_act="sine"), "'conv_act' is 'sine'"),
    (dict(conv_kernel_size=5), "tensor 'encoder.conv.conv.weight' is [42, 42, 3], expected [42, 42, 5]")])
def test_a_convolution_that_cannot_be_is_refused(entries, words, tmp_path):
    make("DebertaV2Model", "DebertaV2Config", KNOWN["deberta-convolution"][2]).save_pretrained(tmp_path)
    change(tmp_path, **entries)
    assert words in fails(1, "info", tmp_path)


def test_a_convolution_stays_within_its_text(tmp_path):
    """Texts of a file run side by side in one matrix."""
    saved("deberta-convolution-absolute", tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    weights["deberta.encoder.conv.conv.weight"] = torch.randn(42, 1, 5)
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    change(tmp_path, conv_kernel_size=5)
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghij"]))
    change(tmp_path, tokenizer_class="BertTokenizer")
    lines = ["a b c", "d e f g h", "j a"]
    (tmp_path / "lines.txt").write_text("\n".join(lines))
    for words in (["rollout"], ["relevance", "--row", 1, "--target", 0]):
        together = ask(words[0], tmp_path, "--text-file", tmp_path / "lines.txt", "--item", "all", *words[1:])
        for line, result in zip(lines, together, strict=True):
            assert result["values"] == ask(words[0], tmp_path, "--text", line, *words[1:])["values"]


IDS = torch.tensor([[5, 9, 33, 7, 61, 12, 4]])


def compare_ids(folder, model):
    compare(folder, model, dict(input_ids=IDS), "ids", ",".join(map(str, IDS[0].tolist())))


def as_torch(folder, state, name="pytorch_model.bin", **how):
    """The folder with this state dict as the only weights."""
    for old in folder.glob("*.safetensors*"):
        old.unlink()
    torch.save(state, folder / name, **how)


ZIP, OLD = dict(), dict(_use_new_zipfile_serialization=False)


@pytest.mark.parametrize("how", [ZIP, OLD], ids=["zip", "old"])
@pytest.mark.parametrize("name", ["bert-masked", "gpt2", "llama", "roberta-classifier", "albert"])
def test_weights_that_torch_saved(name, how, tmp_path):
    model = saved(name, tmp_path)
    as_torch(tmp_path, model.state_dict(), **how)
    compare_ids(tmp_path, model)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_that_torch_saved(dtype, tmp_path):
    as_torch(tmp_path, saved("llama", tmp_path).to(dtype).state_dict())
    compare_ids(tmp_path, hf.LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.float32,
                                                              attn_implementation="eager"))


@pytest.mark.parametrize("how", [ZIP, OLD], ids=["zip", "old"])
def test_transposed_shared_and_sliced_tensors_that_torch_saved(how, tmp_path):
    """As conversions from TensorFlow leave them; the tensors of a layer are parts of one storage."""
    model = saved("bert", tmp_path)
    state = {}
    for key, tensor in model.state_dict().items():
        if tensor.dim() == 2 and "dense" in key:
            state[key] = tensor.t().contiguous().t()
        elif "query" in key or "key.weight" in key:
            state[key] = torch.stack([torch.zeros_like(tensor), tensor])[1]
        elif "value" in key:
            state[key] = torch.nn.Parameter(tensor)
        else:
            state[key] = tensor
    state["step"] = 7
    as_torch(tmp_path, state, **how)
    compare_ids(tmp_path, model)


def test_state_dict_of_a_training_checkpoint(tmp_path):
    model = saved("bert", tmp_path)
    state = {f"model.{key}": tensor for key, tensor in model.state_dict().items()}
    as_torch(tmp_path, {"epoch": 3, "rate": 0.5, "hyper": {"a": [1, None, True]}, "state_dict": state})
    compare_ids(tmp_path, model)


def test_shards_that_torch_saved(tmp_path):
    model = saved("llama", tmp_path)
    state = model.state_dict()
    (tmp_path / "model.safetensors").unlink()
    names = sorted(state)
    parts = {f"pytorch_model-0000{k + 1}-of-00003.bin": names[k::3] for k in range(3)}
    for file, keys in parts.items():
        torch.save({key: state[key] for key in keys}, tmp_path / file)
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(
        {"metadata": {}, "weight_map": {key: file for file, keys in parts.items() for key in keys}}))
    compare_ids(tmp_path, model)


def test_variants_are_taken_and_named(tmp_path):
    model = saved("bert", tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "model.fp16.safetensors")
    assert rollout(tmp_path)["notes"] == ["the weights are those of model.fp16.safetensors"]
    compare_ids(tmp_path, model)
    save_file(load_file(tmp_path / "model.fp16.safetensors"), tmp_path / "model.bf16.safetensors")
    assert "several variants (model.bf16.safetensors, model.fp16.safetensors)" in fails(1, "info", tmp_path)


@pytest.mark.parametrize("outer", ["module.", "model.", "auto_model.", "_orig_mod.", "0.auto_model."])
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "bert-classifier"])
def test_prefixes_of_wrappers(name, outer, tmp_path):
    model = saved(name, tmp_path)
    before = ask("gradient", tmp_path, "--ids", "5,6,7", "--target", "1") if name != "bert" else None
    change_weights(tmp_path, lambda weights: {outer + key: tensor for key, tensor in weights.items()})
    compare_ids(tmp_path, model)
    if before:
        assert ask("gradient", tmp_path, "--ids", "5,6,7", "--target", "1")["values"] == before["values"]
    with_tensor(tmp_path, f"{outer}{next(k for k in model.state_dict() if '.0.' in k)}.odd", 3)
    assert ".odd'" in fails(1, "info", tmp_path)


def test_either_name_of_the_words_of_neox(tmp_path):
    saved("neox", tmp_path)
    before = ask("generate", tmp_path, "--ids", "5,6", "--count", "3")["generated_ids"]
    names = {"embed_out.weight": "lm_head.weight", "lm_head.weight": "embed_out.weight"}
    change_weights(tmp_path, lambda weights: {names.get(key, key): tensor for key, tensor in weights.items()})
    assert ask("generate", tmp_path, "--ids", "5,6", "--count", "3")["generated_ids"] == before


@pytest.mark.parametrize("file, words", [
    ("model-q4.gguf", "llama.cpp (GGUF)"), ("model.onnx", "ONNX"), ("tf_model.h5", "TensorFlow (h5)"),
    ("flax_model.msgpack", "Flax"), ("adapter_model.safetensors", "an adapter (PEFT)"),
    ("bert_model.ckpt.index", "checkpoint of TensorFlow"), ("best.pt", "not named pytorch_model.bin"),
    ("weights.safetensors", "no file named model.safetensors"), ("README.md", "neither model.safetensors nor"),
])
def test_what_else_is_there_is_named(file, words, tmp_path):
    saved("bert", tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / file)
    assert words in fails(1, "info", tmp_path)


@pytest.mark.parametrize("file, words", [
    ("adapter_model.safetensors", "holds an adapter (PEFT)"), ("q4.gguf", "q4.gguf holds weights for llama.cpp"),
    ("onnx/model_q8.onnx", "onnx/model_q8.onnx holds a graph for ONNX"), ("bert_model.ckpt.meta", "a checkpoint of TensorFlow"),
    ("model.safetensors", "is a folder without config.json, with model.safetensors"), ("model_index.json", "is a pipeline of diffusers"),
    ("README.md", "is a folder without config.json"),
])
def test_a_folder_without_config_says_what_it_holds(file, words, tmp_path):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("x")
    assert words in fails(1, "rollout", tmp_path, "--text", "a")


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json", "pytorch_model.bin"])
def test_pointers_of_git_lfs_are_named(file, tmp_path):
    saved("bert", tmp_path)
    if file == "pytorch_model.bin":
        (tmp_path / "model.safetensors").unlink()
    (tmp_path / file).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 440449768\n")
    said = fails(1, "rollout", tmp_path, "--text", "a")
    assert f"{file}: is a Git LFS pointer" in said and "git lfs pull" in said


@pytest.mark.parametrize("extra, method", [("qweight", "GPTQ or AWQ"), ("SCB", "bitsandbytes, 8 bits"),
                                           ("weight.absmax", "bitsandbytes, 4 bits")])
def test_quantised_tensors_are_named(extra, method, tmp_path):
    saved("llama", tmp_path)
    stem = "model.layers.0.self_attn.q_proj."

    def quantise(weights):
        weights[stem + extra] = torch.ones(4)
        weights[stem + "weight"] = weights[stem + "weight"].to(torch.int8)
        return weights
    change_weights(tmp_path, quantise)
    assert f"of quantised weights ({method})" in fails(1, "info", tmp_path)


class Evil:
    def __reduce__(self):
        return os.system, ("touch evil",)


@pytest.mark.parametrize("how", [ZIP, OLD], ids=["zip", "old"])
def test_a_pickle_that_calls_something_is_refused(how, tmp_path):
    model = saved("bert", tmp_path)
    as_torch(tmp_path, dict(model.state_dict(), evil=Evil()), **how)
    assert "asks Python to call" in fails(1, "info", tmp_path)
    assert ".system'" in fails(1, "info", tmp_path) and not (tmp_path / "evil").exists()
