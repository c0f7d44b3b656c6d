"""Logits, gradient x attention and input gradients of every family against torch autograd on eager attention."""
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from command import HEADWATER
from families import IMAGES, TEXT, make

LIMIT = 1e-4
PROGRAM = Path(HEADWATER).with_name("headwater_gradients")
WORDS = ("MaskedLM", "LMHeadModel", "CausalLM", "BertForPreTraining")


def has_head(entry):
    return entry[0].endswith("LMHeadModel") or not entry[0].endswith(("Model", "ConditionalGeneration"))


WITH_HEAD = {name: entry for name, entry in {**TEXT, **IMAGES}.items() if has_head(entry)}


def error(ours, theirs):
    """Largest difference, as a share of the largest number."""
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-9))


def inputs_of(name, folder):
    """What torch takes, and the same as words for the program."""
    generator = torch.Generator().manual_seed(1)
    if name in TEXT:
        ids = torch.randint(4, 71, (1, 23), generator=generator)
        if name == "gpt2-classifier":
            ids[0, -2:] = 3  # padding, which is not the last token that counts
        return dict(input_ids=ids), ["ids", ",".join(map(str, ids[0].tolist()))]
    height, width = IMAGES[name][3]
    pixels = torch.randn(1, 3, height, width, generator=generator)
    pixels.numpy().tofile(folder / "pixels.bin")
    return dict(pixel_values=pixels), ["pixels", f"{height},{width},{folder / 'pixels.bin'}"]


def logits_of(model, out):
    """Rows x outputs; one row where the whole input has classes."""
    if hasattr(out, "start_logits"):
        return torch.stack([out.start_logits[0], out.end_logits[0]], dim=1)
    logits = (out.prediction_logits if hasattr(out, "prediction_logits") else out.logits)[0]
    if type(model).__name__ == "ElectraForPreTraining":
        return logits[:, None]
    return logits[None] if logits.dim() == 1 else logits


def words_of(body):
    """The module that looks words up; T5's encoder has its own beside the one that it shares."""
    return getattr(getattr(body, "encoder", None), "embed_tokens", None) or body.get_input_embeddings()


class Torch:
    """A model run by torch, and differentiated: attention x gradient [L, H, n, n], dy/d embedding, embedding."""

    def __init__(self, model, inputs):
        body = getattr(model, model.base_model_prefix, model)
        text = "input_ids" in inputs
        # Positions are added to an image's rows, so that the gradient is the same before and after.
        module = words_of(body) if text else getattr(body, "vision_model", body).embeddings
        hook = module.register_forward_hook(self.keep)
        if not text:
            inputs = {name: tensor.to(model.dtype) for name, tensor in inputs.items()}
        out = model(**inputs, output_attentions=True)
        hook.remove()
        self.attentions = out.attentions
        for attention in self.attentions:
            attention.retain_grad()
        self.logits = logits_of(model, out)

    def keep(self, module, given, out):
        self.rows = out
        self.rows.retain_grad()

    def differentiate(self, target, against):
        y = self.logits[target] - (self.logits[against] if against else 0)
        y.backward()
        maps = np.stack([(a * a.grad)[0].detach().numpy() for a in self.attentions])
        return np.maximum(maps, 0), self.rows.grad[0].numpy(), self.rows.detach()[0].numpy()


def choose(kind, logits, against):
    """Row and id of the target and of the one against it, and how the program is told: target, against, row."""
    rows, outputs = logits.shape
    if kind.endswith(WORDS):
        place = rows - 1 if kind.endswith(("LMHeadModel", "CausalLM")) and not against else 7
        best = int(logits[place].argmax())
        if not against:
            return (place, best), None, ["best", "-", "-" if place == rows - 1 else str(place)]
        return (place, best), (place, 11), [str(best), "11", str(place)]
    row, best = divmod(int(logits.argmax()), outputs)
    if not against:
        return (row, best), None, ["best", "-", "-"]
    if "QuestionAnswering" in kind:
        return (5, 0), (9, 1), ["start:5", "end:9", "-"]
    other = (best + 1) % outputs
    return (row, best), (row, other), [str(best), str(other), "-" if rows == 1 else str(row)]


def ours(folder, words, told, reference):
    out = folder / "out.bin"
    done = subprocess.run([PROGRAM, folder, *words, *told, out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    numbers = np.fromfile(out, dtype=np.float32)
    layers, (_, heads, n, _) = len(reference.attentions), reference.attentions[0].shape
    sizes = [reference.logits.numel(), 3 if told[1] == "-" else 6, layers * n * n, heads * layers * n * n, n, n]
    assert numbers.size == sum(sizes)
    parts = np.split(numbers, np.cumsum(sizes)[:-1])
    return (parts[0].reshape(reference.logits.shape), parts[1], parts[2].reshape(layers, n, n),
            parts[3].reshape(heads, layers, n, n).transpose(1, 0, 2, 3), parts[4], parts[5])


def pooled(kind):
    return kind.endswith(("SequenceClassification", "ImageClassification", "WithTeacher", "NextSentencePrediction"))


@pytest.mark.parametrize("against", [False, True], ids=["best", "against"])
@pytest.mark.parametrize("name", WITH_HEAD)
def test_gradients_equal_those_of_autograd(name, against, tmp_path):
    kind = WITH_HEAD[name][0]
    if against and kind == "ElectraForPreTraining":
        return  # one logit a token
    model = make(*WITH_HEAD[name][:3])
    model.save_pretrained(tmp_path)
    inputs, words = inputs_of(name, tmp_path)
    single = Torch(model, inputs)
    target, other, told = choose(kind, single.logits, against)
    single_maps, single_gradient, _ = single.differentiate(target, other)
    exact = Torch(model.double(), inputs)
    maps, gradient, rows = exact.differentiate(target, other)
    logits, found, mean, heads, norm, times = ours(tmp_path, words, told, exact)

    def close(mine, theirs, single, what):
        # Where float32 itself does not reach the limit, no farther off than torch's.
        assert error(mine, theirs) < max(LIMIT, 2 * error(single, theirs)), what

    theirs = exact.logits.detach().numpy()
    assert error(logits, theirs) < LIMIT
    chosen = found.reshape(-1, 3)
    for place, (id_, row, value) in zip(filter(None, [target, other]), chosen):
        assert int(id_) == place[1] and (pooled(kind) or int(row) == place[0])
        assert abs(value - theirs[place]) < LIMIT * np.abs(theirs).max()
    assert maps.max() > 0
    for layer in range(len(maps)):
        close(heads[layer], maps[layer], single_maps[layer], f"heads of layer {layer}")
        close(mean[layer], maps[layer].mean(axis=0), single_maps[layer].mean(axis=0), f"layer {layer}")
    close(norm, np.linalg.norm(gradient, axis=1), np.linalg.norm(single_gradient, axis=1), "input gradient")
    if name in TEXT:
        close(times, (gradient * rows).sum(axis=1), (single_gradient * rows).sum(axis=1), "gradient x input")


def test_patches_gradient_times_input_is_without_positions(tmp_path):
    model = make(*IMAGES["vit-classifier"][:3])
    model.save_pretrained(tmp_path)
    inputs, words = inputs_of("vit-classifier", tmp_path)
    reference = Torch(model, inputs)
    target, _, told = choose("ViTForImageClassification", reference.logits, False)
    _, gradient, _ = reference.differentiate(target, None)
    tokens = torch.cat([model.vit.embeddings.cls_token, model.vit.embeddings.patch_embeddings(**inputs)], dim=1)
    times = ours(tmp_path, words, told, reference)[5]
    assert error(times, (gradient * tokens.detach()[0].numpy()).sum(axis=1)) < LIMIT


@pytest.mark.parametrize("name", ["bert-classifier", "llama", "gpt2-untied"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_weights(name, dtype, tmp_path):
    model = make(*TEXT[name])
    model.to(dtype).save_pretrained(tmp_path)
    model = type(model).from_pretrained(tmp_path, dtype=torch.float64, attn_implementation="eager")
    inputs, words = inputs_of(name, tmp_path)
    reference = Torch(model, inputs)
    target, _, told = choose(TEXT[name][0], reference.logits, False)
    maps, gradient, _ = reference.differentiate(target, None)
    _, _, mean, _, norm, _ = ours(tmp_path, words, told, reference)
    for layer in range(len(maps)):
        assert error(mean[layer], maps[layer].mean(axis=0)) < LIMIT
    assert error(norm, np.linalg.norm(gradient, axis=1)) < LIMIT
