"""The outlook as a table: the same for the command line, the page and the report."""

from __future__ import annotations

from dataclasses import dataclass

from becbo.campaign.formatting import number, percent, plural
from becbo.campaign.names import heading
from becbo.outlook import Outlook, Stop


@dataclass(frozen=True)
class OutlookTable:
    """What more experiments may bring, what failures have cost, and the advice.

    Attributes:
        headings: The heading of each column.
        rows: The cells, a row for each number of further experiments.
        cost: What failures have cost so far, a sentence.
        advice: Whether to go on, a sentence.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cost: str
    advice: str


def outlook_table(seen: Outlook, rule: Stop) -> OutlookTable:
    """Puts an outlook into words.

    Args:
        seen: The outlook.
        rule: When it is not worth going on.

    Returns:
        The table and the sentences below it.
    """
    margin = seen.margin(rule)
    better = "acceptable" if seen.best is None else f"better by more than {seen.margin_text(rule)}"
    now = [] if seen.best is None else [("0", number(seen.best), "", "")]
    later = [
        (
            str(forecast.n_experiments),
            "" if forecast.expected is None else number(forecast.expected),
            " to ".join(map(number, forecast.interval or ())),
            percent(forecast.p_better),
        )
        for forecast in seen.forecasts(margin)
    ]
    spent = f"{plural(seen.n_failed, 'experiment')} of {seen.n_done} failed or broke a limit"
    share = percent(seen.failure_cost)
    cost = f"; with the price of failures that is {share} of all costs" if seen.surcharge else ""
    return OutlookTable(
        ("more", heading(f"expected {seen.measure}", seen.unit), "in four of five cases", better),
        (*now, *later),
        f"{spent}{cost or f' ({share})'}.",
        seen.sentence(rule),
    )
