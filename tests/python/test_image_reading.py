"""Pixels are those of Pillow, byte for byte, for every kind of PNG and JPEG."""
import io
import random
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageOps

from image_bridge import Engine, EngineError


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    engine = Engine(tmp_path_factory.mktemp("engine"))
    yield engine
    engine.close()


def picture(height, width, seed=0):
    """Smooth colours with edges and noise, so that neither the eye nor a codec finds it empty."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    base = np.stack([x * 255 / max(width - 1, 1), y * 255 / max(height - 1, 1), (x * 7 + y * 3) % 256], -1)
    base[height // 3: height // 2, width // 4: width // 2] = [250, 10, 30]
    return np.clip(base + rng.normal(0, 12, base.shape), 0, 255).astype(np.uint8)


def as_transformers_loads(path):
    with Image.open(path) as image:
        return np.array(ImageOps.exif_transpose(image).convert("RGB"))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def passes(width, height, interlaced):
    if not interlaced:
        return [(0, 0, 1, 1)]
    return [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png(samples, bits, kind, extra=b"", interlaced=False):
    """A PNG of [height, width, channels] numbers, with all five row filters, by hand: Pillow writes few kinds."""
    height, width, channels = samples.shape
    lines = b""
    for left, top, across, down in passes(width, height, interlaced):
        part = samples[top::down, left::across]
        if part.size == 0:
            continue
        before, step = None, max(1, bits * channels // 8)
        for number, row in enumerate(part.reshape(part.shape[0], -1)):
            if bits == 16:
                data = row.astype(">u2").tobytes()
            elif bits == 8:
                data = row.astype(np.uint8).tobytes()
            else:
                ones = ((row[:, None] >> np.arange(bits - 1, -1, -1)) & 1).astype(np.uint8).ravel()
                data = np.packbits(ones).tobytes()
            lines += filtered(number % 5, data, before or bytes(len(data)), step)
            before = data
    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(lines))
            + chunk(b"IEND", b""))


def filtered(kind, data, up, step):
    out = bytearray([kind])
    for k, value in enumerate(data):
        a, b, c = (data[k - step] if k >= step else 0), up[k], (up[k - step] if k >= step else 0)
        paeth = min((a, b, c), key=lambda near: (abs(a + b - c - near), (a, b, c).index(near)))
        out.append((value - [0, a, b, (a + b) // 2, paeth][kind]) & 255)
    return bytes(out)


GREY, COLOUR, PALETTE, GREY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6
KINDS = ([(GREY, bits, 1) for bits in (1, 2, 4, 8, 16)] + [(COLOUR, bits, 3) for bits in (8, 16)]
         + [(PALETTE, bits, 1) for bits in (1, 2, 4, 8)] + [(GREY_ALPHA, bits, 2) for bits in (8, 16)]
         + [(COLOUR_ALPHA, bits, 4) for bits in (8, 16)])


@pytest.mark.filterwarnings("ignore:Palette images with Transparency")
@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("transparent", [False, True])
@pytest.mark.parametrize("kind, bits, channels", KINDS)
def test_every_kind_of_png(engine, tmp_path, kind, bits, channels, transparent, interlaced):
    rng = np.random.default_rng(bits * 8 + kind)
    for height, width in [(1, 1), (7, 5), (16, 33), (3, 70)]:
        samples = rng.integers(0, 2 ** bits, (height, width, channels))
        if bits == 16:
            samples[:, ::3] %= 300  # grey above 255 is cut
        extra = b""
        if kind == PALETTE:
            extra += chunk(b"PLTE", rng.bytes(3 * max(2 ** bits - (bits > 1), 1)))  # one is missing: black
        if transparent and kind == PALETTE:
            extra += chunk(b"tRNS", bytes([0, 128]))
        if transparent and kind in (GREY, COLOUR):
            extra += chunk(b"tRNS", samples[0, 0].astype(">u2").tobytes())
        path = tmp_path / "x.png"
        path.write_bytes(png(samples, bits, kind, extra, interlaced))
        np.testing.assert_array_equal(engine.read(path), as_transformers_loads(path))


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("progressive", [False, True])
def test_every_kind_of_jpeg(engine, tmp_path, mode, subsampling, progressive):
    path = tmp_path / "x.jpg"
    for seed, (height, width) in enumerate([(1, 1), (8, 8), (17, 31), (64, 48), (101, 203)]):
        for quality in (5, 75, 100):
            image = Image.fromarray(picture(height, width, seed)).convert(mode)
            image.save(path, "JPEG", quality=quality, subsampling=subsampling, progressive=progressive)
            np.testing.assert_array_equal(engine.read(path), as_transformers_loads(path))


def jpeg(array, **options):
    out = io.BytesIO()
    Image.fromarray(array).save(out, "JPEG", **options)
    return out.getvalue()


def test_jpeg_colours_are_told_as_libjpeg_tells_them(engine, tmp_path):
    """Without JFIF's or Adobe's marker, component names R G B mean RGB; Adobe's transform 2 means YCCK."""
    path = tmp_path / "x.jpg"
    data = jpeg(picture(40, 30), quality=90, subsampling=0)
    data = data[:2] + data[20:]  # no JFIF
    start = data.index(b"\xff\xc0")
    scan = data.index(b"\xff\xda")
    named = bytearray(data)
    for k, letter in enumerate(b"RGB"):
        named[start + 10 + 3 * k] = letter
        named[scan + 5 + 2 * k] = letter
    ycck = io.BytesIO()
    Image.fromarray(picture(40, 30)).convert("CMYK").save(ycck, "JPEG")
    ycck = bytearray(ycck.getvalue())
    ycck[ycck.index(b"Adobe") + 11] = 2
    for one in (data, bytes(named), bytes(ycck)):
        path.write_bytes(one)
        np.testing.assert_array_equal(engine.read(path), as_transformers_loads(path))


@pytest.mark.parametrize("orientation", range(0, 10))
def test_a_photo_is_turned_upright(engine, tmp_path, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = Image.fromarray(picture(20, 31))
    xmp = f'<x:xmpmeta><rdf:Description tiff:Orientation="{orientation}"/></x:xmpmeta>'.encode()
    image.save(tmp_path / "exif.jpg", exif=exif)
    image.save(tmp_path / "exif.png", exif=exif)
    image.save(tmp_path / "xmp.jpg", xmp=xmp)
    (tmp_path / "big.png").write_bytes(png(picture(20, 31), 8, COLOUR, chunk(
        b"eXIf", b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0))))
    (tmp_path / "xmp.png").write_bytes(png(picture(20, 31), 8, COLOUR, chunk(
        b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp)))
    for path in sorted(tmp_path.iterdir()):
        want = as_transformers_loads(path)
        assert (want.shape[0] == 31) == (5 <= orientation <= 8)
        np.testing.assert_array_equal(engine.read(path), want, err_msg=path.name)


def test_the_content_decides_not_the_name(engine, tmp_path):
    path = tmp_path / "x.jpg"
    path.write_bytes(png(picture(3, 4), 8, COLOUR))
    np.testing.assert_array_equal(engine.read(path), picture(3, 4))


def refused(engine, path, data):
    path.write_bytes(data)
    with pytest.raises(EngineError) as caught:
        engine.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


def test_what_is_no_image_is_refused(engine, tmp_path):
    path = tmp_path / "x.png"
    assert "neither a PNG nor a JPEG" in refused(engine, path, b"GIF89a" + bytes(100))
    assert "neither a PNG nor a JPEG" in refused(engine, path, b"\xff")
    whole = png(picture(30, 30), 8, COLOUR)
    for length in (8, 20, 33, 40, 400, len(whole) - 40):
        assert "damaged PNG" in refused(engine, path, whole[:length])
    broken = bytearray(whole)
    broken[500] ^= 255
    assert "damaged PNG" in refused(engine, path, bytes(broken))
    photo = jpeg(picture(64, 64))
    for length in (3, 20, 300, 700, len(photo) - 60):
        assert "damaged JPEG" in refused(engine, path, photo[:length])


def test_an_absurd_size_is_refused_before_room_is_made(engine, tmp_path):
    def header(width, height):
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(bytes(100))))

    path = tmp_path / "x.png"
    assert "at most 268435456" in refused(engine, path, header(20000, 20000))
    assert "more bytes" in refused(engine, path, header(16000, 16000))
    refused(engine, path, header(2 ** 31 - 1, 2 ** 31 - 1))
    refused(engine, path, header(0, 5))
    photo = bytearray(jpeg(picture(16, 16)))
    at = photo.index(b"\xff\xc0") + 5
    photo[at:at + 4] = struct.pack(">HH", 65000, 65000)
    assert "at most 268435456" in refused(engine, path, bytes(photo))
    photo[at:at + 4] = struct.pack(">HH", 10000, 10000)
    assert "more bytes" in refused(engine, path, bytes(photo))


def test_damaged_files_give_pixels_or_a_sentence(engine, tmp_path):
    """Flipped bytes: never anything else, and where both read an image, the same pixels as Pillow."""
    chance = random.Random(1)
    path = tmp_path / "x"
    read = refusals = 0
    for whole in (png(picture(24, 24), 8, COLOUR), jpeg(picture(48, 40)), jpeg(picture(48, 40), progressive=True)):
        for _ in range(150):
            data = bytearray(whole)
            for _ in range(chance.choice([1, 1, 3, 10])):
                data[chance.randrange(len(data))] = chance.randrange(256)
            path.write_bytes(data)
            try:
                got = engine.read(path)
            except EngineError as error:
                assert "\n" not in str(error)
                refusals += 1
                continue
            try:
                want = as_transformers_loads(path)
            except Exception:  # Pillow minds other things than libpng and libjpeg do
                continue
            read += 1
            np.testing.assert_array_equal(got, want)
    assert read > 50 and refusals > 50
