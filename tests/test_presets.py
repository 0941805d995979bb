"""The presets part by part: each value is a sentence of a paper or a rule of a released program.

"BE-CBO" is Tian et al., ICML 2024; "released" is the program its authors published.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr

from becbo.acquisition import LogWeighted, UpperConfidenceBound, Weighted
from becbo.methods import EP_CLASSIFIER, METHODS
from becbo.proposers import scbo
from becbo.proposers.svm_cbo import BETA, N_CANDIDATES, N_STARTS, PHASES
from becbo.surrogates.balls import FAILED
from becbo.surrogates.base import probit_score
from becbo.surrogates.ensemble import MOVING, DeepEnsemble, has_settled, latent_moments
from becbo.surrogates.variational import PRIOR, VariationalClassifier, hyperparameters


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
    "be-cbo-code-c",
    "be-cbo-code-gp",
    "be-cbo-code-ucb",
]
RELEASED = [name for name in METHODS if name.startswith("be-cbo-code")]


@pytest.mark.parametrize("name", [n for n in METHODS if n.startswith(("be-cbo", "cei", "scbo"))])
def test_the_value_is_a_gp_in_the_ranges_of_the_released_program(name: str) -> None:
    """Released: Matern-5/2, length scales in Interval(0.005, 4), noise in Interval(1e-8, 1e-3)."""
    gp = preset(name).regressor
    assert (gp.lengthscale.low, gp.lengthscale.high) == (0.005, 4.0)
    assert (gp.noise.low, gp.noise.high) == (1e-8, 1e-3)
    assert gp.kernel.__name__ == "matern52"
    assert gp.lengthscale.spread == gp.noise.spread == gp.scale.spread == np.inf, "no priors"
    assert not gp.scale_with_dim, "no priors, also none that grow with the dimension"
    # Released: any variance. Ours spans six decades around that of the values.
    assert (gp.scale.low, gp.scale.high) == (1e-3, 1e3)
    # Ours, in the table of differences: fits go on from the last one, on a nugget for rounding.
    assert (gp.n_iterations, gp.n_warm_iterations, gp.nugget) == (50, 20, 1e-10)


@pytest.mark.parametrize("name", WITH_NETWORKS)
def test_the_ensemble_is_the_papers(name: str) -> None:
    """BE-CBO, A.1.1: 5 networks, 3 hidden layers of 64 log2(d), Adam at 3e-4, 1000 steps."""
    nets = METHODS[name].ensemble
    assert nets is not None
    assert (nets.n_networks, nets.n_layers, nets.width_factor) == (5, 4, 64)
    assert (nets.learning_rate, nets.n_steps) == (3e-4, 1000)
    assert nets.training == ("mle" if name == "be-cbo-mle" else "elbo"), "BE-CBO, 4.1 and ablation"
    assert nets.stops_early == (name in RELEASED), "only the released program ends early"
    widths = {d: nets.shapes(d)[0][1] for d in (2, 3, 6, 7, 30)}
    assert widths == {2: 64, 3: 64, 6: 128, 7: 128, 30: 256}, "released: log2 d rounded down"


def test_the_latent_of_the_ensemble() -> None:
    """BE-CBO, 4.1 and A.1.2: mean and unbiased variance over the networks, then a softplus.

    Released: 1e-4 more, GPyTorch's jitter.
    """
    F = np.random.default_rng(0).normal(size=(5, 20))
    mean, std = latent_moments(F)
    np.testing.assert_allclose(mean, F.mean(axis=0))
    variance = np.log1p(np.exp(F.var(axis=0, ddof=1))) + 1e-4
    np.testing.assert_allclose(std**2, variance, rtol=1e-9)


def test_the_bounds() -> None:
    """BE-CBO: C >= 0.5 - sigma; BE-CBO-C: C >= 0.5; released program: mu + sigma >= 0."""
    kinds = {name: type(preset(name).band).__name__ for name in SEARCHED_BY_SLSQP}
    assert kinds.pop("be-cbo-c") == kinds.pop("be-cbo-code-c") == "MinimumProbability"
    released = {kinds.pop(f"be-cbo-code{variant}") for variant in ("", "-gp", "-ucb")}
    assert released == {"OptimisticLatent"}
    assert set(kinds.values()) == {"DynamicBound"}
    assert preset("be-cbo-c").band.p == preset("be-cbo-code-c").band.p == 0.5
    assert type(preset("be-cbo-search").band).__name__ == "DynamicBound"


class Believed:
    """A model with a Gaussian latent at each point, as in BE-CBO, A.1.2."""

    mean, std = np.array([-2.0, -0.97, -0.3, 0.0, 0.5]), np.array([0.9, 1.0, 0.85, 2.0, 0.9])

    def latent(self, X: Any) -> Any:
        return self.mean, self.std

    def score(self, X: Any) -> Any:
        return probit_score(self.mean, self.std)


def test_what_the_bounds_say() -> None:
    """BE-CBO, 4.2: C(x) >= 0.5 - sigma(x), half the width of [Phi(mu - s), Phi(mu + s)]; released:
    Phi(mu + s) >= 0.5; BE-CBO-C: C(x) >= 0.5."""
    model: Any = Believed()
    X, mean, std = np.zeros((5, 1)), model.mean, model.std
    C = ndtr(mean / np.sqrt(1 + std**2))
    sigma = (ndtr(mean + std) - ndtr(mean - std)) / 2
    np.testing.assert_allclose(preset("be-cbo").band.slack(model, X), C - (0.5 - sigma))
    np.testing.assert_array_equal(preset("be-cbo-c").band.slack(model, X) >= 0, C >= 0.5)
    released = preset("be-cbo-code").band.slack(model, X)
    np.testing.assert_allclose(released, mean + std)
    assert len({tuple(C >= 0.5), tuple(C >= 0.5 - sigma), tuple(released >= 0)}) == 3


@pytest.mark.parametrize("name", SEARCHED_BY_SLSQP)
def test_the_search(name: str) -> None:
    """BE-CBO, A.2, and released: 1000 Sobol points, 5 near C = 0.5 and 5 of the best EI, pulled by
    Adam (1e-2, until 0.02 or 10 stalls), rounds until ten starts are in the band or five in a row
    are empty, SLSQP with 200 iterations."""
    search = preset(name).search
    assert (search.n_space, search.n_edge, search.n_best) == (1000, 5, 5)
    assert (search.pull_rate, search.pull_enough, search.pull_patience) == (1e-2, 0.02, 10)
    assert (search.n_starts, search.n_empty, search.max_iterations) == (10, 5, 200)
    assert search.unit == (1.0 if name in RELEASED else None), "released: EI as it is"


@pytest.mark.parametrize("name", [n for n in SEARCHED_BY_SLSQP if not n.endswith("-ucb")])
def test_the_acquisition_is_plain_ei(name: str) -> None:
    """BE-CBO, 4.2: expected improvement, not its logarithm. Released: BoTorch's, whose variance is
    at least 1e-9."""
    made = preset(name).improvement.acquisition(None, 0.0)
    assert type(made).__name__ == "ExpectedImprovement"
    assert made.least_std == (pytest.approx(1e-9**0.5) if name in RELEASED else 0.0)
    assert preset(name).weighting is None, "BE-CBO: C is a bound, not a factor"


def test_ucb() -> None:
    """BE-CBO, ablation of the acquisition: UCB with beta = 0.1."""
    for name in ("be-cbo-ucb", "be-cbo-code-ucb"):
        assert preset(name).improvement.acquisition is UpperConfidenceBound
    assert UpperConfidenceBound.__dataclass_fields__["beta"].default == 0.1


@pytest.mark.parametrize("name", ["be-cbo-m", "be-cbo-code-m", "cei"])
def test_products(name: str) -> None:
    """Gelbart et al. 2014: EI times the chance to work; BE-CBO-M: C(x) q(x), without a bound.

    Released: `optimize_acqf` with raw_samples=512, num_restarts=10, batch_limit=5, maxiter=200.
    """
    made = preset(name).improvement.acquisition(None, 0.0)
    assert preset(name).weighting is Weighted
    assert type(made).__name__ == "ExpectedImprovement"
    assert made.least_std == (pytest.approx(1e-9**0.5) if name in RELEASED else 0.0)
    assert type(preset(name).band).__name__ == "Everywhere"
    search = preset(name).search
    assert (search.n_raw, search.n_restarts) == (512, 10)
    assert (search.n_together, search.max_iterations) == (5, 200)
    assert search.unit == (1.0 if name in RELEASED else None), "released: EI as it is"


def test_the_search_that_is_ours() -> None:
    """`be-cbo-search`: the paper's models and bound, but log EI and the search of `edge`."""
    mixed, paper = preset("be-cbo-search"), preset("be-cbo")
    assert (mixed.regressor, mixed.classifier) == (paper.regressor, paper.classifier)
    assert (mixed.band, mixed.weighting) == (paper.band, None)
    assert mixed.improvement.acquisition.__name__ == "LogExpectedImprovement"
    assert mixed.search == preset("edge").search


def test_the_product_that_is_ours() -> None:
    """`cei-ep` maximises the same product, but its logarithm and by the search of `edge`."""
    assert preset("cei-ep").weighting is LogWeighted
    assert preset("cei-ep").improvement.acquisition.__name__ == "LogExpectedImprovement"
    assert preset("cei-ep").search == preset("edge").search
    assert type(preset("cei-ep").band).__name__ == "Everywhere"


@pytest.mark.parametrize("name", ["cei", "scbo", "be-cbo-gp", "be-cbo-code-gp"])
def test_the_gp_classifier_of_the_baselines(name: str) -> None:
    """BE-CBO, appendix B: GPyTorch's GP classifier, RBF, fitted by the ELBO (Hensman et al. 2015).

    Released: `ApproximateGP` with one length scale and no priors, fitted anew for each proposal.
    """
    assert type(preset(name).classifier).__name__ == "OneVariationalGP"
    assert PRIOR.kernel.__name__ == "rbf" and not PRIOR.ard and PRIOR.bias == 0


def test_the_gp_classifier_is_fitted_from_gpytorchs_initial_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Released: raw parameters at zero, a soft plus for length scale and variance, every time."""
    begun: list[Any] = []

    def noted(function: Any, start: Any, *more: Any, **options: Any) -> Any:
        begun.append((start.tolist(), options["options"]))
        return minimize(function, start, *more, **options)

    monkeypatch.setattr("scipy.optimize.minimize", noted)
    X = np.random.default_rng(0).random((12, 2))
    VariationalClassifier().fit(X, X[:, 0] > 0.5)
    assert begun == [([0.0, 0.0, 0.0], {"maxiter": 200})]
    theta, _ = hyperparameters(np.zeros(3))
    np.testing.assert_allclose(np.exp(theta[:2]), np.log(2))


@pytest.mark.parametrize("name", ["cei-ep", "scbo-ep", "be-cbo-gp-ep"])
def test_the_gp_classifier_that_is_ours(name: str) -> None:
    """The same prior, RBF with one length scale and without hyperpriors, by EP."""
    assert preset(name).classifier.settings == EP_CLASSIFIER
    assert EP_CLASSIFIER.kernel.__name__ == "rbf" and not EP_CLASSIFIER.ard
    assert EP_CLASSIFIER.lengthscale.spread == EP_CLASSIFIER.scale.spread == np.inf


def test_svm_cbo() -> None:
    """SVM-CBO's program: 60 evaluations of the boundary for 30 of LCB with 1.96 deviations.

    BE-CBO, appendix B: "we maintained the same ratio". 30 starts in the first phase. In the second
    10,000 candidates, there 15 times as many: see the table of differences.
    """
    assert (BETA, PHASES) == (1.96, (60, 30))
    assert (N_STARTS, N_CANDIDATES) == (30, 10_000)
    assert preset("svm-cbo").regressor.kernel.__name__ == "rbf"


def test_scbo() -> None:
    """BE-CBO, appendix B: BoTorch's tutorial of Eriksson and Poloczek 2021, with restarts.

    Sides of 0.8, from 2^-7 to 1.6; doubled after 10 successes (their paper: 3), halved after
    max(4, d) failures; min(5000, max(2000, 200 d)) candidates that move 20 dimensions.
    """
    assert (scbo.LENGTH_INIT, scbo.LENGTH_MIN, scbo.LENGTH_MAX) == (0.8, 2.0**-7, 1.6)
    assert (scbo.SUCCESS_TOLERANCE, scbo.MIN_FAILURE_TOLERANCE) == (10, 4)
    assert (scbo.N_RESTART, scbo.MOVED) == (10, 20), "released: ten Sobol points"
    assert [scbo.n_candidates(d) for d in (2, 10, 20, 30)] == [2000, 2000, 4000, 5000]


def test_the_moving_average_ends_training_as_in_botorch() -> None:
    """Released: ExpMAStoppingCriterion, ten losses, eta 1, relative 1e-5."""
    assert len(MOVING) == 10
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
    """Iwazaki et al. 2023: UCB of the successes, outside of the neighbourhoods of failures.

    Ours: balls that leave room for failures in half of the experiments.
    """
    method = preset("f-gp-ucb")
    assert method.improvement.acquisition.keywords == {"beta": 4.0}
    assert type(method.classifier).__name__ == "Balls" and FAILED == 0.5
    assert method.band.p == 0.5, "the surface of the balls"
