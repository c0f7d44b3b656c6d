"""Thirty classes of the sweep: equal to eager attention, or refused; which of the two is fixed here."""
import pytest
import sweep
import workers

REFUSED = {"CLIPModel", "FunnelModel", "JambaForCausalLM", "LEDForConditionalGeneration",
           "LongT5ForConditionalGeneration", "Qwen3NextForCausalLM", "SegformerForImageClassification", "SwinModel"}


@pytest.fixture(scope="module")
def found():
    return workers.run(sweep.__file__, sweep.SAMPLE)


def test_the_sample_is_thirty_classes():
    assert len(set(sweep.SAMPLE)) == 30 and REFUSED < set(sweep.SAMPLE)


@pytest.mark.parametrize("name", sweep.SAMPLE)
def test_a_capture_equals_eager_attention_or_is_refused(name, found):
    outcomes = {case: (outcome, detail) for case, outcome, detail in found[name]}
    assert not [one for one in outcomes.items() if one[1][0] in ("wrong", "crash")]
    assert outcomes.get("forward", outcomes)[0] == ("refused" if name in REFUSED else "equal"), outcomes
