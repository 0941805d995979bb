"""The methods by name, as data: a method is a choice of models, acquisition, band and search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from becbo.acquisition import ExpectedImprovement, LogExpectedImprovement
from becbo.band import DynamicBound, EdgeProbability
from becbo.errors import InvalidInput
from becbo.proposers.base import Models, Proposal, Proposer, describe, region_of
from becbo.proposers.boundary import Boundary
from becbo.search.constrained import BandSearch
from becbo.search.slsqp import SlsqpSearch
from becbo.surrogates.ensemble import DeepEnsemble
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.gp_classifier import GPClassifier
from becbo.surrogates.hyper import Range, fixed

__all__ = ["METHODS", "Method", "Models", "Proposal", "Proposer", "build", "describe", "region_of"]

# Variances relative to that of the values.
EXACT_VALUES = fixed(1e-10)
NOISY_VALUES = Range(1e-2, 1e-6, 1.0, spread=2.0)


@dataclass(frozen=True)
class Method:
    """A preset: `build(noisy)` makes the proposer."""

    name: str
    summary: str
    reference: str
    build: Callable[[bool], Proposer]


def _edge(noisy: bool) -> Proposer:
    return Boundary(
        regressor=GaussianProcess(noise=NOISY_VALUES if noisy else EXACT_VALUES),
        classifier=GPClassifier(),
        acquisition=LogExpectedImprovement,
        band=EdgeProbability(),
        search=BandSearch(),
    )


def _be_cbo(noisy: bool) -> Proposer:
    # No priors; length scales and noise in the ranges of the BoTorch tutorial the paper cites.
    noise = NOISY_VALUES if noisy else Range(1e-4, 1e-8, 1e-3)
    return Boundary(
        regressor=GaussianProcess(
            lengthscale=Range(0.5, 0.005, 4.0),
            scale=Range(1.0, 1e-3, 1e3),
            noise=noise,
            nugget=1e-10,
            scale_with_dim=False,
            n_iterations=50,
        ),
        classifier=DeepEnsemble(),
        acquisition=ExpectedImprovement,
        band=DynamicBound(),
        search=SlsqpSearch(),
        is_warm=False,
    )


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "edge",
            "the default: log EI where an interpolating GP classifier says the design may work",
            "this project",
            _edge,
        ),
        Method(
            "be-cbo",
            "the paper to the letter: EI subject to C(x) >= 0.5 - sigma(x), deep ensemble, SLSQP",
            "Tian et al., ICML 2024",
            _be_cbo,
        ),
    )
}


def build(method: str | Proposer, noisy: bool = False) -> Proposer:
    """The proposer of that name; a proposer is returned as it is."""
    if not isinstance(method, str):
        return method
    if method not in METHODS:
        raise InvalidInput(f"method {method!r} does not exist; choose one of {', '.join(METHODS)}")
    return METHODS[method].build(noisy)
