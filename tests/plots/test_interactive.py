import json
from typing import Any

import numpy as np
import pytest

interactive = pytest.importorskip("becbo.plots.interactive")
maps = pytest.importorskip("becbo.plots.maps")

HEAT = interactive.Axis("heat [°C]", [0.0, 5.0, 10.0])
TIME = interactive.Axis("time [h]", [1.0, 10.0, 100.0], is_log=True)
GAS = interactive.Axis("gas", [0.0, 1.0], is_continuous=False, names=["argon", "air"])
CHANCE = np.array([[0.1, 0.6, 0.9], [0.2, 0.4, np.nan]])


def chance(values: Any) -> Any:
    return maps.Shading("chance to work", values)


def drawn(figure: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What a browser gets."""
    parsed = json.loads(figure.to_json())
    return parsed["data"], parsed["layout"]


def test_progress_shows_every_run_and_the_best() -> None:
    figure = interactive.progress_figure(
        [0, 1, 3, 4, 6],
        [5.0, None, 7.0, 3.0, None],
        [5.0, 5.0, 5.0, 3.0, 3.0],
        value_label="cost",
    )
    (best, worked, failed), layout = drawn(figure)
    assert (best["x"], best["y"]) == ([0, 1, 3, 4, 6], [5, 5, 5, 3, 3])
    assert (worked["x"], worked["y"]) == ([0, 3, 4], [5, 7, 3])
    assert failed["x"] == [1, 6]
    assert failed["marker"]["symbol"] != worked["marker"]["symbol"]
    assert layout["yaxis"]["title"]["text"] == "cost"
    assert layout["yaxis"]["type"] == "linear"


def test_progress_to_maximize_over_decades() -> None:
    figure = interactive.progress_figure(
        [1, 2, 3], [1.0, 500.0, 2.0], [1.0, 500.0, 500.0], value_label="v"
    )
    (best, *_), layout = drawn(figure)
    assert best["y"] == [1, 500, 500]
    assert layout["yaxis"]["type"] == "log"


@pytest.mark.parametrize("values", [[], [None], [1.0], [None, None]])
def test_progress_of_any_run(values: list[float | None]) -> None:
    figure = interactive.progress_figure(
        list(range(len(values))), values, values, value_label="cost"
    )
    *_, failed = drawn(figure)[0]
    assert len(failed["x"]) == values.count(None)


def test_a_continuous_map_has_a_smooth_edge() -> None:
    expected = maps.Shading("value", np.ones((3, 3)), "value")
    figure = maps.map_figure(HEAT, TIME, chance(np.eye(3)), [], hovered=[expected])
    (shades, edge), layout = drawn(figure)
    assert {shades["type"], edge["type"]} == {"contour"}
    assert (edge["contours"]["start"], edge["contours"]["end"]) == (0.5, 0.5)
    assert (shades["zmin"], shades["zmax"]) == (0, 1)
    assert layout["yaxis"]["type"] == "log"
    assert layout["yaxis"]["range"] == [0, 2]
    assert layout["yaxis"]["tickvals"] == [1, 2, 5, 10, 20, 50, 100]
    assert layout["xaxis"]["range"] == [0, 10]


def test_the_edge_of_a_discrete_map_runs_between_cells() -> None:
    figure = maps.map_figure(HEAT, GAS, chance(CHANCE), [])
    (shades, edge), layout = drawn(figure)
    assert shades["type"] == "heatmap"
    # In the first row between the first and second cell, and from there up to the second row,
    # where the third cell is not allowed.
    assert edge["x"] == [2.5, 2.5, None, 2.5, 7.5, None]
    assert edge["y"] == [-0.5, 0.5, None, 0.5, 0.5, None]
    assert layout["yaxis"]["ticktext"] == ["argon", "air"]
    assert layout["yaxis"]["range"] == [-0.5, 1.5]


def test_cells_on_a_logarithmic_axis_meet_at_the_geometric_mean() -> None:
    whole = interactive.Axis("n", [1.0, 4.0, 16.0], is_log=True, is_continuous=False)
    figure = maps.map_figure(whole, GAS, chance(np.array([[0.1, 0.9, 0.9]] * 2)), [])
    (_, edge), layout = drawn(figure)
    assert edge["x"][:2] == pytest.approx([2.0, 2.0])
    assert layout["xaxis"]["range"] == pytest.approx([np.log10(0.5), np.log10(32)])


def test_a_map_of_one_parameter_is_a_strip() -> None:
    single = interactive.Axis("", [0.0], is_continuous=False, names=[""])
    figure = maps.map_figure(HEAT, single, chance(np.array([[0.1, 0.6, 0.9]])), [])
    (_, edge), layout = drawn(figure)
    assert edge["x"] == [2.5, 2.5, None]
    assert layout["height"] < 200


def test_marks_differ_by_symbol_and_fade_away_from_the_slice() -> None:
    kinds = ("worked", "failed", "next", "best")
    marks = [interactive.Mark(kind, 1.0, 2.0, f"a {kind} one", 1.0) for kind in kinds]
    faint = interactive.Mark("worked", 3.0, 4.0, "far away", 0.0)
    data, _ = drawn(maps.map_figure(HEAT, TIME, chance(np.eye(3)), [*marks, faint]))
    points = {trace["name"]: trace for trace in data[2:]}
    assert len({trace["marker"]["symbol"] for trace in points.values()}) == 4
    worked = points["worked"]
    assert (worked["x"], worked["y"]) == ([1, 3], [2, 4])
    assert worked["customdata"] == ["a worked one", "far away"]
    assert worked["marker"]["opacity"][0] > worked["marker"]["opacity"][1] > 0
    assert worked["marker"]["size"][0] > worked["marker"]["size"][1]


def test_drivers_are_bars_from_the_top() -> None:
    (total, alone), layout = drawn(
        interactive.importance_figure(["heat", "time"], [0.5, 0.1], [0.8, 0.4])
    )
    assert (total["x"], alone["x"]) == ([0.8, 0.4], [0.5, 0.1])
    assert layout["yaxis"]["ticktext"] == ["heat", "time"]
    assert layout["yaxis"]["autorange"] == "reversed"


def test_calibration_has_counts_and_intervals() -> None:
    figure = interactive.calibration_figure(
        [0.3, 0.9], [0.25, 1.0], [(0.1, 0.6), (0.5, 1.0)], [4, 3]
    )
    (diagonal, points), layout = drawn(figure)
    assert diagonal["x"] == diagonal["y"] == [0, 1]
    assert points["error_y"]["array"] == pytest.approx([0.35, 0.0])
    assert points["error_y"]["arrayminus"] == pytest.approx([0.15, 0.5])
    assert [note["text"] for note in layout["annotations"]] == ["n = 4", "n = 3"]


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (1, 48, [1, 2, 5, 10, 20]),
        (0.02, 0.3, [0.02, 0.05, 0.1, 0.2]),
        (1e-6, 1e6, [1e-6, 1e-3, 1e0, 1e3, 1e6]),
        (3, 4, [3, 4]),
    ],
)
def test_numbers_on_a_logarithmic_axis(low: float, high: float, wanted: list[float]) -> None:
    axis = interactive.Axis("x", [low, high], is_log=True)
    _, layout = drawn(maps.map_figure(axis, HEAT, chance(np.ones((3, 2))), []))
    assert layout["xaxis"]["tickvals"] == wanted


def test_labels_are_shown_as_they_are() -> None:
    bad = "<b>%{x}</b>"
    axis = interactive.Axis(bad, [0.0, 1.0], is_continuous=False, names=[bad, bad])
    marks = [interactive.Mark("worked", 0.0, 0.0, bad)]
    shown = [
        maps.map_figure(axis, axis, maps.Shading(bad, np.eye(2)), marks),
        interactive.progress_figure([1], [1.0], [1.0], value_label=bad),
        interactive.importance_figure([bad], [1.0], [1.0]),
    ]
    for figure in shown:
        written = json.dumps(drawn(figure), ensure_ascii=False)
        assert "<b>" not in written
        assert "&lt;b&gt;%&#123;x}&lt;/b&gt;" in written


def test_only_traces_without_webgl() -> None:
    shown = [
        maps.map_figure(HEAT, TIME, chance(np.eye(3)), [interactive.Mark("best", 1.0, 1.0, "it")]),
        maps.map_figure(HEAT, GAS, chance(CHANCE), []),
        interactive.progress_figure([1], [1.0], [1.0], value_label="v"),
        interactive.importance_figure(["a"], [1.0], [1.0]),
        interactive.calibration_figure([0.5], [0.5], [(0.1, 0.9)], [4]),
    ]
    kinds = {trace["type"] for figure in shown for trace in drawn(figure)[0]}
    assert kinds <= {"scatter", "heatmap", "contour", "bar"}
