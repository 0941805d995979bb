import numpy as np
import pytest

from becbo.plots.progress import best_so_far, progress_figure


def test_best_so_far() -> None:
    values = np.array([np.nan, 3.0, np.nan, 5.0, 1.0])
    np.testing.assert_equal(best_so_far(values), [np.nan, 3, 3, 3, 1])


def test_shows_every_success_and_every_failure() -> None:
    main, strip = progress_figure([None, 3.0, float("nan"), 2.0, 1.5], optimum=0.5).axes
    worked, best, optimum = main.get_lines()
    np.testing.assert_array_equal(worked.get_xdata(), [2, 4, 5])
    np.testing.assert_array_equal(worked.get_ydata(), [3, 2, 1.5])
    np.testing.assert_array_equal(best.get_ydata(), [np.nan, 3, 3, 2, 1.5])
    assert optimum.get_ydata()[0] == 0.5
    np.testing.assert_array_equal(strip.get_lines()[0].get_xdata(), [1, 3])
    assert main.get_xlabel() == "experiment"
    assert "smaller is better" in main.get_ylabel()


def test_distance_panel_only_when_it_says_something() -> None:
    assert len(progress_figure([10.0, 1.0, 0.1], optimum=0.0).axes) == 3
    assert len(progress_figure([10.0, 1.0, 0.0], optimum=0.0).axes) == 2  # no logarithm of 0
    assert len(progress_figure([3.0, 2.0], optimum=0.0).axes) == 2  # not even a decade
    assert len(progress_figure([10.0, 1.0, 0.1]).axes) == 2  # unknown


@pytest.mark.parametrize("values", [[], [None], [1.0], [None, None], [5.0, 5.0]])
def test_draws_any_run(values, tmp_path) -> None:
    progress_figure(values, title="run", optimum=1.0).savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size
