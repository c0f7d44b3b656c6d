"""What a command cannot use it refuses, and says why."""
import numpy as np
import pytest

from attention import save
from command import ask, fails, run


@pytest.mark.parametrize("words", [["--residual", 0.1], ["--discard", 0.1], ["--layers", "0:2"], ["--preset", "tutorial"],
                                   ["--order", "discard-first"], ["--empty", "zero"], ["--divide", "changed"]])
def test_raw_takes_nothing_that_changes_a_layer(fox, words):
    message = fails(2, "raw", fox, *words)
    assert message.startswith(f"{words[0]}: was given together with raw, which does not use it")
    assert words[0] not in run("raw", "--help").stdout


@pytest.mark.parametrize("words, option", [
    (["--by", "discard", "--discard", 0.2], "--discard"), (["--by", "fuse", "--fuse", "max"], "--fuse"),
    (["--by", "fuse", "--head", 1], "--head"), (["--by", "head", "--head", 1], "--head"),
    (["--by", "head", "--residual", 0.1], "--residual"), (["--by", "fuse", "--layer", 1], "--layer"),
    (["--by", "fuse", "--values", "0,1"], "--values"), (["--by", "method", "--layers-shown", "0"], "--layers-shown"),
])
def test_compare_takes_nothing_that_it_sets_itself(fox, words, option):
    assert fails(2, "compare", fox, *words).startswith(f"{option}: was given together with {words[0]} {words[1]}")


@pytest.mark.parametrize("words", [["--row", 3, "--row", 4], ["--residual", 0.1, "--residual", 0.2],
                                   ["--fuse", "max", "--fuse", "min"]])
def test_an_option_is_given_once(fox, words):
    assert fails(2, "rollout", fox, *words) == f"{words[0]}: was given 2 times, expected once; leave out all but one"


def test_the_only_item_and_an_image_without_a_model_are_told(fox):
    assert "has no item 3, expected 0, the only one;" in fails(1, "rollout", fox, "--item", 3)
    assert fails(1, "rollout", "photo.png", "--row", 0).endswith("; give an image to a vision model, with --image")


def test_options_of_pictures_need_a_picture(fox, tmp_path):
    assert fails(2, "rollout", fox, "--title", "x").startswith("--title: no picture or page is written")
    assert fails(2, "rollout", fox, "--timing").startswith("--timing: no file that holds it is written")
    assert fails(2, "rollout", fox, "--timing", "-o", tmp_path / "x.svg").startswith("--timing: no file")
    assert fails(2, "info", fox, "--timing").startswith("unknown option '--timing'")
    assert fails(2, "rollout", fox, "--colours", "greys", "-o", tmp_path / "x.json").startswith("--colours: no picture")
    assert "did you mean 'greys'" in fails(2, "rollout", fox, "--colours", "gerys", "-o", tmp_path / "x.png")
    assert "has values with signs" in fails(2, "relevance", "verb-number", "--text", "The keys", "--colours", "blues", "-o", tmp_path / "x.png")
    assert fails(2, "rollout", fox, "--layers-shown", "0").startswith("--layers-shown: was given without --by-layer")


def test_an_image_is_not_truncated(tmp_path):
    from PIL import Image
    Image.new("RGB", (40, 40)).save(tmp_path / "x.png")
    assert "--truncate cuts texts" in fails(2, "rollout", "shapes", "--image", tmp_path / "x.png", "--truncate")


# Files of other kinds


def test_files_of_other_kinds_are_named(fox, tmp_path):
    torch = pytest.importorskip("torch")
    torch.save([torch.eye(3)], tmp_path / "x.pt")
    assert fails(2, "rollout", tmp_path / "x.pt").endswith(
        "x.pt: is a PyTorch pickle, expected a file of attention: .npy, .npz, .safetensors or .json; "
        "save it with numpy or safetensors")
    torch.save([torch.eye(3)], tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    assert "is a PyTorch or Python pickle" in fails(2, "rollout", tmp_path / "old.pth")
    for name, start, found in [("x.gguf", b"GGUF\x03", "llama.cpp (GGUF)"), ("x.h5", b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
                               ("x.png", b"\x89PNG\r\n\x1a\n", "a PNG image"), ("x.jpg", b"\xff\xd8\xff\xe0", "a JPEG image"),
                               ("x.gz", b"\x1f\x8b\x08", "a gzip archive"), ("x.parquet", b"PAR1", "a Parquet table"),
                               ("x.pkl", b"\x80\x04\x95", "a Python pickle"), ("x.pdf", b"%PDF-1.5", "a PDF document")]:
        (tmp_path / name).write_bytes(start + b"\0" * 60)
        assert f"{name}: is {found}" in fails(2, "rollout", tmp_path / name) or f"is a model for {found}" in fails(2, "rollout", tmp_path / name)


def test_a_wrong_ending_is_named(fox, tmp_path):
    array = save(tmp_path / "x.npy", [np.eye(3, dtype=np.float32)])
    array.rename(tmp_path / "x.npz")
    assert fails(1, "rollout", tmp_path / "x.npz").endswith("is a NumPy array, expected .npz as its name says; give it the ending .npy")
    (tmp_path / "y.dat").write_bytes(fox.read_bytes())
    assert "is a NumPy archive" in fails(2, "rollout", tmp_path / "y.dat")
    (tmp_path / "z.dat").write_text("1 2 3")
    assert "has an unknown ending" in fails(2, "rollout", tmp_path / "z.dat")


def test_generate_knows_what_text_means():
    """The source of a model with an encoder; others continue a prompt."""
    assert "expected a --prompt; give one in place of --text" in fails(1, "generate", "facts", "--text", "a")


@pytest.mark.parametrize("words, sentence", [
    (["rollout", "verb-number", "The keys to the cabinet"], "give a text with --text"),
    (["generate", "facts", "The red ball"], "give a text with --prompt"),
    (["--row", "cls", "rollout", "verb-number"], "--row: stands before 'rollout'"),
    (["verb-number"], "headwater rollout verb-number"),
    (["explain", "verb-number"], "expected one of rollout, flow"),
    (["relevance", "verb-number", "--text", "The keys", "--row", "2"], "'plural' is an output of token 0 '[CLS]'"),
])
def test_slips_are_met_with_the_way_on(words, sentence):
    assert sentence in fails(2, *words)
