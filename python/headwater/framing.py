"""A result as its page, in a notebook."""
from __future__ import annotations

import html

from .errors import Error
from .protocols import Paged

HEIGHT = 620  # pixels
MOST_VALUES = 600_000  # of a result whose page is shown without being asked for: about 1 MB in the notebook


class View:
    """A result's page in a frame of `height` pixels; notebooks display it."""

    def __init__(self, result: Paged, height: int = HEIGHT):
        self.result, self.height = result, height

    def _repr_html_(self) -> str:
        return framed(self.result._page(), self.result._spans(), self.height)

    def __repr__(self) -> str:
        return f"<headwater.View of {self.result!r}>"


def view(result: Paged, *, height: int = HEIGHT) -> View:
    """The page of a result, in a frame of `height` pixels: the same that `.save("x.html")` writes.

    Results up to some hundred tokens display like this by themselves. A notebook that is not trusted shows only the
    shaded text and the table below it.
    """
    if not isinstance(result, Paged):
        raise Error(f"view: was given a {type(result).__name__}, expected a result of headwater; for example "
                    "hw.view(hw.rollout(...))")
    if not isinstance(height, (int, float)) or height < 100:
        raise Error(f"`height` {height}: expected at least 100 pixels; choose another")
    return View(result, height)


def framed(page: str, spans: str, height: int) -> str:
    """The page in a frame, and in the frame's element, where a browser that shows frames ignores them, the spans.

    Notebooks that are not trusted, and sites that show notebooks, strip the element and leave what is in it.
    """
    return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" title="headwater" '
            f'style="width: 100%; height: {height}px; border: 0">{spans}</iframe>')


def displayed(result: Paged, values: int) -> str:
    """What a notebook shows of a result by itself."""
    if values > MOST_VALUES:
        return result._spans() + "<small>hw.view(result) shows its page.</small>"
    return framed(result._page(), result._spans(), HEIGHT)
