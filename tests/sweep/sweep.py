"""Captures against eager attention, for every model type that transformers can build: sweep.py [--sample] [NAME...]

For each class: a forward pass, a padded batch, and generate() where it has one. A capture must equal what eager
attention returns within 1e-5, or raise headwater.Error. Anything else fails. What transformers itself cannot run from a
tiny config is counted, not judged.
"""
import argparse
import collections
import json
import os
import re
import sys
import time
from pathlib import Path

import workers

LIMIT = 1e-5
FAMILIES = ("MODEL_MAPPING_NAMES", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES", "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
            "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES", "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
            "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES", "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES",
            "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES", "MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES",
            "MODEL_FOR_CTC_MAPPING_NAMES", "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES")
# Text, vision, audio, multimodal, encoder-decoder; shared layers, windows, hybrids; what is equal and what is refused.
SAMPLE = ("AlbertModel", "BartForConditionalGeneration", "BertModel", "BloomForCausalLM", "CLIPModel", "DebertaV2Model",
          "DistilBertModel", "FunnelModel", "GPT2LMHeadModel", "GPTNeoXForCausalLM", "Gemma2ForCausalLM",
          "Gemma3ForConditionalGeneration", "GptOssForCausalLM", "HubertModel", "JambaForCausalLM", "LEDForConditionalGeneration",
          "Lfm2ForCausalLM", "LlamaForCausalLM", "LlavaForConditionalGeneration", "LongT5ForConditionalGeneration",
          "MistralForCausalLM", "ModernBertModel", "Qwen2_5_VLForConditionalGeneration", "Qwen3NextForCausalLM",
          "SegformerForImageClassification", "SwinModel", "T5ForConditionalGeneration", "ViTModel", "Wav2Vec2Model",
          "WhisperForConditionalGeneration")


def classes():
    """The names of all classes to try, in order."""
    from transformers.models.auto import modeling_auto
    found = {}
    for family in FAMILIES:
        for names in getattr(modeling_auto, family).values():
            for name in [names] if isinstance(names, str) else names:
                found[name] = None
    return sorted(found)


# -- the oracle


class Spy:
    """Keeps what every eager attention function of transformers returns, by module."""

    def __enter__(self):
        self.weights, self.replaced = collections.defaultdict(list), []
        for name, file in list(sys.modules.items()):
            if name.startswith("transformers.models.") and hasattr(file, "eager_attention_forward"):
                self.replaced.append((file, file.eager_attention_forward))
                file.eager_attention_forward = self.keep(file.eager_attention_forward)
        return self

    def keep(self, function):
        def call(module, *args, **words):
            out = function(module, *args, **words)
            self.weights[module].append(out[1])
            return out
        return call

    def __exit__(self, *_):
        for file, function in self.replaced:
            file.eager_attention_forward = function


def returned(out, names=("attentions",)):
    """The attention of an output, or of outputs inside it."""
    import torch
    for name in names:
        found = getattr(out, name, None)
        if isinstance(found, tuple) and found and all(isinstance(one, torch.Tensor) and one.ndim == 4 for one in found):
            across = getattr(out, "cross_attentions", None) or ()  # which Q-formers list among attentions, too
            return tuple(one for one in found if not any(one is other for other in across))
    return None


def expected(model, inputs, answer):
    """What eager attention says of the layers of an answer: a list of [B, H, n, n]; None if nobody says it."""
    import torch
    with torch.no_grad(), Spy() as spy:
        torch.manual_seed(0)
        try:
            out = model(**inputs, output_attentions=True)
        except Exception:
            spy.weights.clear()
            torch.manual_seed(0)
            out = model(**inputs)
    modules = dict(model.named_modules())
    spied = [spy.weights.get(modules.get(name)) for name in answer.layers]
    if spied and all(one is not None and len(one) == 1 and one[0] is not None for one in spied):
        layers = [one[0] for one in spied]
        given = returned(out, ("encoder_attentions", "attentions"))
        if given is not None and len(given) > len(layers):
            raise Wrong(f"captured {len(layers)} layers, eager returns {len(given)}")
        return layers
    given = returned(out, ("encoder_attentions", "attentions"))
    return list(given) if given is not None else None


class Wrong(Exception):
    pass


class Rounded(Wrong):
    """So small that the model's own rounding may have made it."""


class Unknown(Exception):
    pass


def compare(model, inputs, seen):
    """The largest difference between captured maps and eager's, of all items."""
    answer = seen._answer()
    truth = expected(model, inputs, answer)
    if truth is None:
        raise Unknown("eager attention returns nothing to compare with")
    worst = 0.0
    for item, keep in enumerate(answer.real):
        maps = seen.maps(item=item)
        if len(maps) != len(truth):
            raise Wrong(f"captured {len(maps)} layers, eager returns {len(truth)}")
        for ours, theirs in zip(maps, truth):
            theirs = theirs[item].float().mean(0)
            theirs = theirs if keep is None else theirs[keep][:, keep]
            if len(theirs) < len(ours) and keep is None:  # CpmAnt's own prompt, which it leaves out of its output
                ours = ours[-len(theirs):, -len(theirs):]
            if ours.shape != theirs.shape:
                raise Wrong(f"captured {tuple(ours.shape)}, eager returns {tuple(theirs.shape)}")
            worst = max(worst, float((ours - theirs).abs().max()))
    if not worst <= LIMIT:
        raise (Rounded if worst < 50 * LIMIT else Wrong)(f"differs by {worst:.2g}")


# -- the cases


def forward(model, padded):
    import torch

    import headwater as hw
    from headwater.torch.interface import usable
    from tiny_inputs import runnable
    name, inputs = runnable(model, padded)
    if not usable(model):
        try:
            with torch.no_grad():
                model(**inputs, output_attentions=True)
        except Exception as error:
            raise Unknown(f"the model fails if it is asked for its attention: {type(error).__name__}") from None
    for attention in ("sdpa", "eager") if agree(model, inputs) else ("eager",):
        use(model, attention)
        torch.manual_seed(0)  # some models choose patches at random
        with torch.no_grad(), hw.capture(model) as seen:
            model(**inputs)
        use(model, "eager")
        try:
            compare(model, inputs, seen)
            return name
        except Rounded:  # hidden states of sdpa and eager differ; those of eager are the same
            if attention == "eager":
                raise
    return name


def agree(model, inputs):
    """Whether a model computes the same under sdpa and eager. Some do not, and are judged under eager."""
    import torch
    outputs = []
    for attention in ("sdpa", "eager"):
        use(model, attention)
        torch.manual_seed(0)
        with torch.no_grad():
            out = model(**inputs)
        outputs.append(next(iter(out.values())) if hasattr(out, "values") else out[0])
    first, second = outputs
    if not isinstance(first, torch.Tensor) or first.shape != second.shape:
        return True
    return bool((first - second).abs().max() <= 1e-2 * second.abs().max())


def generate(model):
    import numpy as np
    import torch

    import headwater as hw
    ids = torch.randint(12, 90, (1, 7), generator=torch.Generator().manual_seed(1))
    words = dict(attention_mask=torch.ones_like(ids), max_new_tokens=4, min_new_tokens=4, do_sample=False)
    try:
        with torch.no_grad():
            model.generate(ids, **words)
    except Exception as error:
        raise Unknown(f"generate() does not run: {type(error).__name__}") from None
    use(model, "sdpa")
    with torch.no_grad(), hw.capture(model) as seen:
        out = model.generate(ids, **words)
    if getattr(model.config, "is_encoder_decoder", False):
        found = np.asarray(seen.encoder_decoder())
    else:
        found = np.asarray(seen.generation())
    use(model, "eager")
    with torch.no_grad():
        if getattr(model.config, "is_encoder_decoder", False):
            whole = model(input_ids=ids, decoder_input_ids=out[:, :-1], output_attentions=True)
            if not getattr(whole, "cross_attentions", None):
                raise Unknown("eager attention returns nothing to compare with")
            truth = np.asarray(hw.encoder_decoder(whole))
        else:
            whole = model(input_ids=out[:, :-1], output_attentions=True)
            layers = returned(whole)
            if layers is None:
                raise Unknown("eager attention returns nothing to compare with")
            steps = model.generate(ids, **words, output_logits=True, return_dict_in_generate=True)
            if (steps.logits[-1] - whole.logits[:, -1]).abs().max() > 1e-2 * whole.logits.abs().max():
                raise Unknown("the model's steps and its whole pass differ")
            if any(bool(one.triu(1)[..., ids.shape[1]:].any()) for one in layers):  # CpmAnt
                raise Unknown("tokens of the whole pass see later ones, which the steps did not know")
            try:
                rows = hw.rollout(layers, by_layer=True, sums="any").values
            except hw.Error:
                raise Unknown("eager attention returns no square maps") from None
            truth = rows[:, 6:, :7].permute(1, 2, 0).numpy()
    if found.shape != truth.shape:
        raise Wrong(f"captured {found.shape}, eager gives {truth.shape}")
    worst = float(np.abs(found - truth).max())
    if not worst <= LIMIT:
        raise Wrong(f"differs by {worst:.2g}")
    return "text"


def use(model, attention):
    """Sets the attention of a model that has it."""
    try:
        model.set_attn_implementation(attention)
    except Exception:
        pass


def judged(case, work):
    """[case, outcome, detail]: equal, refused, unknown, not built, or a failure: wrong, crash."""
    import headwater as hw
    try:
        return [case, "equal", work()]
    except hw.Error as error:
        return [case, "refused", str(error).split("\n")[0]]
    except Unknown as reason:
        return [case, "unknown", str(reason)]
    except Wrong as error:
        return [case, "wrong", str(error)]
    except Exception as error:
        import traceback
        place = traceback.extract_tb(error.__traceback__)
        ours = any("/headwater/" in frame.filename for frame in place)
        where = f"{Path(place[-1].filename).name}:{place[-1].lineno}"
        return [case, "crash" if ours else "unknown", f"{type(error).__name__}: {str(error)[:200]} ({where})"]


def try_class(name):
    import transformers
    from tiny import ready
    from tiny_inputs import takes
    try:
        model, _, _ = ready(getattr(transformers, name))
    except Exception as error:
        return [["build", "not built", f"{type(error).__name__}: {str(error)[:400]}"]]
    found = [judged("forward", lambda: forward(model, False))]
    if "attention_mask" in takes(model):
        use(model, "eager")
        found.append(judged("padded", lambda: forward(model, True)))
    if model.can_generate() and "input_ids" in takes(model):
        use(model, "eager")
        found.append(judged("generate", lambda: generate(model)))
    return found


def reasons(found):
    """How often each outcome came, and the reasons with names and numbers left out."""
    counts, why = collections.Counter(), collections.defaultdict(collections.Counter)
    for cases in found.values():
        for case, outcome, detail in cases:
            counts[case, outcome] += 1
            if outcome != "equal":
                why[outcome][re.sub(r"[\w.*]*\d[\w.*]*|'[^']*'", "_", detail)[:110]] += 1
    return counts, why


def main(names, sample):
    begin = time.monotonic()
    names = names or (list(SAMPLE) if sample else classes())

    def report(name, cases):
        bad = [f"{case} {outcome}: {detail}" for case, outcome, detail in cases if outcome in ("wrong", "crash")]
        print(f"{name:48} " + (" | ".join(bad) or ", ".join(f"{case} {outcome}" for case, outcome, _ in cases)), flush=True)

    found = workers.run(__file__, names, report)
    counts, why = reasons(found)
    for outcome, each in why.items():
        print(f"\n{outcome}:")
        for reason, count in each.most_common(25):
            print(f"  {count:4} {reason}")
    print()
    for (case, outcome), count in sorted(counts.items()):
        print(f"{case:10} {outcome:10} {count}")
    print(f"{len(found)} classes in {time.monotonic() - begin:.0f} s")
    if path := os.environ.get("SWEEP_JSON"):
        Path(path).write_text(json.dumps(found, indent=0))
    return 1 if any(outcome in ("wrong", "crash") for (_, outcome) in counts) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="classes of transformers; all without any")
    parser.add_argument("--sample", action="store_true", help="the thirty that the tests run")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    sys.exit(workers.work(try_class) if asked.worker else main(asked.names, asked.sample))
