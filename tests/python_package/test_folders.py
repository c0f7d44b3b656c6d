"""Model folders by the package: code of their own, and names in the Hugging Face cache."""
import json
import shutil

import numpy as np
import pytest

import headwater as hw

TEXT = "The keys to the cabinet"


def with_code(name, folder):
    shutil.copytree(hw.models()[name], folder)
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"auto_map": {"AutoModel": "mine.Model"}, "odd": 1}))
    return folder


def test_code_in_a_folder_is_refused_or_ignored(tmp_path):
    folder = with_code("verb-number", tmp_path / "model")
    with pytest.raises(hw.Error, match="takes AutoModel from code in the folder.*`ignore_code`"):
        hw.rollout(folder, text=TEXT)
    result = hw.rollout(folder, text=TEXT, ignore_code=True)
    assert np.array_equal(result.values, hw.rollout("verb-number", text=TEXT).values)
    assert [note.split()[-1] for note in result.notes] == ["run", "odd"]


def test_generate_ignores_code_if_told(tmp_path):
    folder = with_code("facts", tmp_path / "model")
    with pytest.raises(hw.Error, match="`ignore_code`"):
        hw.generate(folder, "The red key")
    assert hw.generate(folder, "The red key", count=2, ignore_code=True).text


def test_a_name_in_the_hugging_face_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    shutil.copytree(hw.models()["verb-number"], tmp_path / "models--me--mine/snapshots/abc")
    assert np.array_equal(hw.rollout("me/mine", text=TEXT).values, hw.rollout("verb-number", text=TEXT).values)
