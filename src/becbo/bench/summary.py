"""Numbers from records: arrays in, arrays out.

Quality is measured by a regret, which falls as a run gets better. With one objective it is log10
of the normalised regret, (best - optimum) / (typical - optimum), where `typical` is the median
over random designs that work: 0 is as good as a random working design, -2 is a hundred times
closer to the optimum. With several objectives it is the share of the best known hypervolume that
the feasible designs so far do not reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtri, stdtrit

from becbo.arrays import Array, Mask
from becbo.bench.records import Record
from becbo.pareto import hypervolume
from becbo.problems import get, get_pareto, get_single

# Differences below the floor are rounding; the ceiling stands for "nothing has worked yet".
FLOOR, CEILING = -9.0, 2.0
CAP = -4.0  # digits beyond are a luxury: clip there, and easy problems do not decide a mean
TARGETS = np.linspace(-0.5, -5.0, 51)  # of log10 normalised regret, for the ECDF
TIE = 0.05  # log10 units: within about 12 %

_BATCH, _N_BATCHES, _ENOUGH = 10_000, 40, 100  # random designs behind `typical_value`


def objectives(record: Record) -> Array:  # (n, m)
    """The objectives of each evaluation; NaN: the design is infeasible."""
    m = len(get(record.run.problem).objective_names)
    return np.array([[np.nan] * m if y is None else np.atleast_1d(y) for y in record.y]).reshape(
        -1, m
    )


def values(record: Record) -> Array:  # (n,)
    """The only objective of each evaluation; NaN: the design is infeasible."""
    return objectives(record)[:, 0]


def feasible(record: Record) -> Mask:  # (n,)
    """Which evaluations worked and kept all limits."""
    return np.array([y is not None for y in record.y], dtype=bool)


def best_so_far(y: Array) -> Array:  # (..., n) -> (..., n)
    """The smallest value up to each evaluation; infinite until one has worked."""
    worked = np.where(np.isnan(y), np.inf, y)
    return np.asarray(np.minimum.accumulate(worked, axis=-1))


@cache
def typical_value(problem: str) -> float:
    """Median value over random designs that work.

    10,000 random designs, more where fewer than 100 of them work. Where none of 400,000 does,
    the median over all of the first 10,000, whether they work or not.
    """
    p = get_single(problem)
    rng = np.random.default_rng(0)
    n_batches = _N_BATCHES if p.feasibility_ratio else 1  # None: too small to sample
    worked: list[float] = []
    anything = np.empty(0)
    for _ in range(n_batches):
        X = p.from_unit(rng.random((_BATCH, p.dim)))
        f = p.objective(X)
        anything = anything if len(anything) else f
        worked += f[p.feasible(X)].tolist()
        if len(worked) >= _ENOUGH:
            break
    return float(np.median(worked) if worked else np.nanmedian(anything))


def log_regret(best: Array, optimum: float, typical: float) -> Array:
    """log10 of the normalised regret, between `FLOOR` and `CEILING`."""
    share = np.maximum((best - optimum) / (typical - optimum), 10.0**FLOOR)
    return np.asarray(np.minimum(np.log10(share), CEILING))


def regret_curve(record: Record) -> Array:  # (n,)
    """log10 normalised regret after each evaluation of a run."""
    problem = record.run.problem
    return log_regret(
        best_so_far(values(record)), get_single(problem).optimum, typical_value(problem)
    )


def hypervolume_curve(record: Record) -> Array:  # (n,)
    """Share of the best known hypervolume that is reached after each evaluation."""
    problem, F = get_pareto(record.run.problem), objectives(record)
    reference = np.array(problem.reference)
    reached = np.zeros(len(F))
    front = np.empty((0, F.shape[1]))
    for i, f in enumerate(F):
        reached[i] = reached[i - 1] if i else 0.0
        if (f < reference).all() and not (front <= f).all(axis=1).any():
            front = np.vstack([front[~(f <= front).all(axis=1)], f])
            reached[i] = hypervolume(front, reference)
    return reached / problem.hypervolume


def hypervolume_regret_curve(record: Record) -> Array:  # (n,)
    """What is missing from the best known hypervolume after each evaluation, as a share."""
    return 1 - hypervolume_curve(record)


@dataclass(frozen=True)
class Measure:
    """How quality is measured.

    Attributes:
        name: of the regret.
        curve: the regret after each evaluation of a run, (n,).
        targets: regrets that runs should reach, for the ECDF.
        cap: a run counts at best this much in capped means.
        tie: regrets closer than this are as good.
    """

    name: str
    curve: Callable[[Record], Array]
    targets: Array
    cap: float
    tie: float


REGRET = Measure("log10 regret", regret_curve, TARGETS, CAP, TIE)
# The best known hypervolumes are lower bounds: half a percent says nothing.
HYPERVOLUME_REGRET = Measure(
    "hypervolume regret", hypervolume_regret_curve, np.linspace(0.5, 0.005, 51), 0.0, 0.005
)


def measure_of(problem: str) -> Measure:
    """How quality is measured on a problem."""
    return REGRET if len(get(problem).objective_names) == 1 else HYPERVOLUME_REGRET


def failure_share(is_feasible: Mask, n_initial: int) -> float:
    """Share of the proposals that failed or broke a limit; NaN without proposals."""
    proposed = is_feasible[n_initial:]
    return float((~proposed).mean()) if len(proposed) else float("nan")


def first_feasible(is_feasible: Mask) -> float:
    """Evaluations until one was feasible, including that one; infinite if none was."""
    found = np.flatnonzero(is_feasible)
    return float(found[0] + 1) if len(found) else float("inf")


def at(curves: Array, n: int) -> Array:  # (k, budget) -> (k,)
    """The state after n evaluations; NaN where the runs were shorter."""
    if n > curves.shape[1]:
        return np.full(len(curves), np.nan)
    return curves[:, n - 1]


def bootstrap_interval(
    samples: Sequence[Array], level: float = 0.95, n_resamples: int = 4000, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of the mean of means of samples (k_i,), one per problem.

    Seeds are drawn again within each problem: the problems are given, the runs are chance. Few
    runs lie closer to their own mean than to the true one, and know little of their spread: they
    are spread accordingly. One run says nothing of chance: the interval is (nan, nan).
    """
    if min(map(len, samples)) < 2:
        return np.nan, np.nan
    rng = np.random.default_rng(seed)
    wider = _student(samples, level)
    means = []
    for sample in samples:
        k, centre = len(sample), sample.mean()
        spread = centre + (sample - centre) * np.sqrt(k / (k - 1)) * wider
        means.append(spread[rng.integers(k, size=(n_resamples, k))].mean(axis=1))
    low, high = np.quantile(np.mean(means, axis=0), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _student(samples: Sequence[Array], level: float) -> float:
    """How much wider Student's interval of the mean of means is than that of a known variance.

    The degrees of freedom are those of Satterthwaite (1946).
    """
    sizes = np.array([len(sample) for sample in samples])
    variances = np.array([sample.var(ddof=1) for sample in samples]) / sizes
    if not variances.any():
        return 1.0
    share = variances / variances.sum()
    quantile = (1 + level) / 2
    return float(stdtrit(1 / (share**2 / (sizes - 1)).sum(), quantile) / ndtri(quantile))


def with_interval(mean: float, low: float, high: float, form: str = ".2f") -> str:
    """A mean and its interval, if there is one."""
    if np.isnan(low):
        return f"{mean:{form}} (single runs)"
    return f"{mean:{form}} ({low:{form}} to {high:{form}})"


def wilcoxon(a: Array, b: Array) -> float:
    """Two-sided p-value of the signed-rank test for paired samples (k,) and (k,)."""
    from scipy.stats import wilcoxon as signed_rank

    difference = a - b
    if not difference.any():
        return 1.0
    # Zero differences are split between both signs; the exact distribution has no room for ties.
    has_ties = len(np.unique(np.abs(difference))) < len(difference) or not difference.all()
    method = "approx" if has_ties or len(difference) > 50 else "exact"
    return float(signed_rank(difference, zero_method="zsplit", method=method).pvalue)


def sign_test(n_less: int, n_more: int) -> float:
    """Two-sided p-value of so many lower and higher values if both were as likely."""
    from scipy.stats import binomtest

    n = n_less + n_more
    return float(binomtest(n_less, n).pvalue) if n else 1.0


def holm(p: Array) -> Array:  # (m,) -> (m,)
    """p-values of m tests, adjusted so that all m together keep their level (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def wins_ties_losses(a: Array, b: Array, tie: float = TIE) -> tuple[int, int, int]:
    """How often a (k,) is below b (k,), as good, and above; pairs share problem and seed."""
    difference = a - b
    wins, losses = int((difference < -tie).sum()), int((difference > tie).sum())
    return wins, len(difference) - wins - losses, losses


def ecdf(curves: Array, targets: Array = TARGETS) -> Array:  # (k, n) -> (n,)
    """Share of (run, target) pairs reached after each evaluation."""
    reached = curves[:, :, None] <= targets
    return np.asarray(reached.mean(axis=(0, 2)))


def ecdf_area(curves: Array, targets: Array = TARGETS) -> Array:  # (k, n) -> (k,)
    """Area under the ECDF of each run, from 0 (nothing reached) to 1 (all at once).

    Their mean is the area under the ECDF of all; `bootstrap_interval` says how sure it is.
    """
    reached = curves[:, :, None] <= targets
    return np.asarray(reached.mean(axis=(1, 2)))


def mean_ranks(scores: Array) -> Array:  # (k problems, m methods) -> (m,)
    """Average rank of each method, 1 for the lowest score; ties share their ranks."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(scores, axis=1).mean(axis=0))


def critical_difference(n_methods: int, n_problems: int, level: float = 0.05) -> float:
    """Smallest difference of two mean ranks that counts (Nemenyi; Demsar 2006)."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_problems)))


def stack(curves: Sequence[Array]) -> Array:  # k of (n_i,) -> (k, max n)
    """Curves of possibly different lengths as one array, NaN behind the shorter ones."""
    width = max((len(curve) for curve in curves), default=0)
    rows = [np.pad(c, (0, width - len(c)), constant_values=np.nan) for c in curves]
    return np.array(rows).reshape(len(curves), width)
