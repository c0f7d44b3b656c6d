"""Text of byte-level tokenizers is shown as text, and filters see it so."""
import json
import re

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from attention import save
from command import ask, run
from families import DECODER, make

CHINESE = "\u6211\u559c\u6b22\u8fd9\u90e8\u7535\u5f71"


@pytest.fixture(scope="session")
def bytewise(tmp_path_factory):
    """A causal model whose tokenizer spells in bytes and has no token for most characters."""
    folder = tmp_path_factory.mktemp("bytewise")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(["Stra\u00dfe \u6211\u559c\u6b22 the cat"] * 9, trainers.BpeTrainer(
        vocab_size=270, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    make("LlamaForCausalLM", "LlamaConfig", dict(DECODER, vocab_size=tokenizer.get_vocab_size(),
                                                 max_position_embeddings=400)).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.parametrize("text", [CHINESE, "Stra\u00dfe", "na\u00efve", "\U0001f600"])
def test_text_without_a_space_is_no_mojibake(bytewise, text):
    tokens = ask("info", bytewise, "--text", text)["tokens"]
    assert "".join(tokens) != text, "the tokenizer spells in bytes"
    for words in (["rollout"], ["info"], ["compare", "--by", "fuse"], ["relevance"]):
        shown = run(words[0], bytewise, "--text", text, *words[1:]).stdout
        body = re.split("\nindex|\n +id ", shown)[-1]
        assert "\ufffd" not in body and "\u00e6" not in body and "\u00c3" not in body, shown
        for character in text:
            assert character in body
    coloured = run("rollout", bytewise, "--text", text, env={"FORCE_COLOR": "1"}).stdout
    assert text in re.sub(r"\x1b\[[0-9;]*m", "", coloured)


def test_parts_of_a_character_say_which_part_they_are(bytewise):
    shown = run("info", bytewise, "--text", "\U0001f600").stdout
    assert [f"\U0001f600 {k}/4" in shown for k in (1, 2, 3, 4)] == [True] * 4


def test_generate_names_tokens_in_the_alphabet_of_its_prompt(bytewise):
    shown = run("generate", bytewise, "--prompt", CHINESE, "--count", 3).stdout
    table = shown[shown.index("generated"):]
    assert "\u00e6" not in table.split("leans on")[1].split("\n", 1)[1] or CHINESE[0] in table
    assert any(character in table for character in CHINESE)


def test_a_predicted_part_of_a_character_shows_its_bytes(bytewise):
    """Its name in the alphabet of the vocabulary would look like another letter."""
    tokenizer = Tokenizer.from_file(str(bytewise / "tokenizer.json"))
    seen = 0
    for text in (CHINESE[:k] for k in range(1, len(CHINESE) + 1)):
        said = ask("relevance", bytewise, "--prompt", text)["prediction"]
        if tokenizer.decode([said["id"]]) != "\ufffd":
            continue
        seen += 1
        title, prediction = run("relevance", bytewise, "--prompt", text).stdout.splitlines()[:2]
        assert re.search(r"Relevance for '(<0x[89A-F][0-9A-F]>)+'", title)
        assert re.search(r"next word '(<0x[89A-F][0-9A-F]>)+' \(", prediction)
    assert seen > 0, "nothing predicted is part of a character"


def test_pictures_and_pages_have_the_text(bytewise, tmp_path):
    done = run("rollout", bytewise, "--text", "Stra\u00dfe", "--row", "last", "-o", tmp_path / "x.svg", "-o", tmp_path / "x.html")
    assert done.returncode == 0, done.stderr
    assert "\u00df" in (tmp_path / "x.svg").read_text() and "\u00c3" not in (tmp_path / "x.svg").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', (tmp_path / "x.html").read_text(), re.S)[1])
    assert "\u00df" in "".join(data["items"][0]["inputs"]["labels"])


def test_filters_drop_line_ends_but_no_unknown_words(tmp_path):
    tokens = ["[CLS]", "[UNK]", "a", "\n", ".\n\n", "<unk>", "[SEP]"]
    n = len(tokens)
    path = save(tmp_path / "x.json", [[[1 / n] * n] * n], tokens=tokens)
    assert ask("rollout", path, "--filter", "special")["filter"]["left_out"] == [0, 6]
    assert ask("rollout", path, "--filter", "punctuation")["filter"]["left_out"] == [3, 4]


def test_words_that_are_read_from_the_right_leave_columns_in_their_place(tmp_path):
    """A terminal turns such words around, and would take numbers beside them along: each is an isolate."""
    words = ["[CLS]", "\u05e9\u05dc\u05d5\u05dd", "world", "\u0627\u0644\u0633\u0644\u0627\u0645", "[SEP]"]
    path = tmp_path / "x.npz"
    layers = np.random.default_rng(0).random((2, 3, 5, 5)).astype(np.float32)
    save(path, list(layers / layers.sum(-1, keepdims=True)), tokens=words)
    for more in ([], ["--by-layer"]):
        lines = run("rollout", path, "--row", 1, *more).stdout.splitlines()
        for k in (1, 3):
            line = next(line for line in lines if line.lstrip().startswith(f"{k} "))
            assert f"\u2068{words[k]}\u2069" in line
        assert not any("\u2068" in line for line in lines if "world" in line or "[SEP]" in line)
    assert f"\u2068output token 1 '{words[1]}'\u2069" in run("rollout", path, "--row", 1).stdout
    coloured = run("rollout", path, "--row", 1, env={"FORCE_COLOR": "1"}).stdout
    assert f"\u2068{words[1]}\u2069" in coloured.split("\n\n")[-1]
