"""The best runs with what is believed of them, and how the front grew."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory import campaign_in_memory

from becbo import Outlook, Stop
from becbo.insight.forecasts import outlook_table
from becbo.insight.insight import Insight, analyze_campaign
from becbo.pareto import hypervolume

PLAN: dict[str, Any] = {
    "name": "glue",
    "objectives": {"strength": {"direction": "maximize", "unit": "kPa"}, "cost": {"reference": 10}},
    "limits": {"viscosity": {"upper": 200}},
    "parameters": {"x": {"low": 0, "high": 1}, "y": {"low": 0, "high": 1}},
}
HEADS = ["x", "y", "strength", "cost", "viscosity", "reason"]
ROWS: list[list[Any]] = [
    HEADS,
    [0.1, 0.1, None, None, 340, "gel"],
    [0.2, 0.1, 50, 6, 100, None],
    [0.3, 0.1, 60, 8, 120, None],
    [0.4, 0.1, 90, 2, 250, None],  # beyond the limit
    [0.5, 0.1, 55, 5, None, None],  # beats the first
]


def insight(folder: Path, rows: list[list[Any]] = ROWS, **more: Any) -> Insight:
    return analyze_campaign(campaign_in_memory(folder, {**PLAN, **more}, rows))


def test_the_front_and_how_it_grew(tmp_path: Path) -> None:
    found = insight(tmp_path)
    assert [each.run.number for each in found.front] == [2, 4]
    assert found.n_beyond == 1 and found.confirmation == ""
    growth = found.growth
    assert growth is not None and growth.numbers == (0, 1, 2, 3, 4)
    assert growth.reference["cost"] == 10
    assert growth.volumes[0] == 0 and growth.volumes[2] == growth.volumes[3]
    assert list(growth.volumes) == sorted(growth.volumes)
    point = np.array([-growth.reference["strength"], 10.0])
    last = hypervolume(np.array([[-60.0, 8.0], [-55.0, 5.0]]), point)
    assert growth.volumes[-1] == pytest.approx(last)


def test_noisy_fronts_say_what_to_confirm(tmp_path: Path) -> None:
    rows = [*ROWS, [0.5, 0.1, 54, 5.2, 150, None]]
    found = insight(tmp_path, rows, noisy=True)
    assert [each.n_measured for each in found.front] == [1, 2]
    assert all({"strength", "cost"} <= set(each.believed) for each in found.front)
    assert found.confirmation.startswith("1 of the 2 runs of the front were measured only once.")


@pytest.mark.parametrize(("n", "words"), [(1, "repeat run 8 to confirm"), (2, "2 times")])
def test_a_noisy_best_is_believed_less_than_it_measured(tmp_path: Path, n: int, words: str) -> None:
    plan = {
        "name": "a",
        "objective": {"name": "y", "direction": "maximize", "unit": "HV"},
        "parameters": {"x": {"low": 0, "high": 1}},
        "noisy": True,
    }
    rows = [["x", "y"], *([i / 8, 10 + (i % 2)] for i in range(8)), *[[0.99, 14]] * n]
    rows[-1] = [0.99, 13.0] if n == 2 else rows[-1]
    found = analyze_campaign(campaign_in_memory(tmp_path, plan, rows))
    assert found.growth is None
    (best,) = found.front
    assert best.believed["y"].mean < 14 and best.n_measured == n
    assert "the models believe" in found.confirmation and words in found.confirmation


def test_the_best_of_noisy_values_is_not_a_lucky_reading(tmp_path: Path) -> None:
    plan = {
        "name": "a",
        "objective": {"name": "y", "direction": "maximize"},
        "parameters": {"x": {"low": 0, "high": 1, "step": 0.01}, "n": {"low": 1, "high": 3}},
        "noisy": True,
    }
    heights = [(i / 20, 5 - 20 * (i / 20 - 0.3) ** 2 + (-1) ** i / 5) for i in range(19)]
    rows = [["x", "n", "y"], *([x, 2, y] for x, y in heights), [0.95, 2, 7.5]]
    campaign = campaign_in_memory(tmp_path, plan, rows)
    now, found = campaign.status, analyze_campaign(campaign)
    assert now.best is not None and now.best.number == 19
    assert now.best_title == "best reading so far"
    (best,), optimizer = found.front, campaign.optimizer()
    assert found.status.best == best.run and found.status.best_title == "best so far"
    assert optimizer.best is not None and best.run.params == optimizer.best.params
    assert 0.15 < best.run.params["x"] < 0.45
    assert f"the design of run {best.run.number} to be the best" in found.confirmation
    assert found.outlook.best == pytest.approx(best.believed["y"].mean)
    assert found.maps.anchor_name == f"the best design, run {best.run.number}"


def test_nothing_is_said_before_anything_is_acceptable(tmp_path: Path) -> None:
    found = insight(tmp_path, [HEADS, [0.1, 0.1, 50, 6, 300, None]], noisy=True)
    assert (found.front, found.growth, found.confirmation) == ((), None, "")
    assert found.outlook.best is None


@pytest.mark.parametrize(
    "surcharge, words",
    [(0.0, " (16 %)."), (40.0, "; with the price of failures that is 53 % of all costs.")],
)
def test_what_failures_cost_in_words(surcharge: float, words: str) -> None:
    seen = Outlook("cost", 3.0, 50, 8, 9.0, True, 0.05, 0.01, -1.0, 0.4, surcharge=surcharge)
    cost = outlook_table(seen, Stop()).cost
    assert cost == f"8 experiments of 50 failed or broke a limit{words}"
