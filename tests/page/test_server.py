"""`headwater serve` in a real browser: what a person types, drops and compares."""
import json
import re
import signal
import subprocess
import urllib.request

import pytest

from conftest import COMMAND, ROOT, SENTENCE, asked, ranking, run

AXE = ROOT / "viewer/node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="module")
def address():
    """The address of a server, which ends by Ctrl-C."""
    # A script in the background ignores SIGINT, and so would the server.
    server = subprocess.Popen([COMMAND, "serve", "verb-number", "facts", "shapes", "--port", "0"], stdout=subprocess.PIPE,
                              text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    line = server.stdout.readline()
    yield re.search(r"http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}", line)[0]
    server.send_signal(signal.SIGINT)
    assert server.wait(20) == 0


@pytest.fixture
def open_page(browser, address):
    """open_page(): the server's page, on which no error may happen and which asks its own server alone."""
    contexts, wrong = [], []
    origin = address.split("/#")[0]

    def one(dark=False, width=1280, height=900, ready=True):
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce",
                                      color_scheme="dark" if dark else "light")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: request.url.startswith((origin, "blob:", "data:"))
                or wrong.append(f"a request to {request.url}"))
        page.goto(address)
        if ready:
            page.wait_for_selector(".ranking tbody tr")
        return page
    yield one
    for context in contexts:
        context.close()
    assert wrong == []


def type_text(page, text, token):
    """Types a text and waits until its last token is on the page."""
    page.fill("textarea", text)
    if page.locator(".status", has_text="Enter").count():  # a busy machine: answers were slow
        page.press("textarea", "Enter")
    # Not a longer word of the text before.
    page.locator(".text [data-t]", has_text=re.compile(rf"^\W*{token}\W*$")).first.wait_for()


def choose(page, label, value):
    page.locator(f".ask .field:has(> span:text-is('{label}')) select").select_option(value)


def test_a_typed_text_is_shaded(open_page, tmp_path):
    page = open_page()
    type_text(page, "The author of the books", "books")
    page.locator(".text [data-t='0']").click()
    run("rollout", "verb-number", "--text", "The author of the books", "-o", tmp_path / "x.json")
    want = json.loads((tmp_path / "x.json").read_text())["values"][0]
    assert ranking(page) == pytest.approx(dict(enumerate(want)), rel=6e-3, abs=1e-6)
    assert page.inner_text(".command code") == (
        "headwater rollout verb-number --text 'The author of the books' --embed-layers -o page.html")


def test_the_token_leaves_the_address_and_a_reload_keeps_it(open_page, address):
    page = open_page()
    assert page.url == address.split("#")[0]
    page.reload()
    page.wait_for_selector(".ranking tbody tr")
    assert "token" not in page.url


def test_without_the_token_nothing_is_answered(browser, address):
    page = browser.new_page()
    page.goto(address.split("#")[0])
    page.get_by_text("does not have this server's token").wait_for()
    page.close()


def test_another_page_gets_nothing(browser, address, tmp_path):
    other = tmp_path / "other.html"
    other.write_text("<p>another page</p>")
    page = browser.new_page()
    page.goto(f"file://{other}")
    origin = address.split("/#")[0]
    for place in ("/", "/ask"):
        assert page.evaluate("""place => fetch(place, {method: place.endsWith('ask') ? 'POST' : 'GET'})
            .then(() => 'read', () => 'refused')""", origin + place) == "refused"
    page.set_content(f"<iframe src='{origin}/'></iframe>")
    page.wait_for_timeout(300)
    assert page.frames[-1].evaluate("document.getElementById('app') === null")
    page.close()


def test_the_text_has_the_room_of_its_view(open_page):
    page = open_page()
    view, text = page.locator("#view1").bounding_box(), page.locator(".text").bounding_box()
    assert text["x"] - view["x"] < 20 and text["width"] > view["width"] - 40


def test_the_model_says_what_it_decides(open_page, tmp_path):
    page = open_page()
    type_text(page, SENTENCE, "cabinet")
    run("rollout", "verb-number", "--text", SENTENCE, "-o", tmp_path / "x.html")
    said = "class 'plural' (99 %), then 'singular' (0.958 %)"
    assert said in (tmp_path / "x.html").read_text().replace("\\u0027", "'")
    page.locator(".details", has_text=said).wait_for()


def test_relevance_has_its_heads(open_page):
    page = open_page()
    choose(page, "method", "relevance")
    page.locator(".heads tbody tr").first.wait_for()
    assert page.locator(".heads tbody tr").count() == 6


def test_a_comparison_takes_what_it_does_not_set_itself(open_page):
    page = open_page()
    choose(page, "method", "compare")
    choose(page, "by", "head")
    page.locator(".command code", has_text="--by head").wait_for()
    assert "layer 0 head 7" in page.locator(".compare").inner_text()
    assert page.locator(".ask .field:has(> span:text-is('fuse'))").count() == 0
    choose(page, "by", "layer")
    assert page.locator(".ask .field:has(> span:text-is('fuse'))").count() == 1
    page.locator(".command code", has_text="--by layer").wait_for()


@pytest.mark.parametrize("method", ["flow", "raw", "average", "gradient", "relevance", "compare"])
def test_every_method_answers(open_page, method):
    page = open_page()
    choose(page, "method", method)
    page.wait_for_function("method => document.querySelector('.command code')?.textContent.startsWith(`headwater ${method} `)",
                           arg=method)
    assert page.locator(".ranking tbody tr").count() > 3
    assert page.locator(".error").count() == 0


def test_options_are_those_of_the_command(open_page):
    page = open_page()
    choose(page, "method", "relevance")
    page.locator(".ask .field", has_text="target").locator("input").fill("singular")
    page.get_by_text("--target singular").wait_for()
    page.locator(".ask .field", has_text="target").locator("input").fill("purple")
    page.locator(".error", has_text="purple").wait_for()


def test_a_prompt_is_continued(open_page):
    page = open_page()
    choose(page, "model", "facts")
    choose(page, "method", "generate")
    page.fill("textarea", "Anna took the key to the box. Ben went to the cave. Where is the key? Answer:")
    page.press("textarea", "Enter")
    page.locator(".text", has_text="box").nth(1).wait_for()
    assert "Output" in page.locator("#view1").inner_text()


def test_what_waits_for_enter_says_so(open_page):
    page = open_page()
    choose(page, "model", "facts")
    choose(page, "method", "generate")
    page.locator(".status", has_text="Enter or Ask").wait_for()
    page.press("textarea", "Enter")
    page.locator(".command code", has_text="headwater generate facts").wait_for()
    assert page.locator(".status").inner_text() == ""


def test_an_emptied_field_stays_empty(open_page):
    page = open_page()
    page.fill("textarea", "")
    page.locator(".status", has_text="Type a text").wait_for()
    assert page.input_value("textarea") == ""
    type_text(page, "A guard", "guard")


def test_an_image_is_dropped(open_page):
    page = open_page()
    page.set_input_files("input[type=file]", ROOT / "models/shapes/examples/1-purple-cross.png")
    page.locator(".picture canvas").wait_for()
    assert "shapes" in page.inner_text(".details")
    choose(page, "method", "gradient")
    page.locator(".pane").get_by_text("purple cross").first.wait_for()


def test_a_file_of_attention_is_dropped(open_page, attention, tmp_path):
    path = attention(12)
    page = open_page()
    page.evaluate("""async ([name, data]) => {
        const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0)), transfer = new DataTransfer();
        transfer.items.add(new File([bytes], name));
        window.dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, cancelable: true}));
    }""", ["mine.npz", __import__("base64").b64encode(path.read_bytes()).decode()])
    page.locator(".dropped", has_text="mine.npz").wait_for()
    page.locator(".text [data-t]", has_text="word9").wait_for()
    run("rollout", path, "--row", "cls", "-o", tmp_path / "x.json")
    want = json.loads((tmp_path / "x.json").read_text())["values"][0]
    assert ranking(page) == pytest.approx(dict(enumerate(want)), rel=6e-3, abs=1e-6)


def test_a_bad_file_is_one_sentence(open_page, tmp_path):
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"PK nothing")
    page = open_page()
    page.set_input_files("input[type=file]", bad)
    message = page.locator(".error")
    message.wait_for()
    assert message.inner_text().startswith("bad.npz: ") and "/tmp" not in message.inner_text()


def test_two_texts_side_by_side(open_page):
    page = open_page()
    type_text(page, SENTENCE, "cabinet")
    page.get_by_text("Ask again beside it").click()
    page.fill("textarea", "The author of the books")
    page.locator(".place").nth(1).locator(".text [data-t]", has_text="books").wait_for()
    assert page.locator(".place").first.locator(".text [data-t]", has_text="cabinet").count() == 1
    # Each has its own questions, by the pointer and by the keys.
    page.locator(".place").nth(1).locator(".text [data-t='1']").click()
    assert "unpin" in page.locator(".place").nth(1).locator(".question").inner_text()
    assert "unpin" not in page.locator(".place").first.locator(".question").inner_text()
    page.get_by_text("Change the left").click()
    assert page.input_value("textarea") == SENTENCE
    choose(page, "model", "facts")
    page.locator(".place").first.get_by_text("headwater rollout facts").wait_for()
    page.get_by_text("Close the right").click()
    assert page.locator(".place").count() == 1


def test_two_models_are_compared(open_page):
    page = open_page()
    choose(page, "method", "compare")
    choose(page, "by", "model")  # the other one is there already
    page.locator(".command code", has_text="headwater compare verb-number facts").wait_for()
    assert "Rank correlation" in page.inner_text(".compare")


def test_earlier_inputs_come_back(open_page):
    page = open_page()
    type_text(page, "The keys", "keys")
    type_text(page, "A guard", "guard")
    page.reload()
    page.wait_for_selector("#history")
    choices = page.locator("#history option").all_text_contents()
    assert any(choice.startswith("A guard") for choice in choices)
    page.select_option("#history", label=next(choice for choice in choices if choice.startswith("The keys")))
    page.locator(".text [data-t]", has_text="keys").wait_for()
    assert page.input_value("textarea") == "The keys"


def test_work_is_cancelled(open_page, attention):
    page = open_page()
    page.set_default_timeout(60000)
    page.set_input_files("input[type=file]", attention(700, layers=6))
    page.locator(".text [data-t]", has_text="word600").wait_for()
    choose(page, "method", "flow")
    page.get_by_text("Cancel").click()
    page.get_by_text("Cancel").wait_for(state="detached")
    page.get_by_text("Remove").click()
    type_text(page, "The keys to the cabinet are", "cabinet")


@pytest.mark.parametrize("two", [False, True])
def test_axe_finds_nothing_on_the_server(open_page, two):
    page = open_page()
    if two:
        page.get_by_text("Ask again beside it").click()
        page.fill("textarea", "The author of the books")
        page.locator(".place").nth(1).locator(".text [data-t]", has_text="books").wait_for()
    page.evaluate(AXE.read_text())
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)
        found = page.evaluate("axe.run().then(result => result.violations.map(one => `${one.id}: ${one.help} "
                              "${one.nodes.map(node => node.target + ' ' + node.failureSummary)}`))")
        assert found == [], scheme


@pytest.mark.parametrize("width", [360, 768, 1920])
def test_the_form_fits_the_window(open_page, width):
    page = open_page(width=width, height=800)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_needs_no_token_and_says_nothing(address):
    with urllib.request.urlopen(address.split("#")[0]) as response:
        text = response.read().decode()
        assert "connect-src 'self'" in response.headers["Content-Security-Policy"]
    assert "verb-number" not in text
