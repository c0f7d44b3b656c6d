"""What the command says when something is wrong, and that nothing is lost."""
import re
import signal
import subprocess
import time

import numpy as np
import pytest

from attention import save, softmax_rows
from command import HEADWATER, fails, files_in, run


@pytest.mark.parametrize("words, hint", [
    (["rolout", "x.npz"], "did you mean 'rollout'?"),
    (["rollout", "x.npz", "--discrad", "0.1"], "did you mean '--discard'?"),
    (["rollout", "x.npz", "--preset", "tutorail"], "did you mean 'tutorial'?"),
    (["rollout", "x.npz", "--fuse", "maen"], "did you mean 'mean'?"),
    (["rollout", "x.npz", "--order", "discard_first"], "did you mean 'discard-first'?"),
    (["rollout", "x.npz", "--empty", "zeros"], "did you mean 'zero'?"),
    (["rollout", "x.npz", "--filter", "specal"], "did you mean 'special'?"),
    (["rollout", "x.npz", "-o", "x.pgn"], "expected one of .json, .npy, .npz, .png"),
    (["compare", "x.npz", "--by", "discards"], "did you mean 'discard'?"),
    (["completion", "bsh"], "did you mean 'bash'?"),
    (["--verson"], "did you mean '--version'?"),
    (["rollout", "x.npz", "--residual", "1"], "from 0 up to but not including 1"),
    (["rollout", "x.npz", "--discard", "-0.1"], "from 0 up to but not including 1"),
    (["rollout", "x.npz", "--residual", "half"], "expected a number"),
    (["rollout", "x.npz", "--residual", "nan"], "expected"),
    (["rollout", "x.npz", "--layers", "3"], "for example 0:6"),
    (["rollout", "x.npz", "--threads", "0"], "expected 1 to"),
    (["rollout", "x.npz", "--threads", "99999999999"], "expected a whole number from -2147483648 to 2147483647"),
    (["rollout", "x.npz", "--item=-99999999999"], "expected a whole number from -2147483648 to 2147483647"),
    (["rollout", "x.npz", "--head", "1x"], "--head '1x': expected a whole number"),
    (["rollout", "x.npz", "--residual", "1e999"], "--residual '1e999': is out of range"),
    (["rollout", "x.npz", "--kernel", "abacus"], "no kernel 'abacus'"),
    (["rollout", "x.npz", "--sums", "chekced"], "did you mean 'checked'?"),
    (["rollout", "x.npz", "--head", "1", "--fuse", "max"], "together with --fuse"),
    (["gradient", "verb-number", "--text", "x", "--layer", "0", "--layers", "0:1"], "together with --layers"),
    (["generate", "facts", "--prompt", "x", "--seed", "-1"], "expected a whole number, 0 or more"),
    (["generate", "facts", "--prompt", "x", "--count", "2147483647"], "--count 2147483647: expected 1 to 1000000 tokens"),
    (["evaluate", "facts", "--against", "gradeint"], "did you mean 'gradient'?"),
    (["rollout", "x.npz", "--discard"], "--discard"),
    (["rollout", "x.npz", "--by-layer=3"], "--by-layer"),
    (["rollout", "x.npz", "y.npz"], "'y.npz' was not expected"),
    (["rollout"], "no SOURCE was given"),
    (["compare", "x.npz"], "no --by was given"),
    (["completion"], "bash, zsh or fish"),
    (["roll"], "did you mean 'rollout'?"),
    (["RELEVANCE"], "did you mean 'relevance'?"),
    (["rollout", "x.npz", "--trunc"], "did you mean '--truncate'?"),
    (["demo", "out/"], "'out/' was not expected after 'demo', which takes no source"),
])
def test_bad_usage_is_one_line_with_the_nearest_name_and_status_2(words, hint, tmp_path):
    assert hint in fails(2, *words, cwd=tmp_path)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("words", [["--tokens", "none.txt"], ["--filter", "@none.txt"], ["--kernel", "abacus"],
                                   ["--threads", "2"]])
def test_an_unknown_option_is_noticed_before_a_file_is_read_or_the_machine_is_set(words, tmp_path):
    assert "did you mean '--discard'?" in fails(2, "rollout", "x.npz", *words, "--discrad", "0.1", cwd=tmp_path)


@pytest.mark.parametrize("words", [["--tokens", "none.txt"], ["--filter", "special,@none.txt"]])
def test_a_file_that_an_option_names_and_that_is_not_there_is_a_failure_of_the_work(words, fox):
    assert fails(1, "rollout", fox, *words, cwd=fox.parent).startswith("none.txt: ")


def test_the_largest_number_is_a_layer_that_is_not_there():
    message = fails(1, "gradient", "verb-number", "--text", "The keys", "--layer", 2**31 - 1)
    assert re.search("has no layers 2147483647:", message)


def test_input_of_an_unknown_ending_is_bad_usage(tmp_path):
    (tmp_path / "x.npx").write_text("")
    assert "did you mean '.np" in fails(2, "rollout", tmp_path / "x.npx")


def test_axes_of_unknown_letters_are_bad_usage(fox):
    assert "letter 'X' is unknown" in fails(2, "rollout", fox, "--axes", "HXnn")


def test_a_folder_with_the_name_of_a_command_is_a_source_like_any_other(tmp_path):
    (tmp_path / "demo").mkdir()
    assert fails(1, "rollout", "demo", cwd=tmp_path).startswith("demo: is a folder without config.json, expected a model")


FORM = r"^{file}: [^;]+, expected [^;]+; [^;]+$"


@pytest.mark.parametrize("words", [
    ["rollout", "none.npz"], ["rollout", "fox.npz", "--row", 6], ["rollout", "fox.npz", "--row=-7"],
    ["rollout", "fox.npz", "--layers", "0:4"], ["rollout", "fox.npz", "--layers", "2:2"],
    ["rollout", "fox.npz", "--head", 2], ["raw", "fox.npz", "--layer", 3], ["metrics", "fox.npz", "--layer", 9],
    ["rollout", "fox.npz", "--item", 1], ["rollout", "batch.npz"], ["rollout", "batch.npz", "--item", 2],
    ["rollout", "batch.npz", "--row", "mask", "--item", 1], ["rollout", "fox.npz", "--axes", "LHnn"],
])
def test_what_is_not_there_is_one_line_of_one_form_and_status_1(words, fox, batch):
    file = words[1]
    assert re.match(FORM.format(file=re.escape(file)), fails(1, *words, cwd=fox.parent))


def broken(name):
    """A file that is wrong in one way, and what the error must name."""
    good = softmax_rows(np.random.default_rng(4), (2, 2, 4, 4)).astype(np.float32)
    if name == "nan":
        good[1, 0, 2, 3] = np.nan
    if name == "infinity":
        good[1, 0, 2, 3] = np.inf
    if name == "negative":
        good[1, 0, 2, 3] -= 2 * good[1, 0, 2, 3] + 1e-3
    if name == "sum":
        good[1, 0, 2] *= 0.9
    if name == "not square":
        good = good[..., :3]
    if name == "integers":
        good = np.ones((2, 2), np.int32)
    if name == "one axis":
        good = good[0, 0, 0]
    return good


@pytest.mark.parametrize("name, found", [
    ("nan", "layer 1, head 0, row 2 has nan in column 3"), ("infinity", "layer 1, head 0, row 2 has inf in column 3"),
    ("negative", "layer 1, head 0, row 2 has -"), ("sum", "layer 1, head 0, row 2 sums to 0.9"),
    ("not square", "4 x 3"), ("integers", "type i32"), ("one axis", "1 axes [4]")])
def test_attention_that_is_none_is_named_by_its_place(name, found, tmp_path):
    path = save(tmp_path / "bad.npy", [broken(name)])
    before = files_in(tmp_path)
    message = fails(1, "rollout", path, "-o", tmp_path / "x.json", "-o", tmp_path / "x.png")
    assert found in message and message.startswith(f"{path}: ")
    assert "expected" in message and ";" in message
    assert files_in(tmp_path) == before


def test_outputs_are_checked_before_the_work(tmp_path):
    np.save(tmp_path / "nan.npy", np.full((2, 3, 3), np.nan, np.float32))
    rollout = ["rollout", tmp_path / "nan.npy", "-o", tmp_path / "x.npy"]
    assert "nan.npy: layer 0" in fails(1, *rollout)
    # The work would find that again: whoever hears of the folder instead did not have to wait for it.
    assert fails(1, *rollout, "-o", tmp_path / "none/x.json").startswith(f"{tmp_path}/none/x.json: ")
    assert files_in(tmp_path) == ["nan.npy"]


def test_a_folder_that_may_not_be_written_is_said_and_left_alone(fox):
    message = fails(1, "rollout", fox, "-o", "/proc/x.json")
    assert re.match(FORM.format(file="/proc/x.json"), message)


def test_a_result_without_values_has_no_picture(fox, tmp_path):
    for words in (["metrics", fox, "-o", "x.npy"], ["info", fox, "-o", "x.png"], ["metrics", fox, "-o", "x.svg"]):
        fails(1, *words, cwd=tmp_path)
    assert files_in(tmp_path) == ["fox.npz"]


def test_an_unknown_ending_is_answered_with_those_that_the_result_can_have(fox, tmp_path):
    for command in ("metrics", "info"):
        assert fails(2, command, fox, "-o", "x.xlsx", cwd=tmp_path).endswith("expected one of .json, .npz, .html; choose one")


def test_errors_call_a_model_by_the_name_that_was_typed():
    for words in (["gradient", "--target", "xx"], ["rollout", "--head", 9], ["rollout", "--image", "x.png"]):
        assert fails(2 if "--image" in words else 1, words[0], "verb-number", "--text", "The keys", *words[1:]).startswith("verb-number: ")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(words, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("a full disk: mounting a small tmpfs needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("ending", ["json", "npy", "npz", "png", "pdf"])
def test_an_old_file_survives_a_full_disk(ending, wide, small_disk):
    old = small_disk / f"x.{ending}"
    old.write_text("old")
    message = fails(1, "rollout", wide, "-o", old)
    assert re.match(FORM.format(file=re.escape(str(old))).replace(", expected [^;]+", ", [^;]+"), message)
    assert old.read_text() == "old"
    assert files_in(small_disk) == [old.name]


def test_standard_output_that_is_full_is_an_error(fox):
    for words in (["-o", "-"], []):
        with open("/dev/full", "w") as full:
            done = run("rollout", fox, *words, stdout=full)
        assert done.returncode == 1
        assert done.stderr.startswith("headwater: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [["--help"], [], ["rollout", "--help"], ["--version"], ["completion", "fish"], ["demo"]])
def test_texts_that_a_full_standard_output_cannot_take_are_an_error(words, tmp_path):
    with open("/dev/full", "w") as full:
        done = run(*words, stdout=full, cwd=tmp_path)
    assert done.returncode == 1
    assert re.fullmatch(r"headwater: standard output: could not be written [^;]+, expected [^;]+; [^;]+\n", done.stderr)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("after", [0.05, 0.2, 0.4, 0.8])
def test_an_old_file_survives_a_signal_and_nothing_is_left_over(name, after, slow, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for ending in ("json", "png"):
        (out / f"x.{ending}").write_text("old")
    words = [HEADWATER, *map(str, slow), "-o", str(out / "x.json"), "-o", str(out / "x.png")]
    # A script's background job ignores SIGINT, and so would every process that it starts.
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(after)
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=20)
    assert process.returncode in (-getattr(signal, name), 128 + getattr(signal, name))
    assert files_in(out) == ["x.json", "x.png"]
    assert (out / "x.json").read_text() == "old"
