"""Relevance of captures, for every model type that transformers can build: relevance.py [--sample] [NAME...]

For each class, in double: what tokens and constants take must sum to the output (`frozen`), which no mistake in a norm,
an activation, a gate or attention would leave so; and both ways through attention, torch's kernel and single steps, must
give the same (`frozen` and `attnlrp`). Anything else must raise headwater.Error. What transformers itself cannot run
from a tiny config is counted, not judged.
"""
import argparse
import sys

import sweep
import workers
from sweep import Unknown, Wrong, judged, use

LIMIT = 1e-6
SAMPLE = ("AlbertForMaskedLM", "BartForConditionalGeneration", "BertForSequenceClassification", "BloomForCausalLM",
          "DebertaV2ForSequenceClassification", "FunnelForSequenceClassification", "GPT2LMHeadModel", "Gemma2ForCausalLM",
          "LlamaForCausalLM", "MixtralForCausalLM", "ModernBertForMaskedLM", "Qwen3NextForCausalLM",
          "T5ForConditionalGeneration", "ViTForImageClassification")


def first(out):
    """One number of an output, of any kind."""
    import torch
    values = out.values() if hasattr(out, "values") else [out] if isinstance(out, torch.Tensor) else out
    for value in values:
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.requires_grad and value.ndim >= 2:
            return value.flatten(1)[0, -2:][0]
    raise Unknown("no output depends on the tokens")


def one_item(inputs):
    import torch
    return {name: value[:1] if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}


def in_double(inputs):
    import torch
    return {name: value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
            for name, value in inputs.items()}


def relevance_of(model, inputs, attention, rule):
    import torch

    import headwater as hw
    use(model, attention)
    torch.manual_seed(0)
    with torch.no_grad(), hw.capture(model) as seen:
        model(**inputs)
    return seen.relevance(first, rule=rule)


def check(model, inputs, rule):
    import numpy as np

    import headwater as hw
    found = relevance_of(model, inputs, "eager", rule)
    facts = found.relevance
    size = np.abs(found.numpy()).sum() + abs(facts["biases"]) + abs(facts["output"])
    others = sum(float(note.rpartition(" ")[2]) for note in found.notes if "another stack" in note)
    whole = facts["sum"] + facts["biases"] + others
    # A note has six digits.
    if rule == "frozen" and not abs(whole - facts["output"]) <= LIMIT * size + 1e-5 * abs(others):
        raise Wrong(f"sums to {whole:.6g}, the output is {facts['output']:.6g}")
    try:
        again = relevance_of(model, inputs, "sdpa", rule)
    except hw.Error:
        return "eager only"
    if not abs(again.relevance["output"] - facts["output"]) <= 1e-9 * abs(facts["output"]):
        return "eager only"  # some models compute something else then
    worst = np.abs(again.numpy() - found.numpy()).max()
    if not worst <= LIMIT * size:
        raise Wrong(f"eager and sdpa differ by {worst:.2g}")
    return "both"


def try_class(name):
    import torch
    import transformers
    from tiny import ready
    from tiny_inputs import takes
    try:
        model, _, inputs = ready(getattr(transformers, name))
        inputs = in_double(one_item(inputs))
        model = model.double()
        if hasattr(model, "set_experts_implementation"):
            model.set_experts_implementation("eager")  # grouped kernels take no double
        # As captures and relevance call it: some cannot, by faults of their own.
        words = {"use_cache": False, "output_attentions": True}
        with torch.no_grad():
            model(**inputs, **{word: value for word, value in words.items() if word in takes(model)})
    except Exception as error:
        return [["build", "not built", f"{type(error).__name__}: {str(error)[:400]}"]]
    return [judged(rule, lambda rule=rule: check(model, inputs, rule)) for rule in ("frozen", "attnlrp")]


def main(names, sample):
    def report(name, cases):
        bad = [f"{case} {outcome}: {detail}" for case, outcome, detail in cases if outcome in ("wrong", "crash")]
        print(f"{name}: {'; '.join(bad) if bad else ', '.join(outcome for _, outcome, _ in cases)}", flush=True)

    found = workers.run(__file__, names or (list(SAMPLE) if sample else sweep.classes()), report)
    counts, why = sweep.reasons(found)
    for (case, outcome), count in sorted(counts.items()):
        print(f"{case} {outcome}: {count}")
    for outcome, reasons in why.items():
        for reason, count in reasons.most_common(20):
            print(f"  {outcome} x {count}: {reason}")
    return any(outcome in ("wrong", "crash") for _, outcome in counts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="classes of transformers; all without any")
    parser.add_argument("--sample", action="store_true", help="those that the tests run")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    sys.exit(workers.work(try_class) if asked.worker else main(asked.names, asked.sample))
