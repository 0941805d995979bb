"""The paper's deep ensemble classifier (section 4.1, appendix A.1) in plain NumPy.

E small networks are stacked and trained together. Activations are (E, width, n), points in
columns. A layer is one array (E, out, in + 1) whose last column is the bias; while training
it meets a row of ones, so that one product gives the gradient of weights and bias alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from scipy.special import expit, log_ndtr, ndtr, ndtri

from becbo.arrays import Array, Mask
from becbo.errors import InvalidInput
from becbo.surrogates.adam import Floats, adam
from becbo.surrogates.base import (
    MOMENTS,
    NODES,
    WEIGHTS,
    mills,
    normal_pdf,
    probit_interval,
    probit_score,
    probit_score_grad,
)

Shapes = Sequence[tuple[int, int, int]]

# Single precision halves the time of a fit. A thousand steps amplify its rounding, to about
# 0.001 in C on average: several times less than what another draw of initial weights does.
TRAINING_DTYPE = np.float32
CHUNK = 128  # points predicted at once, for the same reason

JITTER = 1e-4  # the released code's addition to the latent variance

# Against Adam's epsilon such a derivative moves nothing, but back-propagating it would produce
# subnormal numbers, which are slow: well fitted points cost 7 % of a fit in 30 dimensions.
NEGLIGIBLE = 1e-20

# The moving average of the loss that the released code watches (BoTorch's ExpMAStoppingCriterion).
MOVING = np.exp(np.linspace(0, 1, 10))
MOVING /= MOVING.sum()
SETTLED = 1e-5  # relative

TAIL = 1e-200  # the closest C comes to 0 or 1 before its probit is taken


def layer_shapes(n_networks: int, d: int, width: int, n_layers: int) -> Shapes:
    """Stacked layers (E, out, in + 1) of fully connected networks d-width-...-width-1."""
    sizes = [d, *[width] * (n_layers - 1), 1]
    return [(n_networks, fan_out, fan_in + 1) for fan_in, fan_out in pairwise(sizes)]


def initial_weights(shapes: Shapes, rng: np.random.Generator) -> Array:  # -> (p,)
    """Weights and biases from U(-1/sqrt(fan_in), 1/sqrt(fan_in)), torch's default."""
    bounds = [1 / np.sqrt(columns - 1) for _, _, columns in shapes]
    draws = [rng.uniform(-b, b, s).ravel() for b, s in zip(bounds, shapes, strict=True)]
    return np.concatenate(draws)


def split(theta: Floats, shapes: Shapes) -> list[Floats]:  # (p,) -> one view per layer
    """The layers inside the flat vector of all parameters."""
    ends = np.cumsum([np.prod(s) for s in shapes])
    parts = np.split(theta, ends[:-1])
    return [part.reshape(s) for part, s in zip(parts, shapes, strict=True)]


def forward(layers: Sequence[Array], X: Array) -> list[Array]:
    """What enters each layer at X (m, d): (d, m), then (E, width, m). Last the output (E, 1, m)."""
    values = [X.T]
    for layer in layers:
        if len(values) > 1:
            np.maximum(values[-1], 0, out=values[-1])
        values.append(layer[..., :-1] @ values[-1] + layer[..., -1:])
    return values


def chunks(X: Array) -> list[Array]:
    """X (m, d) in parts small enough for their activations to stay in the cache."""
    return [X[i : i + CHUNK] for i in range(0, max(len(X), 1), CHUNK)]


def outputs(layers: Sequence[Array], X: Array) -> Array:  # (m, d) -> (E, m)
    """What each network says."""
    return np.concatenate([forward(layers, part)[-1][:, 0] for part in chunks(X)], axis=1)


def outputs_grad(layers: Sequence[Array], X: Array) -> tuple[Array, Array]:
    """Outputs (E, m) and their input gradients (E, m, d), by back-propagation."""
    F, J = [], []
    for part in chunks(X):
        *inputs, output = forward(layers, part)
        slope = np.ones_like(output)
        for i in reversed(range(len(layers))):
            slope = layers[i][..., :-1].swapaxes(1, 2) @ slope
            if i > 0:
                slope *= inputs[i] > 0
        F.append(output[:, 0])
        J.append(slope.swapaxes(1, 2))
    return np.concatenate(F, axis=1), np.concatenate(J, axis=1)


def mean_and_variance(F: Array) -> tuple[Array, Array]:  # (E, m) -> (m,), (m,)
    """Over the networks; the variance is divided by E - 1 (section 4.1), 0 for a single one."""
    mean = F.sum(0) / len(F)
    deviations = F - mean
    return mean, np.einsum("em,em->m", deviations, deviations) / max(len(F) - 1, 1)


def mean_and_variance_grad(F: Array, J: Array) -> tuple[Array, Array]:  # -> (m, d), (m, d)
    """Input gradients of `mean_and_variance`, given F (E, m) and its own, J (E, m, d)."""
    weights = 2 * (F - F.mean(0)) / max(len(F) - 1, 1)
    return J.mean(0), np.einsum("em,emd->md", weights, J)


def latent_std(variance: Array) -> Array:
    """sqrt(softplus(variance) + jitter), as in the released code."""
    return np.sqrt(np.logaddexp(0, variance) + JITTER)


def latent_moments(F: Array) -> tuple[Array, Array]:  # (E, m) -> (m,), (m,)
    """Mean and standard deviation of the latent g (appendix A.1.2)."""
    mean, variance = mean_and_variance(F)
    return mean, latent_std(variance)


def latent_moments_grad(F: Array, J: Array) -> tuple[Array, Array, Array, Array]:
    """`latent_moments` and their input gradients (m, d), given F (E, m) and J (E, m, d)."""
    mean, variance = mean_and_variance(F)
    dmean, dvariance = mean_and_variance_grad(F, J)
    std = latent_std(variance)
    return mean, std, dmean, (expit(variance) / (2 * std))[:, None] * dvariance


def ensemble_score(F: Array) -> tuple[Array, Array]:  # (E, m) -> (m,), (m,)
    """Score u = Phi^-1(C) and sigma_E: mean and spread of the probabilities (section 4.1)."""
    C, variance = mean_and_variance(expit(F))
    failure = expit(-F).mean(0)  # 1 - C, but exact where C is near 1
    tail = np.clip(np.minimum(C, failure), TAIL, 0.5)
    return np.sign(C - failure) * -ndtri(tail), np.sqrt(variance)


def ensemble_score_grad(F: Array, J: Array) -> tuple[Array, Array, Array, Array]:
    """`ensemble_score` and its input gradients (m, d), given F (E, m) and J (E, m, d)."""
    u, w = ensemble_score(F)
    P = expit(F)
    dC, dvariance = mean_and_variance_grad(P, (P * expit(-F))[..., None] * J)
    du = dC / normal_pdf(u)[:, None]
    du[np.abs(u) >= -ndtri(TAIL)] = 0  # C was clipped
    dw = np.divide(dvariance, 2 * w[:, None], where=w[:, None] > 0, out=np.zeros_like(dC))
    return u, w, du, dw


class TrainingLoss(NamedTuple):
    """What training minimises, as functions of the outputs F (E, n) and labels y (n,) of +-1."""

    loss: Callable[[Array, Array], float]
    slope: Callable[[Array, Array], Array]  # dloss / dF, (E, n)
    prob: Callable[[Array], Array]  # C, (n,)


def elbo_loss(F: Array, y: Array) -> float:
    """-1/n sum_i E_{f ~ N(mu_i, s_i^2)} log Phi(y_i f): the ELBO of appendix A.1.1.

    The ensemble's prior covariance is diagonal, so the variational posterior at the data is
    the ensemble's own N(mu_i, s_i^2), and the KL term does not depend on the weights.
    """
    mean, std = latent_moments(F)
    # The nodes are symmetric: y (mu + s t) and y mu + s t have the same expectation.
    z = y * mean + std * NODES
    return -float((WEIGHTS @ log_ndtr(z)).mean())


def elbo_slope(F: Array, y: Array) -> Array:  # (E, n), (n,) -> (E, n)
    """Gradient of `elbo_loss` through mean and variance."""
    E, n = F.shape
    mean, variance = mean_and_variance(F)
    std = latent_std(variance)
    z = y * mean + std * NODES  # (20, n)
    by_mean, by_std = MOMENTS @ mills(z)
    # dvariance / dF = 2 (F - mu) / (E - 1), dstd / dvariance = sigmoid(variance) / 2 std.
    by_deviation = by_std * expit(variance) / (std * max(E - 1, 1))
    return np.asarray((y * by_mean / E + by_deviation * (F - mean)) / -n)


def elbo_prob(F: Array) -> Array:  # (E, n) -> (n,)
    """C = E Phi(g)."""
    u, _ = probit_score(*latent_moments(F))
    return np.asarray(ndtr(u))


def mle_loss(F: Array, y: Array) -> float:
    """Binary cross-entropy, summed over the networks: each is trained alone (section 4.1)."""
    return float(np.logaddexp(0, -y * F).mean(1).sum())


def mle_slope(F: Array, y: Array) -> Array:  # (E, n), (n,) -> (E, n)
    """Gradient of `mle_loss`."""
    return np.asarray(-y * expit(-y * F) / len(y))


def mle_prob(F: Array) -> Array:  # (E, n) -> (n,)
    """C = mu_E, the mean of the networks' probabilities (section 4.1)."""
    return np.asarray(expit(F).mean(0))


ELBO = TrainingLoss(elbo_loss, elbo_slope, elbo_prob)
MLE = TrainingLoss(mle_loss, mle_slope, mle_prob)


class Backpropagation:
    """Passes through all networks at fixed data X (n, d), with every buffer allocated once."""

    def __init__(self, theta: Floats, shapes: Shapes, X: Array) -> None:
        """Works on views of `theta` (p,) in its precision; the gradient appears in `grad`."""
        self.layers = split(theta, shapes)
        self.grad = np.empty_like(theta)
        self.layer_grads = split(self.grad, shapes)
        # What enters each layer, above the row of ones that meets the bias.
        self.inputs = [np.ones((E, columns, len(X)), theta.dtype) for E, _, columns in shapes]
        self.inputs[0][:, :-1] = X.T
        self.active = [np.empty_like(a[:, :-1]) for a in self.inputs[1:]]
        self.output = np.empty((shapes[0][0], 1, len(X)), theta.dtype)

    def forward(self) -> Array:  # (E, n)
        """Outputs of the networks at the present parameters."""
        for i, active in enumerate(self.active):
            z = self.inputs[i + 1][:, :-1]
            np.matmul(self.layers[i], self.inputs[i], out=z)
            # Rectify by a mask of 0 and 1, which is needed again on the way back.
            np.greater(z, 0, out=active)
            np.multiply(z, active, out=z)
        np.matmul(self.layers[-1], self.inputs[-1], out=self.output)
        return self.output[:, 0].astype(np.float64)

    def backward(self, slope: Array) -> None:  # (E, n)
        """Fill `grad`, given the loss's derivative by the outputs of the last `forward`."""
        self.output[:, 0] = slope
        delta = self.output
        for i in reversed(range(len(self.layers))):
            np.matmul(delta, self.inputs[i].swapaxes(1, 2), out=self.layer_grads[i])
            if i > 0:
                # These activations are spent: their buffer takes their gradient.
                below, weights = self.inputs[i][:, :-1], self.layers[i][..., :-1].swapaxes(1, 2)
                # NumPy's matmul is slow at outer products, which the one output makes of it.
                product = np.multiply if delta is self.output else np.matmul
                product(weights, delta, out=below)
                delta = np.multiply(below, self.active[i - 1], out=below)


def has_settled(losses: Sequence[float]) -> bool:
    """Whether the moving average of the loss no longer falls, BoTorch's rule.

    The average over the last ten losses, the latest weighing e times the first, is compared with
    the one a step before.
    """
    if len(losses) <= len(MOVING):
        return False
    before, now = (MOVING @ losses[-len(MOVING) - back : len(losses) - back] for back in (1, 0))
    return bool(before - now < SETTLED * abs(before))


def train_networks(
    initial: Floats,
    shapes: Shapes,
    X: Array,
    feasible: Mask,
    objective: TrainingLoss,
    settings: DeepEnsemble,
) -> Floats:
    """Parameters (p,) after Adam on the full batch, in the precision of `initial`."""
    theta = initial.copy()
    y = np.where(feasible, 1.0, -1.0)
    passes = Backpropagation(theta, shapes, X)

    losses: list[float] = []

    def fill() -> bool:
        if has_settled(losses):
            return False
        F = passes.forward()
        if settings.stops_early:
            losses.append(objective.loss(F, y))
            if np.array_equal(objective.prob(F) > 0.5, feasible):
                return False
        slope = objective.slope(F, y)
        passes.backward(slope * (np.abs(slope) > NEGLIGIBLE))
        return True

    adam(theta, passes.grad, fill, settings.learning_rate, settings.n_steps)
    return theta


@dataclass(frozen=True, eq=False)
class _Ensemble:
    """Trained networks, and what it takes to train them again."""

    settings: DeepEnsemble
    initial: Floats  # (p,)
    X: Array  # (n, d)
    feasible: Mask  # (n,)
    layers: Sequence[Array]

    objective: ClassVar[TrainingLoss]
    doubt: ClassVar[float] = 0.0
    optimism: ClassVar[float] = 0.0
    lapse: ClassVar[float] = 0.0
    is_sharp: ClassVar[bool] = False

    @property
    def scales(self) -> Array:  # (d,)
        """Ones: networks have no length scales."""
        return np.ones(self.X.shape[1])

    @classmethod
    def train(cls, settings: DeepEnsemble, initial: Floats, X: Array, feasible: Mask) -> Self:
        """The ensemble that `settings` make of the data from these initial weights."""
        shapes = settings.shapes(X.shape[1])
        theta = train_networks(initial, shapes, X, feasible, cls.objective, settings)
        layers = [layer.astype(np.float64) for layer in split(theta, shapes)]
        return cls(settings, initial, X, feasible, layers)

    def believe(self, X: Array) -> Self:  # (p, d)
        """Trained again, from the same start, with the likelier outcome at pending points X."""
        if len(X) == 0:
            return self
        likelier = self.objective.prob(outputs(self.layers, X)) > 0.5
        return self.train(
            self.settings,
            self.initial,
            np.concatenate([self.X, X]),
            np.concatenate([self.feasible, likelier]),
        )


class EnsembleModel(_Ensemble):
    """An ensemble trained by the ELBO: a Gaussian latent g under the probit (appendix A.1.2)."""

    objective = ELBO

    def latent(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Latent mean and standard deviation."""
        return latent_moments(outputs(self.layers, X))

    def latent_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Latent mean (m,), std (m,) and their input gradients (m, d), (m, d)."""
        return latent_moments_grad(*outputs_grad(self.layers, X))

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u = Phi^-1(C) and spread sigma_E."""
        return probit_score(*self.latent(X))

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Score (m,), spread (m,) and their input gradients (m, d), (m, d)."""
        return probit_score_grad(*self.latent_grad(X))

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """C if the latent were one standard deviation lower, or higher."""
        return probit_interval(*self.latent(X))


class MLEEnsembleModel(_Ensemble):
    """An ensemble of probabilities: the original formulation (section 4.1)."""

    objective = MLE

    def score(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """Score u = Phi^-1(C) and spread sigma_E."""
        return ensemble_score(outputs(self.layers, X))

    def score_grad(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Score (m,), spread (m,) and their input gradients (m, d), (m, d)."""
        return ensemble_score_grad(*outputs_grad(self.layers, X))

    def interval(self, X: Array) -> tuple[Array, Array]:  # (m, d) -> (m,), (m,)
        """C -+ sigma_E."""
        C, variance = mean_and_variance(expit(outputs(self.layers, X)))
        w = np.sqrt(variance)
        return np.clip(C - w, 0, 1), np.clip(C + w, 0, 1)


MODELS: dict[str, type[EnsembleModel] | type[MLEEnsembleModel]] = {
    "elbo": EnsembleModel,
    "mle": MLEEnsembleModel,
}


@dataclass(frozen=True)
class DeepEnsemble:
    """Settings of the ensemble; the defaults are the paper's (appendix A.1.1)."""

    n_networks: int = 5
    n_layers: int = 4
    width_factor: int = 64
    learning_rate: float = 3e-4
    n_steps: int = 1000
    training: Literal["elbo", "mle"] = "elbo"
    stops_early: bool = False
    """End at 100 % training accuracy or when the loss has settled: the released code's rules."""

    def __post_init__(self) -> None:
        """Refuse settings that cannot be trained."""
        for name in ("n_networks", "n_layers", "width_factor", "n_steps"):
            count = getattr(self, name)
            if not isinstance(count, Integral) or count < 1:
                raise InvalidInput(f"{name} is {count!r}; give a whole number of at least 1")
        if not 0 < self.learning_rate < math.inf:
            raise InvalidInput(f"learning_rate is {self.learning_rate!r}; give a positive number")
        if self.training not in MODELS:
            raise InvalidInput(f"training is {self.training!r}; choose one of {', '.join(MODELS)}")

    def shapes(self, d: int) -> Shapes:
        """Shapes of the stacked layers for d inputs."""
        width = self.width_factor * max(1, int(math.log2(d)))  # 64 floor(log2 d), appendix A.1.1
        return layer_shapes(self.n_networks, d, width, self.n_layers)

    def fit(
        self, X: Array, feasible: Mask, rng: np.random.Generator
    ) -> EnsembleModel | MLEEnsembleModel:
        """The ensemble trained on X (n, d) and feasible (n,) from weights drawn by `rng`."""
        if X.ndim != 2 or X.size == 0 or feasible.shape != (len(X),):
            raise InvalidInput(
                f"X has shape {X.shape} and feasible {feasible.shape}; "
                "give (n, d) and (n,) with n and d at least 1"
            )
        initial = initial_weights(self.shapes(X.shape[1]), rng).astype(TRAINING_DTYPE)
        return MODELS[self.training].train(self, initial, X, feasible)
