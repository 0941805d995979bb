from dataclasses import replace

import numpy as np
import pytest

from becbo.plots.landscape import Landscape, landscape_figure

X = np.linspace(0, 2, 11)
Y = np.linspace(-1, 1, 9)
GRID = X + Y[:, None]  # (9, 11)
FULL = Landscape(
    x=X,
    y=Y,
    p_feasible=np.clip(GRID / 3 + 1 / 3, 0, 1),
    points=np.array([[0.1, 0.2], [1.5, 0.5], [0.3, -0.8]]),
    worked=np.array([True, True, False]),
    objective=GRID,
    slack=GRID - 0.5,
    best=np.array([0.1, 0.2]),
    optima=np.array([[0.5, 0.0], [0.0, 0.5]]),
    title="after 3",
)
BARE = replace(FULL, objective=None, slack=None, best=None, optima=None)


def labels(figure) -> set[str]:
    return {text.get_text() for text in figure.legends[0].get_texts()}


def test_one_panel_each_and_one_colour_bar() -> None:
    figure = landscape_figure([FULL, FULL], x_label="t", y_label="p")
    left, right, bar = figure.axes
    assert (left.get_title(), left.get_xlabel(), left.get_ylabel()) == ("after 3", "t", "p")
    assert right.get_xlim() == (0, 2)
    assert right.get_ylim() == (-1, 1)
    assert "chance" in bar.get_ylabel()


def test_the_legend_names_what_is_shown() -> None:
    everything = labels(landscape_figure([BARE, FULL]))
    assert {"it worked", "it failed", "best found", "best possible", "edge, in truth"} < everything
    assert labels(landscape_figure([BARE])) == everything - {
        "best found",
        "best possible",
        "edge, in truth",
        "lines of equal value",
    }


@pytest.mark.parametrize(
    "panel",
    [
        BARE,
        replace(FULL, worked=np.array([True, True, True])),
        replace(FULL, worked=np.array([False, False, False]), best=None, objective=None),
        replace(FULL, points=np.zeros((0, 2)), worked=np.zeros(0, dtype=bool)),
        replace(FULL, x=X + 10, frame=np.array([[10.5, -0.5], [11, 0.5]])),  # points are outside
        replace(FULL, p_feasible=np.full((9, 11), 0.9)),
        replace(FULL, p_feasible=np.full((9, 11), 0.1)),
        replace(FULL, objective=np.ones((9, 11)), slack=np.ones((9, 11))),
    ],
)
def test_draws_any_run(panel, tmp_path) -> None:
    figure = landscape_figure([FULL, panel])
    figure.savefig(tmp_path / "run.png")
    assert min(ax.get_position().width for ax in figure.axes[:2]) > 0.3  # no panel is squeezed
