"""The methods by name, as data: a method is a choice of models, acquisition, band and search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from becbo.acquisition import (
    AsymmetricEntropy,
    ExpectedImprovement,
    LogExpectedImprovement,
    LogWeighted,
    UpperConfidenceBound,
    Weighted,
)
from becbo.band import (
    DynamicBound,
    EdgeProbability,
    Everywhere,
    MinimumProbability,
    OptimisticLatent,
)
from becbo.errors import InvalidInput
from becbo.failures import DEFAULT
from becbo.improvement import OverTheBest, OverTheFront
from becbo.models.feasibility import Balls, Networks, OneGP, OneVariationalGP, PerConstraint
from becbo.outputs import Outputs
from becbo.proposers.base import Proposer
from becbo.proposers.boundary import Boundary
from becbo.proposers.scbo import Scbo
from becbo.proposers.sobol import Sobol
from becbo.proposers.svm_cbo import SvmCbo
from becbo.search.constrained import BandSearch
from becbo.search.first import OneSided
from becbo.search.restarts import RestartSearch
from becbo.search.slsqp import SlsqpSearch
from becbo.settings import Settings
from becbo.surrogates.ensemble import DeepEnsemble
from becbo.surrogates.gp import GaussianProcess
from becbo.surrogates.gp_classifier import GPClassifier
from becbo.surrogates.hyper import Range, fixed
from becbo.surrogates.kernels import rbf

# Variances of the noise, relative to that of the values.
EXACT_VALUES = fixed(1e-10)
NOISY_VALUES = Range(1e-2, 1e-6, 1.0, spread=2.0)

# As the classifier of the paper's baselines (one length scale, RBF, no priors), but fitted by
# expectation propagation, which meets more labels than the variational bound does.
EP_CLASSIFIER = GPClassifier(
    kernel=rbf,
    ard=False,
    lengthscale=Range(0.5, 0.01, 100.0),
    scale=Range(1.0, 1e-2, 1e4),
    scale_with_dim=False,
)

TWO_DEVIATIONS = partial(UpperConfidenceBound, beta=4.0)  # above the mean

# BoTorch's EI takes variances below 1e-9 for that, whatever the unit of the value.
BOTORCH_EI = partial(ExpectedImprovement, least_std=1e-9**0.5)

# A value that is well known crosses its bound within a small fraction of its range. Climbing there
# takes more steps of several lengths, from better starts; starts that lag behind are given up.
STEEP_SEARCH = BandSearch(
    n_space=192,
    n_near=480,
    stages=((5.0, 0.3, 20), (20.0, 0.02, 40)),
    lengths=(1.0, 0.4, 0.15, 0.05),
    gap=10.0,
)


@dataclass(frozen=True)
class Method:
    """A preset.

    Attributes:
        name: what users write.
        summary: what it does, in one line.
        reference: where it was published.
        build: makes the proposer, given whether values are noisy and the ensemble's settings.
        ensemble: settings of its networks; None if it has none.
    """

    name: str
    summary: str
    reference: str
    build: Callable[[bool, DeepEnsemble], Proposer]
    ensemble: DeepEnsemble | None = None


def _edge(noisy: bool, ensemble: DeepEnsemble | None = None) -> Boundary:
    regressor = GaussianProcess(noise=NOISY_VALUES if noisy else EXACT_VALUES)
    return Boundary(
        regressor=regressor,
        classifier=PerConstraint(),
        improvement=OverTheFront(regressor, noisy),
        band=EdgeProbability(),
        search=BandSearch(),
        steep=STEEP_SEARCH,
        blind=OneSided(),
        subset=400,
    )


def _be_cbo(noisy: bool, ensemble: DeepEnsemble, **changes: Any) -> Boundary:
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
        classifier=Networks(ensemble),
        improvement=OverTheBest(ExpectedImprovement, noisy),
        band=DynamicBound(),
        search=SlsqpSearch(),
    )
    return replace(paper, **changes)


def _be_cbo_code(noisy: bool, ensemble: DeepEnsemble, **changes: Any) -> Boundary:
    """The rules of the released program; EI as it is, so that the unit of the value counts."""
    released = {
        "improvement": OverTheBest(BOTORCH_EI, noisy),
        "band": OptimisticLatent(),
        "search": SlsqpSearch(unit=1.0),
    }
    return _be_cbo(noisy, ensemble, **(released | changes))


def _weighted(noisy: bool, ensemble: DeepEnsemble, **changes: Any) -> Boundary:
    """C(x) EI(x) instead of a limit on C(x)."""
    product = {"band": Everywhere(), "search": RestartSearch(), "weighting": Weighted}
    return _be_cbo(noisy, ensemble, **(product | changes))


_PAPER = "Tian et al., ICML 2024"
_ANY = DeepEnsemble()  # for methods without networks


def _cei_ep(noisy: bool, ensemble: DeepEnsemble) -> Boundary:
    """The logarithm has the same maximiser as the product, and a slope everywhere."""
    return _weighted(
        noisy,
        ensemble,
        classifier=OneGP(EP_CLASSIFIER),
        improvement=OverTheBest(LogExpectedImprovement, noisy),
        search=BandSearch(),
        weighting=LogWeighted,
    )


def _scbo(noisy: bool, ensemble: DeepEnsemble) -> Scbo:
    return Scbo(regressor=_be_cbo(noisy, ensemble).regressor)


def _scbo_ep(noisy: bool, ensemble: DeepEnsemble) -> Scbo:
    return replace(_scbo(noisy, ensemble), classifier=OneGP(EP_CLASSIFIER))


def _f_gp_ucb(noisy: bool, ensemble: DeepEnsemble) -> Boundary:
    return _be_cbo(
        noisy,
        ensemble,
        classifier=Balls(),
        improvement=OverTheBest(TWO_DEVIATIONS, noisy),
        band=MinimumProbability(0.5),
    )


def _svm_cbo(noisy: bool, ensemble: DeepEnsemble) -> SvmCbo:
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
            "the paper: EI subject to C(x) >= 0.5 - sigma(x), deep ensemble, SLSQP",
            _PAPER,
            _be_cbo,
            DeepEnsemble(),
        ),
        Method(
            "be-cbo-m",
            "variant of the paper: maximise C(x) EI(x)",
            _PAPER,
            _weighted,
            DeepEnsemble(),
        ),
        Method(
            "be-cbo-c",
            "variant of the paper: EI subject to C(x) >= 0.5",
            _PAPER,
            lambda noisy, nets: _be_cbo(noisy, nets, band=MinimumProbability(0.5)),
            DeepEnsemble(),
        ),
        Method(
            "be-cbo-gp",
            "variant of the paper: a variational GP classifier with one length scale",
            _PAPER,
            lambda noisy, nets: _be_cbo(noisy, nets, classifier=OneVariationalGP()),
        ),
        Method(
            "be-cbo-gp-ep",
            "the same with the classifier fitted by expectation propagation",
            _PAPER,
            lambda noisy, nets: _be_cbo(noisy, nets, classifier=OneGP(EP_CLASSIFIER)),
        ),
        Method(
            "be-cbo-mle",
            "variant of the paper: the ensemble trained by maximum likelihood",
            _PAPER,
            _be_cbo,
            DeepEnsemble(training="mle"),
        ),
        Method(
            "be-cbo-ucb",
            "variant of the paper: UCB (beta 0.1) instead of EI",
            _PAPER,
            lambda noisy, nets: _be_cbo(
                noisy, nets, improvement=OverTheBest(UpperConfidenceBound, noisy)
            ),
            DeepEnsemble(),
        ),
        Method(
            "be-cbo-code",
            "the rules of the released program: training ends early, mu + sigma >= 0, units count",
            _PAPER,
            _be_cbo_code,
            DeepEnsemble(stops_early=True),
        ),
        Method(
            "be-cbo-code-c",
            "the rules of the released program, but subject to C(x) >= 0.5",
            _PAPER,
            lambda noisy, nets: _be_cbo_code(noisy, nets, band=MinimumProbability(0.5)),
            DeepEnsemble(stops_early=True),
        ),
        Method(
            "be-cbo-code-m",
            "the rules of the released program: maximise C(x) EI(x)",
            _PAPER,
            lambda noisy, nets: _be_cbo_code(
                noisy,
                nets,
                band=Everywhere(),
                search=RestartSearch(unit=1.0),
                weighting=Weighted,
            ),
            DeepEnsemble(stops_early=True),
        ),
        Method(
            "be-cbo-code-gp",
            "the rules of the released program with the classifier of be-cbo-gp",
            _PAPER,
            lambda noisy, nets: _be_cbo_code(noisy, nets, classifier=OneVariationalGP()),
        ),
        Method(
            "be-cbo-code-ucb",
            "the rules of the released program with UCB (beta 0.1) instead of EI",
            _PAPER,
            lambda noisy, nets: _be_cbo_code(
                noisy, nets, improvement=OverTheBest(UpperConfidenceBound, noisy)
            ),
            DeepEnsemble(stops_early=True),
        ),
        Method(
            "be-cbo-search",
            "the paper's models and bound with the search of `edge`",
            "this project",
            lambda noisy, nets: _be_cbo(
                noisy,
                nets,
                improvement=OverTheBest(LogExpectedImprovement, noisy),
                search=BandSearch(),
            ),
            DeepEnsemble(),
        ),
        Method(
            "cei",
            "constrained expected improvement as in the paper: maximise C(x) EI(x)",
            "Gelbart, Snoek and Adams, UAI 2014",
            lambda noisy, nets: _weighted(noisy, nets, classifier=OneVariationalGP()),
        ),
        Method(
            "cei-ep",
            "the same with a classifier by expectation propagation and the search of `edge`",
            "Gelbart, Snoek and Adams, UAI 2014",
            _cei_ep,
        ),
        Method(
            "scbo",
            "Thompson sampling in a trust region under a GP classifier, as in the paper",
            "Eriksson and Poloczek, AISTATS 2021",
            _scbo,
        ),
        Method(
            "scbo-ep",
            "the same with the classifier fitted by expectation propagation",
            "Eriksson and Poloczek, AISTATS 2021",
            _scbo_ep,
        ),
        Method(
            "svm-cbo",
            "a support vector machine learns the boundary, then GP-UCB inside",
            "Candelieri, J. Global Optim. 2021",
            _svm_cbo,
        ),
        Method(
            "asymmetric-entropy",
            "EI times the fifth power of an entropy that is largest at C(x) = 2/3; models of cei",
            "Lindberg and Lee, J. Comput. Graph. Stat. 2015",
            lambda noisy, nets: _weighted(
                noisy, nets, classifier=OneVariationalGP(), weighting=AsymmetricEntropy
            ),
        ),
        Method(
            "f-gp-ucb",
            "GP-UCB outside of shrinking balls around failures, for optima that are interior",
            "Iwazaki, Takeno, Tanabe and Irie, NeurIPS 2023; the radius is ours",
            _f_gp_ucb,
        ),
        Method(
            "sobol",
            "space-filling points, whatever happens",
            "Sobol 1967, Owen 1995",
            lambda noisy, nets: Sobol(regressor=_edge(noisy).regressor),
        ),
    )
}
"""The presets by name, for `Settings.method`.

Examples:
    >>> print(METHODS["edge"].summary)
    >>> optimizer = Optimizer(space, method="be-cbo")
"""


def build(settings: Settings, outputs: Outputs | None = None, **ensemble: Any) -> Proposer:
    """Makes the proposer that settings ask for.

    Args:
        settings: the method, and what it has to know.
        outputs: what experiments return, to be refused if the method cannot handle it.
        **ensemble: changed settings of `DeepEnsemble`, as in `build(settings, n_networks=3)`.

    Returns:
        The proposer; one of the user's own as it is.

    Raises:
        InvalidInput: if the method does not exist or cannot do what is asked for.
    """
    if not isinstance(settings.method, str):
        proposer = _own(settings)
    else:
        method = _named(settings.method)
        proposer = method.build(settings.noisy, _networks(method, ensemble))
        proposer = _limited(proposer, settings).planned(settings.n_initial, settings.n_planned)
    if outputs is not None and not proposer.supports(outputs):
        able = [m.name for m in METHODS.values() if m.build(False, _ANY).supports(outputs)]
        raise InvalidInput(
            f"method {settings.method!r} takes one objective with a direction and no other "
            f"outputs, not {', '.join(outputs.names)}; these can: {', '.join(able)}"
        )
    return proposer


def _limited(proposer: Proposer, settings: Settings) -> Proposer:
    told = proposer.expecting(settings.failures)
    if told is None:
        raise InvalidInput(
            f"method {settings.method!r} takes every failure for the design's; use 'edge', or "
            "leave failures out"
        )
    proposer = told
    if settings.risk is None:
        return proposer
    limited = proposer.limited_to(settings.risk)
    if limited is None:
        raise InvalidInput(
            f"method {settings.method!r} cannot limit its risk; use 'edge', or leave risk out"
        )
    return limited


def _own(settings: Settings) -> Proposer:
    if not isinstance(settings.method, Proposer):
        raise InvalidInput(f"method {settings.method!r} is neither a name nor a becbo Proposer")
    if settings.risk is not None:
        raise InvalidInput(
            f"risk {settings.risk!r} goes with the name of a method; build the proposer with it"
        )
    if settings.failures != DEFAULT:
        raise InvalidInput(
            f"failures {settings.failures!r} go with the name of a method; build the proposer with "
            "them"
        )
    return settings.method


def _named(name: str) -> Method:
    if name not in METHODS:
        raise InvalidInput(f"method {name!r} does not exist; choose one of {', '.join(METHODS)}")
    return METHODS[name]


def _networks(method: Method, changes: dict[str, Any]) -> DeepEnsemble:
    if not changes:
        return method.ensemble or _ANY
    if method.ensemble is None:
        raise InvalidInput(f"method {method.name!r} has no ensemble to set {', '.join(changes)} of")
    known = DeepEnsemble.__dataclass_fields__
    if unknown := changes.keys() - known.keys():
        raise InvalidInput(
            f"the ensemble has no setting {', '.join(unknown)}; it has {', '.join(known)}"
        )
    return replace(method.ensemble, **changes)
