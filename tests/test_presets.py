"""The presets part by part: each value is a sentence of a paper or a rule of a released program.

"BE-CBO" is Tian et al., ICML 2024; "released" is the program its authors published.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from becbo.acquisition import LogWeighted, UpperConfidenceBound, Weighted
from becbo.methods import EP_CLASSIFIER, METHODS
from becbo.proposers.svm_cbo import BETA
from becbo.surrogates.ensemble import MOVING, DeepEnsemble, has_settled
from becbo.surrogates.variational import PRIOR


def preset(name: str) -> Any:
    method = METHODS[name]
    return method.build(False, method.ensemble or DeepEnsemble())


WITH_NETWORKS = [name for name, method in METHODS.items() if method.ensemble is not None]
SEARCHED_BY_SLSQP = [
    "be-cbo",
    "be-cbo-c",
    "be-cbo-gp",
    "be-cbo-gp-ep",
    "be-cbo-mle",
    "be-cbo-ucb",
    "be-cbo-code",
]


@pytest.mark.parametrize("name", [n for n in METHODS if n.startswith(("be-cbo", "cei", "scbo"))])
def test_the_value_is_a_gp_in_the_ranges_of_the_released_program(name: str) -> None:
    """Released: Matern-5/2, length scales in Interval(0.005, 4), noise in Interval(1e-8, 1e-3)."""
    gp = preset(name).regressor
    assert (gp.lengthscale.low, gp.lengthscale.high) == (0.005, 4.0)
    assert (gp.noise.low, gp.noise.high) == (1e-8, 1e-3)
    assert gp.kernel.__name__ == "matern52"
    assert gp.lengthscale.spread == gp.noise.spread == gp.scale.spread == np.inf, "no priors"
    # Released: any variance. Ours spans six decades around that of the values.
    assert (gp.scale.low, gp.scale.high) == (1e-3, 1e3)


@pytest.mark.parametrize("name", WITH_NETWORKS)
def test_the_ensemble_is_the_papers(name: str) -> None:
    """BE-CBO, A.1.1: 5 networks, 3 hidden layers of 64 log2(d), Adam at 3e-4, 1000 steps."""
    nets = METHODS[name].ensemble
    assert nets is not None
    assert (nets.n_networks, nets.n_layers, nets.width_factor) == (5, 4, 64)
    assert (nets.learning_rate, nets.n_steps) == (3e-4, 1000)
    assert nets.training == ("mle" if name == "be-cbo-mle" else "elbo"), "BE-CBO, 4.1 and ablation"
    assert nets.stops_early == (name == "be-cbo-code"), "only the released program ends early"


def test_the_bounds() -> None:
    """BE-CBO: C >= 0.5 - sigma; BE-CBO-C: C >= 0.5; released program: mu + sigma >= 0."""
    kinds = {name: type(preset(name).band).__name__ for name in SEARCHED_BY_SLSQP}
    assert kinds.pop("be-cbo-c") == "MinimumProbability"
    assert kinds.pop("be-cbo-code") == "OptimisticLatent"
    assert set(kinds.values()) == {"DynamicBound"}
    assert preset("be-cbo-c").band.p == 0.5
    assert type(preset("be-cbo-search").band).__name__ == "DynamicBound"


@pytest.mark.parametrize("name", SEARCHED_BY_SLSQP)
def test_the_search(name: str) -> None:
    """BE-CBO, A.2, and released: 1000 Sobol points, 5 near C = 0.5 and 5 of the best EI, pulled by
    Adam (1e-2, until 0.02 or 10 stalls), rounds until ten starts are in the band or five in a row
    are empty, SLSQP with 200 iterations."""
    search = preset(name).search
    assert (search.n_space, search.n_edge, search.n_best) == (1000, 5, 5)
    assert (search.pull_rate, search.pull_enough, search.pull_patience) == (1e-2, 0.02, 10)
    assert (search.n_starts, search.n_empty, search.max_iterations) == (10, 5, 200)
    assert search.unit == (1.0 if name == "be-cbo-code" else None), "released: EI as it is"


@pytest.mark.parametrize("name", [n for n in SEARCHED_BY_SLSQP if n != "be-cbo-ucb"])
def test_the_acquisition_is_plain_ei(name: str) -> None:
    """BE-CBO, 4.2: expected improvement, not its logarithm. Released: BoTorch's, whose variance is
    at least 1e-9."""
    made = preset(name).improvement.acquisition(None, 0.0)
    assert type(made).__name__ == "ExpectedImprovement"
    assert made.least_std == (pytest.approx(1e-9**0.5) if name == "be-cbo-code" else 0.0)
    assert preset(name).weighting is None, "BE-CBO: C is a bound, not a factor"


def test_ucb() -> None:
    """BE-CBO, ablation of the acquisition: UCB with beta = 0.1."""
    assert preset("be-cbo-ucb").improvement.acquisition is UpperConfidenceBound
    assert UpperConfidenceBound.__dataclass_fields__["beta"].default == 0.1


@pytest.mark.parametrize("name", ["be-cbo-m", "cei"])
def test_products(name: str) -> None:
    """Gelbart et al. 2014: EI times the chance to work; BE-CBO-M: C(x) q(x), without a bound.

    Released: `optimize_acqf` with raw_samples=512, num_restarts=10, batch_limit=5, maxiter=200.
    """
    assert preset(name).weighting is Weighted
    assert preset(name).improvement.acquisition.__name__ == "ExpectedImprovement"
    assert type(preset(name).band).__name__ == "Everywhere"
    search = preset(name).search
    assert (search.n_raw, search.n_restarts) == (512, 10)
    assert (search.n_together, search.max_iterations) == (5, 200)


def test_the_product_that_is_ours() -> None:
    """`cei-ep` maximises the same product, but its logarithm and by the search of `edge`."""
    assert preset("cei-ep").weighting is LogWeighted
    assert preset("cei-ep").improvement.acquisition.__name__ == "LogExpectedImprovement"
    assert preset("cei-ep").search == preset("edge").search
    assert type(preset("cei-ep").band).__name__ == "Everywhere"


@pytest.mark.parametrize("name", ["cei", "scbo", "be-cbo-gp"])
def test_the_gp_classifier_of_the_baselines(name: str) -> None:
    """BE-CBO, appendix B: GPyTorch's GP classifier, RBF, fitted by the ELBO (Hensman et al. 2015).

    Released: `ApproximateGP` with one length scale and no priors, fitted anew for each proposal.
    """
    assert type(preset(name).classifier).__name__ == "OneVariationalGP"
    assert PRIOR.kernel.__name__ == "rbf" and not PRIOR.ard and PRIOR.bias == 0


@pytest.mark.parametrize("name", ["cei-ep", "scbo-ep", "be-cbo-gp-ep"])
def test_the_gp_classifier_that_is_ours(name: str) -> None:
    """The same prior, RBF with one length scale and without hyperpriors, by EP."""
    assert preset(name).classifier.settings == EP_CLASSIFIER
    assert EP_CLASSIFIER.kernel.__name__ == "rbf" and not EP_CLASSIFIER.ard
    assert EP_CLASSIFIER.lengthscale.spread == EP_CLASSIFIER.scale.spread == np.inf


def test_svm_cbo() -> None:
    """SVM-CBO's program: C = 1, and LCB with 1.96 standard deviations in the second phase."""
    assert BETA == 1.96
    assert preset("svm-cbo").regressor.kernel.__name__ == "rbf"


def test_the_moving_average_ends_training_as_in_botorch() -> None:
    """Released: ExpMAStoppingCriterion, ten losses, eta 1, relative 1e-5."""
    assert MOVING[-1] / MOVING[0] == pytest.approx(np.e)
    assert MOVING.sum() == pytest.approx(1)
    falling = list(np.geomspace(1, 0.5, 50))
    assert not has_settled(falling) and not has_settled(falling[:10])
    assert has_settled([0.5] * 11)
    slow = [1 - 0.9e-5 * i for i in range(11)]
    fast = [1 - 1.1e-5 * i for i in range(11)]
    assert has_settled(slow) and not has_settled(fast)


def test_asymmetric_entropy() -> None:
    """Lindberg and Lee 2015: EI^1 S^5 with w = 2/3."""
    weighting = preset("asymmetric-entropy").weighting
    fields = weighting.__dataclass_fields__
    assert (fields["w"].default, fields["power"].default) == (2 / 3, 5.0)
    assert preset("asymmetric-entropy").classifier == preset("cei").classifier


def test_f_gp_ucb() -> None:
    """Iwazaki et al. 2023: UCB of the successes, outside of the neighbourhoods of failures."""
    method = preset("f-gp-ucb")
    assert method.improvement.acquisition.keywords == {"beta": 4.0}
    assert type(method.classifier).__name__ == "Balls"
    assert method.band.p == 0.5, "the surface of the balls"
