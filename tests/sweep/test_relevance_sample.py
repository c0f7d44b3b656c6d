"""Some classes of the sweep of relevance: kept sums and equal ways through attention, or refused, as fixed here."""
import pytest
import relevance
import workers

REFUSED = {("FunnelForSequenceClassification", "frozen"), ("FunnelForSequenceClassification", "attnlrp"),
           ("MixtralForCausalLM", "attnlrp"), ("Qwen3NextForCausalLM", "frozen"), ("Qwen3NextForCausalLM", "attnlrp")}


@pytest.fixture(scope="module")
def found():
    return workers.run(relevance.__file__, relevance.SAMPLE)


@pytest.mark.parametrize("rule", ["frozen", "attnlrp"])
@pytest.mark.parametrize("name", relevance.SAMPLE)
def test_relevance_sums_to_the_output_or_is_refused(name, rule, found):
    outcomes = {case: (outcome, detail) for case, outcome, detail in found[name]}
    assert outcomes.get(rule, outcomes)[0] == ("refused" if (name, rule) in REFUSED else "equal"), outcomes
