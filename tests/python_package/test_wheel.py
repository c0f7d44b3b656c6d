"""The wheel: built, repaired, installed where nothing else is, used there."""
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(tmp_path):
    done = subprocess.run([ROOT / "tools/wheel", tmp_path / "wheel"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "works in an empty environment" in done.stdout and "manylinux" in done.stdout
