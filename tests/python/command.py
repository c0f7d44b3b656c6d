"""Runs the command as a person would: $HEADWATER, or the release build."""
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADWATER = os.environ.get("HEADWATER", str(ROOT / "build/release/bin/headwater"))
COMMANDS = ["rollout", "flow", "gradient", "relevance", "generate", "evaluate", "attribute", "summarise", "raw", "average", "metrics", "compare", "info", "models", "serve", "demo", "completion"]


def run(*words, cwd=None, env=None, stdout=subprocess.PIPE):
    """Status, standard output and standard error as text. Never in colour unless `env` says so."""
    return subprocess.run([HEADWATER, *map(str, words)], cwd=cwd, stdout=stdout, stderr=subprocess.PIPE, timeout=120,
                          env=os.environ | (env or {}), encoding="utf-8")


def ask(*words, cwd=None):
    """The JSON that the command writes with '-o -'. It must succeed and write nothing else."""
    done = run(*words, "-o", "-", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fails(status, *words, cwd=None):
    """The one line that the command ends with when it fails, without 'headwater: '."""
    done = run(*words, cwd=cwd)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("headwater: "), done.stderr
    return lines[0].removeprefix("headwater: ")


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())
