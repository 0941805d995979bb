"""What the paper claims about its method, and what the records say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from becbo.bench.sections import Section
from becbo.bench.summary import bootstrap_interval, wins_ties_losses, with_interval
from becbo.bench.table import Table

# Methods within a factor of two in regret are called similar.
SIMILAR = float(np.log10(2))


@dataclass(frozen=True)
class Claim:
    """One method is better than another in a section, or as good as it."""

    words: str  # of the paper, shortened
    section: str
    method: str
    other: str
    is_better: bool  # False: it is claimed to be similar
    problems: tuple[str, ...] = ()  # of which the claim speaks; none: all of the section


def _better(words: str, section: str, other: str, *problems: str) -> Claim:
    return Claim(words, section, "be-cbo-v1", other, True, problems)


def _similar(words: str, section: str, other: str, *problems: str) -> Claim:
    return Claim(words, section, "be-cbo-v1", other, False, problems)


CLAIMS: tuple[Claim, ...] = (
    _better("outperforms CEI, which penalises points less likely to work", "paper", "cei-ep"),
    _better("outperforms SCBO, which stays where designs work", "paper", "scbo-ep"),
    Claim(
        "is slightly outperformed by SCBO on the 30-D cantilever beam",
        "paper",
        "scbo-ep",
        "be-cbo-v1",
        True,
        ("cantilever_beam",),
    ),
    _better("shows top performance against SVM-CBO", "paper", "svm-cbo"),
    _better("shows top performance against random search", "paper", "sobol"),
    _similar("is competitive with CEI where the optimum is interior", "interior", "cei-ep"),
    _similar("is competitive with SCBO where the optimum is interior", "interior", "scbo-ep"),
    _better(
        "drops on half of the problems with a GP classifier",
        "ablation-classifier",
        "be-cbo-gp-ep-v1",
    ),
    _similar(
        "with EI and with UCB performs similarly well", "ablation-acquisition", "be-cbo-ucb-v1"
    ),
    _better("clearly outperforms the product C(x) q(x)", "ablation-band", "be-cbo-m-v1"),
    _similar(
        "and a cut-off at C(x) = 0.5 are similar in few dimensions",
        "ablation-band",
        "be-cbo-c-v1",
        *("townsend", "simionescu", "lsq", "three_bar_truss", "spring"),
        *("welded_beam", "gas_transmission", "pressure_vessel"),
    ),
    _better(
        "outperforms the cut-off on the 30-D cantilever beam",
        "ablation-band",
        "be-cbo-c-v1",
        "cantilever_beam",
    ),
    _better(
        "greatly outperforms the cut-off where d is high and few designs work",
        "highdim",
        "be-cbo-c-v1",
    ),
    _better(
        "is more advantageous than the cut-off the higher the dimension (Ackley, 10-D and 20-D)",
        "ackley",
        "be-cbo-c-v1",
        *("ackley_scbo_10d", "ackley_scbo_20d"),
    ),
    _better(
        "is trained better by the variational bound than by maximum likelihood",
        "ablation-training",
        "be-cbo-mle-v1",
    ),
    _similar("is as good with 3 networks", "ablation-networks", "be-cbo-networks-3-v1"),
    _similar("is as good with 8 networks", "ablation-networks", "be-cbo-networks-8-v1"),
    _better("needs more than 1 hidden layer", "ablation-layers", "be-cbo-hidden-1-v1"),
    _similar("is as good with 2 hidden layers", "ablation-layers", "be-cbo-hidden-2-v1"),
    _similar("is as good with 4 hidden layers", "ablation-layers", "be-cbo-hidden-4-v1"),
    Claim(
        "needs 64 log2(d) neurons rather than 16",
        "ablation-width",
        "be-cbo-hidden-2-v1",
        "be-cbo-width-16-v1",
        True,
    ),
    Claim(
        "needs 64 log2(d) neurons rather than 32",
        "ablation-width",
        "be-cbo-hidden-2-v1",
        "be-cbo-width-32-v1",
        True,
    ),
    Claim(
        "is as good with 64 as with 128",
        "ablation-width",
        "be-cbo-hidden-2-v1",
        "be-cbo-width-128-v1",
        False,
    ),
    Claim(
        "is as good with 64 as with 256",
        "ablation-width",
        "be-cbo-hidden-2-v1",
        "be-cbo-width-256-v1",
        False,
    ),
    _similar("is as good with a learning rate of 3e-3", "ablation-lr", "be-cbo-lr-3e-3-v1"),
    _similar("is as good with a learning rate of 1e-3", "ablation-lr", "be-cbo-lr-1e-3-v1"),
    _better("underfits with a learning rate of 1e-4", "ablation-lr", "be-cbo-lr-1e-4-v1"),
    _better("underfits with a learning rate of 3e-5", "ablation-lr", "be-cbo-lr-3e-5-v1"),
)


def verdict(is_better: bool, low: float, high: float) -> str:
    """What an interval (low, high) of the mean difference in log10 regret says of a claim."""
    if is_better:
        return "holds" if high < 0 else "does not hold" if low > 0 else "undecided"
    if -SIMILAR <= low and high <= SIMILAR:
        return "holds"
    return "does not hold" if low > SIMILAR or high < -SIMILAR else "undecided"


def claims_table(found: Sequence[Section]) -> Table:
    """One row per claim that the records can speak about."""
    by_name = {section.name: section for section in found}
    rows = [
        _row(claim, by_name[claim.section])
        for claim in CLAIMS
        if claim.section in by_name
        and {claim.method, claim.other} <= set(by_name[claim.section].labels)
    ]
    header = (
        "the paper says: be-cbo ...",
        "compared",
        "difference in log10 regret (95 %)",
        "wins / ties / losses",
        "problems, runs",
        "verdict",
    )
    return Table(header, tuple(row for row in rows if row), ())


def _row(claim: Claim, section: Section) -> tuple[str, ...] | None:
    pairs = section.pairs(claim.method, claim.other)
    chosen = [pairs[p] for p in claim.problems or section.problems if p in pairs]
    if not chosen:
        return None
    differences = [a - b for a, b in chosen]
    low, high = bootstrap_interval(differences)
    mine, theirs = (np.concatenate(side) for side in zip(*chosen, strict=True))
    return (
        claim.words,
        f"{claim.method} - {claim.other} @{section.horizon}",
        with_interval(float(np.mean([d.mean() for d in differences])), low, high, "+.2f"),
        " / ".join(map(str, wins_ties_losses(mine, theirs))),
        f"{len(chosen)}, {sum(map(len, differences))}",
        verdict(claim.is_better, low, high),
    )
