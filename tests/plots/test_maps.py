"""Maps of outputs and of mixtures."""

import numpy as np
import pytest

maps = pytest.importorskip("becbo.plots.maps")
interactive = pytest.importorskip("becbo.plots.interactive")

triangles = pytest.importorskip("becbo.plots.triangles")

HEAT = interactive.Axis("heat [°C]", [0.0, 5.0, 10.0])
TIME = interactive.Axis("time [h]", [1.0, 10.0, 100.0], is_log=True)
GAS = interactive.Axis("gas", [0.0, 1.0], is_continuous=False, names=["argon", "air"])


def test_a_value_comes_with_its_uncertainty_and_the_edge() -> None:
    mean = np.arange(9.0).reshape(3, 3)
    shown = maps.Shading("strength <b> [MPa]", mean, "value")
    others = [maps.Shading("spread", mean / 8, "value"), maps.Shading("chance", np.eye(3))]
    figure = maps.map_figure(HEAT, TIME, shown, [], edge=np.eye(3), hovered=others)
    shading, edge = figure.data
    np.testing.assert_array_equal(shading.z, mean)
    np.testing.assert_array_equal(np.array(shading.customdata)[:, :, 0], mean / 8)
    assert shading.hovertemplate == (
        "heat [°C]: %{x}<br>time [h]: %{y}<br>strength &lt;b&gt; [MPa]: %{z:.4g}<br>"
        "spread: %{customdata[0]:.4g}<br>chance: %{customdata[1]:.0%}<extra></extra>"
    )
    np.testing.assert_array_equal(edge.z, np.eye(3))
    assert edge.contours.start == edge.contours.end == 0.5


def test_choices_are_cells() -> None:
    chance = np.array([[0.9, 0.9, 0.1], [0.1, 0.1, 0.1]])
    figure = maps.map_figure(HEAT, GAS, maps.Shading("x", chance, "value"), [], edge=chance)
    assert [trace.type for trace in figure.data] == ["heatmap", "scatter"]


@pytest.mark.parametrize(
    ("kind", "highest", "ends"),
    [
        ("chance", 0.3, (0, 1)),
        ("share", 0.3, (0, 0.3)),
        ("share", 1e-9, (0, 0.01)),  # nothing looks likely that is not
        ("value", 0.3, None),
    ],
)
def test_what_the_colours_mean(kind: str, highest: float, ends: tuple[float, float]) -> None:
    values = np.array([[0.0, highest], [np.nan, 0.0]])
    assert maps.Shading("x", values, kind).ends == ends
    assert maps.Shading("x", np.full((2, 2), np.nan), "share").ends == (0, 0.01)


MIXTURE = triangles.Triangle("abc", ["%", "%", ""], [30.0, 10.0, 0.0], 100.0)


def test_the_corners_of_a_triangle_have_as_much_as_possible() -> None:
    amounts = np.array([[90.0, 10, 0], [30, 70, 0], [30, 10, 60], [50, 30, 20]])
    wanted = [[0, 0], [1, 0], [0.5, np.sqrt(3) / 2], [0.5, np.sqrt(3) / 6]]
    np.testing.assert_allclose(MIXTURE.place(amounts), wanted)
    assert MIXTURE.labels == ["90 % a", "70 % b", "60 c"]


@pytest.mark.parametrize("kind", ["chance", "value"])
def test_a_triangle_leaves_out_what_is_not_allowed(kind: str) -> None:
    amounts = np.array([[50, 50, 0], [30, 20, 50], [90, 50, np.nan]])
    shown = maps.Shading("it", np.array([[0.25, 0.75, np.nan]]), kind)
    other = maps.Shading("other", np.array([[1.0, 2.0, 3.0]]), "value")
    mark = interactive.Mark("best", 0.5, 0.2, "run 3")
    figure = triangles.triangle_figure(MIXTURE, amounts, shown, [mark], [other])
    points, outline, best = figure.data
    assert len(points.x) == 2 and list(points.marker.color) == [0.25, 0.75]
    assert (points.marker.cmax == 1) is (kind == "chance")
    assert points.marker.showscale is (kind == "value")
    np.testing.assert_array_equal(points.customdata, [[1, 50, 50, 0], [2, 30, 20, 50]])
    assert "a: %{customdata[1]:.4g}" in points.hovertemplate
    assert "it: %{marker.color:" in points.hovertemplate
    assert "other: %{customdata[0]:.4g}" in points.hovertemplate
    assert len(outline.x) == 4 and list(best.x) == [0.5]
    assert [note.text for note in figure.layout.annotations] == MIXTURE.labels
