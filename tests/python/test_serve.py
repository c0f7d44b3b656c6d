"""The command `serve`: how it starts and ends, and what its answers are. tests/server has its rules, tests/page its page."""
import base64
import json
import re
import resource
import signal
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from command import HEADWATER, ask, fails


@contextmanager
def served(*words, preexec=None):
    """(process, origin, token) of a server."""
    process = subprocess.Popen([HEADWATER, "serve", *words, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, preexec_fn=preexec)
    try:
        line = process.stdout.readline()
        yield process, *re.search(r"(http://127\.0\.0\.1:\d+)/#token=([0-9a-f]{32})", line).groups()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def server():
    with served("verb-number", "facts", "shapes") as (_, origin, token):
        yield origin, token


def answer(server, **question):
    """The last line of the answer to a question."""
    origin, token = server
    request = urllib.request.Request(f"{origin}/ask", json.dumps(question).encode(), method="POST", headers={
        "Origin": origin, "Content-Type": "application/json", "X-Headwater-Token": token})
    with urllib.request.urlopen(request, timeout=60) as response:
        return [json.loads(line) for line in response.read().decode().splitlines()]


def page(server, **question):
    last = answer(server, **question)[-1]
    assert "page" in last, last
    return last["page"]


@pytest.mark.parametrize("signals", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(signals):
    # A script in the background ignores SIGINT, and so would what it starts.
    with served("verb-number", preexec=lambda: signal.signal(signals, signal.SIG_DFL)) as (process, _, _):
        process.send_signal(signals)
        assert process.wait(20) == 0 and process.stderr.read() == ""


def test_an_interrupt_that_the_caller_ignores_stays_ignored():
    with served("verb-number", preexec=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as (process, origin, token):
        process.send_signal(signal.SIGINT)
        assert page((origin, token), model="verb-number", text="The keys")["items"]
        process.terminate()
        assert process.wait(20) == 0


def test_what_cannot_be_served_is_one_sentence():
    assert "did you mean 'verb-number'?" in fails(1, "serve", "verb-numbr")
    assert fails(2, "serve", "--port", "70000") == "--port 70000: expected 1 to 65535, or 0 for any; choose another"
    with served("verb-number") as (_, origin, _):
        port = origin.rsplit(":", 1)[1]
        assert "choose another with --port" in fails(1, "serve", "verb-number", "--port", port)


@pytest.mark.parametrize("files", range(4, 16))
def test_where_few_files_may_be_open_it_answers_or_does_not_start(files):
    process = subprocess.Popen([HEADWATER, "serve", "verb-number", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
    address = re.search(r"(http://127\.0\.0\.1:\d+)/#token=([0-9a-f]{32})", process.stdout.readline())
    if address:
        answers = answer(address.groups(), model="verb-number", text="The keys", row="cls")
        process.terminate()
        assert {"page", "error"} & answers[-1].keys() and process.wait() == 0
    else:
        said = process.communicate()[1]
        assert process.returncode == 1 and said.count("\n") == 1 and "Too many open files" in said and "ulimit -n" in said, said


def test_an_answer_is_the_command_s(server):
    found = page(server, model="verb-number", method="relevance", text="The keys to the cabinet", target="singular")
    want = ask("relevance", "verb-number", "--text", "The keys to the cabinet", "--target", "singular")
    item = found["items"][0]
    assert item["inputs"]["labels"] == want["tokens"] and item["target"]["name"] == "singular"
    assert found["command"].startswith("headwater relevance verb-number --text 'The keys to the cabinet' --target singular")


def test_generated_text_comes_as_it_grows(server):
    lines = answer(server, model="facts", method="generate", count="4",
                   text="Anna took the key to the box. Where is the key? Answer:")
    texts = [line["text"] for line in lines if "text" in line]
    assert texts == [" box", " box."]
    assert lines[-1]["page"]["items"][0]["title"] == "Rollout of generated tokens"


def test_images_and_examples(server):
    with open("models/shapes/examples/0-red-star.png", "rb") as file:
        data = base64.b64encode(file.read()).decode()
    dropped = page(server, model="shapes", method="gradient", image={"name": "../star.png", "data": data})
    example = page(server, model="shapes", method="gradient", example="0")
    assert dropped["items"][0]["target"] == example["items"][0]["target"]
    assert dropped["items"][0]["values"] == example["items"][0]["values"]
    assert "--image star.png" in dropped["command"]


@pytest.mark.parametrize("question, found", [
    (dict(model="../models/verb-number", text="x"), "is not served here"),
    (dict(model="/etc", text="x"), "is not served here"),
    (dict(model="verb-number", text="x", row="@/etc/passwd"), "row"),
    (dict(model="verb-number", method="relevance", text="x", target="nobody"), "nobody"),
    (dict(model="shapes", text="x"), "is a model of images"),
    (dict(model="shapes", example="9"), "example 9"),
    (dict(model="shapes", image={"name": "x.png", "data": "AAAA"}), "x.png"),
    (dict(file={"name": "/etc/passwd", "data": ""}), "passwd: is not a file of attention"),
    (dict(file={"name": "x.npz", "data": "AAAA"}), "x.npz"),
    (dict(model="verb-number", method="generate", text="x"), "cannot predict the next word"),
])
def test_what_is_wrong_is_one_sentence(server, question, found):
    last = answer(server, **question)[-1]
    assert found in last["error"] and "\n" not in last["error"] and "/tmp" not in last["error"] and "/models" not in last["error"].replace("../models", "")


def test_strangers_are_refused(server):
    origin, token = server
    good = {"Origin": origin, "Content-Type": "application/json", "X-Headwater-Token": token}
    for change, status in [({"Origin": "http://evil.example"}, 403), ({"Host": "evil.example"}, 403),
                           ({"X-Headwater-Token": "0" * 32}, 401), ({"Content-Type": "text/plain"}, 415)]:
        request = urllib.request.Request(f"{origin}/menu", b"{}", headers=good | change)
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request, timeout=20)
        assert error.value.code == status
        error.value.close()
