"""Draws a coloured shape among clutter, and says where it is.

    python shapes_data.py --count 3 --seed 7 --out FOLDER      # PNG files, and examples.jsonl

The clutter is grey shapes of the same kinds, thin strokes and dots in all colours: only the one coloured shape has
both the colour and the form that the label names.
"""
import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIZE = 96
COLOURS = {"red": (214, 40, 40), "yellow": (240, 200, 30), "green": (40, 165, 70), "blue": (40, 90, 215),
           "purple": (145, 50, 175)}
FINE = 4  # samples along each side of a pixel, for smooth edges


def polygon(corners):
    """A test for being inside of a convex polygon whose corners run anticlockwise."""
    corners = np.asarray(corners)
    sides = np.roll(corners, -1, axis=0) - corners

    def inside(u, v):
        return np.all([du * (v - y) - dv * (u - x) >= 0 for (x, y), (du, dv) in zip(corners, sides)], axis=0)
    return inside


def on_circle(count, turn=0.0):
    angles = turn + 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def star(u, v):
    """Five points: the distance to the edge changes along straight lines between outer and inner corners."""
    outer, inner, half = 1.0, 0.42, np.pi / 5
    angle = np.abs((np.arctan2(v, u) + half) % (2 * half) - half)
    x, y = inner * np.cos(half), inner * np.sin(half)  # from (outer, 0) to (x, y): all within one half of a point
    r = np.hypot(u, v)
    return (r * np.cos(angle) - outer) * y - r * np.sin(angle) * (x - outer) <= 0


# Each is a test on arrays of coordinates; the shape lies within the circle of radius 1.
SHAPES = {
    "circle": lambda u, v: u * u + v * v <= 0.9 ** 2,
    "square": polygon(on_circle(4, np.pi / 4)),
    "triangle": polygon(on_circle(3, np.pi / 2)),
    "star": star,
    "cross": lambda u, v: (np.minimum(abs(u), abs(v)) <= 0.27) & (np.maximum(abs(u), abs(v)) <= 0.95),
    "ring": lambda u, v: (u * u + v * v <= 0.95 ** 2) & (u * u + v * v >= 0.55 ** 2),
}
LABELS = [f"{colour} {shape}" for colour in COLOURS for shape in SHAPES]


@dataclass
class Picture:
    pixels: np.ndarray  # [SIZE, SIZE, 3], bytes
    label: int          # into LABELS
    box: tuple          # left, top, right, bottom of the coloured shape, half-open, in pixels
    mask: np.ndarray    # [SIZE, SIZE], true where it covers at least half of a pixel


class Canvas:
    def __init__(self, rng):
        """A grey slope with noise."""
        self.rng = rng
        y, x = np.mgrid[:SIZE, :SIZE] / SIZE - 0.5
        angle, level = rng.uniform(0, 2 * np.pi), rng.uniform(60, 200)
        slope = level + rng.uniform(0, 60) * (np.cos(angle) * x + np.sin(angle) * y)
        self.pixels = slope[:, :, None] + rng.normal(0, 6, (SIZE, SIZE, 1)) + rng.normal(0, 3, (SIZE, SIZE, 3))

    def fill(self, inside, x, y, radius, turn, colour):
        """Paints what `inside` says, turned and scaled about (x, y); gives the share of each pixel it covers."""
        left, top = max(0, int(x - radius) - 1), max(0, int(y - radius) - 1)
        right, bottom = min(SIZE, int(x + radius) + 2), min(SIZE, int(y + radius) + 2)
        cover = np.zeros((SIZE, SIZE))
        if left >= right or top >= bottom:
            return cover
        sub = (np.arange(FINE) + 0.5) / FINE
        px = (np.arange(left, right)[:, None] + sub).ravel() - x
        py = (np.arange(top, bottom)[:, None] + sub).ravel()[:, None] - y
        u = (np.cos(turn) * px + np.sin(turn) * py) / radius
        v = (np.cos(turn) * py - np.sin(turn) * px) / radius
        fine = inside(u, v).reshape(bottom - top, FINE, right - left, FINE)
        cover[top:bottom, left:right] = fine.mean(axis=(1, 3))
        part = cover[top:bottom, left:right, None]
        spot = self.pixels[top:bottom, left:right]
        spot += part * (np.asarray(colour) - spot)
        return cover

    def any_colour(self):
        return list(COLOURS.values())[self.rng.integers(len(COLOURS))] + self.rng.normal(0, 12, 3)

    def grey(self):
        return self.rng.uniform(20, 235) + self.rng.normal(0, 3, 3)

    def stroke(self):
        rng = self.rng
        width = rng.uniform(0.03, 0.08)
        x, y = rng.uniform(0, SIZE, 2)
        colour = self.any_colour() if rng.random() < 0.5 else self.grey()
        length, turn = rng.uniform(8, 22), rng.uniform(0, np.pi)
        self.fill(lambda u, v: (abs(v) <= width) & (abs(u) <= 0.95), x, y, length, turn, colour)

    def dot(self):
        rng = self.rng
        colour = self.any_colour() if rng.random() < 0.7 else self.grey()
        self.fill(SHAPES["circle"], *rng.uniform(0, SIZE, 2), rng.uniform(0.8, 2.5), 0.0, colour)

    def decoy(self):
        rng = self.rng
        shape = list(SHAPES.values())[rng.integers(len(SHAPES))]
        self.fill(shape, *rng.uniform(0, SIZE, 2), rng.uniform(7, 14), rng.uniform(0, 2 * np.pi), self.grey())


def draw(rng):
    """One picture; rng is a numpy Generator."""
    canvas = Canvas(rng)
    for paint, least, most in ((canvas.decoy, 2, 5), (canvas.stroke, 4, 10), (canvas.dot, 6, 16)):
        for _ in range(rng.integers(least, most + 1)):
            paint()
    label = int(rng.integers(len(LABELS)))
    colour, shape = LABELS[label].split()
    radius = rng.uniform(10, 18)
    x, y = rng.uniform(radius, SIZE - radius, 2)
    cover = canvas.fill(SHAPES[shape], x, y, radius, rng.uniform(0, 2 * np.pi),
                        np.asarray(COLOURS[colour]) + rng.normal(0, 12, 3))
    for _ in range(rng.integers(0, 3)):
        canvas.stroke()  # some of the clutter lies in front
    mask = cover >= 0.5
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    return Picture(np.clip(np.rint(canvas.pixels), 0, 255).astype(np.uint8), label, box, mask)


def main():
    from PIL import Image
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rng, lines = np.random.default_rng(args.seed), []
    for i in range(args.count):
        picture = draw(rng)
        label = LABELS[picture.label]
        name = f"{i}-{label.replace(' ', '-')}.png"
        Image.fromarray(picture.pixels).save(args.out / name, optimize=True)
        left, top, right, bottom = picture.box
        lines.append(json.dumps({"image": name, "label": label, "box": [left, top, right - left, bottom - top]}))
    (args.out / "examples.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
