"""Relevance of captured models: equal to the engine on the same folders, to autograd in double, or refused."""

import numpy as np
import pytest
import torch
import transformers as hf
from families import IMAGES, TEXT, make
from models import TEXT as MORE
from models import ids_and_mask
from models import make as made

import headwater as hw

RULES = ("frozen", "attnlrp")


def has_head(entry):
    return entry[0].endswith("LMHeadModel") or not entry[0].endswith("Model")


# Families whose rows, inputs or kernels these tests do not know how to choose; tests of their own are below, or in the
# sweep.
OTHERS = ("modernbert", "t5", "mt5", "bart", "clip", "siglip", "gemma2")
WITH_HEAD = {name: entry for name, entry in TEXT.items() if has_head(entry) and not name.startswith(OTHERS)}
# What the engine's folders of tests/python/test_relevance.py are, with a choice that says the same to both.
BY_FUNCTION = ("ElectraForPreTraining", "BertForPreTraining")


def error(ours, theirs):
    return float(np.abs(np.asarray(ours) - np.asarray(theirs)).max() / max(np.abs(np.asarray(theirs)).max(), 1e-9))


def asked(kind):
    """Keywords that mean the same output to the engine and to a capture."""
    if "QuestionAnswering" in kind:
        return dict(target="end:4", against="start:9")
    if "SequenceClassification" in kind or "NextSentence" in kind:
        return dict(target=1, against=0)
    if "TokenClassification" in kind:
        return dict(target=1, row=3)
    return dict(target=7, against=12, row=5)


@pytest.mark.parametrize("attention, rule", [("sdpa", "frozen"), ("eager", "attnlrp")])
@pytest.mark.parametrize("name", [name for name, entry in WITH_HEAD.items()
                                  if entry[0] not in BY_FUNCTION and not name.startswith("deberta")])
def test_a_capture_equals_the_engine_on_the_same_folder(name, attention, rule, tmp_path):
    kind = WITH_HEAD[name][0]
    model = make(*WITH_HEAD[name][:3])
    model.save_pretrained(tmp_path)
    ids = torch.randint(4, 71, (1, 23), generator=torch.Generator().manual_seed(1))
    if name == "gpt2-classifier":
        ids[0, -2:] = 3
    if attention == "sdpa":
        model.set_attn_implementation("sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids)
    words = asked(kind)
    ours = seen.relevance(rule=rule, by_layer=True, **words)
    theirs = hw.relevance(tmp_path, ids=ids[0].tolist(), rule=rule, by_layer=True, **words)
    assert error(ours.numpy(), theirs.numpy()) < 2e-4
    assert ours.by_layer == theirs.by_layer
    size = np.abs(theirs.numpy()[0]).sum() + abs(theirs.relevance["biases"]) + abs(theirs.relevance["output"])
    for word in ("output", "sum", "biases"):
        assert abs(ours.relevance[word] - theirs.relevance[word]) < 2e-4 * size, word
    assert ours.relevance["rule"] == rule and ours.relevance["target"]["id"] == theirs.relevance["target"]["id"]


# -- autograd in double


def logits_of(out):
    if hasattr(out, "start_logits"):
        return out.end_logits[0]
    logits = (out.prediction_logits if hasattr(out, "prediction_logits") else out.logits)[0]
    return logits.flatten() if logits.ndim == 1 or logits.shape[-1] == 1 else logits[3]


def output(out):
    return logits_of(out)[1] - logits_of(out)[0]


def by_autograd(model, inputs, rule):
    """Rows and their relevance by the rules as tests/python/changed_network.py writes them, in double."""
    from changed_network import changed, layers_of
    rows = []

    def keep(module, given):
        if not rows:
            rows.append(given[0])
            given[0].retain_grad()

    norms = [module for name, module in model.named_modules() if name.endswith("embeddings.LayerNorm")]
    hook = (norms[0] if norms else layers_of(model)[0]).register_forward_pre_hook(keep)
    with changed(model, rule):
        output(model(**inputs)).backward()
    hook.remove()
    model.zero_grad()
    return (rows[0] * rows[0].grad)[0].sum(-1).detach().numpy()


WITH_IMAGES = {name: entry for name, entry in IMAGES.items() if has_head(entry) and not name.startswith(OTHERS)}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", [*WITH_HEAD, *WITH_IMAGES])
def test_a_capture_equals_autograd_in_double(name, rule):
    entry = {**WITH_HEAD, **WITH_IMAGES}[name]
    model = make(*entry[:3]).double()
    generator = torch.Generator().manual_seed(1)
    if name in TEXT:
        inputs = dict(input_ids=torch.randint(4, 71, (1, 23), generator=generator))
    else:
        inputs = dict(pixel_values=torch.randn(1, 3, *entry[3], generator=generator).double())
    theirs = by_autograd(model, inputs, rule)
    model.set_attn_implementation("sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        model(**inputs)
    found = seen.relevance(output, rule=rule)
    assert error(found.numpy(), theirs) < 1e-5  # root mean squares are float32 in transformers
    if rule == "frozen":
        facts = found.relevance
        assert facts["sum"] + facts["biases"] == pytest.approx(facts["output"], rel=1e-6, abs=1e-6)


def half(x):
    return x / 2 + (x / 2).detach()


def attend(q, k, v, rule, scale, bias=0.0):
    """[..., n, d] each."""
    scores = q @ k.transpose(-1, -2)
    probabilities = ((half(scores) if rule == "attnlrp" else scores) * scale + bias).softmax(-1)
    return probabilities.detach() @ v if rule == "frozen" else half(probabilities @ v)


def layer_norm(module, x):
    centred = x - x.mean(-1, keepdim=True)
    y = centred / (centred.square().mean(-1, keepdim=True) + module.eps).sqrt().detach() * module.weight
    return y + module.bias if module.bias is not None else y


def rms_norm(weight, epsilon, x):
    return x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt().detach() * weight


def secant(function, x):
    return x * (function(x) / x).detach()


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


def joined(x):
    return x.transpose(-2, -3).flatten(-2)


def torch_encoder(first):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, norm_first=first, activation="gelu")
    model = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


def follow_torch_encoder(model, x, rule, first):
    for layer in model.layers:
        def attention(h):
            q, k, v = (split(one, 2) for one in torch.nn.functional.linear(
                h, layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias).chunk(3, -1))
            return layer.self_attn.out_proj(joined(attend(q, k, v, rule, 8 ** -0.5)))

        def feed(h):
            return layer.linear2(secant(torch.nn.functional.gelu, layer.linear1(h)))

        if first:
            x = x + attention(layer_norm(layer.norm1, x))
            x = x + feed(layer_norm(layer.norm2, x))
        else:
            x = layer_norm(layer.norm1, x + attention(x))
            x = layer_norm(layer.norm2, x + feed(x))
    return x


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("first", [True, False])
def test_the_encoder_of_torch(first, rule):
    model = torch_encoder(first)
    x = torch.randn(1, 7, 16, dtype=torch.float64, requires_grad=True)
    with hw.capture(model) as seen:
        model(x)
    found = seen.relevance(lambda out: out[0, 2, 1] - out[0, 3, 4], rule=rule)
    y = follow_torch_encoder(model, x, rule, first)
    grad, = torch.autograd.grad(y[0, 2, 1] - y[0, 3, 4], x)
    assert error(found.numpy(), (x * grad)[0].sum(-1).detach().numpy()) < 1e-6
    assert all(parameter.grad is None for parameter in model.parameters()) and x.grad is None


@pytest.mark.parametrize("rule", RULES)
def test_the_encoder_of_t5(rule):
    model = made(*MORE["t5"], attention="sdpa").double()
    ids = ids_and_mask("none")[0][:1]
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids)
    found = seen.relevance(lambda out: out.last_hidden_state[0, 2, 1], rule=rule)
    x = start = model.shared(ids).detach().requires_grad_()
    bias = model.encoder.block[0].layer[0].SelfAttention.compute_bias(13, 13).detach()
    for block in model.encoder.block:
        own = block.layer[0].SelfAttention
        h = rms_norm(block.layer[0].layer_norm.weight, 1e-6, x)
        x = x + own.o(joined(attend(*(split(one(h), 4) for one in (own.q, own.k, own.v)), rule, 1.0, bias)))
        dense = block.layer[1].DenseReluDense
        h = rms_norm(block.layer[1].layer_norm.weight, 1e-6, x)
        x = x + dense.wo(secant(torch.relu, dense.wi(h) + 1e-300))
    x = rms_norm(model.encoder.final_layer_norm.weight, 1e-6, x)
    grad, = torch.autograd.grad(x[0, 2, 1], start)
    assert error(found.numpy(), (start * grad)[0].sum(-1).detach().numpy()) < 1e-5


def mixtral():
    torch.manual_seed(0)
    config = hf.MixtralConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                              intermediate_size=24, vocab_size=90, num_local_experts=3, num_experts_per_tok=2,
                              initializer_range=0.2, sliding_window=None)
    config._attn_implementation, config._experts_implementation = "sdpa", "eager"  # grouped kernels take no double
    return hf.MixtralForCausalLM(config).double().eval()


def test_gates_of_experts_are_constants_under_frozen_and_refused_under_attnlrp():
    model = mixtral()
    ids = ids_and_mask("none")[0][:1]
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids)
    found = seen.relevance(5)
    x = start = model.model.embed_tokens(ids).detach().requires_grad_()
    cos, sin = model.model.rotary_emb(x, torch.arange(13)[None])
    turn = lambda q: q * cos[:, None] + torch.cat([-q[..., 4:], q[..., :4]], -1) * sin[:, None]
    mask = torch.full((13, 13), float("-inf"), dtype=torch.float64).triu(1)
    for layer in model.model.layers:
        own, h = layer.self_attn, rms_norm(layer.input_layernorm.weight, 1e-5, x)
        q, k, v = (split(one(h), heads) for one, heads in ((own.q_proj, 4), (own.k_proj, 2), (own.v_proj, 2)))
        k, v = turn(k).repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        x = x + own.o_proj(joined(attend(turn(q), k, v, "frozen", 8 ** -0.5, mask)))
        h = rms_norm(layer.post_attention_layernorm.weight, 1e-5, x)
        weights, chosen = torch.nn.functional.linear(h, layer.mlp.gate.weight).float().softmax(-1).topk(2)
        weights = (weights / weights.sum(-1, keepdim=True)).detach()
        parts = []
        for t in range(13):
            total = 0
            for share, e in zip(weights[0, t], chosen[0, t]):
                gate, up = (layer.mlp.experts.gate_up_proj[e] @ h[0, t]).chunk(2)
                total = total + share * (layer.mlp.experts.down_proj[e] @ half(secant(torch.nn.functional.silu, gate) * up))
            parts.append(total)
        x = x + torch.stack(parts)[None]
    logits = model.lm_head(rms_norm(model.model.norm.weight, 1e-5, x))
    grad, = torch.autograd.grad(logits[0, -1, 5], start)
    assert error(found.numpy(), (start * grad)[0].sum(-1).detach().numpy()) < 1e-5
    assert found.relevance["sum"] == pytest.approx(found.relevance["output"], rel=1e-5)
    with pytest.raises(hw.Error, match=r"model\.layers\.\d\.mlp\.gate .*division"):
        seen.relevance(5, rule="attnlrp")
    told = seen.relevance(5, rule="attnlrp", rules={"model.layers.*.mlp.gate": "constant"})
    assert error(told.numpy(), found.numpy()) > 1e-3


@pytest.mark.parametrize("rule", RULES)
def test_a_vit_of_timm(rule):
    timm = pytest.importorskip("timm")
    torch.manual_seed(0)
    model = timm.models.VisionTransformer(img_size=16, patch_size=4, embed_dim=24, depth=3, num_heads=3, num_classes=5)
    model = model.double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    pixels = torch.randn(1, 3, 16, 16, dtype=torch.float64)
    with torch.no_grad(), hw.capture(model) as seen:
        model(pixels)
    found = seen.relevance(2, against=1, rule=rule)
    x = start = model._pos_embed(model.patch_embed(pixels)).detach().requires_grad_()
    for block in model.blocks:
        q, k, v = (split(one, 3) for one in block.attn.qkv(layer_norm(block.norm1, x)).chunk(3, -1))
        x = x + block.attn.proj(joined(attend(q, k, v, rule, 8 ** -0.5)))
        x = x + block.mlp.fc2(secant(torch.nn.functional.gelu, block.mlp.fc1(layer_norm(block.norm2, x))))
    logits = model.head(layer_norm(model.norm, x)[:, 0])[0]
    grad, = torch.autograd.grad(logits[2] - logits[1], start)
    assert found.shape == (17,) and error(found.numpy(), (start * grad)[0].sum(-1).detach().numpy()) < 1e-6


@pytest.mark.parametrize("rule", RULES)
def test_modernbert(rule):
    from changed_network import half as halved
    model = made("ModernBertForSequenceClassification", *MORE["modernbert"][1:], attention="sdpa").double()
    ids = ids_and_mask("none")[0][:1]
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids)
    found = seen.relevance(1, rule=rule)
    # The same pass with sdpa and the norms, activations and gates of its modules written by hand.
    rows = []
    first = lambda module, given: (rows.append(given[0]), given[0].requires_grad_())[:0] or None
    replaced = []

    def put(owner, name, value):
        replaced.append((owner, name, owner.__dict__.get(name)))
        owner.__dict__[name] = value

    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            put(module, "forward", lambda x, module=module: layer_norm(module, x))
        if type(module).__name__ == "ModernBertMLP":
            def feed(x, module=module):
                inner, gate = module.Wi(x).chunk(2, -1)
                return module.Wo(halved(secant(torch.nn.functional.gelu, inner) * gate))
            put(module, "forward", feed)
        if type(module).__name__ == "ModernBertPredictionHead":
            put(module, "forward", lambda x, module=module: layer_norm(module.norm, secant(torch.nn.functional.gelu,
                                                                                          module.dense(x))))
    handle = model.model.embeddings.norm.register_forward_pre_hook(first)
    from changed_network import ATTENTION
    ATTENTION.rule, ATTENTION.kept = rule, []
    model.set_attn_implementation("changed")
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    y = model(input_ids=ids).logits[0, 1]
    grad, = torch.autograd.grad(y, rows[0])
    handle.remove()
    assert error(found.numpy(), (rows[0] * grad)[0].sum(-1).detach().numpy()) < 1e-6
