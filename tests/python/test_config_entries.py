"""Entries of config.json that a model may or may not have, and what they mean: against transformers, or refused."""
import json

import pytest
import torch
import transformers as hf

from command import ask, fails, run
from families import TEXT, make
from test_families import compare

IDS = [5, 9, 33, 7, 61, 12, 4, 40, 22, 18, 50, 8]
WORDS = ["--ids", ",".join(map(str, IDS))]
LAYERS = ["sliding_attention", "full_attention", "sliding_attention"]


def changed(name, folder, entries, without=()):
    """The model with these entries of config.json as transformers reads them, saved with the same file."""
    kind = TEXT[name][0]
    make(*TEXT[name]).save_pretrained(folder)
    config = {key: value for key, value in json.loads((folder / "config.json").read_text()).items()
              if key not in without} | entries
    (folder / "config.json").write_text(json.dumps(config))
    known = getattr(hf, kind).config_class.from_pretrained(folder)
    torch.manual_seed(0)
    model = getattr(hf, kind)(known).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    model.set_attn_implementation("eager")
    model.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(config))
    return model


ROPE = ("rope_parameters",)


@pytest.mark.parametrize("name, entries, without", [
    ("llama", dict(rope_theta=500.0, rope_scaling=dict(type="yarn", factor=4.0, finetuned=True)), ROPE),
    ("llama", dict(rope_scaling=dict(rope_type="linear", factor=2.0), rope_parameters=dict(rope_theta=50.0)), ()),
    ("neox", dict(rotary_pct=0.5, rotary_emb_base=500), ROPE),
    ("phi3", dict(original_max_position_embeddings=12, rope_scaling=dict(
        type="longrope", short_factor=[1.0, 1.1, 1.3], long_factor=[1.5, 2.0, 4.0])), (*ROPE, "max_position_embeddings")),
    ("gemma3", dict(rope_theta=700.0, rope_local_base_freq=50.0, sliding_window=4, sliding_window_pattern=2,
                    _sliding_window_pattern=6), (*ROPE, "layer_types")),
    ("gemma3", dict(sliding_window=4, _sliding_window_pattern=2), (*ROPE, "layer_types")),
    ("gemma3", dict(attn_logit_softcapping=0.5), ()),
    ("modernbert", dict(global_rope_theta=900.0, local_rope_theta=50.0, global_attn_every_n_layers=2),
     (*ROPE, "layer_types")),
])
def test_entries_mean_what_transformers_takes_them_for(name, entries, without, tmp_path):
    model = changed(name, tmp_path, entries, without)
    compare(tmp_path, model, dict(input_ids=torch.tensor([IDS])), "ids", ",".join(map(str, IDS)))


@pytest.mark.parametrize("name, entries, without, words", [
    ("neox", dict(rotary_pct=0.5, rope_theta=300.0), ROPE, "'rope_theta' is 300.0 and 'rotary_emb_base' is 10000"),
    ("neox", dict(rotary_pct=0.5, partial_rotary_factor=0.25), ROPE, "'partial_rotary_factor' is 0.25 and 'rotary_pct'"),
    ("neox", dict(head_dim=8), (), "'head_dim' is 8, which headwater does not implement, expected 16"),
    ("gemma3", dict(rope_parameters=dict(rope_type="linear", factor=4.0, rope_theta=44.0)), (),
     "'rope_parameters' does not name the kinds of layers"),
])
def test_entries_that_contradict_each_other_are_refused(name, entries, without, words, tmp_path):
    changed(name, tmp_path, entries, without)
    assert words in fails(1, "info", tmp_path)


OTHER_NAMES = [
    ("gpt2", dict(n_embd="hidden_size", n_layer="num_hidden_layers", n_head="num_attention_heads",
                  n_positions="max_position_embeddings")),
    ("distilbert-masked", dict(dim="hidden_size", n_layers="num_hidden_layers", n_heads="num_attention_heads")),
    ("t5", dict(d_model="hidden_size", num_layers="num_hidden_layers", num_heads="num_attention_heads", d_kv="head_dim")),
    ("bart", dict(d_model="hidden_size", encoder_layers="num_hidden_layers", encoder_attention_heads="num_attention_heads")),
]


@pytest.mark.parametrize("name, others", OTHER_NAMES)
def test_sizes_may_have_their_other_names(name, others, tmp_path):
    sizes = TEXT[name][2]
    model = changed(name, tmp_path, {other: sizes[own] for own, other in others.items()}, tuple(others))
    compare(tmp_path, model, dict(input_ids=torch.tensor([IDS])), "ids", ",".join(map(str, IDS)))


@pytest.mark.parametrize("name, own, other", [(name, own, other) for name, others in OTHER_NAMES
                                              for own, other in others.items() if own != "encoder_layers"])
def test_two_names_of_a_size_that_differ_are_refused(name, own, other, tmp_path):
    size = TEXT[name][2][own]
    changed(name, tmp_path, {other: 2 * size})
    assert f"'{own}' is {size} and '{other}', another name of it, is {2 * size}" in fails(1, "info", tmp_path)


@pytest.mark.parametrize("entries, length, seen", [
    (dict(sliding_window=None), 4120, True), (dict(), 4120, False), (dict(), 4096, True),
])
def test_mistral_has_a_window_unless_it_says_otherwise(entries, length, seen, tmp_path):
    """Whether the last row sees the first token. Layers hand on what they saw: one layer shows it."""
    kind, config, sizes = TEXT["mistral"]
    make(kind, config, dict(sizes, num_hidden_layers=1, max_position_embeddings=5000)).save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "config.json").read_text())
    del saved["sliding_window"]
    (tmp_path / "config.json").write_text(json.dumps(saved | entries))
    (tmp_path / "ids").write_text(",".join(str(5 + k % 60) for k in range(length)))
    values = ask("rollout", tmp_path, "--ids", (tmp_path / "ids").read_text(), "--row", "last")["values"][0]
    assert (values[0] > 0) == seen


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("name", ["bert-masked", "roberta-masked", "albert-groups", "mpnet-masked", "deberta-masked",
                                  "distilbert-masked", "electra-masked", "modernbert-masked"])
def test_words_of_an_encoder_may_have_a_table_of_their_own(name, tied, tmp_path):
    """With biases of their own too, which stand beside the shared ones in the file."""
    model = changed(name, tmp_path, dict(tie_word_embeddings=tied))
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([IDS])).logits[0, 3]
    for target in (int(logits.argmax()), 7):
        found = ask("gradient", tmp_path, *WORDS, "--row", 3, "--target", target)["target"]
        assert found["value"] == pytest.approx(float(logits[target]), abs=1e-3)


def test_a_table_of_words_that_is_missing_is_not_made_up(tmp_path):
    make(*TEXT["bert-masked"]).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | dict(tie_word_embeddings=False)))
    assert "has no tensor 'cls.predictions.decoder.weight'" in fails(1, "gradient", tmp_path, *WORDS, "--row", 3)


def test_numbers_of_a_regression_have_no_probability(tmp_path):
    model = changed("bert-classifier", tmp_path, dict(problem_type="regression", id2label={"0": "sweet", "1": "sour"}))
    with torch.no_grad():
        numbers = model(input_ids=torch.tensor([IDS])).logits[0]
    said = ask("info", tmp_path, *WORDS)["prediction"]
    assert said["name"] == ["sweet", "sour"][int(numbers.argmax())] and "probability" not in said and "runner_up" not in said
    assert said["value"] == pytest.approx(float(numbers.max()), abs=1e-4)
    assert f"output '{said['name']}' {said['value']:.4g}" in run("info", tmp_path, *WORDS).stdout


def test_classes_of_which_several_may_be_true_have_probabilities_of_their_own(tmp_path):
    model = changed("bert-classifier", tmp_path, dict(problem_type="multi_label_classification", id2label={
        "0": "anger", "1": "joy"}))
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([IDS])).logits[0]
    best, other = logits.argsort(descending=True).tolist()
    said = ask("info", tmp_path, *WORDS)["prediction"]
    assert said["name"] == ["anger", "joy"][best]
    assert said["probability"] == pytest.approx(float(logits[best].sigmoid()), abs=1e-5)
    assert said["runner_up"]["probability"] == pytest.approx(float(logits[other].sigmoid()), abs=1e-5)
