"""The examples do what they say."""
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/python"


@pytest.mark.parametrize("script, line", [("numpy_attention.py", "agreement"),
                                          ("capture_transformer.py", "seen through interface"),
                                          ("dataset_metrics.py", "Summary of 24 items")])
def test_script_runs(script, line, tmp_path):
    done = subprocess.run([sys.executable, EXAMPLES / script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert line in done.stdout


def test_every_script_is_run_here():
    listed = {"numpy_attention.py", "capture_transformer.py", "dataset_metrics.py"}
    assert {path.name for path in EXAMPLES.glob("*.py")} == listed


def test_the_notebook_runs_and_shows_its_results(tmp_path, monkeypatch):
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.delenv("MPLBACKEND")  # a notebook shows figures inline
    monkeypatch.setenv("JUPYTER_PATH", os.path.join(sys.prefix, "share/jupyter"))
    notebook = nbformat.read(EXAMPLES / "attribution.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "it is kept without outputs"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    assert any("text/html" in out.get("data", {}) and "<table" in out["data"]["text/html"] for out in outputs)
    assert any("image/png" in out.get("data", {}) for out in outputs)
