"""The command when the system interrupts it: signals, limits, inputs that change, outputs of odd kinds."""
import json
import os
import re
import resource
import signal
import stat
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from attention import softmax_rows
from command import HEADWATER, fails, files_in


def start(*words, **options):
    return subprocess.Popen([HEADWATER, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            **options)


def limited(which, most):
    return lambda: resource.setrlimit(which, (most, most))


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "in" / "small.npy"
    path.parent.mkdir()
    np.save(path, softmax_rows(np.random.default_rng(1), (2, 2, 40, 40)).astype("f4"))
    return path


def test_a_limit_on_the_size_of_files_is_an_error_of_writing(small, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    process = start("rollout", small, "-o", out / "x.json", preexec_fn=limited(resource.RLIMIT_FSIZE, 4096))
    _, error = process.communicate(timeout=30)
    assert process.returncode == 1 and "File too large" in error and error.count("\n") == 1
    assert files_in(out) == []


def test_an_input_that_is_shortened_while_it_is_read_is_a_sentence(tmp_path):
    path = tmp_path / "big.npy"
    big = np.lib.format.open_memmap(path, mode="w+", dtype="f4", shape=(12, 4, 1500, 1500))
    big[:] = 1 / 1500
    big.flush()
    ended = set()
    for wait in (0.02, 0.05, 0.1, 0.15, 0.2):
        full = path.stat().st_size
        process = start("rollout", path, "-o", tmp_path / "x.npy")
        time.sleep(wait)
        os.truncate(path, 8192)
        _, error = process.communicate(timeout=60)
        os.truncate(path, full)
        with open(path, "r+b") as file:  # what was cut off reads as zeros: write the head again
            file.truncate(full)
        ended.add(process.returncode)
        assert process.returncode in (0, 1), (process.returncode, error)
        assert process.returncode == 0 or (error.count("\n") == 1 and "big.npy" in error), error
        big[:] = 1 / 1500
        big.flush()
    assert 1 in ended


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_command_as_the_signal_does(number, small, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    os.mkfifo(out / "x.json")  # nobody reads it, so the command waits there
    # A script in the background ignores SIGINT, and so would the command that it starts.
    process = start("rollout", small, "-o", out / "x.json", preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    time.sleep(0.5)
    process.send_signal(number)
    process.communicate(timeout=10)
    assert process.returncode == -number
    assert files_in(out) == ["x.json"]


def test_what_was_closed_before_is_not_a_file_of_ours(small, tmp_path):
    pipe = tmp_path / "x.json"
    os.mkfifo(pipe)  # nobody reads it, so the command waits there
    process = subprocess.Popen([HEADWATER, "rollout", small, "-o", pipe],
                               preexec_fn=lambda: [os.close(number) for number in (0, 1, 2)])
    time.sleep(0.5)
    held = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in (0, 1, 2)]
    process.kill()
    process.wait(timeout=10)
    assert held == ["/dev/null"] * 3


def test_standard_output_that_is_closed_is_still_an_error(small):
    process = subprocess.Popen([HEADWATER, "rollout", small], stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.close(1))
    _, error = process.communicate(timeout=30)
    assert process.returncode == 1 and "standard output: could not be written" in error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_no_part_where_files_have_names_from_the_start(number, tmp_path):
    """On some file systems, such as NFS, a file has a name while it is written."""
    library = tmp_path / "inject.so"
    source = Path(__file__).parents[1] / "faults/inject.c"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    big = tmp_path / "big.npy"
    np.lib.format.open_memmap(big, mode="w+", dtype="f4", shape=(2, 1, 3000, 3000))[:] = 1 / 3000
    out = tmp_path / "out"
    out.mkdir()
    process = start("rollout", big, "-o", out / "x.json", preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
                    env=os.environ | {"LD_PRELOAD": str(library), "FAULT_NO_TMPFILE": "1"})
    end = time.monotonic() + 60
    while not files_in(out) and time.monotonic() < end:
        time.sleep(0.001)
    assert re.fullmatch(r"\.headwater-[0-9a-f]{16}\.part", files_in(out)[0])  # by chance: process numbers repeat
    process.send_signal(number)
    process.communicate(timeout=10)
    assert process.returncode == -number and files_in(out) == []


def test_files_are_written_where_proc_is_missing(small, tmp_path):
    without = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "-"]
    if subprocess.run([*without, "true"], capture_output=True).returncode != 0:
        pytest.skip("no namespace without /proc can be made here")
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run([*without, HEADWATER, "rollout", small, "-o", out / "x.json"], check=True)
    assert files_in(out) == ["x.json"]


def test_a_filter_file_is_a_plain_file(small, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "is not a plain file" in fails(1, "rollout", small, "--filter", f"@{pipe}")
    assert "is not a plain file" in fails(1, "rollout", small, "--filter", "@/dev/zero")


def test_output_goes_through_links_and_pipes_and_keeps_the_mode(small, tmp_path):
    target = tmp_path / "target.json"
    target.write_text("old")
    target.chmod(0o600)
    link = tmp_path / "link.json"
    link.symlink_to("target.json")
    subprocess.run([HEADWATER, "rollout", small, "-o", link], check=True)
    assert link.is_symlink() and json.loads(target.read_text())["method"] == "rollout"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    process = start("rollout", small, "-o", pipe)
    assert json.loads(pipe.read_text())["method"] == "rollout"
    process.communicate(timeout=30)
    assert process.returncode == 0 and stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_name_that_is_too_long_is_refused_before_the_work(tmp_path):
    assert "too long" in fails(1, "rollout", tmp_path / "none.npy", "-o", tmp_path / ("n" * 252 + ".json"))
    longest = tmp_path / ("n" * 250 + ".json")
    np.save(tmp_path / "a.npy", np.full((1, 2, 2), 0.5, dtype="f4"))
    subprocess.run([HEADWATER, "rollout", tmp_path / "a.npy", "-o", longest], check=True)


def test_errors_show_what_could_change_the_line_unseen(tmp_path):
    name = "a\u202eb\u0085c\ufeffd.npy"
    assert fails(1, "rollout", tmp_path / name).endswith("check the name")
    message = fails(1, "rollout", tmp_path / name)
    assert "a\\u202eb\\x85c\\ufeffd.npy" in message


def test_tokens_that_are_no_characters_can_be_drawn(tmp_path):
    document = {"attentions": [[[[0.5, 0.5], [0.5, 0.5]]]], "tokens": ["\ufffe", "\ufdd0x"]}
    (tmp_path / "a.json").write_text(json.dumps(document))
    for ending in ("pdf", "svg", "png"):
        subprocess.run([HEADWATER, "rollout", tmp_path / "a.json", "-o", tmp_path / f"x.{ending}"], check=True)


@pytest.mark.parametrize("words", [["rollout", "--divide", "changed", "--residual", "0"], ["metrics", "--fuse", "max"]])
def test_weights_that_grow_past_every_number_are_an_error(words, tmp_path):
    large = np.zeros((3, 2, 9, 9), dtype="f4")
    large[0] = 3.3e38
    large[1:, :, :, 0] = 3.3e38
    np.save(tmp_path / "large.npy", large)
    message = fails(1, words[0], tmp_path / "large.npy", "--sums", "any", *words[1:])
    assert "expected a number" in message


@pytest.mark.parametrize("most", [120, 160, 200, 240, 280, 320, 400])
def test_pictures_with_little_memory_are_drawn_or_refused(most, small, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    process = start("rollout", small, "--threads", "1", "-o", out / "x.png",
                    preexec_fn=limited(resource.RLIMIT_AS, most << 20))
    _, error = process.communicate(timeout=60)
    assert process.returncode in (0, 1, 127), error  # 127: not even the loader had room
    if process.returncode == 1:
        assert error.count("\n") == 1, error
    assert files_in(out) == (["x.png"] if process.returncode == 0 else [])


def test_the_file_that_was_read_is_not_replaced(small, tmp_path):
    before = small.read_bytes()
    for words in (["rollout", small], ["compare", small, "--by", "layer"], ["info", small]):
        (tmp_path / "link.npy").unlink(missing_ok=True)
        (tmp_path / "link.npy").symlink_to(small)
        for path in (small.with_suffix(".npy"), tmp_path / "link.npy"):
            done = subprocess.run([HEADWATER, *words, "-o", path], capture_output=True, text=True)
            assert done.returncode != 0 and small.read_bytes() == before
    assert "is the file that was read" in fails(1, "rollout", small, "-o", small)
