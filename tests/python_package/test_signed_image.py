"""Signed values of patches: red and blue on a scale as far below 0 as above."""
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from headwater.image import ImageTokens, image_of

PLACE = ImageTokens("image", 0, [0, 1, 2, 3], (1, 2, 2))


@pytest.mark.parametrize("values", [[-3.0, -2, -1, 0.5], [-3.0, -2, -1, -0.5]])
def test_negative_patches_are_drawn_against(values):
    image = image_of(np.array(values), [PLACE], 0, "7", "relevance", "cat")
    over = image.over(np.zeros((4, 4, 3)))
    figure = over.plot()
    FigureCanvasAgg(figure).draw()
    drawn = figure.axes[0].images[-1]
    assert drawn.get_clim() == (-3, 3) and drawn.cmap.name == "RdBu_r"
    assert figure.get_suptitle() == "relevance for 'cat'"
    assert "33,102,172" in image._repr_html_() and '"target": "cat"' in image.to_json()


def test_shares_start_at_zero():
    image = image_of(np.array([0.1, 0.2, 0.3, 0.4]), [PLACE], 0, "\u0120cat", "rollout")  # as the vocabulary spells it
    figure = image.plot()
    assert figure.axes[0].images[-1].get_clim() == (0, 0.4) and figure.get_suptitle() == "rollout of cat"
