"""--against-text and --against-image: why are these two similar? Against torch, with the rules of changed_network."""
import json

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image

from changed_network import changed, layers_of
from command import ask, fails, run
from families import CLIP_IMAGE, CLIP_TEXT, ENCODER, make
from tokenizer_kinds import bert

ONE, OTHER = "the quick brown fox", "jumps over a lazy dog"
LIMIT = 1e-4


def pooled(folder, **modes):
    (folder / "modules.json").write_text(json.dumps([
        {"idx": k, "name": str(k), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for k, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])]))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling/config.json").write_text(json.dumps(dict(word_embedding_dimension=42) | modes))


def words(folder):
    tokenizer = bert()
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer


@pytest.fixture
def sentences(tmp_path):
    """A BERT in a folder of sentence-transformers, and its tokenizer."""
    tokenizer = words(tmp_path)
    model = make("BertModel", "BertConfig", dict(ENCODER, vocab_size=tokenizer.get_vocab_size()))
    model.save_pretrained(tmp_path)
    pooled(tmp_path, pooling_mode_mean_tokens=True)
    return tmp_path, model.double(), tokenizer


def mean(rows):
    return rows[0].mean(0)


def first(rows):
    return rows[0, 0]


def weighted(rows):
    weight = torch.arange(1, rows.shape[1] + 1, dtype=rows.dtype)
    return (rows[0] * weight[:, None]).sum(0) / weight.sum()


def relevance_of(model, run, other, rule, factor=1.0):
    """The cosine and the relevance of each input row, with the length of the vector a constant."""
    kept = {}
    norm = next((m for name, m in model.named_modules() if name in ("embeddings.LayerNorm", "vision_model.pre_layrnorm")),
                None)
    def keep(module, given):
        if "rows" not in kept:
            kept["rows"] = given[0]
            given[0].retain_grad()
    hooks = [place.register_forward_pre_hook(keep) for place in [norm, *layers_of(model)] if place is not None]
    with changed(model, rule):
        vector = run()
    for hook in hooks:
        hook.remove()
    cosine = factor * (vector @ other) / vector.norm().detach()
    cosine.backward()
    return float(cosine.detach()), (kept["rows"] * kept["rows"].grad)[0].sum(-1).detach().numpy()


@pytest.mark.parametrize("modes, pool", [(dict(pooling_mode_mean_tokens=True), mean),
                                         (dict(pooling_mode_cls_token=True, pooling_mode_mean_tokens=False), first),
                                         (dict(pooling_mode_weightedmean_tokens=True), weighted),
                                         (dict(pooling_mode="mean"), mean)])
@pytest.mark.parametrize("rule", ["frozen", "attnlrp"])
def test_relevance_of_a_cosine_of_texts(sentences, modes, pool, rule):
    folder, model, tokenizer = sentences
    pooled(folder, **modes)
    ids = [torch.tensor([tokenizer.encode(text).ids]) for text in (ONE, OTHER)]
    with torch.no_grad():
        other = pool(model(input_ids=ids[1]).last_hidden_state)
    cosine, values = relevance_of(model, lambda: pool(model(input_ids=ids[0]).last_hidden_state), other / other.norm(), rule)
    found = ask("relevance", folder, "--text", ONE, "--against-text", OTHER, "--rule", rule)
    assert found["target"]["name"] == f"similarity to '{OTHER}'" and len(found["tokens"]) == ids[0].shape[1]
    assert abs(found["output"] - cosine) < LIMIT
    shown = run("relevance", folder, "--text", ONE, "--against-text", OTHER, "--rule", rule).stdout
    assert f" for similarity to '{OTHER}', output token" in shown.splitlines()[0]
    assert np.abs(np.array(found["values"][0]) - values).max() < LIMIT * max(1, np.abs(values).max())
    if rule == "frozen":
        assert found["sum"] + found["biases"] == pytest.approx(found["output"], abs=1e-3)


def test_the_gradient_of_a_cosine(sentences):
    """It falls to 0 where the two are the same: a cosine has its largest value there."""
    folder, model, tokenizer = sentences
    ids = [torch.tensor([tokenizer.encode(text).ids]) for text in (ONE, OTHER)]
    with torch.no_grad():
        other = mean(model(input_ids=ids[1]).last_hidden_state)
    out = model(input_ids=ids[0], output_attentions=True)
    for attention in out.attentions:
        attention.retain_grad()
    torch.nn.functional.cosine_similarity(mean(out.last_hidden_state), other, dim=0).backward()
    maps = np.stack([(a * a.grad)[0].clamp(min=0).mean(0).detach().numpy() for a in out.attentions])
    found = ask("gradient", folder, "--text", ONE, "--against-text", OTHER, "--row", "all")
    assert np.abs(np.array(found["values"]) - maps.mean(0)).max() < LIMIT * maps.max()
    same = ask("gradient", folder, "--text", ONE, "--against-text", ONE, "--row", "all")
    assert same["target"]["value"] == pytest.approx(1, abs=1e-5)
    assert np.abs(same["values"]).max() < 1e-2 * maps.max()


@pytest.fixture
def clip(tmp_path):
    tokenizer = words(tmp_path)
    end = tokenizer.token_to_id("[SEP]")
    text = dict(CLIP_TEXT, vocab_size=tokenizer.get_vocab_size(), eos_token_id=end)
    model = make("CLIPModel", "CLIPConfig", dict(text_config=text, vision_config=CLIP_IMAGE, projection_dim=10,
                                                 initializer_factor=7.0))
    model.save_pretrained(tmp_path)
    processor = hf.CLIPImageProcessor(size={"shortest_edge": 20}, crop_size={"height": 20, "width": 20})
    processor.save_pretrained(tmp_path)
    path = tmp_path / "noise.png"
    Image.fromarray(np.random.default_rng(3).integers(0, 255, (20, 20, 3), dtype=np.uint8)).save(path)
    pixels = processor(Image.open(path), return_tensors="pt")["pixel_values"].double()
    return tmp_path, model.double(), torch.tensor([tokenizer.encode(ONE).ids]), path, pixels


def test_relevance_of_a_text_and_of_an_image_to_each_other(clip):
    folder, model, ids, path, pixels = clip
    with torch.no_grad():
        logit = float(model(input_ids=ids, pixel_values=pixels).logits_per_image[0, 0])
        text = model.text_projection(model.text_model(input_ids=ids).pooler_output)[0]
        image = model.visual_projection(model.vision_model(pixel_values=pixels).pooler_output)[0]
    factor = float(model.logit_scale.exp())
    of_text, values = relevance_of(
        model, lambda: model.text_projection(model.text_model(input_ids=ids).pooler_output)[0], image / image.norm(),
        "frozen", factor)
    found = ask("relevance", folder, "--text", ONE, "--against-image", path)
    assert abs(found["output"] - logit) < LIMIT * factor and abs(of_text - logit) < 1e-3
    assert np.abs(np.array(found["values"][0]) - values).max() < LIMIT * np.abs(values).max() * 10
    of_image, values = relevance_of(
        model, lambda: model.visual_projection(model.vision_model(pixel_values=pixels).pooler_output)[0], text / text.norm(),
        "frozen", factor)
    found = ask("relevance", folder, "--image", path, "--against-text", ONE)
    assert abs(found["output"] - logit) < LIMIT * factor and abs(of_image - logit) < 1e-3
    assert found["tokens"][0] == "[CLS]" and len(found["values"][0]) == 17
    assert np.abs(np.array(found["values"][0]) - values).max() < LIMIT * np.abs(values).max() * 10


def test_two_texts_of_clip_have_a_cosine(clip):
    folder, model, ids, *_ = clip
    found = ask("relevance", folder, "--text", ONE, "--against-text", ONE)
    assert found["output"] == pytest.approx(1, abs=1e-5)


@pytest.fixture
def siglip(tmp_path):
    tokenizer = words(tmp_path)
    text = {name: value for name, value in CLIP_TEXT.items() if "token_id" not in name} | dict(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=16, pad_token_id=1)
    model = make("SiglipModel", "SiglipConfig", dict(text_config=text | dict(projection_size=48), vision_config=CLIP_IMAGE))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.copy_(torch.randn_like(parameter) * 0.25)
        model.logit_scale.fill_(1.2)
        model.logit_bias.fill_(-0.7)
    model.save_pretrained(tmp_path)
    processor = hf.SiglipImageProcessor(size={"height": 20, "width": 20})
    processor.save_pretrained(tmp_path)
    path = tmp_path / "noise.png"
    Image.fromarray(np.random.default_rng(3).integers(0, 255, (20, 20, 3), dtype=np.uint8)).save(path)
    pixels = processor(Image.open(path), return_tensors="pt")["pixel_values"].double()
    ids = tokenizer.encode(ONE).ids
    return tmp_path, model.double(), torch.tensor([ids + [1] * (16 - len(ids))]), path, pixels


def test_siglip_compares_by_its_own_pooling(siglip):
    """The logit, its gradient by each attention map, and a relevance that loses nothing."""
    folder, model, ids, path, pixels = siglip
    out = model(input_ids=ids, pixel_values=pixels, output_attentions=True)
    logit = out.logits_per_image[0, 0]
    stacks = [out.text_model_output.attentions, out.vision_model_output.attentions]
    for attention in [*stacks[0], *stacks[1]]:
        attention.retain_grad()
    logit.backward()
    asked = (["--text", ONE, "--against-image", path], ["--image", path, "--against-text", ONE])
    for attentions, words_of_it in zip(stacks, asked):
        maps = np.stack([(a * a.grad)[0].clamp(min=0).mean(0).detach().numpy() for a in attentions])
        found = ask("gradient", folder, *words_of_it, "--row", "all")
        assert found["target"]["value"] == pytest.approx(logit.item(), abs=LIMIT)
        assert np.abs(np.array(found["values"]) - maps.mean(0)).max() < LIMIT * maps.max()
        kept = ask("relevance", folder, *words_of_it)
        assert kept["output"] == pytest.approx(logit.item(), abs=LIMIT)
        assert kept["sum"] + kept["biases"] == pytest.approx(kept["output"], abs=1e-3)
        assert ask("relevance", folder, *words_of_it, "--rule", "attnlrp")["output"] == kept["output"]
    assert len(ask("relevance", folder, *asked[0])["tokens"]) == 16


def test_a_folder_without_config_is_taken_by_its_first_module(sentences):
    folder, *_ = sentences
    before = ask("relevance", folder, "--text", ONE, "--against-text", OTHER)["values"]
    inside = folder / "0_Transformer"
    inside.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).rename(inside / name)
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(modules))
    assert ask("relevance", folder, "--text", ONE, "--against-text", OTHER)["values"] == before
    assert len(ask("rollout", folder, "--text", ONE)["tokens"]) == len(before[0])


def test_what_cannot_be_compared_is_said(sentences):
    folder, *_ = sentences
    assert "expected no --target such as '1'" in fails(1, "relevance", folder, "--text", ONE, "--against-text", OTHER,
                                                      "--target", "1")
    pooled(folder, pooling_mode_max_tokens=True)
    assert "pools rows in a way that is not implemented" in fails(1, "relevance", folder, "--text", ONE, "--against-text", "a")
    (folder / "modules.json").write_text("{")
    assert "is not a list of modules" in fails(1, "relevance", folder, "--text", ONE, "--against-text", "a")
    (folder / "modules.json").unlink()


@pytest.mark.parametrize("name", ["verb-number", "facts"])
def test_a_model_without_a_pooling_says_so(name):
    said = fails(1, "relevance", name, "--text", ONE, "--against-text", OTHER)
    assert "does not say how it makes one vector of an input" in said


def test_what_sentence_transformers_would_read_is_said(sentences):
    folder, _, _ = sentences
    words = ["relevance", folder, "--text", ONE, "--against-text", ONE]
    assert ask(*words)["notes"] == []
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps(dict(prompts={"query": "query: ", "document": ""}, default_prompt_name=None)))
    assert ask(*words)["notes"] == []
    path.write_text(json.dumps(dict(prompts={"query": "query: ", "document": ""}, default_prompt_name="query")))
    assert ask(*words)["notes"] == [
        f"{which} was read as it is; sentence-transformers puts 'query: ' before texts for this model"
        for which in ("the text", "the other text")]
    path.unlink()
    (folder / "sentence_bert_config.json").write_text(json.dumps(dict(max_seq_length=3, do_lower_case=True)))
    count = len(ask(*words)["tokens"])
    assert ask(*words)["notes"] == [
        f"{which} has {count} tokens, all of which were read; sentence-transformers cuts texts to 3 for this model"
        for which in ("the text", "the other text")]
