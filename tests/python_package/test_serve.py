"""hw.serve: a live PyTorch model behind the server's page; and pages in notebooks."""
import html
import json
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.client import HTTPException

import numpy as np
import pytest

import headwater as hw

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")


class Letters:
    """A tokenizer with a token for each letter."""

    def __call__(self, text, text_pair=None, *, return_tensors):
        ids = [ord(letter) % 50 for letter in text + (text_pair or "")]
        return {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}

    def convert_ids_to_tokens(self, ids):
        return [f"t{k}" for k in ids]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=3, num_attention_heads=2,
                                     intermediate_size=16, id2label={0: "no", 1: "yes"})
    return transformers.BertForSequenceClassification(config).eval()


@pytest.fixture(scope="module")
def server(model):
    with hw.serve(model, Letters(), name="mine", port=0, block=False) as server:
        yield server


def post(server, place, body):
    origin, token = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/#token=([0-9a-f]{32})", server.url).groups()
    request = urllib.request.Request(origin + place, json.dumps(body).encode(), headers={
        "Origin": origin, "Content-Type": "application/json", "X-Headwater-Token": token})
    with urllib.request.urlopen(request, timeout=60) as response:
        return [json.loads(line) for line in response.read().decode().splitlines()]


def answer(server, **question):
    return post(server, "/ask", {"model": "mine", **question})[-1]


def test_the_menu_has_the_model(server):
    menu = post(server, "/menu", {})[0]
    assert [one["name"] for one in menu["models"]] == ["mine"] and menu["models"][0]["classes"] == ["no", "yes"]
    assert {one["name"] for one in menu["methods"]} == {"rollout", "flow", "raw", "average", "gradient", "relevance",
                                                            "generate", "compare"}
    assert not menu["models"][0]["writes"]


@pytest.mark.parametrize("method, words", [("rollout", {}), ("rollout", {"row": "1", "residual": "0.25"}), ("flow", {}),
                                           ("average", {"layers": "1:3"}), ("raw", {"layer": "0"}),
                                           ("gradient", {"target": "yes"}), ("compare", {"by": "fuse"}),
                                           ("relevance", {"target": "yes", "against": "no", "rule": "attnlrp"})])
def test_an_answer_is_the_capture_s(server, model, method, words):
    page = answer(server, method=method, text="hello", **words)["page"]
    given = {word: {"layer": int, "residual": float}.get(word, str)(value) for word, value in words.items()}
    with hw.capture(model, tokenizer=Letters()) as seen:
        model(**Letters()("hello", return_tensors="pt"))
    want = getattr(seen, method)(**given)
    assert page["items"] == json.loads(want._page(only_data=True))["items"]
    assert len((page["items"][0].get("panels") or page["items"])[0]["inputs"]["labels"]) == 5


def test_what_goes_wrong_is_one_sentence(server):
    assert "nobody" in answer(server, method="gradient", text="hello", target="nobody")["error"]
    assert "does not have it" in answer(server, method="gradient", text="hello", against="no")["error"]
    long = answer(server, method="rollout", text="x" * 600)["error"]
    assert long.startswith("the model failed (") and "\n" not in long
    assert "hello" != answer(server, method="rollout", text="hello").get("error")


def test_a_model_that_writes_is_asked_to():
    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=64, bos_token_id=0,
                                     eos_token_id=None, pad_token_id=0)
    model = transformers.GPT2LMHeadModel(config).eval()
    with hw.serve(model, Letters(), name="mine", port=0, block=False) as server:
        assert post(server, "/menu", {})[0]["models"][0]["writes"]
        lines = post(server, "/ask", {"model": "mine", "method": "generate", "text": "hello", "count": "6"})
        assert "expected 1 to" in answer(server, method="generate", text="hello", count="0")["error"]
    item = lines[-1]["page"]["items"][0]
    said = [line["progress"] for line in lines if "progress" in line]  # not all of it: a quick one says little
    assert all(what == "token" and total == 6 for what, _, total in said)
    with hw.capture(model, tokenizer=Letters()) as seen:
        model.generate(**Letters()("hello", return_tensors="pt"), max_new_tokens=6, do_sample=False)
    assert item == json.loads(seen.generation()._page(only_data=True))["items"][0]
    assert len(item["inputs"]["labels"]) == 5 and len(item["outputs"]["labels"]) == 6
    assert "GPT2LMHeadModel" in item["details"][0]


def test_it_stops(model):
    server = hw.serve(model, Letters(), port=0, block=False)
    assert "127.0.0.1" in repr(server)
    server.stop()
    assert "stopped" in repr(server)
    with pytest.raises(urllib.error.URLError):
        post(server, "/menu", {})


def test_work_is_given_up_when_nobody_waits(model):
    begun, ended = threading.Event(), threading.Event()

    class Slow(Letters):
        def __call__(self, text, text_pair=None, *, return_tensors):
            begun.set()
            ended.wait(20)
            return super().__call__(text, text_pair, return_tensors=return_tensors)

    server = hw.serve(model, Slow(), name="mine", port=0, block=False)
    asking = threading.Thread(target=lambda: pytest.raises((OSError, HTTPException), answer, server,
                                                                   method="rollout", text="hi"))
    asking.start()
    assert begun.wait(20)
    ended.set()
    server.stop()
    asking.join(20)
    assert not asking.is_alive()


def test_ctrl_c_ends_a_script():
    code = "import headwater as hw; hw.serve('verb-number', port=0)"
    # A script in the background ignores SIGINT, and so would what it starts.
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout.readline().startswith("Open http://127.0.0.1:")
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0 and process.stderr.read() == ""


def test_what_cannot_be_served_is_an_error(model):
    for words, found in [((model,), "without a tokenizer"), ((3,), "expected a PyTorch model"),
                         (("verb-number", Letters()), "leave them out"), (("no-such-model",), "no-such-model")]:
        with pytest.raises(hw.Error, match=found):
            hw.serve(*words, port=0, block=False)


def test_notebooks_show_the_page_and_spans():
    attention = np.full((2, 2, 4, 4), 0.25, np.float32)
    result = hw.rollout(attention, tokens=["<script>alert(1)</script>", "b", "c", "d"])
    shown = result._repr_html_()
    source = re.search(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts allow-downloads"', shown)[1]
    assert html.unescape(source) == result._page() and "height: 620px" in shown
    # Inside of the frame's element: shown by what strips the element, ignored by what shows the frame.
    assert shown.endswith(result._spans() + "</iframe>") and "<script" not in shown
    assert "height: 300px" in hw.view(result, height=300)._repr_html_()
    for one in (hw.compare(attention, by="fuse"), hw.generate("facts", "Where is the key?", count=2)):
        assert "<iframe" in one._repr_html_() and "<iframe" in hw.view(one)._repr_html_()


def test_large_results_show_their_page_when_asked():
    result = hw.rollout(np.full((1, 1, 800, 800), 1 / 800, np.float32))
    assert "<iframe" not in result._repr_html_() and "hw.view(result)" in result._repr_html_()
    assert "<iframe" in hw.view(result)._repr_html_()


def test_what_has_no_page_cannot_be_viewed():
    with pytest.raises(hw.Error, match="expected a result"):
        hw.view(3)
    with pytest.raises(hw.Error, match="at least 100"):
        hw.view(hw.rollout(np.full((1, 1, 2, 2), 0.5, np.float32)), height=5)
