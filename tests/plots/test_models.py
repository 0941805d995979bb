from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from becbo.plots.comparison import Panel
from becbo.plots.landscape import Landscape
from becbo.plots.models import (
    accuracy_figure,
    cases_figure,
    samples_figure,
    stages_figure,
    truths_figure,
    value_levels,
)

X = np.linspace(0, 2, 21)
Y = np.linspace(-1, 1, 17)
GRID = X + Y[:, None]  # (17, 21), from -1 to 3
TRUTH = Landscape(
    x=X,
    y=Y,
    p_feasible=None,
    points=np.empty((0, 2)),
    worked=np.empty(0, dtype=bool),
    objective=GRID,
    slack=GRID - 0.5,
    optima=np.array([[0.5, 0.0]]),
    title="truth",
)
STATE = replace(
    TRUTH,
    p_feasible=np.clip(GRID / 3 + 1 / 3, 0, 1),
    objective=GRID + 0.1,
    bound=GRID - 0.1,
    points=np.array([[0.1, 0.2], [1.5, 0.5], [0.3, -0.8], [1.0, 0.0]]),
    worked=np.array([True, True, False, False]),
    best=np.array([0.1, 0.2]),
    n_initial=2,
    title="state",
)
BLIND = replace(STATE, worked=np.zeros(4, dtype=bool), objective=None, best=None)
LABELS = {"x_label": "t", "y_label": "p"}


def legend(figure) -> set[str]:
    return {text.get_text() for text in figure.legends[0].get_texts()}


def titles(figure) -> list[str]:
    return [ax.get_title() for ax in figure.axes if ax.get_title()]


def test_levels_cover_the_true_values_where_designs_work() -> None:
    levels = value_levels(TRUTH)
    assert levels[0] <= 0.5 < levels[1]  # of -1 to 3, only from 0.5 on
    assert levels[-2] < 3.0 <= levels[-1]


def test_samples_have_the_truth_once_and_a_row_per_method() -> None:
    figure = samples_figure(TRUTH, [[STATE, STATE], [STATE], [BLIND, STATE]], **LABELS, title="all")
    assert sorted(titles(figure)) == ["state"] * 5 + ["truth"]
    panels = [ax for ax in figure.axes if ax.get_title()]
    assert {(ax.get_xlabel(), ax.get_ylabel()) for ax in panels} == {("t", "p")}
    assert {(*ax.get_xlim(), *ax.get_ylim()) for ax in panels} == {(0, 2, -1, 1)}
    assert figure.axes[-1].get_ylabel() == "value (smaller is better)"
    assert figure.get_suptitle() == "all"
    assert legend(figure) == {
        "it worked, initial design",
        "it failed, initial design",
        "it failed",
        "best found",
        "best possible",
        "edge, as the model sees it",
        "edge, in truth",
    }


def test_failures_differ_by_marker_and_the_initial_design_by_colour() -> None:
    state = replace(STATE, worked=np.array([True, False, True, False]))
    figure = samples_figure(TRUTH, [[state]])
    marks = {
        (line.get_marker(), to_hex(line.get_color())): line.get_xydata().tolist()
        for line in figure.axes[1].lines
        if line.get_marker() in "ox"
    }
    assert sorted(marks.values()) == [[[0.1, 0.2]], [[0.3, -0.8]], [[1.0, 0.0]], [[1.5, 0.5]]]
    by_marker = {marker: [c for m, c in marks if m == marker] for marker in "ox"}
    assert [len(set(colours)) for colours in by_marker.values()] == [2, 2]


def test_stages_show_the_value_above_and_the_chance_below() -> None:
    figure = stages_figure(TRUTH, [BLIND, STATE], **LABELS)
    assert titles(figure) == ["truth", "state", "state"]
    assert len(figure.axes) == 8  # two rows of three, two bars
    value, chance = (ax.get_ylabel() for ax in figure.axes[-2:])
    assert value == "value (smaller is better)"
    assert "chance" in chance
    assert "searched although a failure is likelier" in legend(figure)
    assert "lines of equal value" not in legend(figure)


def test_the_band_is_hatched_only_where_there_is_one() -> None:
    def hatches(state: Landscape) -> list[str]:
        below = stages_figure(TRUTH, [state]).axes[3]
        return [h for c in below.collections for h in getattr(c, "hatches", []) if h]

    assert hatches(STATE) == ["////"]
    assert hatches(replace(STATE, bound=np.full_like(GRID, -1.0))) == []
    assert hatches(replace(STATE, bound=None)) == []


def test_cases_are_named_by_row() -> None:
    case = replace(STATE, objective=None, bound=None, best=None, n_initial=0)
    figure = cases_figure([("good", [case, case]), ("bad", [case, case])], **LABELS, title="two")
    assert [ax.get_ylabel() for ax in figure.axes[:4]] == ["good\n\np", "p", "bad\n\np", "p"]
    assert "it worked" in legend(figure)
    assert "best found" not in legend(figure)


def test_truths_have_a_bar_each() -> None:
    other = replace(TRUTH, objective=100 * GRID)
    figure = truths_figure([TRUTH, other], **LABELS)
    assert len(figure.axes) == 4
    assert legend(figure) == {"best possible", "edge, in truth"}
    first, second = (ax for ax in figure.axes if "value" in ax.get_ylabel())
    assert first.get_ylim()[1] < 10 < second.get_ylim()[1]


def test_accuracy_is_in_percent_with_a_guess_as_reference() -> None:
    lines = np.array([[np.nan, 0.6, 0.8], [np.nan, 0.7, 0.9]])
    figure = accuracy_figure([Panel("lsq", {"gp": lines, "ensemble": lines + 0.05})])
    (ax,) = figure.axes
    assert ax.get_ylabel() == "balanced accuracy"
    assert ax.yaxis.get_major_formatter()(0.5) == "50%"
    assert legend(figure) == {"gp", "ensemble", "a guess"}
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [np.nan, 0.65, 0.85])


@pytest.mark.parametrize(
    "figure",
    [
        samples_figure(TRUTH, [[STATE, BLIND], [STATE]], title="samples"),
        stages_figure(TRUTH, [BLIND, STATE], title="stages"),
        cases_figure([("a", [STATE, STATE])], title="cases"),
        truths_figure([TRUTH, TRUTH], title="truths"),
    ],
    ids=lambda figure: figure.get_suptitle(),
)
def test_every_panel_has_room(figure, tmp_path) -> None:
    figure.savefig(tmp_path / "figure.png")
    sides = [ax.get_window_extent() for ax in figure.axes if ax.get_xlabel()]
    assert min(min(box.width, box.height) for box in sides) > 1.5 * figure.dpi
