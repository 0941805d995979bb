"""The methods by name, as data: a method is a choice of models, acquisition, band and search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from becbo.acquisition import ExpectedImprovement, LogExpectedImprovement, UpperConfidenceBound
from becbo.band import (
    DynamicBound,
    EdgeProbability,
    Everywhere,
    MinimumProbability,
    OptimisticLatent,
)
from becbo.errors import InvalidInput
from becbo.proposers.base import Models, Proposal, Proposer, describe, region_of
from becbo.proposers.boundary import Boundary, LeastGain, SeveralLimits
from becbo.proposers.scbo import Scbo
from becbo.proposers.sobol import Sobol
from becbo.proposers.svm_cbo import SvmCbo
from becbo.search.constrained import BandSearch
from becbo.search.slsqp import SlsqpSearch
from becbo.surrogates.ensemble import DeepEnsemble
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.gp_classifier import GPClassifier
from becbo.surrogates.hyper import Range, fixed
from becbo.surrogates.kernels import rbf

__all__ = ["METHODS", "Method", "Models", "Proposal", "Proposer", "build", "describe", "region_of"]

# Variances of the noise, relative to that of the values.
EXACT_VALUES = fixed(1e-10)
NOISY_VALUES = Range(1e-2, 1e-6, 1.0, spread=2.0)

# The classifier of the paper's baselines: one length scale, RBF, no priors.
PAPER_GP_CLASSIFIER = GPClassifier(
    kernel=rbf,
    ard=False,
    lengthscale=Range(0.5, 0.01, 100.0),
    scale=Range(1.0, 1e-2, 1e4),
    scale_with_dim=False,
)


@dataclass(frozen=True)
class Method:
    """A preset: `build(noisy)` makes the proposer."""

    name: str
    summary: str
    reference: str
    build: Callable[[bool], Proposer]


def _edge(noisy: bool) -> Boundary:
    return Boundary(
        regressor=GaussianProcess(noise=NOISY_VALUES if noisy else EXACT_VALUES),
        classifier=GPClassifier(),
        acquisition=LogExpectedImprovement,
        band=EdgeProbability(),
        search=BandSearch(),
        least_gain=LeastGain(1.0),
        limits=SeveralLimits(),
        is_noisy=noisy,
    )


def _be_cbo(noisy: bool, **changes: Any) -> Boundary:
    # No priors; length scales and noise in the ranges of the BoTorch tutorial the paper cites.
    paper = Boundary(
        regressor=GaussianProcess(
            lengthscale=Range(0.5, 0.005, 4.0),
            scale=Range(1.0, 1e-3, 1e3),
            noise=NOISY_VALUES if noisy else Range(1e-4, 1e-8, 1e-3),
            nugget=1e-10,
            scale_with_dim=False,
            n_iterations=50,
            n_warm_iterations=20,
        ),
        classifier=DeepEnsemble(),
        acquisition=ExpectedImprovement,
        band=DynamicBound(),
        search=SlsqpSearch(),
        is_noisy=noisy,
    )
    return replace(paper, **changes)


# C(x) q(x) instead of a limit on C(x); the logarithm has the same maximiser and a usable slope.
_WEIGHTED: dict[str, Any] = {
    "acquisition": LogExpectedImprovement,
    "band": Everywhere(),
    "search": BandSearch(),
    "is_weighted": True,
}
_PAPER = "Tian et al., ICML 2024"


def _scbo(noisy: bool) -> Scbo:
    return Scbo(regressor=_be_cbo(noisy).regressor, classifier=PAPER_GP_CLASSIFIER)


def _svm_cbo(noisy: bool) -> SvmCbo:
    return SvmCbo(regressor=replace(_edge(noisy).regressor, kernel=rbf))


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "edge",
            "the default: log EI where GP classifiers, one for each limit, say the design may work",
            "this project",
            _edge,
        ),
        Method(
            "be-cbo",
            "the paper to the letter: EI subject to C(x) >= 0.5 - sigma(x), deep ensemble, SLSQP",
            _PAPER,
            _be_cbo,
        ),
        Method(
            "be-cbo-m",
            "variant of the paper: maximise C(x) EI(x)",
            _PAPER,
            lambda noisy: _be_cbo(noisy, **_WEIGHTED),
        ),
        Method(
            "be-cbo-c",
            "variant of the paper: EI subject to C(x) >= 0.5",
            _PAPER,
            lambda noisy: _be_cbo(noisy, band=MinimumProbability(0.5)),
        ),
        Method(
            "be-cbo-gp",
            "variant of the paper: an isotropic GP classifier instead of the ensemble",
            _PAPER,
            lambda noisy: _be_cbo(noisy, classifier=PAPER_GP_CLASSIFIER),
        ),
        Method(
            "be-cbo-mle",
            "variant of the paper: the ensemble trained by maximum likelihood",
            _PAPER,
            lambda noisy: _be_cbo(noisy, classifier=DeepEnsemble(training="mle")),
        ),
        Method(
            "be-cbo-ucb",
            "variant of the paper: UCB (beta 0.1) instead of EI",
            _PAPER,
            lambda noisy: _be_cbo(noisy, acquisition=UpperConfidenceBound),
        ),
        Method(
            "be-cbo-code",
            "what the authors' released code does: training ends early, mu(x) + sigma(x) >= 0",
            _PAPER,
            lambda noisy: _be_cbo(
                noisy,
                classifier=DeepEnsemble(stop_when_separated=True),
                band=OptimisticLatent(),
            ),
        ),
        Method(
            "cei",
            "constrained expected improvement: maximise C(x) EI(x), GP classifier",
            "Gelbart, Snoek and Adams, UAI 2014",
            lambda noisy: _be_cbo(noisy, **_WEIGHTED, classifier=PAPER_GP_CLASSIFIER),
        ),
        Method(
            "scbo",
            "Thompson sampling under a GP classifier in a trust region, with restarts",
            "Eriksson and Poloczek, AISTATS 2021",
            _scbo,
        ),
        Method(
            "svm-cbo",
            "a support vector machine learns the boundary, then GP-UCB inside",
            "Candelieri, J. Global Optim. 2021",
            _svm_cbo,
        ),
        Method(
            "sobol",
            "space-filling points, whatever happens",
            "Sobol 1967, Owen 1995",
            lambda noisy: Sobol(regressor=_edge(noisy).regressor),
        ),
    )
}


def build(
    method: str | Proposer,
    noisy: bool = False,
    budget: int | None = None,
    n_initial: int | None = None,
    risk: float | None = None,
    **ensemble: Any,
) -> Proposer:
    """The proposer of that name; a proposer is returned as it is.

    `budget` and the size of the initial design are for methods that plan ahead. `risk` is the
    largest chance of failure that a proposal may have; None leaves it to the method. `ensemble`
    changes settings of `DeepEnsemble` in the methods that have one, as in
    `build("be-cbo", n_networks=3)`.
    """
    if not isinstance(noisy, bool | np.bool_):
        raise InvalidInput(f"noisy {noisy!r} must be True or False")
    if not isinstance(method, str):
        if not hasattr(method, "propose"):
            raise InvalidInput(f"method {method!r} is neither a name nor a proposer")
        if risk is not None:
            raise InvalidInput(
                f"risk {risk!r} goes with the name of a method; build the proposer with it"
            )
        return method
    if method not in METHODS:
        raise InvalidInput(f"method {method!r} does not exist; choose one of {', '.join(METHODS)}")
    proposer = _planned(METHODS[method].build(noisy), budget, n_initial)
    if risk is not None:
        proposer = _at_most(risk, method, proposer)
    if not ensemble:
        return proposer
    if not isinstance(proposer, Boundary) or not isinstance(proposer.classifier, DeepEnsemble):
        raise InvalidInput(f"method {method!r} has no ensemble to set {', '.join(ensemble)} of")
    unknown = set(ensemble) - set(DeepEnsemble.__dataclass_fields__)
    if unknown:
        known = ", ".join(DeepEnsemble.__dataclass_fields__)
        raise InvalidInput(f"the ensemble has no setting {', '.join(unknown)}; it has {known}")
    return replace(proposer, classifier=replace(proposer.classifier, **ensemble))


def _at_most(risk: float, method: str, proposer: Proposer) -> Boundary:
    if not isinstance(proposer, Boundary):
        raise InvalidInput(
            f"method {method!r} cannot limit its risk; use 'edge', or leave risk out"
        )
    if isinstance(risk, bool) or not isinstance(risk, Real) or not 0 < risk < 1:
        raise InvalidInput(
            f"risk {risk!r} must lie between 0 and 1: the chance of failure you accept per proposal"
        )
    careful = replace(proposer, band=MinimumProbability(1 - float(risk)))
    if careful.limits is None:
        return careful
    # Limits that were worked out are too sure of themselves for a promise; reasons count.
    return replace(careful, limits=replace(careful.limits, max_points=0))


def _planned(proposer: Proposer, budget: int | None, n_initial: int | None) -> Proposer:
    if not isinstance(proposer, Scbo | SvmCbo):
        return proposer
    n_initial = n_initial or proposer.n_initial
    if isinstance(proposer, Scbo):
        return replace(proposer, n_initial=n_initial)
    return replace(proposer, n_initial=n_initial, budget=max(budget or proposer.budget, n_initial))
