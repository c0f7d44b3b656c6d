"""Relevance of every family and head against autograd in double, and what its sum keeps."""
import subprocess

import numpy as np
import pytest
import torch
from changed_network import ATTENTION, changed, layers_of
from families import IMAGES, TEXT, make
from test_gradients import LIMIT, PROGRAM, WITH_HEAD, choose, error, inputs_of, logits_of

RULES = ["frozen", "attnlrp"]


class Followed:
    """A model run by torch under a rule: relevance of the input and after each layer, heads and edges."""

    def __init__(self, model, inputs, rule, choice):
        text = "input_ids" in inputs
        body = getattr(model, model.base_model_prefix, model)
        norms = [m for name, m in body.named_modules() if name in (
            "embeddings.LayerNorm", "embeddings.norm", "vision_model.pre_layrnorm")]
        self.words, self.sums, self.outputs = None, None, []
        hooks = [layer.register_forward_hook(self.keep_output) for layer in layers_of(model)]
        hooks += [layer.register_forward_pre_hook(self.keep_input) for layer in layers_of(model)]
        # Word, position and type together: what the embedding's norm gets, or the first layer if there is none.
        before = norms[0] if norms else layers_of(model)[0]
        hooks.append(before.register_forward_pre_hook(self.keep_sums))
        if not text:
            inputs = {name: tensor.to(model.dtype) for name, tensor in inputs.items()}
        with changed(model, rule):
            out = model(**inputs)
        for hook in hooks:
            hook.remove()
        self.logits = logits_of(model, out)
        self.target, self.other, self.told = choice(self.logits)
        y = self.logits[self.target] - (self.logits[self.other] if self.other else 0)
        y.backward()
        self.y = float(y.detach())
        self.input = product(self.sums)
        self.by_layer = np.stack([product(rows) for rows in self.outputs])
        self.heads = np.stack([(o * o.grad).sum((0, 2, 3)).detach().numpy() for _, _, o in ATTENTION.kept])
        weights, values, mixed = ATTENTION.kept[1]
        self.edges = (weights * (mixed.grad @ values.transpose(-1, -2))).sum((0, 1)).detach().numpy()
        # What parameters that are added take: each is a leaf, so that its gradient is that of its place.
        self.biases = sum(float((p.detach() * p.grad).sum()) for name, p in model.named_parameters()
                          if p.grad is not None and p.dim() == 1 and is_bias(name))
        model.zero_grad()

    def keep_sums(self, module, given):
        if self.sums is None:
            self.sums = given[0]
            self.sums.retain_grad()

    def keep_output(self, module, given, out):
        rows = out[0] if isinstance(out, tuple) else out
        rows.retain_grad()
        self.outputs.append(rows)

    def keep_input(self, module, given):
        """A layer's input counts in place of the output before it: DeBERTa's convolution comes between the two."""
        if self.outputs and self.outputs[-1] is not given[0]:
            given[0].retain_grad()
            self.outputs[-1] = given[0]


def is_bias(name):
    # The bias of the patches is part of their rows.
    return name.endswith("bias") and "patch_embedding" not in name


def product(rows):
    return (rows * rows.grad)[0].sum(-1).detach().numpy()


def ours(folder, words, told, rule, n, layers, heads):
    out = folder / "out.bin"
    done = subprocess.run([PROGRAM, folder, *words, *told, out, *rule], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    numbers = np.fromfile(out, dtype=np.float32)
    sizes = [3, n, layers * n, layers * heads, n * n] if len(rule) == 1 else [3, n]
    assert numbers.size == sum(sizes)
    parts = np.split(numbers, np.cumsum(sizes)[:-1])
    shapes = [(3,), (n,), (layers, n), (layers, heads), (n, n)]
    return [part.reshape(shape) for part, shape in zip(parts, shapes)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("against", [False, True], ids=["best", "against"])
@pytest.mark.parametrize("name", WITH_HEAD)
def test_relevance_equals_that_of_autograd(name, against, rule, tmp_path):
    kind = WITH_HEAD[name][0]
    if against and kind == "ElectraForPreTraining":
        return  # one logit a token
    model = make(*WITH_HEAD[name][:3])
    model.save_pretrained(tmp_path)
    inputs, words = inputs_of(name, tmp_path)
    choice = lambda logits: choose(kind, logits, against)
    single = Followed(model, inputs, rule, choice)
    exact = Followed(model.double(), inputs, rule, choice)
    n, (layers, heads) = len(exact.input), exact.heads.shape
    found = ours(tmp_path, words, exact.told, [rule], n, layers, heads)
    (output, total, rest), *found = found
    parts = ["input", "by_layer", "heads", "edges"]
    for part, mine in zip(parts, found):
        theirs = getattr(exact, part)
        assert np.abs(theirs).max() > 0, part
        # Where float32 itself does not reach the limit, no farther off than torch's.
        assert error(mine, theirs) < max(LIMIT, 2 * error(getattr(single, part), theirs)), part
    size = np.abs(exact.input).sum() + abs(exact.biases) + abs(exact.y)
    assert abs(output - exact.y) < LIMIT * size
    assert abs(total - exact.input.sum()) < LIMIT * size
    assert abs(rest - exact.biases) < LIMIT * size
    assert np.isclose(exact.heads[1].sum(), exact.edges.sum())
    if rule == "frozen":
        assert abs(total + rest - output) < 1e-4 * size
        assert abs(exact.input.sum() + exact.biases - exact.y) < 1e-9 * size


@pytest.mark.parametrize("name", ["llama", "mistral", "qwen3", "llama-llama3"])
def test_without_biases_frozen_relevance_sums_to_the_logit(name, tmp_path):
    model = make(*WITH_HEAD[name][:3])
    for parameter_name, parameter in model.named_parameters():
        if is_bias(parameter_name):
            parameter.data.zero_()
    model.save_pretrained(tmp_path)
    inputs, words = inputs_of(name, tmp_path)
    config = model.config
    numbers, values, *_ = ours(tmp_path, words, ["best", "-", "-"], ["frozen"], 23, config.num_hidden_layers,
                               config.num_attention_heads)
    output, total, rest = numbers
    assert rest == 0 and abs(total - output) < 1e-5 * np.abs(values).sum()


def integrated(model, inputs, target, steps, baseline):
    """Integrated gradients of words, or of patches, by the midpoints of the steps."""
    text = "input_ids" in inputs
    body = getattr(model, model.base_model_prefix, model)
    module = body.get_input_embeddings() if text else body.embeddings.patch_embeddings
    kept = {}

    def run(share, use):
        def hook(module, given, out):
            rows = out.detach()
            if baseline == "zero":
                start = torch.zeros_like(rows) if text else module.projection.bias.detach().expand_as(rows)
            else:
                start = module.weight[int(baseline)].detach().expand_as(rows)
            kept["way"] = rows - start
            kept["rows"] = (start + share * kept["way"]).requires_grad_(True)
            return kept["rows"]
        handle = module.register_forward_hook(hook)
        out = model(**{name: x if text else x.to(model.dtype) for name, x in inputs.items()})
        handle.remove()
        return use(logits_of(model, out)[target])

    total = 0
    for step in range(steps):
        total = total + run((step + 0.5) / steps, lambda y: torch.autograd.grad(y, kept["rows"])[0]) / steps
    return (total * kept["way"])[0].sum(-1).numpy(), run(0, float)


@pytest.mark.parametrize("name, baseline", [("bert-classifier", "zero"), ("roberta-masked", "9"), ("gpt2", "5"),
                                            ("llama", "zero"), ("opt-narrow", "zero"), ("opt-narrow", "9"),
                                            ("electra-classifier", "7"), ("vit-classifier", "zero"),
                                            ("registers-stretched", "zero")])
def test_integrated_gradients_equal_those_of_autograd(name, baseline, tmp_path):
    model = make(*WITH_HEAD[name][:3])
    model.save_pretrained(tmp_path)
    inputs, words = inputs_of(name, tmp_path)
    model = model.double()
    with torch.no_grad():
        out = model(**{key: x if name in TEXT else x.double() for key, x in inputs.items()})
    target, _, told = choose(WITH_HEAD[name][0], logits_of(model, out), False)
    theirs, start = integrated(model, inputs, target, 5, baseline)
    numbers, mine = ours(tmp_path, words, told, ["integrated", "5", baseline], len(theirs) + prefix_of(model, name), 0, 0)
    assert error(mine[prefix_of(model, name):], theirs) < LIMIT
    assert not mine[:prefix_of(model, name)].any()
    assert abs(numbers[2] - start) < LIMIT * max(1, abs(start))


def prefix_of(model, name):
    return 0 if name in TEXT else 1 + getattr(model.config, "num_register_tokens", 0)
