"""What happens after a pass and once changed an answer without a word: memory written over, weights trained, other data."""
import numpy as np
import pytest
import torch
from models import BART, ENDS, GROUPED, SIZES, T5, TEXT, ids_and_mask, make
from test_never_lies import GREEDY, LIMIT, captured, off

import headwater as hw


class Frugal(torch.nn.Module):
    """Attention whose queries and keys lie in memory that every layer uses again."""

    def __init__(self):
        super().__init__()
        self.q, self.k = torch.nn.Linear(16, 16, bias=False), torch.nn.Linear(16, 16, bias=False)

    def forward(self, x, memory):
        torch.matmul(x, self.q.weight.T, out=memory[0])
        torch.matmul(x, self.k.weight.T, out=memory[1])
        q, k, v = (one.view(1, -1, 2, 8).transpose(1, 2) for one in (*memory, x))
        return x + torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)


class Frugals(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Frugal() for _ in range(3)])

    def forward(self, x):
        memory = torch.empty(2, *x.shape)
        for layer in self.layers:
            x = layer(x, memory)
        return x


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_memory_that_is_used_again_is_not_read(mode):
    torch.manual_seed(0)
    model, x = Frugals().eval(), torch.randn(1, 6, 16)
    with mode(), hw.capture(model) as seen:
        model(x)
    for ask in (seen.rollout, seen.metrics, seen.maps, lambda: list(seen.heads())):
        with pytest.raises(hw.Error, match="layers.0: its queries, keys or masks were overwritten after it ran"):
            ask()
    with mode(), hw.capture(model, keep="maps") as seen:
        model(x)
    shares = []
    for layer in model.layers:  # by hand, in memory of its own
        memory = torch.empty(2, *x.shape)
        with torch.no_grad():
            x = layer(x, memory)
        q, k = (one.view(-1, 2, 8).transpose(0, 1) for one in memory)
        shares.append(torch.softmax(q @ k.transpose(-1, -2) / 8 ** 0.5, -1).mean(0))
    assert max(off(*pair) for pair in zip(seen.maps(), shares)) < LIMIT


def test_weights_that_are_trained_change_no_captured_map():
    model, ids = make(*TEXT["gpt_oss"]), ids_and_mask("none")[0][:1]
    with hw.capture(model) as seen:
        out = model(input_ids=ids)
    before = seen.rollout().values.clone()
    out.logits.sum().backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()  # the sinks are weights
    assert off(seen.rollout(), before) == 0
    with pytest.raises(hw.Error, match="graph of the pass is gone, as after backward"):
        seen.gradient(7)


def test_a_target_that_does_not_depend_on_attention_is_refused():
    model, other = make(*TEXT["llama"], attention="sdpa"), torch.ones((), requires_grad=True)
    with hw.capture(model) as seen:
        model(input_ids=ids_and_mask("none")[0][:1])
    with pytest.raises(hw.Error, match="does not depend on the attention of these layers"):
        seen.gradient(lambda out: 2 * other)


def test_gradients_that_are_not_finite_are_refused():
    model, ids = make(*TEXT["llama"], attention="sdpa"), ids_and_mask("none")[0]
    with torch.no_grad():
        model.model.layers[1].self_attn.q_proj.weight[:8] = float("nan")
    with hw.capture(model) as seen:
        model(input_ids=ids)
    for rule in ("gradient", "gradient-rollout", "chefer"):
        with pytest.raises(hw.Error, match="number that is not finite"):
            seen.gradient(7, rule=rule)


def test_attention_that_comes_by_hooks_with_nan_is_refused_for_that():
    model, ids = make("DebertaV2Model", "DebertaV2Config", SIZES), ids_and_mask("none")[0]
    with torch.no_grad():
        model.encoder.layer[1].attention.self.query_proj.weight[:8] = float("nan")
    seen = captured(model, dict(input_ids=ids))
    for words in (dict(), dict(missing="residual")):
        with pytest.raises(hw.Error, match="not finite"):
            seen.rollout(**words)


@pytest.mark.parametrize("which", [BART, T5], ids=["bart", "t5"])
@pytest.mark.parametrize("words", [dict(), dict(cache_implementation="static")], ids=["dynamic", "static"])
def test_two_texts_of_an_encoder_decoder_model_are_told_apart(which, words):
    model, ids = make(*which, attention="sdpa"), ids_and_mask("none")[0]
    sources = ids[:1], ids[1:, :9]
    with torch.no_grad(), hw.capture(model) as seen:
        texts = [model.generate(source, **GREEDY, **words) for source in sources]
    model.set_attn_implementation("eager")
    for call, (source, text) in enumerate(zip(sources, texts)):
        with torch.no_grad():
            truth = hw.encoder_decoder(model(input_ids=source, decoder_input_ids=text[:, :-1], output_attentions=True))
        found = seen.encoder_decoder(call=call)
        assert off(found.source, truth.source) < LIMIT and off(found.target, truth.target) < LIMIT


def test_batches_that_are_generated_together_are_refused():
    model = make(*TEXT["llama"], attention="sdpa")
    with pytest.raises(hw.Error, match="mixes its texts in one row"), hw.capture(model):
        model.generate_batch(inputs=[[5, 6, 7], [8, 9]])
    assert "generate_batch" not in vars(model)


def test_what_torch_jit_made_is_refused():
    model, ids = make(*TEXT["bert"], attention="sdpa"), ids_and_mask("none")[0]
    traced = torch.jit.trace(model, (ids,), strict=False)
    with pytest.raises(hw.Error, match="compiled by torch.jit"):
        hw.capture(traced)


def test_layers_that_also_mix_tokens_in_another_way_are_noted():
    words = dict(GROUPED, num_hidden_layers=2, head_dim=8, mamba_d_ssm=64, mamba_n_heads=4, mamba_d_head=16, mamba_d_state=8,
                 mamba_n_groups=1, mamba_chunk_size=8, **ENDS)
    model = make("FalconH1ForCausalLM", "FalconH1Config", words, attention="sdpa")
    found = captured(model, dict(input_ids=ids_and_mask("none")[0][:1])).rollout()
    assert found.notes == ["layers of 'model.layers' also mix tokens by FalconH1Mixer, which attention does not show"]


# -- metrics

class Siamese(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = make(*TEXT["roberta"], attention="sdpa")

    def forward(self, input_ids, other):
        return self.encoder(input_ids=input_ids)[0].mean(1) - self.encoder(input_ids=other)[0].mean(1)


def test_metrics_of_one_call_of_several():
    model, (ids, _, _) = Siamese().eval(), ids_and_mask("none")
    inputs = dict(input_ids=ids, other=ids.flip(1))
    with pytest.raises(hw.Error, match="ran 2 times, expected one call to be chosen"):
        hw.compute_attention_attribution(model, inputs)
    for call, given in enumerate(inputs.values()):
        truth = captured(model.encoder, dict(input_ids=given)).metrics()
        assert dict(hw.compute_attention_attribution(model, inputs, call=call)) == pytest.approx(dict(truth), abs=1e-6)
        over = hw.metrics_over(model, [inputs], call=call)
        assert over["rollout_entropy"]["mean"] == pytest.approx(truth["rollout_entropy"], abs=1e-6)


def test_layers_that_stopped_do_not_count_in_metrics():
    model, (ids, _, _) = make(*TEXT["roberta"], attention="sdpa"), ids_and_mask("none")
    truth = captured(model, dict(input_ids=ids)).metrics()
    layer, tries = model.encoder.layer[1], []
    whole, output = layer.forward, layer.attention.output.forward

    def stops(*args, **words):  # after attention ran
        if not tries:
            tries.append(1)
            raise RuntimeError("stop")
        return output(*args, **words)

    def patient(*args, **words):
        try:
            return whole(*args, **words)
        except RuntimeError:
            return whole(*args, **words)

    layer.forward, layer.attention.output.forward = patient, stops
    assert dict(captured(model, dict(input_ids=ids)).metrics()) == pytest.approx(dict(truth), abs=1e-6)
    tries.clear()
    with pytest.raises(hw.Error, match="4 layers of 'encoder.layer' ran and 3 of them to their end"):
        hw.compute_attention_attribution(model, dict(input_ids=ids))


# -- resume

@pytest.fixture
def data():
    return [dict(input_ids=torch.randint(5, 90, (2, 6), generator=torch.Generator().manual_seed(k))) for k in range(4)]


def test_less_data_is_other_data(data, tmp_path):
    model = make(*TEXT["bert"], attention="sdpa")
    hw.metrics_over(model, data, resume=tmp_path / "x.json")
    with pytest.raises(hw.Error, match="is of 4 batches and the data has 2"):
        hw.metrics_over(model, data[:2], resume=tmp_path / "x.json")
    with pytest.raises(hw.Error, match="is of 4 batches and the data has 0"):
        hw.metrics_over(model, [], resume=tmp_path / "x.json")
    with pytest.raises(hw.Error, match="its first 4 batches differ"):
        hw.metrics_over(model, [dict(input_ids=one["input_ids"].view(3, 4)) for one in data], resume=tmp_path / "x.json")


@pytest.mark.parametrize("change", ["one weight", "two weights", "training"])
def test_any_weight_makes_another_model(change, data, tmp_path):
    model = make(*TEXT["bert"], attention="sdpa")
    hw.metrics_over(model, data, resume=tmp_path / "x.json")
    table = model.embeddings.word_embeddings.weight
    with torch.no_grad():
        if change == "one weight":
            table[7, 3] += 1
        elif change == "two weights":
            table[7, 3], table[8, 3] = table[8, 3].clone(), table[7, 3].clone()
        else:
            model.train()
    with pytest.raises(hw.Error, match="is of another model"):
        hw.metrics_over(model, data, resume=tmp_path / "x.json")


def test_all_of_an_array_counts(tmp_path):
    class Reads(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = make(*TEXT["bert"], attention="sdpa")

        def forward(self, input_ids, beside):
            return self.inner(input_ids=input_ids)

    batch = dict(input_ids=torch.tensor([[5, 6, 7]]), beside=[dict(x=np.zeros((50, 50))), torch.zeros(40, 40)])
    model = Reads().eval()
    hw.metrics_over(model, [batch], resume=tmp_path / "x.json")
    hw.metrics_over(model, [batch], resume=tmp_path / "x.json")
    for change in (lambda: batch["beside"][0]["x"].__setitem__((25, 25), 1), lambda: batch["beside"][1].__setitem__((20, 20), 1)):
        change()
        with pytest.raises(hw.Error, match="its first 1 batches differ"):
            hw.metrics_over(model, [batch], resume=tmp_path / "x.json")
        (tmp_path / "x.json").unlink()
        hw.metrics_over(model, [batch], resume=tmp_path / "x.json")


@pytest.mark.parametrize("text", ["{}", "[1]", '{"asked": 1, "model": 2, "batches": 1, "data": "", "summary": 3}'])
def test_a_file_of_something_else_is_named(text, data, tmp_path):
    (tmp_path / "x.json").write_text(text)
    for path in (tmp_path / "x.json", tmp_path):
        with pytest.raises(hw.Error, match="is not a file of metrics_over|expected a file"):
            hw.metrics_over(make(*TEXT["bert"], attention="sdpa"), data, resume=path)
