"""README.md and docs/*.md do what they say.

A document's blocks run in one empty temporary folder in which examples/ is a link to ours, with the
built command on the PATH, NO_COLOR=1 and nothing else of ours in the environment.

```console  A line that starts with `$ ` is a command (a trailing backslash continues it), run by bash on its
            own; the lines after it are what it prints, on both streams. `...` alone on a line stands
            for any number of lines, `...` inside a line for any text.
            `make` runs in the root of the tree, and only `make demo` is run: `make test` and its like would
            run themselves again, so for them make is only asked whether the target exists.
```cpp      Compiled, not run, if it holds `int main`.
```python   All of a document's blocks in order are one program, run after the console blocks.
```sh       Shown, never run.
"""
import difflib
import os
import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import ROOT, run, tail, tracked

COMMAND = ROOT / "build/release/bin/headwater"
PYTHON = ROOT / "build/venv/bin/python"
FENCE = re.compile(r"\s*```(\w*)")


@dataclass
class Block:
    language: str
    line: int  # of its first line, from 1
    lines: list


def blocks(text):
    block = None
    for number, line in enumerate(text.splitlines(), 1):
        if block and line.strip() == "```":
            yield block
            block = None
        elif block:
            block.lines.append(line)
        elif fence := FENCE.match(line):
            block = Block(fence[1], number + 1, [])


def commands(block):
    """(line, command, lines it should print) of a console block."""
    found = []
    continued = False
    for number, line in enumerate(block.lines, block.line):
        if continued:
            found[-1][1] += "\n" + line
        elif line.startswith("$ "):
            found.append([number, line[2:], []])
        elif found:
            found[-1][2].append(line)
        continued = (continued or line.startswith("$ ")) and line.endswith("\\")
    return found


def matches(expected, actual):
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.split("..."))) + r"\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


def trimmed(lines):
    return "\n".join(line.rstrip() for line in lines).strip("\n").splitlines()


def run_command(command, folder):
    """(exit status, output), or None where it is enough that make knows the target."""
    words = shlex.split(command)
    if words[0] != "make":
        env = {"PATH": f"{COMMAND.parent}:{PYTHON.parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder),
               "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "ONEDNN_MAX_CPU_ISA": os.environ["ONEDNN_MAX_CPU_ISA"]}
        return run(["bash", "-c", command], cwd=folder, timeout=120, env=env)
    # Not a child of the make that may have started this script.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    env["NO_COLOR"] = "1"
    if words[1:] == ["demo"]:
        return run(words, timeout=900, env=env)
    status, output = run(["make", "--dry-run", *words[1:]], env=env)
    return (status, output) if status else None


def check_console(report, name, block, folder):
    for number, command, expected in commands(block):
        result = run_command(command, folder)
        if result is None:
            continue
        status, output = result
        expected, actual = trimmed(expected), trimmed(output.splitlines())
        if status >= 124 or status < 0:
            report.fail(f"{name}:{number}: $ {command}\nended with status {status}\n{tail(output)}")
        elif not matches(expected, actual):
            diff = "\n".join(difflib.unified_diff(expected, actual, "document", "command", lineterm=""))
            report.fail(f"{name}:{number}: $ {command}\n{diff}")


def check_cpp(report, name, block, folder):
    source = folder / "block.cpp"
    # #line makes the compiler speak of the document's lines.
    source.write_text(f'#line {block.line} "{name}"\n' + "\n".join(block.lines) + "\n")
    status, output = run(["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", ROOT, source])
    source.unlink()
    if status:
        report.fail(f"{name}:{block.line}: does not compile\n{tail(output)}")


def check_python(report, name, found, folder):
    """Every block lies on the lines that it has in the document, so a traceback points there."""
    program = []
    for block in found:
        program += [""] * (block.line - 1 - len(program)) + block.lines
    script = folder / Path(name).with_suffix(".py").name
    script.write_text("\n".join(program) + "\n")
    status, output = run([PYTHON, script.name], cwd=folder, timeout=300)
    if status:
        report.fail(f"{name}: its Python blocks failed (line numbers are the document's)\n{tail(output)}")


def check_document(report, path, counts):
    name = str(path)
    with tempfile.TemporaryDirectory(prefix="headwater-") as temporary:
        folder = Path(temporary)
        (folder / "examples").symlink_to(ROOT / "examples")
        python = []
        for block in blocks((ROOT / path).read_text()):
            if block.language == "console":
                check_console(report, name, block, folder)
            elif block.language == "cpp" and any("int main" in line for line in block.lines):
                check_cpp(report, name, block, folder)
            elif block.language == "python":
                python.append(block)
            else:
                continue
            counts[block.language] = counts.get(block.language, 0) + 1
        if python:
            check_python(report, name, python, folder)


def check(report):
    """the code blocks of README.md and docs/*.md run and print what they show"""
    if not COMMAND.exists():
        report.fail("build/release/bin/headwater is not there; run make demo first")
        return
    documents = [path for path in tracked() if str(path) == "README.md" or path.match("docs/*.md")]
    if Path("README.md") not in documents:
        report.fail("README.md is not there")
    counts = {}
    for path in documents:
        check_document(report, path, counts)
    report.note = ", ".join(f"{count} {language}" for language, count in counts.items()) or "no blocks"
