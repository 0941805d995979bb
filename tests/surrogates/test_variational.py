"""The paper's GP classifier against GPyTorch, which the paper's program uses."""

from __future__ import annotations

import numpy as np
import pytest
from gradients import numeric_gradient
from scipy.optimize import minimize
from scipy.special import ndtr

from becbo.surrogates import variational
from becbo.surrogates.kernels import rbf
from becbo.surrogates.variational import (
    Bound,
    VariationalClassifier,
    best_sites,
    hyperparameters,
    natural_step,
    prior_covariance,
    site_posterior,
)

gpytorch = pytest.importorskip("gpytorch")
torch = pytest.importorskip("torch")

THETA = np.array([np.log(0.4), np.log(5.0), -0.7])


def disc(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Designs, and whether they lie in a ball around the middle."""
    X = np.random.default_rng(seed).random((n, d))
    distance = np.linalg.norm(X - 0.5, axis=1)
    return X, distance < np.median(distance)


def signs(feasible: np.ndarray) -> np.ndarray:
    return np.where(feasible, 1.0, -1.0)


class Oracle(gpytorch.models.ApproximateGP):
    """The classifier of the released program, whose inducing points stay at the designs."""

    def __init__(self, X: np.ndarray, feasible: np.ndarray) -> None:
        self.X, self.y = torch.tensor(X), torch.tensor(feasible.astype(float))
        q = gpytorch.variational.CholeskyVariationalDistribution(len(X))
        strategy = gpytorch.variational.VariationalStrategy(
            self, self.X, q, learn_inducing_locations=False
        )
        super().__init__(strategy)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
        self.likelihood = gpytorch.likelihoods.BernoulliLikelihood()
        self.double()

    def forward(self, x):  # type: ignore[no-untyped-def]
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    def set(self, theta: np.ndarray) -> None:
        self.covar_module.base_kernel.lengthscale = float(np.exp(theta[0]))
        self.covar_module.outputscale = float(np.exp(theta[1]))
        self.mean_module.constant = float(theta[2])

    def bound(self):  # type: ignore[no-untyped-def]
        """The bound per label."""
        mll = gpytorch.mlls.VariationalELBO(self.likelihood, self, len(self.X))
        return mll(self(self.X), self.y)

    def elbo(self) -> float:
        self.train()
        with torch.no_grad():
            return float(self.bound()) * len(self.X)

    def maximise(self, names: str) -> None:
        """L-BFGS-B on all parameters whose name contains one of the words."""
        self.train()
        chosen = [p for n, p in self.named_parameters() if any(w in n for w in names.split())]
        self(self.X)  # the first call sets q to the prior

        def loss(z: np.ndarray) -> tuple[float, np.ndarray]:
            torch.nn.utils.vector_to_parameters(torch.tensor(z), chosen)
            value = -self.bound()
            grads = torch.autograd.grad(value, chosen)
            return value.item(), torch.cat([g.reshape(-1) for g in grads]).numpy()

        start = torch.nn.utils.parameters_to_vector(chosen).detach().numpy()
        options = {"maxiter": 3000, "maxfun": 5000, "ftol": 1e-13, "gtol": 1e-8}
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
        torch.nn.utils.vector_to_parameters(torch.tensor(found), chosen)

    def probability(self, X: np.ndarray) -> np.ndarray:
        self.eval()
        with torch.no_grad():
            return self.likelihood(self(torch.tensor(X))).mean.numpy()


@pytest.mark.parametrize(("n", "d"), [(8, 1), (25, 2), (30, 5)])
def test_the_best_q_is_gpytorchs(n: int, d: int) -> None:
    """Hensman et al. 2015: q maximises the bound; for given hyperparameters there is one best q."""
    X, feasible = disc(n, d)
    oracle = Oracle(X, feasible)
    oracle.set(THETA)
    oracle.maximise("variational_mean chol_variational_covar")
    bound = Bound(X, signs(feasible))
    assert -bound(THETA)[0] == pytest.approx(oracle.elbo(), abs=1e-3)
    P = np.random.default_rng(1).random((50, d))
    ours = ndtr(bound.model(THETA).score(P)[0])
    np.testing.assert_allclose(ours, oracle.probability(P), atol=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_hyperparameters_are_those_that_gpytorch_finds(seed: int) -> None:
    """Released: length scale, variance, mean and q together maximise the bound."""
    X, feasible = disc(30, 2, seed)
    oracle = Oracle(X, feasible)
    oracle.maximise("variational raw constant")
    model = VariationalClassifier().fit(X, feasible)
    elbo = -Bound(X, signs(feasible))(np.append(model.theta, model.mean))[0]
    assert elbo == pytest.approx(oracle.elbo(), abs=0.01)
    assert np.exp(model.theta[0]) == pytest.approx(
        oracle.covar_module.base_kernel.lengthscale.item(), rel=0.02
    )
    P = np.random.default_rng(1).random((200, 2))
    np.testing.assert_allclose(ndtr(model.score(P)[0]), oracle.probability(P), atol=0.01)


def test_the_start_is_gpytorchs() -> None:
    """Paper, appendix B: default hyperparameters of GPyTorch."""
    oracle = Oracle(*disc(5, 2))
    theta, _ = hyperparameters(np.zeros(3))
    assert np.exp(theta[0]) == pytest.approx(oracle.covar_module.base_kernel.lengthscale.item())
    assert np.exp(theta[1]) == pytest.approx(oracle.covar_module.outputscale.item())
    assert theta[2] == oracle.mean_module.constant.item() == 0


@pytest.mark.parametrize("d", [1, 4])
def test_the_gradient_of_the_bound_is_its_derivative(d: int, monkeypatch) -> None:
    monkeypatch.setattr(variational, "_TOLERANCE", 1e-13)
    X, feasible = disc(12, d)

    def value(theta: np.ndarray) -> float:
        return Bound(X, signs(feasible))(theta)[0]

    gradient = Bound(X, signs(feasible))(THETA)[1]
    assert abs(gradient).min() > 1e-3  # there is a slope to get wrong
    expected = numeric_gradient(value, THETA, 1e-4)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_free_numbers_and_their_slopes() -> None:
    free = np.array([-2.0, 3.0, 0.5])
    theta, slope = hyperparameters(free)
    np.testing.assert_allclose(theta, [*np.log(np.log1p(np.exp(free[:2]))), 0.5])
    expected = numeric_gradient(lambda z: hyperparameters(z)[0], free)
    np.testing.assert_allclose(np.diag(slope), expected, atol=1e-8)


def test_no_other_sites_reach_a_larger_bound() -> None:
    X, feasible = disc(15, 2)
    K = prior_covariance(THETA[:2], X, rbf, 0.0)[0]
    sites, elbo = best_sites(K, signs(feasible), THETA[2], np.zeros((15, 2)))
    rng = np.random.default_rng(0)
    for _ in range(50):
        tau = sites[:, 0] * np.exp(0.1 * rng.standard_normal(15))
        nu = sites[:, 1] + 0.1 * rng.standard_normal(15)
        other = natural_step(K, signs(feasible), THETA[2], np.column_stack([tau, nu]))[1]
        assert other < elbo + 1e-6


def test_the_bound_is_its_definition() -> None:
    """Expected log likelihood minus KL, with the matrices written out and a finer quadrature."""
    X, feasible = disc(9, 2)
    y, mean = signs(feasible), THETA[2]
    K = prior_covariance(THETA[:2], X, rbf, 0.0)[0]
    sites, elbo = best_sites(K, y, mean, np.zeros((9, 2)))
    m, variance, _ = site_posterior(K, sites)
    S = np.linalg.inv(np.linalg.inv(K) + np.diag(sites[:, 0]))
    np.testing.assert_allclose(np.diagonal(S), variance, rtol=1e-6)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    z = y[:, None] * (mean + m[:, None] + np.sqrt(variance)[:, None] * nodes)
    expected = (np.log(ndtr(z)) @ (weights / weights.sum())).sum()
    solved = np.linalg.solve(K, S)
    logdets = np.linalg.slogdet(K)[1] - np.linalg.slogdet(S)[1]
    kl = 0.5 * (np.trace(solved) + m @ np.linalg.solve(K, m) - len(y) + logdets)
    assert elbo == pytest.approx(expected - kl, abs=1e-4)


@pytest.mark.parametrize("feasible", [[True] * 4, [False] * 4])
def test_one_class_keeps_the_initial_hyperparameters(feasible: list[bool]) -> None:
    X, _ = disc(4, 3)
    model = VariationalClassifier().fit(X, np.array(feasible))
    np.testing.assert_allclose(np.exp(model.theta), np.log(2))
    assert np.all((ndtr(model.score(X)[0]) > 0.5) == feasible)


def test_a_drawn_function_has_the_moments_of_the_latent() -> None:
    X, feasible = disc(12, 2)
    model = VariationalClassifier().fit(X, feasible)
    P = np.random.default_rng(1).random((5, 2))
    rng = np.random.default_rng(2)
    draws = np.array([model.path(rng)(P) for _ in range(2000)])
    mean, std = model.latent(P)
    assert abs(model.mean) > 0.1  # the constant mean counts
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=4 * std.max() / np.sqrt(2000))
    np.testing.assert_allclose(draws.std(axis=0), std, rtol=0.15)


def test_input_gradients_are_the_derivatives() -> None:
    model = VariationalClassifier().fit(*disc(20, 3))
    P = np.random.default_rng(1).random((8, 3))
    u, w, du, dw = model.score_grad(P)
    np.testing.assert_allclose(model.score(P), [u, w], rtol=1e-12)
    for i, slope in enumerate([du, dw]):
        expected = numeric_gradient(lambda x, i=i: model.score(x)[i], P)
        np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-7)
