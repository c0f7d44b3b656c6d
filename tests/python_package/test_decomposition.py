"""Frozen relevance against DecompX (Modarressi et al. 2023) without its biases, which goes forward: every vector of the
network is a sum of one part for each input token, and the parts of a logit are its relevance."""
import numpy as np
import pytest
import torch
import transformers as hf

import headwater as hw
from headwater import _engine

SENTENCES = ["The keys to the cabinet", "The author of the books", "The reports that the man near the doors wrote"]


class Parts:
    """A vector for each token, [n, d], and what each input token gave to it, [n, n, d]."""

    def __init__(self, value, parts):
        self.value, self.parts = value, parts

    def through(self, linear):
        return Parts(linear(self.value), self.parts @ linear.weight.T)

    def plus(self, other):
        return Parts(self.value + other.value, self.parts + other.parts)

    def by_slope(self, function):
        y = function(self.value)
        return Parts(y, self.parts * (y / self.value)[:, None])

    def normed(self, norm):
        deviation = self.value.var(-1, correction=0, keepdim=True).add(norm.eps).sqrt()
        centred = self.parts - self.parts.mean(-1, keepdim=True)
        return Parts(norm(self.value), centred / deviation[:, None] * norm.weight)

    def mixed(self, weights):
        """weights [H, n, n] over heads side by side."""
        heads = len(weights)
        value = torch.einsum("hik,khd->ihd", weights, self.value.unflatten(-1, (heads, -1))).flatten(1)
        parts = torch.einsum("hik,kjhd->ijhd", weights, self.parts.unflatten(-1, (heads, -1))).flatten(2)
        return Parts(value, parts)


@torch.no_grad()
def decomposed(model, ids):
    """The parts of the logits, [classes, n]."""
    bert, heads = model.bert, model.config.num_attention_heads
    weights = bert(input_ids=ids, output_attentions=True).attentions
    table = bert.embeddings
    n = ids.shape[1]
    rows = (table.word_embeddings(ids) + table.position_embeddings(torch.arange(n))[None] +
            table.token_type_embeddings(torch.zeros_like(ids)))[0]
    x = Parts(rows, torch.diag_embed(rows.T).permute(1, 2, 0)).normed(table.LayerNorm)
    for layer, attention in zip(bert.encoder.layer, weights):
        assert attention.shape[1] == heads
        mixed = x.through(layer.attention.self.value).mixed(attention[0])
        x = mixed.through(layer.attention.output.dense).plus(x).normed(layer.attention.output.LayerNorm)
        inner = x.through(layer.intermediate.dense).by_slope(torch.nn.functional.gelu)
        x = inner.through(layer.output.dense).plus(x).normed(layer.output.LayerNorm)
    first = Parts(x.value[:1], x.parts[:1])
    pooled = first.through(bert.pooler.dense).by_slope(torch.tanh).through(model.classifier)
    return pooled.value[0].numpy(), pooled.parts[0].T.numpy()


@pytest.mark.parametrize("text", SENTENCES)
def test_frozen_relevance_is_the_decomposition(text):
    folder = _engine.models()["verb-number"]
    model = hf.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").double().eval()
    ids = torch.tensor([hw.info("verb-number", text=text)["ids"]])
    logits, parts = decomposed(model, ids)
    with torch.no_grad(), hw.capture(model) as seen:
        model(input_ids=ids)
    for number, name in model.config.id2label.items():
        found = hw.relevance("verb-number", text=text, target=name)
        assert np.abs(found.numpy() - parts[number]).max() < 1e-5 * np.abs(parts[number]).max()
        assert found.relevance["output"] == pytest.approx(logits[number], rel=1e-5)
        assert np.abs(seen.relevance(number).numpy() - parts[number]).max() < 1e-6 * np.abs(parts[number]).max()
