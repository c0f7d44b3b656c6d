"""Static types of the Python package and of the examples, by mypy and pyright."""
import sys

from . import ROOT, run, tail

WHERE = ["python/headwater", "examples/python"]


def check(report):
    """Types of the Python package and its examples: mypy --strict, pyright"""
    python = ROOT / "build/venv/bin/python"
    python = str(python) if python.exists() else sys.executable
    for name, command in (("mypy", ["-m", "mypy", *WHERE]), ("pyright", ["-m", "pyright", *WHERE])):
        status, output = run([python, *command], timeout=900)
        if status:
            report.fail(f"{name}:\n{tail(output)}")
