"""The paper's claims judged by records: intervals, tests, and the paper's own measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from becbo.arrays import Array
from becbo.bench.claims import CLAIMS, REGRET, Claim, Kind, Pair, Quantity
from becbo.bench.plan import SUITES
from becbo.bench.records import Record
from becbo.bench.summary import (
    best_so_far,
    bootstrap_interval,
    holm,
    sign_test,
    values,
    wilcoxon,
    wins_ties_losses,
    with_interval,
)
from becbo.bench.table import Table

LEVEL = 0.05  # of tests
MANY_PROBLEMS = 5  # enough for an interval over problems

_Runs = dict[tuple[str, str, int], Record]


@dataclass(frozen=True)
class Verdict:
    """What records say of a claim.

    Attributes:
        claim: what is claimed.
        pair: the methods that decide it.
        horizon: evaluations after which they are compared.
        differences: per problem the first method minus the second on the seeds that both have.
        values: per problem the mean best value of each; none if the claim is not about regret.
    """

    claim: Claim
    pair: Pair
    horizon: int
    differences: tuple[Array, ...]  # (k_i,)
    values: tuple[tuple[float, float], ...]

    @property
    def mean(self) -> float:
        """The difference, every problem counting the same."""
        return float(np.mean([d.mean() for d in self.differences]))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % bootstrap interval over the runs.

        Where some problem has a single one, over the problems if there are several; otherwise NaN.
        """
        if min(map(len, self.differences)) < 2 and len(self.differences) >= MANY_PROBLEMS:
            return bootstrap_interval([np.array([d.mean() for d in self.differences])])
        return bootstrap_interval(self.differences)

    @property
    def p_value(self) -> float:
        """Of the signed-rank test over all pairs of runs.

        It asks what the verdict does: whether the difference is beyond the end, of those within
        which the claim is true, that is closer to it.
        """
        pooled = np.concatenate(self.differences)
        end = min(self.claim.true_between, key=lambda end: abs(end - self.mean))
        return wilcoxon(pooled, np.full(len(pooled), end))

    @property
    def said(self) -> str:
        """By the interval."""
        return judged(*self.interval, *self.claim.true_between)

    @property
    def said_by_values(self) -> str:
        """By the paper's own measure, the mean best value: a sign test over the problems."""
        if not self.values:
            return "-"
        n_less = sum(a < b for a, b in self.values)
        n_more = sum(a > b for a, b in self.values)
        said = _judged_by_signs(self.claim.kind, n_less, n_more)
        p = sign_test(n_less, n_more)
        return f"lower on {n_less} of {len(self.values)} (p {p:.2g}): {said}"


def judged(low: float, high: float, least: float, most: float) -> str:
    """What an interval (low, high) says of the claim that a difference is in (least, most)."""
    if least < low and high < most:
        return "holds"
    return "does not hold" if low > most or high < least else "undecided"


def _judged_by_signs(kind: Kind, n_less: int, n_more: int) -> str:
    """The signs of differences do not tell whether they are small."""
    if sign_test(n_less, n_more) >= LEVEL:
        return "undecided"
    if kind == "similar" or (kind == "no worse" and n_more > n_less):
        return "there is a difference"
    return "holds" if n_less > n_more else "does not hold"


def verdicts(records: Iterable[Record]) -> list[Verdict]:
    """One per claim that the records can speak about."""
    runs = {record.run.key: record for record in records if record.is_finished}
    found = [_verdict(claim, runs) for claim in CLAIMS]
    return [verdict for verdict in found if verdict is not None]


def adjusted(found: Sequence[Verdict]) -> list[float]:
    """The p-value of each verdict, adjusted for all of them (Holm)."""
    return list(holm(np.array([verdict.p_value for verdict in found])).tolist())


def verdict_table(found: Sequence[Verdict]) -> Table:
    """One row per claim."""
    header = (
        "the paper says: be-cbo ...",
        "compared",
        "difference (95 %)",
        "p (Holm)",
        "wins / ties / losses",
        "problems, runs",
        "verdict",
        "by the mean best value",
    )
    rows = [_row(verdict, p) for verdict, p in zip(found, adjusted(found), strict=True)]
    return Table(header, tuple(rows), ())


def sentence(verdict: Verdict, p: float) -> str:
    """A verdict that can be quoted by itself; p is adjusted for the other claims."""
    a, b = verdict.pair
    n_runs = sum(map(len, verdict.differences))
    n_problems = len(verdict.differences)
    problems = "1 problem" if n_problems == 1 else f"{n_problems} problems"
    pairs = "1 pair" if n_runs == 1 else f"{n_runs} pairs"
    by_values = (
        f" The mean best value of {a} is {verdict.said_by_values}." if verdict.values else ""
    )
    return (
        f'The claim "BE-CBO {verdict.claim.words}": {verdict.said}{_reservation(verdict, p)}. '
        f"After {verdict.horizon} evaluations from the same initial designs ({problems}, {pairs} "
        f"of runs), {a} minus {b} in {verdict.claim.quantity.name} is "
        f"{with_interval(verdict.mean, *verdict.interval, '+.2f')}; signed-rank test p = {p:.2g} "
        f"after Holm's adjustment for all claims.{by_values}"
    )


def _row(verdict: Verdict, p: float) -> tuple[str, ...]:
    pooled = np.concatenate(verdict.differences)
    claim, quantity = verdict.claim, verdict.claim.quantity
    what = "" if quantity is REGRET else f", {quantity.name}"
    counts = wins_ties_losses(pooled, np.zeros(len(pooled)), quantity.tie)
    return (
        f"(a question of ours) {claim.words}" if claim.is_ours else claim.words,
        f"{verdict.pair[0]} - {verdict.pair[1]} @{verdict.horizon}{what}",
        with_interval(verdict.mean, *verdict.interval, "+.2f"),
        f"{p:.2g}",
        " / ".join(map(str, counts)),
        f"{len(verdict.differences)}, {len(pooled)}",
        verdict.said + _reservation(verdict, p),
        verdict.said_by_values,
    )


def _reservation(verdict: Verdict, p: float) -> str:
    """That a verdict is beyond chance by itself, but not among so many claims."""
    return " by itself, not after Holm" if verdict.said != "undecided" and p >= LEVEL else ""


def _verdict(claim: Claim, runs: _Runs) -> Verdict | None:
    """By the pair with the most runs, the first of them where several have as many."""
    problems = claim.problems or SUITES[claim.suite].problems
    known = {key: run for key, run in runs.items() if _has(claim.quantity, run)}
    shared = {pair: _shared(known, pair, problems) for pair in claim.pairs}
    pair = max(claim.pairs, key=lambda pair: sum(map(len, shared[pair].values())))
    if not shared[pair]:
        return None
    horizon = _horizon(shared[pair])
    differences, means = [], []
    for both in shared[pair].values():
        kept = [(a, b) for a, b in both if min(len(a.y), len(b.y)) >= horizon]
        of = claim.quantity.of
        difference = np.array([of(a, horizon) - of(b, horizon) for a, b in kept])
        if np.isfinite(difference).any():
            differences.append(difference[np.isfinite(difference)])
            ends = [[_best(record, horizon) for record in both] for both in kept]
            means.append(tuple(np.mean(ends, axis=0).tolist()))
    if not differences:
        return None
    values_ = tuple(means) if claim.quantity is REGRET else ()
    return Verdict(claim, pair, horizon, tuple(differences), values_)


def _has(quantity: Quantity, record: Record) -> bool:
    """Whether the quantity was measured in a run; the accuracy of classifiers often was not."""
    return not np.isnan(quantity.of(record, len(record.y)))


def _shared(
    runs: _Runs, pair: Pair, problems: Sequence[str]
) -> dict[str, list[tuple[Record, Record]]]:
    """Per problem the runs of both methods on the seeds that both have."""
    found: dict[str, list[tuple[Record, Record]]] = {}
    for (problem, label, seed), record in sorted(runs.items()):
        other = runs.get((problem, pair[1], seed))
        if label == pair[0] and problem in problems and other is not None:
            found.setdefault(problem, []).append((record, other))
    return found


def _horizon(shared: dict[str, list[tuple[Record, Record]]]) -> int:
    """Evaluations that both methods reach on every problem."""
    return min(max(min(len(a.y), len(b.y)) for a, b in both) for both in shared.values())


def _best(record: Record, n: int) -> float:
    return float(best_so_far(values(record))[n - 1])
