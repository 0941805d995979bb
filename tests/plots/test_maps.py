"""Maps of outputs and of mixtures."""

import numpy as np
import pytest

maps = pytest.importorskip("becbo.plots.maps")
interactive = pytest.importorskip("becbo.plots.interactive")

HEAT = interactive.Axis("heat [°C]", [0.0, 5.0, 10.0])
TIME = interactive.Axis("time [h]", [1.0, 10.0, 100.0], is_log=True)
GAS = interactive.Axis("gas", [0.0, 1.0], is_continuous=False, names=["argon", "air"])


def test_a_value_comes_with_its_uncertainty_and_the_edge() -> None:
    mean = np.arange(9.0).reshape(3, 3)
    figure = maps.value_figure(
        HEAT, TIME, mean, mean / 10, np.eye(3), [], label="strength <b> [MPa]"
    )
    shading, edge = figure.data
    np.testing.assert_array_equal(shading.z, mean)
    np.testing.assert_array_equal(np.array(shading.customdata)[:, :, 0], mean / 10)
    assert "±" in shading.hovertemplate and "&lt;b&gt;" in shading.hovertemplate
    np.testing.assert_array_equal(edge.z, np.eye(3))
    assert edge.contours.start == edge.contours.end == 0.5


def test_choices_are_cells() -> None:
    chance = np.array([[0.9, 0.9, 0.1], [0.1, 0.1, 0.1]])
    figure = maps.value_figure(HEAT, GAS, chance, chance, chance, [], label="x")
    assert [trace.type for trace in figure.data] == ["heatmap", "scatter"]


def test_the_corners_of_a_triangle_are_pure() -> None:
    corners = maps.in_triangle(100 * np.eye(3))
    np.testing.assert_allclose(corners, [[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    np.testing.assert_allclose(maps.in_triangle(np.ones((1, 3))), [[0.5, np.sqrt(3) / 6]])


@pytest.mark.parametrize("is_chance", [True, False])
def test_a_triangle_leaves_out_what_is_not_allowed(is_chance: bool) -> None:
    points = np.array([[50, 50, 0], [0, 50, 50], [90, 50, -40.0]])
    mark = interactive.Mark("best", 0.5, 0.2, "run 3")
    figure = maps.ternary_figure(
        "abc", points, np.array([0.2, 0.9, np.nan]), [mark], what="chance", is_chance=is_chance
    )
    shown, outline, best = figure.data
    assert len(shown.x) == 2 and list(shown.marker.color) == [0.2, 0.9]
    assert (shown.marker.cmax == 1) is is_chance
    assert len(outline.x) == 4 and list(best.x) == [0.5]
    assert [note.text for note in figure.layout.annotations] == ["100 % a", "100 % b", "100 % c"]
