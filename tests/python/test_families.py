"""Every family against transformers' eager float32: hidden states and attention of every head within 1e-4."""
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from command import HEADWATER
from families import IMAGES, TEXT, make

LIMIT = 1e-4
PROGRAM = Path(HEADWATER).with_name("headwater_states")


def error(ours, theirs):
    """Largest difference, as a share of the largest number."""
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-9))


def body_of(model, text=True):
    """Of a model with an encoder and a decoder, the encoder; of one with two towers, the one for the input."""
    body = getattr(model, model.base_model_prefix, model)
    if hasattr(body, "logit_scale"):
        return body.text_model if text else body.vision_model
    return body.get_encoder() if model.config.is_encoder_decoder else body


def final_norm(body):
    names = ("ln_f", "norm", "layernorm", "final_layer_norm", "final_norm", "post_layernorm", "layer_norm")
    if type(body).__name__ == "CLIPForImageClassification":
        return None  # it reads the rows before the norm
    parts = (body, *(getattr(body, name, None) for name in ("decoder", "encoder", "vision_model")))
    return next((getattr(part, name) for part in parts for name in names if hasattr(part, name)), None)


def expected(model, **inputs):
    """Hidden states before layer 0 and after each layer, without the final norm, and attention [L, H, n, n]."""
    body, seen = body_of(model, "input_ids" in inputs), []
    layers = next(module for module in body.modules() if isinstance(module, torch.nn.ModuleList))
    hooks = [layer.register_forward_hook(lambda module, given, out: seen.append(
        (given[0], out[0] if isinstance(out, tuple) else out))) for layer in layers]
    with torch.no_grad():
        out = body(**inputs, output_attentions=True)
    for hook in hooks:
        hook.remove()
    # A layer's input is not always the output of the one before: DeBERTa has a convolution after the first.
    states = [before for before, _ in seen] + [seen[-1][1]]
    norm = final_norm(body)
    with torch.no_grad():
        states.append(norm(states[-1]) if norm is not None else states[-1])
    return (np.stack([state[0].numpy() for state in states]),
            np.stack([attention[0].numpy() for attention in out.attentions]))


def ours(folder, states, maps, *words):
    out = folder / "out.bin"
    done = subprocess.run([PROGRAM, folder, *words, out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    numbers = np.fromfile(out, dtype=np.float32)
    assert numbers.size == states.size + maps.size
    layers, heads, n, _ = maps.shape
    return (numbers[:states.size].reshape(states.shape),
            numbers[states.size:].reshape(heads, layers, n, n).transpose(1, 0, 2, 3))


def compare(folder, model, inputs, *words):
    states, maps = expected(model, **inputs)
    assert maps.max(axis=-1).mean() > 1.5 / maps.shape[-1], "attention is too uniform to tell anything"
    our_states, our_maps = ours(folder, states, maps, *words)
    for layer in range(len(states)):
        assert error(our_states[layer], states[layer]) < LIMIT, f"hidden state {layer}"
    assert np.abs(our_maps - maps).max() < LIMIT


@pytest.mark.parametrize("name", TEXT)
def test_text_model_equals_eager(name, tmp_path):
    model = make(*TEXT[name])
    model.save_pretrained(tmp_path)
    ids = torch.randint(4, 71, (1, 23), generator=torch.Generator().manual_seed(1))
    compare(tmp_path, model, dict(input_ids=ids), "ids", ",".join(map(str, ids[0].tolist())))


def test_distances_of_mpnet_up_to_the_furthest(tmp_path):
    kind, config, entries = TEXT["mpnet"]
    model = make(kind, config, dict(entries, max_position_embeddings=300))
    model.save_pretrained(tmp_path)
    ids = torch.randint(4, 71, (1, 290), generator=torch.Generator().manual_seed(1))
    states, maps = expected(model, input_ids=ids)
    our_states, our_maps = ours(tmp_path, states, maps, "ids", ",".join(map(str, ids[0].tolist())))
    assert error(our_states, states) < LIMIT and np.abs(our_maps - maps).max() < LIMIT


def test_distances_of_deberta_up_to_the_furthest(tmp_path):
    """As many buckets and positions as the published models have, and texts longer than the furthest distance."""
    kind, config, entries = TEXT["deberta"]
    model = make(kind, config, dict(entries, max_position_embeddings=512, position_buckets=256))
    model.save_pretrained(tmp_path)
    change = json.loads((tmp_path / "config.json").read_text()) | dict(max_relative_positions=512, max_position_embeddings=700)
    (tmp_path / "config.json").write_text(json.dumps(change))
    ids = torch.randint(4, 71, (1, 690), generator=torch.Generator().manual_seed(1))
    states, maps = expected(model, input_ids=ids)
    our_states, our_maps = ours(tmp_path, states, maps, "ids", ",".join(map(str, ids[0].tolist())))
    assert error(our_states, states) < LIMIT and np.abs(our_maps - maps).max() < LIMIT


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "llama", "mpnet", "modernbert", "deberta", "t5",
                                  "deberta-convolution"])
def test_a_single_token_equals_eager(name, tmp_path):
    model = make(*TEXT[name])
    model.save_pretrained(tmp_path)
    states, maps = expected(model, input_ids=torch.tensor([[5]]))
    our_states, our_maps = ours(tmp_path, states, maps, "ids", "5")
    assert error(our_states, states) < LIMIT and np.abs(our_maps - maps).max() < LIMIT


def test_padding_ids_of_roberta_take_their_own_position(tmp_path):
    model = make(*TEXT["roberta"])
    model.save_pretrained(tmp_path)
    ids = [4, 9, 1, 33, 1, 7]
    with torch.no_grad():
        theirs = model.embeddings(input_ids=torch.tensor([ids]))[0].numpy()
    states, maps = expected(model, input_ids=torch.tensor([ids]))
    our_states, _ = ours(tmp_path, states, maps, "ids", ",".join(map(str, ids)))
    assert error(our_states[0], theirs) < LIMIT


@pytest.mark.parametrize("name", IMAGES)
def test_image_model_equals_eager(name, tmp_path):
    kind, config, entries, (height, width) = IMAGES[name]
    model = make(kind, config, entries)
    model.save_pretrained(tmp_path)
    pixels = torch.randn(1, 3, height, width, generator=torch.Generator().manual_seed(1))
    file = tmp_path / "pixels.bin"
    pixels.numpy().tofile(file)
    compare(tmp_path, model, dict(pixel_values=pixels), "pixels", str(height), str(width), file)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_half_precision_weights_are_used_as_they_are_stored(name, dtype, tmp_path):
    model = make(*TEXT[name])
    model.to(dtype).save_pretrained(tmp_path)
    model = type(model).from_pretrained(tmp_path, dtype=torch.float32, attn_implementation="eager")
    ids = torch.randint(4, 71, (1, 17), generator=torch.Generator().manual_seed(2))
    compare(tmp_path, model, dict(input_ids=ids), "ids", ",".join(map(str, ids[0].tolist())))


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_sharded_weights(name, tmp_path):
    model = make(*TEXT[name])
    model.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 2
    ids = torch.randint(4, 71, (1, 11), generator=torch.Generator().manual_seed(3))
    compare(tmp_path, model, dict(input_ids=ids), "ids", ",".join(map(str, ids[0].tolist())))
