"""The paper's pictures of models: what methods tried and believed on problems in the plane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from becbo.bench.accuracy import accuracy_panels
from becbo.bench.boundary_table import boundary_table
from becbo.bench.cases import classifier_cases
from becbo.bench.records import Record
from becbo.bench.replay import snapshot, truth
from becbo.bench.sections import Section
from becbo.plots.models import (
    accuracy_figure,
    cases_figure,
    samples_figure,
    stages_figure,
    truths_figure,
)
from becbo.problems import PAPER, get_single

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = (50, 100, 200)  # evaluations after which designs are shown
STAGES = (10, 30, 60, 200)
SHOWN_METHODS = ("cei-ep", "scbo-ep", "svm-cbo", "be-cbo-v1", "edge")

Draw = Callable[[str, Callable[[], "Figure"], str], str]  # a figure that is not wanted: ""


def picture_blocks(section: Section, draw: Draw) -> Iterator[str]:
    """Whatever the runs of a section have to show."""
    yield from _samples(section, draw)
    yield from _stages(section, draw)
    yield from _accuracy(section, draw)
    if section.name == "paper" and "be-cbo-v1" in section.labels:
        yield from _cases(draw)
    if section.name == "paper" and set(section.problems) == set(PAPER):
        yield from _boundary()
    if section.name == "interior":
        yield from _landscapes(section, draw)


def _samples(section: Section, draw: Draw) -> Iterator[str]:
    for problem in section.problems:
        if get_single(problem).dim != 2:
            continue
        runs = [section.of(problem, label) for label in SHOWN_METHODS]
        firsts = [group[0] for group in runs if group and len(group[0].x) >= SHOWN[0]]
        if not firsts:
            continue
        yield draw(
            f"{section.name}-samples-{problem}",
            partial(_samples_figure, problem, firsts),
            f"Where each method has looked on {problem} (seed {firsts[0].run.seed}), and the value "
            "and the edge as its models see them.",
        )


def _samples_figure(problem: str, runs: Iterable[Record]) -> Figure:
    return samples_figure(
        truth(get_single(problem)),
        [[snapshot(r, n) for n in SHOWN if n <= len(r.x)] for r in runs],
        **_axes(problem),
        title=f"Designs tried on {problem}, and what each method believes",
    )


def _stages(section: Section, draw: Draw) -> Iterator[str]:
    for label in ("be-cbo-v1", "edge"):
        runs = [r for r in section.of("lsq", label) if len(r.x) >= STAGES[2]]
        if runs:
            yield draw(
                f"{section.name}-stages-{label}",
                partial(_stages_figure, runs[0]),
                f"A run of {label} stage by stage: the value above, the chance to work below.",
            )


def _stages_figure(run: Record) -> Figure:
    return stages_figure(
        truth(get_single("lsq")),
        [snapshot(run, n) for n in sorted({min(n, len(run.x)) for n in STAGES})],
        **_axes("lsq"),
        title=f"A run of {run.run.label} on lsq",
    )


def _accuracy(section: Section, draw: Draw) -> Iterator[str]:
    panels = accuracy_panels(section.records, section.problems)
    if panels:
        yield draw(
            f"{section.name}-accuracy",
            lambda: accuracy_figure(
                panels,
                title=f"How well the classifiers know the edge ({section.name})",
            ),
            "Balanced accuracy of the classifiers on 10,000 random designs, half of them working "
            "where enough can be found, after every evaluation of the runs that measured it; "
            "guessing gives 50 %.",
        )


def _cases(draw: Draw) -> Iterator[str]:
    yield draw(
        "classifiers",
        _cases_figure,
        "Gaussian process and deep ensemble on random designs; the three sets are chosen by "
        "accuracy out of 20.",
    )


def _cases_figure() -> Figure:
    found = classifier_cases()
    return cases_figure(
        [(case.name, case.panels) for case in found.cases],
        **_axes("lsq"),
        title=f"Two classifiers on the same 50 random designs\n{found.summary}",
    )


def _boundary() -> Iterator[str]:
    yield (
        "### Is the optimum at the edge?\n\n"
        "Constraints that are active at the best design known, and at the best one that "
        "differential evolution and SLSQP found from scratch; g counts constraints, g* active ones."
    )
    yield boundary_table().markdown()


def _landscapes(section: Section, draw: Draw) -> Iterator[str]:
    plane = [problem for problem in section.problems if get_single(problem).dim == 2]
    yield draw(
        f"{section.name}-landscapes",
        lambda: truths_figure(
            [truth(get_single(problem)) for problem in plane],
            **_axes(plane[0]),
            title="The optimum moved away from the edge",
        ),
        "The problems of this section; designs in the white do not work.",
    )


def _axes(problem: str) -> dict[str, str]:
    return dict(zip(("x_label", "y_label"), get_single(problem).space.names, strict=True))
