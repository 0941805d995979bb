"""The report on a folder of records: figures, and a Markdown page with the numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from becbo.arrays import Array
from becbo.bench.claims import REGRET
from becbo.bench.pictures import Draw, picture_blocks
from becbo.bench.records import Record
from becbo.bench.sections import Section, sections
from becbo.bench.summary import (
    CAP,
    HYPERVOLUME_REGRET,
    bootstrap_interval,
    critical_difference,
    ecdf,
    ecdf_area,
    failure_share,
    feasible,
    first_feasible,
    holm,
    mean_ranks,
    wilcoxon,
    wins_ties_losses,
    with_interval,
)
from becbo.bench.table import Table, table
from becbo.bench.verdicts import adjusted, sentence, verdict_table, verdicts
from becbo.errors import InvalidInput
from becbo.plots.comparison import (
    Interval,
    Panel,
    bars_figure,
    curves_figure,
    profiles_figure,
    ranks_figure,
)
from becbo.problems import get, get_single

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "report.md"
FIGURES = "figures"

_INTRODUCTION = f"""\
# Report

Made by `becbo bench report` from the records beside it. Every run has 10 initial evaluations,
scrambled Sobol points that are the same for all methods of a seed; the proposals follow one at a
time. Values are minimised. The measure of quality is the normalised regret,
(best - optimum) / (typical - optimum), where typical is the median over random designs that work:
on the log10 scale, 0 is no better than a random working design and -2 a hundred times closer to the
optimum. "Capped" means that each run counts at best {CAP:g}, so that extra digits on easy problems
do not decide a mean. With several objectives it is the hypervolume regret: the share of the best
known hypervolume that the feasible designs do not reach. Seconds are processor time of one core.
"""

_CLAIMS = f"""\
## What the paper claims, and what the records say

Differences are means over problems of log10 regret, where nothing else is said, on the seeds that
both methods have, with a 95 % bootstrap interval over the runs. "Better" holds if the whole
interval is below zero, "similar" if it lies within {REGRET.similar:.1f}, a factor of two, and
"competitive" if it ends below that. Where some problem has a single run, the interval is one over
the problems. p is from the signed-rank test over all pairs of runs: whether the difference is
beyond zero or, where a claim allows some, beyond that; it is adjusted for all claims (Holm). The
last column judges by the paper's own measure: on how many problems the mean best value is lower,
with a sign test, which can show a difference but not that there is none. Few runs leave much
undecided.
"""


def write_report(
    records: Iterable[Record],
    folder: Path,
    note: Callable[[str], None] = lambda _: None,
    figures: Path | None = None,
    only: Container[str] | None = None,
    evidence: Iterable[Record] | None = None,
) -> Path:
    """Writes figures (PNG and SVG) and the page that explains them.

    Args:
        records: what to report on.
        folder: where the page goes.
        note: hears of each step.
        figures: where figures go; otherwise a folder beside the page.
        only: names of the figures to draw; otherwise all.
        evidence: what the paper's claims are judged by; otherwise the records of the report.

    Returns:
        The page.

    Raises:
        InvalidInput: if no run is finished.
    """
    records = list(records)
    found = sections(records)
    if not found:
        raise InvalidInput("no finished run to report on; make some with `becbo bench run`")
    place = figures or folder / FIGURES
    for directory in (folder, place):
        directory.mkdir(parents=True, exist_ok=True)

    def draw(name: str, make: Callable[[], Figure], caption: str) -> str:
        if only is not None and name not in only:
            return ""
        note(f"figure {name}")
        figure = make()
        for kind in ("png", "svg"):
            figure.savefig(place / f"{name}.{kind}", dpi=110)
        link = Path(os.path.relpath(place / f"{name}.png", folder)).as_posix()
        return f"![{caption}]({link})\n\n{caption}"

    blocks = [_INTRODUCTION, *_claims(records if evidence is None else evidence)]
    for section in found:
        note(f"section {section.name}")
        blocks += section_blocks(section, draw)
    page = folder / PAGE
    page.write_text("\n".join(block.rstrip() + "\n" for block in blocks if block))
    return page


def _claims(records: Iterable[Record]) -> list[str]:
    found = verdicts(records)
    if not found:
        return []
    quotable = [
        f"> {sentence(verdict, p)}"
        for verdict, p in zip(found, adjusted(found), strict=True)
        if not verdict.claim.is_ours
    ]
    return [_CLAIMS, verdict_table(found).markdown(), "In words:", "\n>\n".join(quotable)]


def section_blocks(section: Section, draw: Draw) -> Iterator[str]:
    """The text of one section, its figures drawn on the way."""
    yield f"## {section.name}: {section.summary}"
    yield _what_ran(section)
    yield from (
        _front_figures(section, draw)
        if section.measure is HYPERVOLUME_REGRET
        else _value_figures(section, draw)
    )
    yield draw(
        f"{section.name}-feasible",
        lambda: _feasible_bars(section),
        "Share of the proposals that worked and kept all limits, with one standard deviation over "
        "the runs, and the share of random designs for comparison.",
    )
    yield draw(
        f"{section.name}-seconds",
        lambda: curves_figure(
            _panels(section, Section.seconds),
            title=f"Time spent on proposals ({section.name})",
            value_label="seconds so far",
            log=True,
        ),
        "Accumulated processor time of the proposals, logarithmic.",
    )
    if len(section.labels) > 1 and section.compared:
        yield from _comparison_blocks(section, draw)
    if section.measure is not HYPERVOLUME_REGRET:
        yield from picture_blocks(section, draw)
    yield "### All numbers"
    yield table(section.records).markdown()


def _value_figures(section: Section, draw: Draw) -> Iterator[str]:
    """One objective: the best value and the distance to the optimum."""
    optima = [get_single(problem).optimum for problem in section.problems]
    yield draw(
        f"{section.name}-best",
        lambda: curves_figure(
            _panels(section, Section.best, optima),
            title=f"Best value found ({section.name})",
            value_label="best value",
            reference_label="best possible",
            focus=True,
        ),
        "Best value against evaluations: mean over the runs, one standard deviation shaded; lower "
        "is better.",
    )
    yield draw(
        f"{section.name}-regret",
        lambda: curves_figure(
            _panels(section, Section.regret),
            title=f"Distance to the optimum, logarithmic ({section.name})",
            value_label="log10 regret",
            focus=True,
        ),
        "The same as log10 of the normalised regret, which also shows differences close to the "
        "optimum.",
    )


def _front_figures(section: Section, draw: Draw) -> Iterator[str]:
    """Several objectives: the hypervolume."""
    yield draw(
        f"{section.name}-hypervolume",
        lambda: curves_figure(
            _panels(section, Section.hypervolume, [1.0] * len(section.problems)),
            title=f"Hypervolume reached ({section.name})",
            value_label="share of the best known",
            reference_label="best known",
            focus=True,
        ),
        "Hypervolume of the feasible designs against evaluations, as a share of the best known: "
        "mean over the runs, one standard deviation shaded; higher is better.",
    )


def _comparison_blocks(section: Section, draw: Draw) -> Iterator[str]:
    n, measure = section.horizon, section.measure
    yield "### Who is ahead"
    areas = {label: _area(section, label) for label in section.labels}
    yield draw(
        f"{section.name}-targets",
        lambda: profiles_figure(
            {label: _profile(section, label) for label in section.labels},
            areas,
            title=f"Targets reached on {_problems(section.compared)} ({section.name})",
        ),
        f"Share of {len(measure.targets)} targets per run, {measure.name} "
        f"{measure.targets[0]:g} to {measure.targets[-1]:g}, that are reached after so many "
        "evaluations; every problem counts the same. The intervals are bootstraps over the runs "
        "of each problem.",
    )
    if len(section.compared) > 1:
        yield draw(
            f"{section.name}-ranks",
            lambda: ranks_figure(
                dict(zip(section.labels, _ranks(section), strict=True)),
                critical_difference(len(section.labels), len(section.compared)),
                title=f"Ranks by mean regret after {n} evaluations ({section.name})",
            ),
            "Critical-difference diagram (Friedman ranks, Nemenyi, 5 %): methods joined by a bar "
            "are not told apart by these problems.",
        )
    yield standing(section).markdown()
    yield (
        f"### {section.reference} against the others, per problem\n\n"
        f"Mean difference of {measure.name} after {n} evaluations on the seeds both have: negative "
        f"means {section.reference} is better. p is from the signed-rank test over these seeds, "
        "adjusted for the methods of the row (Holm); with fewer than 6 seeds it cannot become "
        f"small. The last row counts wins, ties (within {measure.tie:g}) and losses over all pairs "
        "of runs."
    )
    yield _against(section).markdown()
    yield "### Evaluations until a design was feasible\n\nMedian over the runs (largest)."
    yield _first_working(section).markdown()


def _what_ran(section: Section) -> str:
    lines = []
    for label in section.labels:
        counts = {len(section.of(p, label)) for p in section.problems if section.of(p, label)}
        seeds = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(counts.pop())
        budgets = {r.run.budget for r in section.records if r.run.label == label}
        budget = " or ".join(map(str, sorted(budgets)))
        where = [p for p in section.problems if section.of(p, label)]
        some = "" if len(where) == len(section.problems) else f", only {', '.join(where)}"
        lines.append(f"- {label}: {seeds} seeds, {budget} evaluations{some}")
    protocols = sorted({record.run.protocol for record in section.records})
    return f"Protocol: {' and '.join(protocols)}. Runs per problem:\n\n" + "\n".join(lines)


def _panels(
    section: Section,
    curves: Callable[[Section, str, str], Array],
    references: Sequence[float] | None = None,
) -> list[Panel]:
    """One panel per problem, with a level to compare with where there is one."""
    panels = []
    for i, problem in enumerate(section.problems):
        labels = [label for label in section.labels if section.of(problem, label)]
        lines = {label: curves(section, problem, label) for label in labels}
        panels.append(Panel(problem, lines, references[i] if references else None))
    return panels


def _feasible_bars(section: Section) -> Figure:
    shares = {
        label: [_worked(section.of(problem, label)) for problem in section.problems]
        for label in section.labels
    }
    return bars_figure(
        shares,
        section.problems,
        title=f"Feasible proposals ({section.name})",
        value_label="feasible share",
        references=[get(problem).feasibility_ratio for problem in section.problems],
        reference_label="random designs",
    )


def _worked(runs: Sequence[Record]) -> Array:  # (k,)
    return np.array([1 - failure_share(feasible(record), record.n_initial) for record in runs])


def _regrets(section: Section, problem: str, label: str) -> Array:  # (k, horizon)
    curves = section.regret(problem, label)[:, : section.horizon]
    return curves[np.isfinite(curves).all(axis=1)]


def _profile(section: Section, label: str) -> Array:  # (horizon,)
    targets = section.measure.targets
    shares = [ecdf(_regrets(section, problem, label), targets) for problem in section.compared]
    return np.asarray(np.mean(shares, axis=0))


def _area(section: Section, label: str) -> Interval:
    targets = section.measure.targets
    areas = [ecdf_area(_regrets(section, problem, label), targets) for problem in section.compared]
    return Interval(float(np.mean([a.mean() for a in areas])), *bootstrap_interval(areas))


def _ranks(section: Section) -> Array:  # (methods,)
    """By the mean over the seeds that all methods have, where there are any."""
    means = []
    for problem in section.compared:
        scores = [section.scores(problem, label) for label in section.labels]
        shared = section.shared_seeds(problem)
        means.append([np.mean([s[seed] for seed in shared or s]) for s in scores])
    return mean_ranks(np.array(means))


def standing(section: Section) -> Table:
    """Area, mean regret and rank of each method, the best first."""
    areas = {label: _area(section, label) for label in section.labels}
    measure = section.measure
    rows = []
    for label, rank in zip(section.labels, _ranks(section), strict=True):
        scores = [np.array(list(section.scores(p, label).values())) for p in section.compared]
        capped = [np.maximum(s, measure.cap) for s in scores]
        low, high = bootstrap_interval(capped)
        area = areas[label]
        rows.append(
            (
                label,
                with_interval(area.mean, area.low, area.high, ".3f"),
                f"{np.mean([s.mean() for s in scores]):.2f}",
                with_interval(float(np.mean([s.mean() for s in capped])), low, high),
                f"{rank:.2f}",
                str(sum(map(len, scores))),
            )
        )
    order = np.argsort([-areas[label].mean for label in section.labels], kind="stable")
    header = (
        "method",
        "area under the targets (95 %)",
        f"{measure.name} @{section.horizon}",
        f"capped at {measure.cap:g} (95 %)",
        "mean rank",
        "runs",
    )
    return Table(header, tuple(rows[i] for i in order), ())


def _against(section: Section) -> Table:
    others = [label for label in section.labels if label != section.reference]
    pairs = {label: section.pairs(section.reference, label) for label in others}
    rows = []
    for problem in section.problems:
        there = {label: pairs[label][problem] for label in others if problem in pairs[label]}
        adjusted = holm(np.array([wilcoxon(*pair) for pair in there.values()]))
        p_values = dict(zip(there, adjusted, strict=True))
        cells = [
            f"{np.mean(there[label][0] - there[label][1]):+.2f} (p {p_values[label]:.2g})"
            if label in there
            else "-"
            for label in others
        ]
        rows.append((problem, *cells))
    tie = section.measure.tie
    counts = [_counts(list(pairs[label].values()), tie) for label in others]
    return Table(("problem", *others), tuple(rows), (("wins / ties / losses", *counts),))


def _counts(pairs: Sequence[tuple[Array, Array]], tie: float) -> str:
    if not pairs:
        return "-"
    mine, theirs = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return " / ".join(map(str, wins_ties_losses(mine, theirs, tie)))


def _first_working(section: Section) -> Table:
    rows = []
    for problem in section.problems:
        cells = []
        for label in section.labels:
            first = [first_feasible(feasible(record)) for record in section.of(problem, label)]
            cells.append(f"{_count(np.median(first))} ({_count(max(first))})" if first else "-")
        rows.append((problem, *cells))
    return Table(("problem", *section.labels), tuple(rows), ())


def _count(n: float) -> str:
    return f"{n:g}" if np.isfinite(n) else "never"


def _problems(names: Sequence[str]) -> str:
    return "1 problem" if len(names) == 1 else f"{len(names)} problems"
