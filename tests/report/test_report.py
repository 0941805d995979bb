"""The report as a file: complete, self-contained, and safe whatever people type."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Done
from memory import campaign_in_memory

from becbo import Stop
from becbo.campaign.campaign import Campaign
from becbo.errors import InvalidInput
from becbo.insight.forecasts import outlook_table
from becbo.insight.insight import Insight, analyze_campaign

report = pytest.importorskip("becbo.report.html")
report_figures = pytest.importorskip("becbo.report.figures").report_figures

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
PLAN: dict[str, Any] = {
    "name": "glue <b>",
    "note": EVIL,
    "objective": {"name": "strength <i>", "unit": EVIL, "direction": "maximize", "note": EVIL},
    "parameters": {
        "heat": {"low": 0, "high": 10, "unit": "°C", "note": "in the oven"},
        EVIL: {"low": 1, "high": 100, "log": True, "unit": "h"},
        "coats": {"low": 1, "high": 5, "integer": True},
        "resin": {"choices": ["X", EVIL]},
    },
    "constraints": ["heat + coats <= 13"],
    "budget": 50,
}


SMALL: dict[str, Any] = {
    "name": "paste",
    "objective": {"name": "strength", "direction": "maximize"},
    "parameters": {"x": {"low": 0, "high": 1}},
}


def table(n: int) -> list[list[Any]]:
    rng = np.random.default_rng(3)
    rows: list[list[Any]] = [["heat", EVIL, "coats", "resin", "strength <i>", "reason"]]
    for _ in range(n):
        heat, time = rng.uniform(0, 8), 10 ** rng.uniform(0, 2)
        came = ["failed", EVIL] if heat > 6 else [heat + time, ""]
        rows.append([heat, time, int(rng.integers(1, 6)), ("X", EVIL)[rng.integers(2)], *came])
    return rows


class Page(HTMLParser):
    """The elements of a page, and the text that people see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.text += data

    def figures(self) -> dict[str, Any]:
        stored = [text for text in self.scripts if text.startswith("{")]
        assert len(stored) == 1
        found: dict[str, Any] = json.loads(stored[0])
        return found

    def places(self) -> set[str | None]:
        return {attrs["data-figure"] for _, attrs in self.elements if "data-figure" in attrs}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Insight:
    made = campaign_in_memory(tmp_path_factory.mktemp("lab"), PLAN, table(25))
    for _ in range(10):
        (asked,) = made.suggest()
        if asked.params["heat"] > 6:
            made.record(asked.number, failed="burnt")
        else:
            made.record(asked.number, asked.params["heat"])
    best = made.status.best
    assert best is not None
    made.correct(best.number, best.value, note="slight haze")
    made.suggest(2)
    return analyze_campaign(made)


@pytest.fixture(scope="module")
def page(found: Insight) -> Page:
    return Page(report.report_page(found))


def test_every_figure_has_its_place_and_says_what_it_shows(page: Page) -> None:
    wanted = {"progress", "failure", "value-1", "calibration"}
    wanted |= {f"map-{i}" for i in range(1, 7)} | {f"layer-{i}" for i in range(1, 4)}
    assert page.places() == set(page.figures()) == wanted
    for tag, attrs in page.elements:
        if "data-figure" in attrs:
            assert (tag, attrs["role"]) == ("div", "img")
            assert attrs["aria-label"]


def test_the_numbers_are_there(page: Page, found: Insight) -> None:
    best = found.status.best
    assert best is not None
    assert f"{best.value:.6g}" in page.text
    assert f"It took {best.number + 1} experiments" in page.text
    for said in found.suggestions:
        assert said.why.replace(" ", "") in page.text.replace("\u00a0", "").replace(" ", "")
        assert f"Run {said.number}, pending" in page.text
    assert f"Brier score {found.calibration.brier:.3f}" in page.text
    assert "All of them did" in page.text
    assert "in the oven" in page.text
    assert "heat + coats <= 13" in page.text
    rows = [attrs for tag, attrs in page.elements if tag == "tr" and attrs.get("class")]
    assert len(rows) == len(found.runs) == 37
    assert page.text.count("slight haze") == 2  # with the best design and among all runs
    assert "1 to 100 h, on a logarithmic scale" in page.text


def test_the_outcome_of_a_run_comes_first(found: Insight) -> None:
    """A phone shows little more than the first columns."""
    _, _, table = report.Sections.of(found).html().partition('<table class="runs">')
    assert re.findall(r"<th[^>]*>(\w+)", table)[:3] == ["run", "outcome", "strength"]


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    for tag, attrs in page.elements:
        assert not {"src", "href", "srcset", "action"} & set(attrs), (tag, attrs)
        assert tag not in ("link", "img", "iframe", "object")
    assert sum("plotly.js (cartesian" in text[:200] for text in page.scripts) == 1


def test_what_people_type_is_only_ever_text(page: Page) -> None:
    assert EVIL in page.text
    assert "glue <b>" in page.text
    # Plotly, the figures and what draws them: no script of anybody else.
    assert sum(tag == "script" for tag, _ in page.elements) == 3
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert "b" not in {tag for tag, _ in page.elements}


def test_the_sections_fit_into_a_page_with_a_strict_policy(found: Insight) -> None:
    sections = Page(report.Sections.of(found).html())
    for tag, attrs in sections.elements:
        assert "style" not in attrs and tag != "style"
        assert tag != "script" or attrs["type"] == "application/json"
    identifiers = [attrs["id"] for _, attrs in sections.elements if "id" in attrs]
    assert len(set(identifiers)) == len(identifiers)


def test_marks_of_a_map_are_the_runs(found: Insight) -> None:
    (name, picture), *_ = [
        item for item in report_figures(found).items() if item[0].startswith("map")
    ]
    traces = {trace.name: trace for trace in picture.figure.data if trace.name}
    assert name == "map-1"
    assert set(traces) == {"worked", "failed", "suggested", "best so far"}
    assert len(traces["suggested"].x) == 2
    assert len(traces["failed"].x) == found.n_failed
    best = found.status.best
    assert best is not None
    assert (traces["best so far"].x[0], traces["best so far"].y[0]) == (
        best.params["heat"],
        best.params[EVIL],
    )


@pytest.mark.parametrize("n", [0, 1, 3, 6])
def test_a_report_of_few_experiments(n: int, tmp_path: Path) -> None:
    made = campaign_in_memory(tmp_path, PLAN, table(n) if n else [])
    page = Page(report.report_page(analyze_campaign(made)))
    assert "Not enough yet" in page.text
    assert "If you ask now" in page.text
    assert ("No experiment has been recorded yet" in page.text) == (n == 0)
    assert page.places() == set(page.figures())


@pytest.mark.parametrize("came", [4.0, "failed"])
def test_a_report_of_one_parameter_and_one_outcome(came: Any, tmp_path: Path) -> None:
    plan = {"name": "one", "parameters": {"x": {"low": 0, "high": 1}}}
    made = campaign_in_memory(tmp_path, plan, [["x", "value"], *([i / 9, came] for i in range(9))])
    page = Page(report.report_page(analyze_campaign(made)))
    wanted = {"progress", "map-1"}
    wanted |= {"layer-1", "layer-2", "layer-3"} if came != "failed" else set()
    assert page.places() == set(page.figures()) == wanted
    assert ("Nothing has worked yet" in page.text) == (came == "failed")
    assert ("Nothing has failed so far" in page.text) == (came != "failed")


def test_a_report_says_why_nothing_can_be_suggested(tmp_path: Path) -> None:
    rows = [*table(4)[:1], *([*row[:-2], "failed", ""] for row in table(4)[1:])]
    spent = {**PLAN, "failures": {"budget": 3}}
    page = Page(report.report_page(analyze_campaign(campaign_in_memory(tmp_path, spent, rows))))
    assert page.text.count("Nothing can be suggested: the budget of failures allows no more") == 2


@pytest.mark.parametrize("reasons", ["thin", "thin, hot"])
def test_runs_that_count_for_several_reasons(reasons: str, tmp_path: Path) -> None:
    plan = {"name": "a", "parameters": {"x": {"low": 0, "high": 1}}}
    rows = [["x", "value", "reason"], [0.1, None, reasons], [0.2, None, "thin"], [0.3, 1.0, None]]
    shown = Page(
        report.report_page(analyze_campaign(campaign_in_memory(tmp_path, plan, rows)))
    ).text
    assert ("can count for several reasons" in shown) == ("," in reasons)


def test_a_chance_that_has_changed_since_is_mentioned(tmp_path: Path) -> None:
    made = campaign_in_memory(tmp_path, PLAN, table(25))
    (asked,) = made.suggest()
    assert asked.believed is not None and asked.believed.p_feasible > 0.5
    made.add({**asked.params, "heat": max(asked.params["heat"] - 0.01, 0.0)}, failed=True)
    text = Page(report.report_page(analyze_campaign(made))).text
    assert "When it was suggested" in text
    assert "withdraw it and ask" in text


def test_the_file_is_written_or_the_error_says_why_not(tmp_path: Path) -> None:
    made = campaign_in_memory(tmp_path, PLAN)
    path = report.write_report(made, tmp_path / "it.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(InvalidInput, match="cannot write .*No such file"):
        report.write_report(made, tmp_path / "nowhere" / "it.html")
    database = tmp_path / "data.db"
    database.write_bytes(b"data")
    with pytest.raises(InvalidInput, match="data.db: a report is a web page"):
        report.write_report(made, database)
    assert database.read_bytes() == b"data"


def test_the_command(becbo: Callable[..., Done], tmp_path: Path) -> None:
    Campaign.create(PLAN, tmp_path / "lab.db")
    done = becbo("report", "--file", "lab.db", "--out", "it.html")
    assert (done.code, done.out.strip()) == (0, "Written: it.html")
    assert "glue &lt;b&gt;" in (tmp_path / "it.html").read_text(encoding="utf-8")
    refused = becbo("report", "--file", "lab.db", "--out", "new.html", "--margin", "-1")
    assert refused.code == 2 and "margin -1.0: give a number of at least 0" in refused.err
    assert not (tmp_path / "new.html").exists()


def test_the_command_without_a_campaign(becbo: Callable[..., Done]) -> None:
    done = becbo("report")
    assert done.code == 2
    assert "there is no file becbo.db" in done.err
    assert "Traceback" not in done.err


def test_several_outputs(tmp_path: Path) -> None:
    plan = {
        "name": "glue",
        "objectives": {"strength": {"direction": "maximize"}, "cost": {}, "ph": {"target": 7}},
        "limits": {"viscosity": {"upper": 200, "unit": "mPas"}},
        "parameters": {"x": {"low": 0, "high": 1}, "y": {"low": 0, "high": 1}},
    }
    rows: list[list[Any]] = [["x", "y", "strength", "cost", "ph", "viscosity", "reason"]]
    rows += [[i / 9, 0.5, 50 + i, i, 6 + i / 4, 150 + 10 * i, None] for i in range(8)]
    rows.append([0.95, 0.5, None, None, None, 310, "gel"])
    found = analyze_campaign(campaign_in_memory(tmp_path, plan, rows))
    page = Page(report.report_page(found))
    places = {"front-1", "front-2", "front-3", "hypervolume", "limit-1"}
    assert places <= page.places() == set(page.figures()) and "progress" not in page.places()
    assert "The front so far" in page.text and "110 beyond" in page.text
    assert "2 worked but broke a limit" in " ".join(page.text.split())


@pytest.mark.parametrize("is_limited", [False, True])
def test_the_outlook_is_that_of_the_status(tmp_path: Path, is_limited: bool) -> None:
    """Also while nothing is acceptable, and on a phone it scrolls by itself."""
    plan = {**SMALL, "limits": {"viscosity": {"upper": 2 if is_limited else 200}}}
    rows: list[list[Any]] = [["x", "strength", "viscosity"]]
    rows += [[i / 9, 50 + i, 20 + i] for i in range(8)]
    found = analyze_campaign(campaign_in_memory(tmp_path, plan, rows))
    assert (found.outlook.best is None) == is_limited
    html = report.Sections.of(found).html()
    section = html[html.index('aria-labelledby="outlook"') :].partition("</section>")[0]
    assert section.index('<div class="scroll"') < section.index("<table>")
    wanted = outlook_table(found.outlook, Stop())
    told = Page(section).text.replace("\u00a0", " ")
    for words in (*wanted.headings, *sum(wanted.rows, ()), wanted.cost, wanted.advice):
        assert words in told
    assert ("acceptable" in wanted.headings) == is_limited


def test_the_margin_of_the_outlook(tmp_path: Path) -> None:
    plan = {**SMALL, "objective": {"name": "strength", "unit": "MPa"}}
    rows: list[list[Any]] = [["x", "strength"], *([i / 39, 50 + (i - 20) ** 2] for i in range(40))]
    made = campaign_in_memory(tmp_path, plan, rows)
    text = report.write_report(made, tmp_path / "it.html", margin=1500).read_text(encoding="utf-8")
    wanted = outlook_table(made.optimizer().outlook, Stop(margin=1500))
    assert wanted.headings[1::2] == ("expected strength [MPa]", "better by more than 1500 MPa")
    assert wanted.advice.startswith("Stop: ") and "by more than 1500 MPa" in wanted.advice
    for words in (*wanted.headings, wanted.advice):
        assert words in text.replace("\u00a0", " ")


def test_there_is_no_outlook_before_the_first_experiment(tmp_path: Path) -> None:
    found = analyze_campaign(campaign_in_memory(tmp_path, SMALL))
    assert "Outlook" not in report.Sections.of(found).html()


def test_every_output_has_maps(tmp_path: Path) -> None:
    """Its value, its uncertainty, the chance to keep its limit; and all of them together."""
    plan = {
        "name": "glue",
        "objectives": {"strength": {"direction": "maximize", "unit": "kPa"}},
        "limits": {"viscosity": {"upper": 200}},
        "recorded": {"ph": {}},
        "parameters": {n: {"low": 0, "high": 100} for n in ("resin", "hardener", "filler", "heat")},
        "constraints": ["resin + hardener + filler == 100"],
    }
    rng = np.random.default_rng(0)
    names = ["resin", "hardener", "filler", "heat", "strength", "viscosity", "ph"]
    rows: list[list[Any]] = [names]
    for a, b, c in rng.dirichlet(np.ones(3), size=30).tolist():
        # What happens depends on the heat alone, what flows on the filler.
        heat = float(rng.uniform(0, 100))
        rows.append([100 * a, 100 * b, 100 * c, heat, heat, 400 * c, 7.0])
    found = analyze_campaign(campaign_in_memory(tmp_path, plan, rows))
    shown = {n: p for n, p in report_figures(found).items() if n.startswith("layer-")}
    captions = {}
    for picture in shown.values():
        captions.setdefault(picture.group, []).append(picture.caption)
    (strength, viscosity, ph, together) = captions
    assert "heat" in strength and strength.startswith("strength over ")
    assert "filler" in viscosity and ph.startswith("ph over ")
    both = ["Uncertainty (standard deviation)"]
    assert captions[strength] == ["Expected strength [kPa]", *both]
    assert captions[viscosity] == ["Expected viscosity", *both, "Chance to be at most 200"]
    assert captions[ph] == ["Expected ph", *both]
    assert captions[together] == ["Chance to work and keep every limit", "Chance to beat the best"]
    page = Page(report.report_page(found))
    for name, picture in shown.items():
        assert name in page.places() and picture.caption in page.text
    assert {"For strength", "For viscosity"} <= set(page.text.splitlines())
    through = replace(found, maps=found.maps_through(3))
    assert "while the others stay at run 3" in Page(report.report_page(through)).text
