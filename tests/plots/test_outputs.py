import json
from typing import Any

import pytest

plots = pytest.importorskip("becbo.plots.outputs")
interactive = pytest.importorskip("becbo.plots.interactive")

STRENGTH = plots.ObjectiveAxis("strength [kPa]", 1)
COST = plots.ObjectiveAxis("cost", -1)
PH = plots.ObjectiveAxis("ph", 0, target=7.0)


def drawn(figure: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What a browser gets."""
    parsed = json.loads(figure.to_json())
    return parsed["data"], parsed["layout"]


def test_the_front_is_a_staircase_of_what_it_dominates() -> None:
    marks = [interactive.Mark("best", 3.0, 5.0, "run 1"), interactive.Mark("worked", 1.0, 6.0, "b")]
    (steps, worked, best), layout = drawn(
        plots.pareto_figure(STRENGTH, COST, marks, [(1.0, 2.0), (3.0, 5.0), (2.0, 4.0)])
    )
    assert list(zip(steps["x"], steps["y"], strict=True)) == [
        (3, 5), (2, 5), (2, 4), (1, 4), (1, 2)
    ]  # fmt: skip
    assert (worked["x"], best["x"]) == ([1], [3])
    assert layout["xaxis"]["title"]["text"] == "strength [kPa] → better"
    assert layout["yaxis"]["title"]["text"] == "cost ← better"


def test_a_target_is_a_line_and_has_no_staircase() -> None:
    data, layout = drawn(plots.pareto_figure(STRENGTH, PH, [], [(1.0, 6.0)]))
    assert data == []
    (line,) = layout["shapes"]
    assert line["y0"] == line["y1"] == 7


def test_hypervolume_after_each_run() -> None:
    (volume,), _ = drawn(plots.hypervolume_figure([0, 2, 3], [0.0, 1.0, 1.5]))
    assert (volume["x"], volume["y"], volume["line"]["shape"]) == ([0, 2, 3], [0, 1, 1.5], "hv")


@pytest.mark.parametrize(("lower", "upper"), [(None, 5.0), (1.0, None), (1.0, 5.0)])
def test_a_limit_shows_its_bounds(lower: float | None, upper: float | None) -> None:
    (worked, failed), layout = drawn(
        plots.limit_figure(
            [0, 1, 2], [2.0, 9.0, 3.0], [True, False, True], label="v", lower=lower, upper=upper
        )
    )
    assert (worked["x"], failed["x"]) == ([0, 2], [1])
    bounds = [shape["y0"] for shape in layout["shapes"]]
    assert bounds == [bound for bound in (lower, upper) if bound is not None]
    low, high = layout["yaxis"]["range"]
    assert low < min(2.0, *bounds) and high > 9
