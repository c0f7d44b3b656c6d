"""Whether a capture on a GPU is right, for bench/capture_gpu.py: against the engine on the CPU, against eager."""
import importlib.util
import os
import sys
import traceback
from pathlib import Path

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/python_package"), str(ROOT / "tests/python")]

import torch
from models import EAGER_ONLY, IMAGES, T5, TEXT, ids_and_mask, make
from spread import dispatched, spread
from tutorial import AttentionRollout

import headwater as hw


def largest(a, b):
    return float((torch.as_tensor(a).float().cpu() - torch.as_tensor(b).float().cpu()).abs().max())


def arrays(bench):
    """Tensors on the device in and out, against the engine on the CPU."""
    torch.manual_seed(0)
    layers = [torch.softmax(2 * torch.randn(2, 3, 40, 40), -1) for _ in range(4)]
    there = [layer.to(bench.device) for layer in layers]
    mask = torch.ones(2, 40)
    mask[1, 30:] = 0
    for name, words in (("rollout", {}), ("rollout", dict(preset="tutorial")), ("rollout", dict(preset="vit-explain")),
                        ("rollout", dict(row=3)), ("rollout", dict(by_layer=True, item=0)), ("average", {}),
                        ("raw", dict(layer=1)), ("rollout", dict(fuse="max", residual=0.3, layers="1:3", sums="any")),
                        ("flow", dict(item=1, row=0))):
        ours, theirs = getattr(hw, name)(there, **words), getattr(hw, name)(layers, **words)
        error = largest(ours.values, theirs.values)
        bench.say("arrays", method=name, words=words, error=error,
                  ok=error < 2e-6 and ours.values.device.type == bench.device.type)
    ours = hw.rollout(there, attention_mask=mask.to(bench.device), sums="any")
    theirs = hw.rollout(layers, attention_mask=mask, sums="any")
    bench.say("arrays", method="rollout", words="padded",
              ok=all(largest(a, b) < 2e-6 for a, b in zip(ours, theirs, strict=True)))
    ours, theirs = hw.metrics(there), hw.metrics(layers)
    bench.say("arrays", method="metrics", ok=all(abs(ours[key] - theirs[key]) < 1e-5 for key in theirs))
    panels, expected = hw.compare(there, by="fuse", item=0), hw.compare(layers, by="fuse", item=0)
    bench.say("arrays", method="compare", device=str(panels[0].values.device),
              ok=all(largest(a.values, b.values) < 2e-6 for a, b in zip(panels, expected))
              and panels[0].values.device.type == bench.device.type)
    found = hw.AttentionRollout().compute_rollout(there)
    bench.say("arrays", method="tutorial", ok=found.device.type == bench.device.type
              and largest(found, AttentionRollout().compute_rollout(there)) < 2e-6)
    stacked = hw.rollout(torch.stack(there))
    bench.say("arrays", method="stacked", ok=largest(stacked.values, hw.rollout(layers).values) < 2e-6)
    result = hw.rollout(there, item=0, tokens=[str(k) for k in range(40)])
    result.save("/tmp/headwater-gpu.json")
    bench.say("arrays", method="result", ok=len(result.top(3)) == 3 and "<td" in result._repr_html_()
              and result.numpy().shape == (40, 40) and torch.from_dlpack(result).device.type == bench.device.type)


def family(bench, name, kind, inputs, crops, dtype, limit):
    model = make(*kind).to(bench.device, dtype)
    with torch.no_grad():
        references = model(**inputs, output_attentions=True).attentions
        for attention in (["eager"] if name in EAGER_ONLY else ["eager", "sdpa"]):
            model.set_attn_implementation(attention)
            plain = model(**inputs)[0]
            with hw.capture(model) as seen:
                out = model(**inputs)[0]
            error = max(largest(ours, theirs[item].float().mean(0)[crop, crop])
                        for item, crop in enumerate(crops) for ours, theirs in zip(seen.maps(item=item), references))
            rolled = seen.rollout()
            sums = max(float((rolled[item].sum(-1) - 1).abs().max()) for item in range(len(crops)))
            changed = float((out - plain).abs().max() / plain.abs().max())
            bench.say("families", model=name, dtype=str(dtype)[6:], attention=attention, how=seen.how, error=error,
                      sums=sums, output_changed=changed, device=str(rolled[0].device),
                      ok=error < limit and sums < 1e-4 and changed < limit
                      and rolled[0].device.type == bench.device.type)


def families(bench):
    """Every family against eager on the device: float32 to 1e-5, bfloat16 to what its 8 bits allow."""
    for dtype, limit in ((torch.float32, 1e-5), (torch.bfloat16, 5e-2)):
        for side in ("right", "left"):
            ids, mask, where = ids_and_mask(side)
            inputs = dict(input_ids=ids.to(bench.device), attention_mask=mask.to(bench.device))
            for name, kind in TEXT.items():
                attempt(bench, f"families {name} {side}", family, name, kind, inputs, (slice(None), where), dtype,
                        limit)
        pixels = torch.randn(2, 3, 24, 24, generator=torch.Generator().manual_seed(2)).to(bench.device, dtype)
        for name, kind in IMAGES.items():
            attempt(bench, f"families {name}", family, name, kind, dict(pixel_values=pixels),
                    (slice(None), slice(None)), dtype, limit)


def generation(bench):
    """Rows of generate() against the rollout of the whole text; an encoder-decoder against its eager output."""
    for name in ("gpt2", "llama", "gpt_oss"):
        model = make(*TEXT[name]).to(bench.device)
        ids = ids_and_mask("right")[0][:1].to(bench.device)
        with torch.no_grad():
            with hw.capture(model) as seen:
                out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=5, min_new_tokens=5,
                                     do_sample=False, output_attentions=True, return_dict_in_generate=True)
            whole = model(input_ids=out.sequences[:, :-1], output_attentions=True).attentions
        expected = hw.rollout(whole, by_layer=True, sums="any").values[:, 12:, :13].permute(1, 2, 0)
        errors = [largest(found.M, expected) for found in (hw.generation(out), seen.generation())]
        bench.say("generation", model=name, errors=errors, ok=max(errors) < 1e-5)
    model = make(*T5).to(bench.device)
    ids, mask, _ = ids_and_mask("right")
    inputs = dict(input_ids=ids.to(bench.device), attention_mask=mask.to(bench.device),
                  decoder_input_ids=ids[:, :6].to(bench.device))
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
        model.set_attn_implementation("sdpa")
        with hw.capture(model) as seen:
            model(**inputs)
    ours, theirs = hw.encoder_decoder(out, attention_mask=mask, item=1), seen.encoder_decoder(item=1)
    error = max(largest(ours.source, theirs.source), largest(ours.target, theirs.target))
    bench.say("generation", model="t5 encoder-decoder", error=error, device=str(theirs.source.device),
              ok=error < 1e-5 and theirs.source.device.type == bench.device.type)


def gradient(bench):
    """A (x) dA by the model's own backward, flash kernels among them, against autograd through eager attention."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    ids = ids_and_mask("right")[0].to(bench.device)
    kind = TEXT["llama"]
    kind = (kind[0], kind[1], dict(kind[2], hidden_size=128))  # heads of 32: what flash kernels take
    model = make(*kind).to(bench.device)
    out = model(input_ids=ids, output_attentions=True)
    found = torch.autograd.grad(out.logits[:, -1, 7].sum(), out.attentions)
    expected = torch.stack([(a * g).clamp(min=0).mean(1).detach() for a, g in zip(out.attentions, found)]).mean(0)
    model.set_attn_implementation("sdpa")
    cases = [("float32", torch.float32, None, 1e-4)]
    if bench.device.type == "cuda":
        cases.append(("bfloat16 flash", torch.bfloat16, SDPBackend.FLASH_ATTENTION, 0.1))
    for name, dtype, backend, limit in cases:
        model.to(dtype)
        with hw.capture(model) as seen:
            if backend is None:
                model(input_ids=ids)
            else:
                with sdpa_kernel([backend]):
                    model(input_ids=ids)
        ours = seen.gradient(7).values
        error = largest(ours, expected) / float(expected.max())
        bench.say("gradient", case=name, relative_error=error, device=str(ours.device),
                  parameters_untouched=all(one.grad is None for one in model.parameters()), ok=error < limit)


def refused(bench):
    """Tensors of two devices are an error with a sentence."""
    layers = [torch.softmax(torch.randn(2, 5, 5), -1) for _ in range(3)]
    mixed = [layers[0], layers[1].to(bench.device if bench.device.type == "cuda" else "meta"), layers[2]]
    for given in (mixed, mixed[1:], mixed[::-1]):
        for method in (hw.rollout, hw.average, hw.metrics, hw.flow):
            try:
                method(given)
                bench.say("refused", method=method.__name__, ok=False, message="nothing was raised")
            except hw.Error as wrong:
                bench.say("refused", method=method.__name__, message=str(wrong), ok="expected one device" in str(wrong))


def devices(bench):
    """Layers on the device and on the CPU in turn, by hooks and by accelerate, against a model on the CPU alone."""
    ids, mask, _ = ids_and_mask("right")
    inputs = dict(input_ids=ids, attention_mask=mask)
    questions = dict(rollout=lambda seen: seen.rollout(), row=lambda seen: seen.rollout(row=[3, 0]),
                     average=lambda seen: seen.average(), flow=lambda seen: seen.flow(row=2),
                     gradient=lambda seen: seen.gradient(7), chefer=lambda seen: seen.gradient(7, rule="chefer"))

    def answers(model, device):
        with hw.capture(model) as seen:
            model(**{name: value.to(device) for name, value in inputs.items()})
        return {name: ask(seen) for name, ask in questions.items()} | {"metrics": seen.metrics()}

    expected = answers(make(*TEXT["llama"], attention="sdpa"), "cpu")
    ways = [spread] + ([dispatched] if importlib.util.find_spec("accelerate") else [])
    for put in ways:
        for places in ([bench.device, "cpu"], ["cpu", bench.device]):
            found = answers(put(make(*TEXT["llama"], attention="sdpa"), places), places[0])
            for name, theirs in expected.items():
                if name == "metrics":
                    error = max(abs(found[name][key] - theirs[key]) for key in theirs)
                else:
                    error = max(largest(a, b) for a, b in zip(found[name].values, theirs.values, strict=True))
                bench.say("devices", by=put.__name__, places=[str(one) for one in places], method=name, error=error,
                          ok=error < 1e-4)


def attempt(bench, name, work, *args):
    """A part that fails is said, and the others go on."""
    try:
        work(bench, *args)
    except Exception as wrong:
        bench.say(name, ok=False, error=f"{type(wrong).__name__}: {wrong}"[:300],
                  where=traceback.format_exc().splitlines()[-6:])
        if bench.device.type == "cuda":
            torch.cuda.empty_cache()


CHECKS = dict(arrays=arrays, families=families, generation=generation, gradient=gradient, refused=refused, devices=devices)
