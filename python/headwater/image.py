"""The part of a result that belongs to one image: values by patch, and the overlay on the picture."""
from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from . import _engine
from .arrays import NumPyArray
from .errors import Error
from .kinds import ArrayIn, DType, Figure, Grid
from .saved import Saved
from .values import whole

EDGE = 1.5  # how many times its share the border may hold before a note says so


@dataclass(frozen=True)
class ImageTokens:
    """The tokens of an image: their positions, and their grid (frames, rows, columns) if it is known."""

    kind: str  # image or video
    number: int
    positions: list[int]
    grid: tuple[int, ...] | None

    def moved(self, words: list[tuple[int, int]]) -> ImageTokens:
        """The same by words, each a range of tokens. A patch is always a word of its own."""
        word = {begin: k for k, (begin, _) in enumerate(words)}
        return ImageTokens(self.kind, self.number, [word[position] for position in self.positions], self.grid)

    def names(self) -> list[str]:
        """A name for each token: <image 0: row,column>, with the frame first in a video.

        Where no grid is known, it is a part of an image, or several.
        """
        if self.grid is None:
            return [f"<{self.kind} part {self.number}: {k}>" for k in range(len(self.positions))]
        head = f"<{self.kind} {self.number}: "
        shape = self.grid if self.kind == "video" or self.grid[0] > 1 else self.grid[1:]
        return [head + ",".join(map(str, place)) + ">" for place in np.ndindex(*shape)]


def named(tokens: list[str], places: list[ImageTokens]) -> list[str]:
    """The tokens with those of images named by their place."""
    out = list(tokens)
    for place in places:
        for position, name in zip(place.positions, place.names()):
            out[position] = name
    return out


class ImageAttribution(Saved):
    """`values` [rows, columns] of an image, or [frames, rows, columns]: how much of one output token comes from each
    patch. `.over(picture)` lays it over the picture for `.plot()` and `.save(path)`; notebooks show the patches.
    """

    def __init__(self, values: NumPyArray, place: ImageTokens, output: str, method: str, target: str | None = None):
        self.values, self.place, self.output, self.method, self.target = values, place, output, method, target
        self.picture: NumPyArray | None = None
        self.notes = edge_notes(np.abs(values) if self.has_signs else values)

    @property
    def has_signs(self) -> bool:
        """Whether values are signed: positive for the target, negative against it."""
        return self.method == "relevance"

    @property
    def title(self) -> str:
        """What the values explain: an output token, or the target of relevance."""
        return f"{self.method} of {_engine.labels([self.output])[0]}" if self.target is None else \
            f"{self.method} for '{self.target}'"

    def __array__(self, dtype: DType = None, copy: bool | None = None) -> NumPyArray:
        return self.values.astype(dtype) if dtype is not None else self.values

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return tuple(self.values.shape)

    def arrays(self) -> dict[str, NumPyArray]:
        """The values and notes, as .npz holds them."""
        return dict(values=self.values, notes=np.array(self.notes, dtype=str))

    def to_json(self) -> str:
        """All of the result as JSON."""
        target = {} if self.target is None else {"target": self.target}
        return json.dumps({"headwater": _engine.version(), "method": self.method, "image": self.place.number,
                           "output": self.output, **target, "values": self.values.tolist(), "notes": self.notes},
                          ensure_ascii=False)

    def over(self, picture: ArrayIn) -> ImageAttribution:
        """The same with a picture to lay it over: whatever NumPy reads as [height, width, 3] or [height, width]."""
        array = np.asarray(picture)
        if array.ndim not in (2, 3):
            raise Error(f"picture: has shape {list(array.shape)}, expected [height, width, 3]; give an image")
        other = ImageAttribution(self.values, self.place, self.output, self.method, self.target)
        other.picture = array
        return other

    def plot(self) -> Figure:
        """A matplotlib figure: the patches over the picture, a panel for each frame."""
        from .plot import pyplot, show
        frames = self.values if self.values.ndim == 3 else self.values[None]
        figure, axes = pyplot().subplots(1, len(frames), figsize=(4 * len(frames), 4), squeeze=False,
                                         layout="constrained")
        high, wide = frames[0].shape if self.picture is None else self.picture.shape[:2]
        most = float(np.abs(self.values).max()) or 1.0
        for k, (ax, frame) in enumerate(zip(axes[0], frames)):
            if self.picture is not None:
                ax.imshow(self.picture, extent=(0, wide, high, 0), cmap="gray")
            ax.imshow(frame, cmap="RdBu_r" if self.has_signs else "viridis", vmin=-most if self.has_signs else 0,
                      vmax=most, extent=(0, wide, high, 0),
                      alpha=1 if self.picture is None else 0.55, interpolation="nearest")
            ax.set_title(f"{self.place.kind} {self.place.number}" + (f", frame {k}" if len(frames) > 1 else ""))
            ax.axis("off")
        figure.suptitle(self.title)
        return show(figure)

    def _repr_html_(self) -> str:
        from .html import cells
        frames = self.values if self.values.ndim == 3 else self.values[None]
        name = f"{self.place.kind} {self.place.number}"
        title = f"{self.title}: {name}, rows and columns of patches"
        return cells(title, list(frames), float(np.abs(self.values).max()), self.has_signs)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"<headwater.ImageAttribution {self.place.kind} {self.place.number}: {shape} patches>"


def edge_notes(values: NumPyArray) -> list[str]:
    """A note if patches at the border hold much more than their share, which is common and means little."""
    frames = values if values.ndim == 3 else values[None]
    if min(frames.shape[1:]) < 4 or values.sum() <= 0:
        return []
    inner = frames[:, 1:-1, 1:-1]
    share, held = 1 - inner.size / frames.size, 1 - float(inner.sum()) / float(frames.sum())
    if held < EDGE * share:
        return []
    return [f"patches at the border hold {held:.0%} of the values and are {share:.0%} of the image: models often store "
            "information there that has nothing to do with these patches"]


def image_of(values: NumPyArray, places: list[ImageTokens], k: int, output: str, method: str,
             target: str | None = None, given: Grid | None = None) -> ImageAttribution:
    """Image k of a row of values, in its own grid or the one that is given."""
    if not -len(places) <= k < len(places):
        there = f"expected 0 to {len(places) - 1}" if places else "headwater found none in the input"
        raise Error(f"image: there is no image {k}, {there}; capture a vision-language model and give it input_ids")
    place = places[k]
    if given is not None:
        sides = tuple(whole("grid", side) for side in given) if isinstance(given, (list, tuple)) else ()
        if len(sides) not in (2, 3) or min(sides) < 1 or int(np.prod(sides)) != len(place.positions):
            raise Error(f"`grid` {given}: does not fit image {k}, expected (rows, columns) of {len(place.positions)} tokens")
        place = ImageTokens(place.kind, place.number, place.positions, (1, *sides)[-3:])
    if place.grid is None:
        raise Error(f"image {k}: has {len(place.positions)} tokens in no known grid, expected rows x columns; give them as "
                    "`grid`, or take the tokens from .values by their positions")
    grid = place.grid if place.kind == "video" or place.grid[0] > 1 else place.grid[1:]
    return ImageAttribution(np.asarray(values)[place.positions].reshape(grid), place, output, method, target)
