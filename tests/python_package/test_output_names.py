"""Outputs by name: classes, words, and the rows they belong to, the same for a capture as for a folder."""
import pytest
import torch
import transformers as hf
from models import SIZES, ids_and_mask

import headwater as hw
from headwater.torch.output_names import config_of


def tiny(kind, **more):
    torch.manual_seed(1)
    return getattr(hf, kind)(hf.BertConfig(**SIZES, **more)).eval()


def seen_by(model, inputs, **words):
    with hw.capture(model, **words) as seen:
        model(**inputs)
    return seen


@pytest.fixture(scope="module")
def facts():
    folder = hw.models()["facts"]
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    model = hf.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return seen_by(model, tokenizer("Anna put the book on the", return_tensors="pt"), tokenizer=tokenizer)


@pytest.mark.parametrize("word", ["Anna", "shelf", " shelf", "token:shelf"])
def test_a_word_is_the_same_token_live_and_from_a_folder(facts, word):
    theirs = hw.relevance("facts", prompt="Anna put the book on the", target=word).relevance["target"]
    ours = facts.relevance(word).relevance["target"]
    assert (ours["id"], ours["name"]) == (theirs["id"], theirs["name"])
    assert facts.gradient(word).target["id"] == theirs["id"]


def test_a_word_of_several_tokens_is_refused_with_its_pieces(facts):
    with pytest.raises(hw.Error, match="not a single token of the capture's tokenizer, which splits it into"):
        facts.relevance("unlikelihoods")
    with pytest.raises(hw.Error, match="expected 'best', a class or word"):
        facts.relevance(True)
    with pytest.raises(hw.Error, match="expected 'best', a class or token"):
        facts.gradient(1.0)


def test_classes_of_tokens_have_the_names_of_the_config(facts):
    model = tiny("BertForTokenClassification", num_labels=4)
    seen = seen_by(model, dict(input_ids=torch.arange(5, 12)[None]), tokenizer=facts._tokenizer)
    target = seen.gradient("LABEL_2", position=2).target
    assert (target["name"], target["id"], target["row"]) == ("LABEL_2", 2, 2)
    assert target["value"] == pytest.approx(model(torch.arange(5, 12)[None]).logits[0, 2, 2].item(), rel=1e-4)
    assert seen.relevance("LABEL_2", row=2).relevance["target"]["name"] == "LABEL_2"
    with pytest.raises(hw.Error, match="is not a class of the model's config; there are LABEL_0"):
        seen.relevance("Anna", row=2)


def test_rows_count_the_real_tokens_in_gradient_and_relevance():
    ids, mask, _ = ids_and_mask("left")
    model = tiny("BertForTokenClassification", num_labels=4)
    seen = seen_by(model, dict(input_ids=ids, attention_mask=mask))
    assert seen.gradient(1, position=2).item(1).target["row"] == 2
    assert seen.relevance(1, row=2, item=1).relevance["target"]["row"] == 2


class Wrapped(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, **inputs):
        return self.inner(**inputs)


def test_a_wrapped_model_keeps_the_names_of_its_classes():
    model = tiny("BertForSequenceClassification", num_labels=3)
    seen = seen_by(Wrapped(model), dict(input_ids=torch.arange(5, 12)[None]))
    assert seen.relevance("LABEL_1") == seen.relevance(1) and seen.gradient("LABEL_1").target["name"] == "LABEL_1"
    assert config_of(torch.nn.ModuleList([model, tiny("BertModel")])) is None


def test_a_row_without_effect_is_refused_and_none_is_invented():
    seen = seen_by(tiny("BertForSequenceClassification", num_labels=3), dict(input_ids=torch.arange(5, 12)[None]))
    with pytest.raises(hw.Error, match="`row` 2: was given, but the model has one output for each item"):
        seen.relevance(1, row=2)
    with pytest.raises(hw.Error, match="`row` 2: was given beside a function"):
        seen.relevance(lambda out: out.logits[0, 0], row=2)
    assert set(seen.relevance(lambda out: out.logits[0, 0]).relevance["target"]) == {"name", "value"}


def test_weights_without_gradients_are_named_as_the_cause():
    model = tiny("BertForSequenceClassification", num_labels=3).requires_grad_(False)
    seen = seen_by(model, dict(input_ids=torch.arange(5, 12)[None]))
    with pytest.raises(hw.Error, match=r"no weight of the model has gradients"):
        seen.gradient(0)
    assert seen.relevance(0).shape == (7,)


def test_items_of_a_batch_may_have_targets_of_their_own():
    ids, mask, _ = ids_and_mask("right")
    seen = seen_by(tiny("BertForSequenceClassification", num_labels=3), dict(input_ids=ids, attention_mask=mask))
    found = seen.relevance([2, "LABEL_0"])
    assert [one["target"]["id"] for one in found.relevance] == [2, 0] and found.item(1) == seen.relevance(0).item(1)
    with pytest.raises(hw.Error, match="has 3 targets, expected one for each of the 2 items"):
        seen.relevance([0, 1, 2])
