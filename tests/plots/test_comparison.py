"""What the comparison figures show."""

import numpy as np
from matplotlib.figure import Figure

from becbo.plots.comparison import (
    Interval,
    Panel,
    _groups,
    bars_figure,
    curves_figure,
    profiles_figure,
    ranks_figure,
)


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_curves_begin_where_all_runs_have_a_value() -> None:
    curves = np.array([[np.inf, 4.0, 2.0], [np.inf, np.inf, 4.0]])
    panels = [Panel("a", {"edge": curves}, 1.0), Panel("b", {"edge": curves, "cei": curves})]
    figure = curves_figure(panels, title="t", value_label="value", reference_label="optimum")
    assert legend(figure) == ["edge", "cei", "optimum"]
    mean = figure.axes[0].lines[0].get_ydata()
    np.testing.assert_array_equal(mean, [np.nan, np.nan, 3.0])
    assert [ax.get_title() for ax in figure.axes] == ["a", "b"]
    assert figure.axes[0].lines[1].get_ydata() == [1.0, 1.0]


def test_a_panel_without_a_value_says_so() -> None:
    none, some = np.full((2, 3), np.inf), np.ones((1, 3))
    panels = [Panel("a", {"edge": none, "cei": none}, 1.0), Panel("b", {"edge": none, "cei": some})]
    left, right = curves_figure(panels, title="t", value_label="v", focus=True).axes
    assert [text.get_text() for text in left.texts] == ["nothing worked"]
    assert not right.texts


def test_focus_leaves_the_start_out() -> None:
    curves = np.concatenate([np.full((1, 2), 1e6), np.linspace(3, 1, 18)[None]], axis=1)
    (ax,) = curves_figure(
        [Panel("a", {"edge": curves}, 0.5)], title="", value_label="", focus=True
    ).axes
    low, high = ax.get_ylim()
    assert low < 0.5 and 3 < high < 4


def test_bars_show_mean_and_reference() -> None:
    shares = {"edge": [np.array([0.2, 0.4]), np.array([])], "cei": [np.array([1.0])] * 2}
    figure = bars_figure(
        shares,
        ["a", "b"],
        title="t",
        value_label="v",
        references=[0.5, None],
        reference_label="random",
    )
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    np.testing.assert_allclose(heights, [0.3, np.nan, 1.0, 1.0])
    assert legend(figure) == ["edge", "cei", "random"]


def test_profiles_and_areas() -> None:
    profiles = {"edge": np.array([0.0, 0.5]), "cei": np.array([0.0, 0.1])}
    areas = {"edge": Interval(0.25, 0.2, 0.3), "cei": Interval(0.05, 0.05, 0.05)}
    left, right = profiles_figure(profiles, areas, title="t").axes
    assert left.lines[1].get_ydata().tolist() == [0.0, 0.1]
    assert right.lines[0].get_xdata().tolist() == [0.2, 0.3]
    assert [t.get_text() for t in right.get_yticklabels()] == ["edge", "cei"]


def test_ranks_are_joined_within_the_critical_difference() -> None:
    assert _groups([1.0, 1.5, 2.4, 5.0], 1.0) == [(0, 1), (1, 2)]
    assert _groups([1.0, 1.5, 1.9], 1.0) == [(0, 2)]
    assert _groups([1.0, 3.0], 1.0) == []
    figure = ranks_figure({"cei": 2.0, "edge": 1.0, "scbo": 3.0}, 1.2, title="t")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["edge  1.00", "cei  2.00", "scbo  3.00"]


def test_many_methods_have_lines_of_their_own_and_a_legend_that_fits() -> None:
    names = [f"optuna-tpe-{i}" for i in range(10)]
    profiles = {name: np.linspace(0, 1, 5) for name in names}
    areas = {name: Interval(0.5, 0.4, 0.6) for name in names}
    figure = profiles_figure(profiles, areas, title="t")
    looks = {(line.get_color(), line.get_linestyle()) for line in figure.axes[0].lines}
    assert len(looks) == 10
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 and box.x1 <= figure.bbox.width


def test_a_method_looks_the_same_in_all_figures() -> None:
    def colours(*labels: str) -> dict[str, object]:
        panel = Panel("p", {label: np.ones((1, 5)) for label in labels})
        (axes,) = curves_figure([panel], title="t", value_label="v").axes
        return dict(zip(labels, [line.get_color() for line in axes.lines], strict=True))

    assert colours("edge", "scbo", "mine")["scbo"] == colours("scbo", "sobol")["scbo"]
    assert len(set(colours("a", "edge", "b", "sobol").values())) == 4


def test_a_legend_fits_into_a_narrow_figure() -> None:
    names = ["edge", "cei", "scbo", "svm-cbo", "sobol", "be-cbo-networks-3"]
    panel = Panel("p", {name: np.ones((1, 5)) for name in names}, 0.5)
    figure = curves_figure([panel], title="t", value_label="v", reference_label="best possible")
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 and box.x1 <= figure.bbox.width
