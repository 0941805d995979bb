"""What the paper claims about its method, as data. `bench/verdicts.py` judges it by records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from becbo.bench.records import Record
from becbo.bench.summary import TIE, failure_share, feasible, measure_of

Pair = tuple[str, str]  # labels of two methods
Kind = Literal["better", "no worse", "similar"]

# What stands for the paper's method: its text, the rules of the released program, and the text as
# it was implemented before (`benchmarks/README.md`).
STANDS_FOR_PAPER = ("be-cbo", "be-cbo-code", "be-cbo-v1")


@dataclass(frozen=True)
class Quantity:
    """What a claim is about; less is better.

    Attributes:
        name: in words.
        of: its value after so many evaluations of a run.
        similar: differences below this are called similar.
        tie: two runs that are closer than this are as good as each other.
    """

    name: str
    of: Callable[[Record, int], float]
    similar: float
    tie: float


def _regret(record: Record, n: int) -> float:
    return float(measure_of(record.run.problem).curve(record)[n - 1])


def _infeasible(record: Record, n: int) -> float:
    return failure_share(feasible(record)[:n], record.n_initial)


def _log_seconds(record: Record, n: int) -> float:
    return float(np.log10(np.sum(record.seconds[: n - record.n_initial])))


def _errors(record: Record, n: int) -> float:
    """NaN where it was not measured, or not until then."""
    tested = record.accuracy[: n - record.n_initial]
    is_complete = tested and len(tested) == n - record.n_initial
    return 1.0 - float(np.mean(tested)) if is_complete else float("nan")


_FACTOR_TWO = float(np.log10(2))

REGRET = Quantity("log10 regret", _regret, _FACTOR_TWO, TIE)
INFEASIBLE = Quantity("infeasible share of the proposals", _infeasible, 0.1, 0.02)
SECONDS = Quantity("log10 processor seconds", _log_seconds, _FACTOR_TWO, TIE)
ERRORS = Quantity("1 - balanced accuracy, mean over the run", _errors, 0.02, 0.005)


@dataclass(frozen=True)
class Claim:
    """One method is better than another on the problems of a suite, no worse, or as good as it.

    Attributes:
        words: of the paper, shortened; they continue "be-cbo ...".
        suite: whose problems it speaks of.
        pairs: methods that can decide it; the pair with the most runs does.
        kind: what the first is claimed to be; "similar" also excludes that it is better.
        problems: of which the claim speaks; none: all of the suite.
        quantity: what is compared.
        is_ours: whether it is a question of ours, not the paper's.
    """

    words: str
    suite: str
    pairs: tuple[Pair, ...]
    kind: Kind
    problems: tuple[str, ...] = ()
    quantity: Quantity = REGRET
    is_ours: bool = False

    @property
    def true_between(self) -> tuple[float, float]:
        """The differences, the first method minus the second, with which the claim is true."""
        similar = self.quantity.similar
        least = -similar if self.kind == "similar" else -np.inf
        return least, 0.0 if self.kind == "better" else similar


def _against(other: str) -> tuple[Pair, ...]:
    """The paper's method against one that is no variant of it."""
    return tuple((label, other) for label in STANDS_FOR_PAPER)


def _variant(change: str, of: str = "") -> tuple[Pair, ...]:
    """The paper's method, or a variant of it, against one with a change; both by the same rules."""
    now, before = (f"be-cbo-code{of}", f"be-cbo-code-{change}"), (f"be-cbo{of}", f"be-cbo-{change}")
    return now, (f"{before[0]}-v1", f"{before[1]}-v1")


def _better(words: str, suite: str, pairs: tuple[Pair, ...], *problems: str) -> Claim:
    return Claim(words, suite, pairs, "better", problems)


def _no_worse(words: str, suite: str, pairs: tuple[Pair, ...], *problems: str) -> Claim:
    return Claim(words, suite, pairs, "no worse", problems)


def _similar(words: str, suite: str, pairs: tuple[Pair, ...], *problems: str) -> Claim:
    return Claim(words, suite, pairs, "similar", problems)


def _swapped(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    return tuple((b, a) for a, b in pairs)


_GP = (("be-cbo-code", "be-cbo-code-gp"),)
_GP_BY_EP = (("be-cbo-v1", "be-cbo-gp-ep-v1"),)
_CUT_OFF = (("be-cbo-code", "be-cbo-code-c"), ("be-cbo", "be-cbo-c"), ("be-cbo-v1", "be-cbo-c-v1"))
_RARE = ("spring", "planetary_gear", "rolling_bearing")
_FEW_DIMENSIONS = (
    *("townsend", "simionescu", "lsq", "three_bar_truss", "spring"),
    *("welded_beam", "gas_transmission", "pressure_vessel"),
)

CLAIMS: tuple[Claim, ...] = (
    _better("outperforms CEI", "paper", _against("cei")),
    _better("outperforms CEI, classifier by EP", "paper", _against("cei-ep")),
    _better("outperforms SCBO", "paper", _against("scbo")),
    _better("outperforms SCBO, classifier by EP", "paper", _against("scbo-ep")),
    _better(
        "is slightly outperformed by SCBO on the 30-D beam",
        "paper",
        _swapped(_against("scbo")),
        "cantilever_beam",
    ),
    _better(
        "is slightly outperformed by SCBO, classifier by EP, on the 30-D beam",
        "paper",
        _swapped(_against("scbo-ep")),
        "cantilever_beam",
    ),
    _better("shows top performance against SVM-CBO", "paper", _against("svm-cbo")),
    _better("shows top performance against random search", "paper", _against("sobol")),
    *(
        _better(
            f"finds the optimum of Townsend's function, where {name} gets stuck",
            "paper",
            _against(label),
            "townsend",
        )
        for name, label in (("CEI", "cei"), ("SCBO", "scbo"))
    ),
    *(
        Claim(
            f"finds more feasible designs than {name} where few work",
            "paper",
            _against(label),
            "better",
            _RARE,
            INFEASIBLE,
        )
        for name, label in (("CEI", "cei"), ("SCBO", "scbo"))
    ),
    Claim("is about as fast as CEI", "paper", _against("cei"), "similar", (), SECONDS),
    Claim("is faster than SCBO", "paper", _against("scbo"), "better", (), SECONDS),
    Claim(
        "classifies better with the ensemble than with a GP",
        "ablation-classifier",
        _GP,
        "better",
        (),
        ERRORS,
    ),
    _better("drops on half of the problems with a GP classifier", "ablation-classifier", _GP),
    _better(
        "drops on half of the problems with a GP classifier by EP", "ablation-classifier", _GP_BY_EP
    ),
    _no_worse("is competitive with CEI, interior optima", "interior", _against("cei")),
    _no_worse(
        "is competitive with CEI, classifier by EP, interior optima", "interior", _against("cei-ep")
    ),
    _no_worse("is competitive with SCBO, interior optima", "interior", _against("scbo")),
    _no_worse(
        "is competitive with SCBO, classifier by EP, interior optima",
        "interior",
        _against("scbo-ep"),
    ),
    _similar("performs similarly well with UCB", "ablation-acquisition", _variant("ucb")),
    _better("clearly outperforms the product C(x) q(x)", "ablation-band", _variant("m")),
    _better(
        "with a cut-off at C(x) = 0.5 clearly outperforms the product C(x) q(x)",
        "ablation-band",
        (("be-cbo-code-c", "be-cbo-code-m"), ("be-cbo-c-v1", "be-cbo-m-v1")),
    ),
    _similar(
        "and a cut-off at C(x) = 0.5 are similar in few dimensions",
        "ablation-band",
        _CUT_OFF,
        *_FEW_DIMENSIONS,
    ),
    _better(
        "outperforms the cut-off on the 30-D beam",
        "ablation-band",
        _CUT_OFF,
        "cantilever_beam",
    ),
    _better(
        "greatly outperforms the cut-off where d is high and few designs work",
        "highdim",
        _CUT_OFF,
    ),
    _better(
        "gains on the cut-off with the dimension (Ackley, 10-D and 20-D)",
        "ackley",
        _CUT_OFF,
        *("ackley_scbo_10d", "ackley_scbo_20d"),
    ),
    _better(
        "is trained better by the variational bound than by maximum likelihood",
        "ablation-training",
        _variant("mle"),
    ),
    *(
        _similar(f"is as good with {n} networks", "ablation-networks", _variant(label))
        for n, label in ((3, "networks-3"), (8, "networks-8"))
    ),
    _better("needs more than 1 hidden layer", "ablation-layers", _variant("hidden-1")),
    *(
        _similar(f"is as good with {n} hidden layers", "ablation-layers", _variant(label))
        for n, label in ((2, "hidden-2"), (4, "hidden-4"))
    ),
    *(
        _better(
            f"needs 64 log2(d) neurons rather than {n}",
            "ablation-width",
            _variant(f"width-{n}", "-hidden-2"),
        )
        for n in (16, 32)
    ),
    *(
        _similar(
            f"is as good with 64 as with {n}",
            "ablation-width",
            _variant(f"width-{n}", "-hidden-2"),
        )
        for n in (128, 256)
    ),
    *(
        _similar(f"is as good at a learning rate of {rate}", "ablation-lr", _variant(label))
        for rate, label in (("3e-3", "lr-3e-3"), ("1e-3", "lr-1e-3"))
    ),
    *(
        _better(f"underfits at a learning rate of {rate}", "ablation-lr", _variant(label))
        for rate, label in (("1e-4", "lr-1e-4"), ("3e-5", "lr-3e-5"))
    ),
    # How much of the paper's method is unfinished maximisation. Models and bound are the same.
    Claim(
        "is as good with the search of `edge`",
        "ablation-code",
        tuple((label, "be-cbo-search") for label in ("be-cbo", "be-cbo-v1")),
        "similar",
        is_ours=True,
    ),
    Claim(
        "is as good with the rules of the released program",
        "ablation-code",
        (("be-cbo", "be-cbo-code"), ("be-cbo-v1", "be-cbo-code"), ("be-cbo-v1", "be-cbo-code-v1")),
        "similar",
        is_ours=True,
    ),
)
