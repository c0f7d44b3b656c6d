"""To and from other tools."""
import json

import numpy as np
import pandas
import pyarrow.parquet
import pytest
import torch

import headwater as hw


@pytest.fixture
def result(stack, tokens):
    return hw.rollout(stack, tokens=tokens)


def test_bertviz_gets_layers_and_tokens(result, stack, tokens, batch):
    found = hw.bertviz_arguments(result)
    assert found["tokens"] == tokens and found["attention"][0].shape == (1, 1, 6, 6)
    layers = hw.bertviz_arguments([torch.from_numpy(layer[None]) for layer in stack], tokens)
    assert len(layers["attention"]) == 3 and layers["attention"][2].shape == (1, 2, 6, 6)
    assert hw.bertviz_arguments(batch[0], item=1)["attention"][0].shape == (1, 2, 6, 6)
    assert len(hw.bertviz_arguments(hw.rollout(stack, by_layer=True))["attention"]) == 3
    with pytest.raises(hw.Error, match="square"):
        hw.bertviz_arguments(hw.rollout(stack, row=0))

    class Trio:
        encoder_attentions = decoder_attentions = cross_attentions = (torch.ones(2, 1, 3, 3) / 3,)
    three = hw.bertviz_arguments(Trio(), source_tokens=list("abc"), target_tokens=list("xyz"), item=1)
    assert three["cross_attention"][0].shape == (1, 1, 3, 3) and three["decoder_tokens"] == list("xyz")


def test_captum_gets_records_with_its_fields(result, tokens):
    record, = hw.captum_records(result, row=1, pred_class="positive", pred_prob=0.9)
    assert record.raw_input_ids == tokens and record.pred_class == "positive"
    assert np.allclose(record.word_attributions, result.values[1]) and record.attr_score == pytest.approx(1, abs=1e-5)


def test_pairs_are_those_of_transformers_interpret(result, tokens):
    pairs = hw.word_attributions(result, row=2)
    assert [token for token, _ in pairs] == tokens and pairs[3][1] == float(result.values[2, 3])


def test_layers_come_from_transformer_lens_in_order(stack):
    cache = {f"blocks.{k}.attn.hook_pattern": torch.from_numpy(stack[k % 3][None]) for k in (10, 0, 2, 1)}
    cache["blocks.0.hook_resid_pre"] = torch.zeros(1)
    layers = hw.attention_from_transformer_lens(cache)
    assert [int(np.array_equal(layer[0], stack[k])) for layer, k in zip(layers, (0, 1, 2, 1))] == [1] * 4
    assert hw.rollout(layers).shape == (6, 6)
    with pytest.raises(hw.Error, match="hook_pattern"):
        hw.attention_from_transformer_lens({})


def test_layers_come_from_inseq(stack):
    class Attributed:
        target_attributions = torch.from_numpy(stack.transpose(3, 2, 0, 1).copy())  # [attributed, generated, L, H]
    layers = hw.attention_from_inseq(Attributed())
    assert np.array_equal(np.stack(layers), stack)
    with pytest.raises(hw.Error, match="inseq"):
        hw.attention_from_inseq(torch.zeros(2, 2))


def test_tables_have_a_line_for_each_value(result, batch, tmp_path):
    table = result.to_pandas()
    assert len(table) == 36 and list(table.columns) == ["item", "layer", "row", "output", "column", "input", "value"]
    assert table[(table.row == 2) & (table.column == 3)].value.item() == result.values[2, 3]
    both = hw.to_pandas(hw.rollout(batch[0], attention_mask=batch[1], row=0))
    assert both.groupby("item").size().tolist() == [6, 4]
    assert hw.to_pandas([hw.metrics(batch[0])] * 2).shape == (2, 8)


def test_parquet_keeps_what_was_asked(result, tmp_path):
    path = tmp_path / "x.parquet"
    hw.to_parquet(result, path)
    assert pandas.read_parquet(path).equals(result.to_pandas())
    asked = json.loads(pyarrow.parquet.read_schema(path).metadata[b"headwater"])
    assert asked["method"] == "rollout" and asked["options"]["residual"] == 0.5
