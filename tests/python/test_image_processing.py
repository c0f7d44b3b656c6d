"""Resizing is Pillow's to the pixel, and whole processors are transformers' to 1e-6."""
import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import pytest
from PIL import Image
from transformers.models.bit.image_processing_pil_bit import BitImageProcessorPil
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from image_bridge import Engine, EngineError

NEAREST, LANCZOS, BILINEAR, BICUBIC, BOX, HAMMING = range(6)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    engine = Engine(tmp_path_factory.mktemp("engine"))
    yield engine
    engine.close()


def drawn(path, width, height, seed=0):
    """Noise and hard edges, where filters overshoot, saved and as an image."""
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
    pixels[: height // 2, : width // 2] = 255 * rng.integers(0, 2, (height // 2, width // 2, 1))
    image = Image.fromarray(pixels)
    image.save(path, "PNG", compress_level=1)
    return image


@pytest.mark.parametrize("resample", range(6))
def test_resizing_is_pillows_to_the_pixel(engine, tmp_path, resample):
    rng = np.random.default_rng(resample)
    path = tmp_path / "x.png"
    for turn in range(60):
        width, height = (int(side) for side in rng.integers(1, rng.choice([9, 70, 400]), 2))
        image = drawn(path, width, height, turn)
        for _ in range(5):
            to = [int(side) for side in rng.integers(1, rng.choice([9, 70, 400]), 2)]
            if rng.random() < 0.2:
                to[int(rng.integers(2))] = (width, height)[int(rng.integers(2))]  # a side that may stay
            got = engine.resize(path, *to, resample)
            np.testing.assert_array_equal(got, np.array(image.resize(to, resample)), err_msg=f"{width} {height} {to}")


@pytest.mark.parametrize("resample", range(6))
def test_resizing_is_pillows_for_photos(engine, tmp_path, resample):
    path = tmp_path / "x.png"
    for sizes in [(1600, 1200, 224, 224), (1021, 3001, 256, 751), (97, 55, 1000, 567), (5, 2000, 224, 3)]:
        image = drawn(path, *sizes[:2])
        np.testing.assert_array_equal(engine.resize(path, *sizes[2:], resample),
                                      np.array(image.resize(sizes[2:], resample)))


def folder_of(tmp_path, processor, **entries):
    """What save_pretrained writes, and entries set by hand; None takes one out."""
    folder = tmp_path / "model"
    processor.save_pretrained(folder)
    path = folder / "preprocessor_config.json"
    config = json.loads(path.read_text()) | entries
    path.write_text(json.dumps({key: value for key, value in config.items() if value != "gone"}))
    return folder


SIZES = [(224, 224), (300, 200), (200, 300), (640, 427), (13, 40), (100, 1), (225, 223)]
CONFIGS = [
    (ViTImageProcessorPil, {}),
    (ViTImageProcessorPil, {"resample": LANCZOS, "size": {"height": 30, "width": 50}}),
    (ViTImageProcessorPil, {"size": 64}),
    (ViTImageProcessorPil, {"size": [40, 60], "resample": BOX}),
    (ViTImageProcessorPil, {"size": {"max_height": 100, "max_width": 60}}),
    (ViTImageProcessorPil, {"size": {"shortest_edge": 50, "longest_edge": 90}}),
    (ViTImageProcessorPil, {"do_resize": False, "do_rescale": False}),
    (ViTImageProcessorPil, {"do_normalize": False, "rescale_factor": 0.0078}),
    (ViTImageProcessorPil, {"do_rescale": False, "do_normalize": False}),
    (ViTImageProcessorPil, {"image_mean": 0.3, "image_std": 0.7}),
    (DeiTImageProcessorPil, {}),
    (DeiTImageProcessorPil, {"size": 438, "crop_size": 384, "image_mean": [0.485, 0.456, 0.406],
                             "image_std": [0.229, 0.224, 0.225]}),
    (DeiTImageProcessorPil, {"crop_size": {"height": 301, "width": 100}, "size": {"height": 70, "width": 111}}),
    (DeiTImageProcessorPil, {"do_center_crop": False, "resample": HAMMING}),
    (DeiTImageProcessorPil, {"do_resize": False, "crop_size": [33, 44]}),
    (BitImageProcessorPil, {}),
    (BitImageProcessorPil, {"size": {"shortest_edge": 256}}),
    (BitImageProcessorPil, {"size": 97, "crop_size": 98, "resample": NEAREST}),
    (CLIPImageProcessorPil, {}),
    (CLIPImageProcessorPil, {"size": 97, "crop_size": 60}),
    (SiglipImageProcessorPil, {}),
    (SiglipImageProcessorPil, {"size": {"height": 60, "width": 40}}),
]


@pytest.mark.parametrize("kind, options", CONFIGS)
def test_processors_are_those_of_transformers(engine, tmp_path, kind, options):
    processor = kind(**options)
    folder = folder_of(tmp_path, processor)
    for seed, (width, height) in enumerate(SIZES):
        image = drawn(tmp_path / "x.png", width, height, seed)
        try:
            want = processor(image, return_tensors="np")["pixel_values"][0]
        except ValueError:  # a side would be 0
            with pytest.raises(EngineError):
                engine.pixels(tmp_path / "x.png", folder)
            continue
        got, _ = engine.pixels(tmp_path / "x.png", folder)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-6 * max(1, np.abs(want).max()))


def test_files_of_older_versions_are_read(engine, tmp_path):
    """No rescaling named, sizes as numbers, feature_extractor_type, or no type but config.json's."""
    image = drawn(tmp_path / "x.png", 90, 60)
    folder = tmp_path / "model"
    folder.mkdir()
    old = {"do_normalize": True, "do_resize": True, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
           "size": 64, "resample": 3}
    cases = [({"feature_extractor_type": "ViTFeatureExtractor"}, "", ViTImageProcessorPil),
             ({"image_processor_type": "DeiTImageProcessorFast"}, "", DeiTImageProcessorPil),
             ({}, "vit", ViTImageProcessorPil), ({}, "deit", DeiTImageProcessorPil),
             ({}, "dinov2", BitImageProcessorPil), ({}, "dinov2_with_registers", BitImageProcessorPil),
             ({}, "clip", CLIPImageProcessorPil), ({}, "siglip", SiglipImageProcessorPil)]
    for more, model, kind in cases:
        (folder / "preprocessor_config.json").write_text(json.dumps(old | more))
        (folder / "config.json").write_text(json.dumps({"model_type": model}))
        want = kind(**old)(image, return_tensors="np")["pixel_values"][0]
        np.testing.assert_allclose(engine.pixels(tmp_path / "x.png", folder)[0], want, atol=1e-6)


def test_the_nested_form_goes_first(engine, tmp_path):
    image = drawn(tmp_path / "x.png", 90, 60)
    folder = folder_of(tmp_path, ViTImageProcessorPil(size=32))
    nested = json.loads((folder / "preprocessor_config.json").read_text()) | {"size": {"height": 48, "width": 16}}
    (folder / "processor_config.json").write_text(json.dumps({"processor_class": "X"}))
    assert engine.pixels(tmp_path / "x.png", folder)[0].shape == (3, 32, 32)
    (folder / "processor_config.json").write_text(json.dumps({"image_processor": nested}))
    want = ViTImageProcessorPil.from_pretrained(folder)(image, return_tensors="np")["pixel_values"][0]
    got, _ = engine.pixels(tmp_path / "x.png", folder)
    assert got.shape == (3, 48, 16)
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_what_the_model_saw_is_known(engine, tmp_path):
    drawn(tmp_path / "x.png", 400, 200)
    whole = folder_of(tmp_path, ViTImageProcessorPil())
    assert engine.pixels(tmp_path / "x.png", whole)[1] == [0, 0, 400, 200]
    square = folder_of(tmp_path, BitImageProcessorPil(size={"shortest_edge": 100}, crop_size=100))
    assert engine.pixels(tmp_path / "x.png", square)[1] == [100, 0, 200, 200]
    padded = folder_of(tmp_path, BitImageProcessorPil(size={"shortest_edge": 100}, crop_size=300))
    assert engine.pixels(tmp_path / "x.png", padded)[1] == [-100, -200, 600, 600]


REFUSED = [
    ({"size": {"longest_edge": 5}}, "size"), ({"size": {"min_pixels": 5, "max_pixels": 9}}, "size"),
    ({"size": 0}, "size"), ({"size": -3}, "size"), ({"size": 10 ** 12}, "size"), ({"size": "224"}, "size"),
    ({"size": [1, 2, 3]}, "size"), ({"size": {"height": 3}}, "size"), ({"resample": 6}, "resample"),
    ({"size": {"height": 3, "width": 3, "shortest_edge": 3}}, "size"),
    ({"crop_size": {"shortest_edge": 5}}, "crop_size"), ({"image_mean": [1, 2]}, "image_mean"),
    ({"image_std": [1, 0, 1]}, "image_std"), ({"do_resize": "yes"}, "do_resize"), ({"do_pad": True}, "do_pad"),
    ({"crop_pct": 0.875}, "crop_pct"), ({"auto_map": {"AutoImageProcessor": "x.Y"}}, "auto_map"),
    ({"image_processor_type": "DPTImageProcessor"}, "DPTImageProcessor"), ({"data_format": "channels_last"}, "data"),
    ({"rescale_factor": "x"}, "rescale_factor"),
]


@pytest.mark.parametrize("entries, named", REFUSED)
def test_what_is_not_implemented_is_refused_by_name(engine, tmp_path, entries, named):
    drawn(tmp_path / "x.png", 9, 6)
    folder = folder_of(tmp_path, ViTImageProcessorPil(), **entries)
    with pytest.raises(EngineError, match=named) as caught:
        engine.pixels(tmp_path / "x.png", folder)
    assert str(caught.value).startswith(str(folder))


def test_entries_that_change_nothing_are_taken(engine, tmp_path):
    image = drawn(tmp_path / "x.png", 9, 6)
    folder = folder_of(tmp_path, ViTImageProcessorPil(), do_pad=None, do_reduce_labels=False, crop_pct=None, device=None,
                       data_format="channels_first", do_convert_rgb=True, processor_class="X", pad_size=None)
    got, _ = engine.pixels(tmp_path / "x.png", folder)
    np.testing.assert_allclose(got, ViTImageProcessorPil()(image, return_tensors="np")["pixel_values"][0], atol=1e-6)


def test_a_folder_without_a_processor_says_what_is_expected(engine, tmp_path):
    drawn(tmp_path / "x.png", 9, 6)
    with pytest.raises(EngineError, match="no preprocessor_config.json, expected one"):
        engine.pixels(tmp_path / "x.png", tmp_path)
    for text in ("", "[]", "{", '{"image_processor_type": 7}', "{}"):
        (tmp_path / "preprocessor_config.json").write_text(text)
        with pytest.raises(EngineError):
            engine.pixels(tmp_path / "x.png", tmp_path)
