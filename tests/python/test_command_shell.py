"""The command at a terminal, and the completion of its words."""
import os
import pty
import re
import subprocess

import pytest

from command import COMMANDS, HEADWATER, ROOT, run


# A terminal


def on_terminal(words, env=None, cwd=None):
    """What a person sees: standard output and standard error on one pseudo-terminal."""
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm-256color"} | (env or {})
    process = subprocess.Popen([HEADWATER, *map(str, words)], stdin=theirs, stdout=theirs, stderr=theirs,
                               env=environment, cwd=cwd)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return text.decode()


def test_a_terminal_shows_colour_unless_told_not_to(fox):
    assert "\x1b[" in on_terminal(["rollout", fox])
    assert "\x1b" not in on_terminal(["rollout", fox], {"NO_COLOR": "1"})
    assert "\x1b" not in on_terminal(["rollout", fox], {"TERM": "dumb"})


def test_a_progress_bar_shows_on_a_terminal_and_only_after_a_second(fox, slow, tmp_path):
    text = on_terminal([*slow, "-o", tmp_path / "x.npy"])
    assert re.search(r"\r\[=+ +\] layer \d of 8, \d+ s left", text)
    assert text.rstrip().endswith(f"wrote {tmp_path}/x.npy")
    assert "\r[" not in on_terminal(["rollout", fox])
    done = run(*slow, "-o", tmp_path / "x.npy")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Completion


def complete(*words):
    script = ('headwater() { "$HERE" "$@"; }; source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _headwater; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, HEADWATER, "headwater", *words], capture_output=True, text=True,
                          cwd=ROOT, env=os.environ | {"HERE": HEADWATER})
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_words_and_files():
    assert complete("ro") == ["rollout"]
    assert set(COMMANDS) <= set(complete(""))
    assert complete("rollout", "--dis") == ["--discard"]
    assert complete("compare", "x.npz", "--by", "") == ["layer", "evolution", "discard", "fuse", "head", "method", "input", "model"]
    assert complete("rollout", "x.npz", "--preset", "t") == ["tutorial"]
    assert complete("evaluate", "facts", "--against", "b") == ["blank-out", "both"]
    assert complete("completion", "z") == ["zsh"]
    assert "CMakeLists.txt" in complete("rollout", "CMake")


def options_of(command):
    return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", run(command, "--help").stdout, re.M))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_know_every_command_and_option(shell):
    script = run("completion", shell).stdout
    for command in COMMANDS:
        assert command in script
        for option in options_of(command):
            assert (f"-l {option[2:]}" if shell == "fish" else option) in script, (command, option)


def test_fish_is_told_where_an_apostrophe_belongs_to_a_text():
    lines = [line for line in run("completion", "fish").stdout.splitlines() if " -d " in line]
    assert len(lines) == len(COMMANDS) + 1 and any("\\'" in line for line in lines)
    for line in lines:
        assert re.search(r" -d '(?:[^'\\]|\\['\\])*'$", line), line


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_take_their_scripts(shell, tmp_path):
    (tmp_path / "script").write_text(run("completion", shell).stdout)
    try:
        done = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip(f"completion of {shell}: {shell} is not installed")
    assert (done.returncode, done.stderr) == (0, "")
