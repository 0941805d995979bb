"""The deep ensemble against autograd, GPyTorch and finite differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_ndtr, ndtr

from becbo.errors import InvalidInput
from becbo.surrogates import adam
from becbo.surrogates import ensemble as module
from becbo.surrogates.ensemble import (
    ELBO,
    JITTER,
    MLE,
    Backpropagation,
    DeepEnsemble,
    EnsembleModel,
    MLEEnsembleModel,
    elbo_loss,
    elbo_slope,
    ensemble_score,
    ensemble_score_grad,
    has_settled,
    initial_weights,
    layer_shapes,
    outputs,
    split,
    train_networks,
)

QUICK = {"n_steps": 30, "width_factor": 16}


def disc(n, d=2, seed=0):
    """Points of the unit cube, half of them feasible: those nearest to its centre."""
    X = np.random.default_rng(seed).random((n, d))
    r = ((X - 0.5) ** 2).sum(1)
    return X, r < np.median(r)


def start(n_networks=5, d=2, width=8, n_layers=4, seed=0):
    """Shapes and random parameters whose outputs spread more than freshly drawn ones do."""
    shapes = layer_shapes(n_networks, d, width, n_layers)
    return shapes, 2 * initial_weights(shapes, np.random.default_rng(seed))


def signs(feasible):
    return np.where(feasible, 1.0, -1.0)


# Torch as the oracle ------------------------------------------------------------------------


def torch_outputs(theta, shapes, X):
    """The networks one by one through torch's own layers: (E, n)."""
    torch = pytest.importorskip("torch")
    sizes = [int(np.prod(s)) for s in shapes]
    layers = [part.reshape(s) for part, s in zip(theta.split(sizes), shapes, strict=True)]
    members = []
    for e in range(shapes[0][0]):
        a = X
        for i, layer in enumerate(layers):
            a = torch.nn.functional.linear(
                torch.relu(a) if i else a, layer[e, :, :-1], layer[e, :, -1]
            )
        members.append(a[:, 0])
    return torch.stack(members)


def torch_variance(F):
    torch = pytest.importorskip("torch")
    variance = F.var(0) if len(F) > 1 else torch.zeros_like(F[0])
    return torch.nn.functional.softplus(variance)


def torch_elbo(F, y):
    torch = pytest.importorskip("torch")
    nodes, weights = np.polynomial.hermite.hermgauss(20)
    nodes, weights = torch.as_tensor(nodes), torch.as_tensor(weights / np.sqrt(np.pi))
    f = F.mean(0) + (2 * (torch_variance(F) + JITTER)).sqrt() * nodes[:, None]
    return -(weights @ torch.special.log_ndtr(y * f)).mean()


def torch_mle(F, y):
    torch = pytest.importorskip("torch")
    cross_entropy = torch.nn.functional.binary_cross_entropy_with_logits
    return sum(cross_entropy(f, (y + 1) / 2) for f in F)


OBJECTIVES = pytest.mark.parametrize(
    ("objective", "oracle"), [(ELBO, torch_elbo), (MLE, torch_mle)], ids=["elbo", "mle"]
)


@OBJECTIVES
@pytest.mark.parametrize(("n_networks", "n_layers"), [(5, 4), (1, 4), (2, 1), (3, 2)])
def test_loss_and_weight_gradient_match_autograd(objective, oracle, n_networks, n_layers):
    torch = pytest.importorskip("torch")
    X, feasible = disc(30, d=3)
    y = signs(feasible)
    shapes, theta = start(n_networks, 3, n_layers=n_layers)
    passes = Backpropagation(theta, shapes, X)
    F = passes.forward()
    passes.backward(objective.slope(F, y))

    leaf = torch.tensor(theta, requires_grad=True)
    G = torch_outputs(leaf, shapes, torch.as_tensor(X))
    loss = oracle(G, torch.as_tensor(y))
    loss.backward()
    np.testing.assert_allclose(F, G.detach().numpy(), atol=1e-13)
    np.testing.assert_allclose(objective.loss(F, y), loss.item(), rtol=1e-12)
    np.testing.assert_allclose(passes.grad, leaf.grad.numpy(), atol=1e-14)


@OBJECTIVES
def test_training_takes_the_steps_of_torchs_adam(objective, oracle):
    torch = pytest.importorskip("torch")
    X, feasible = disc(20)
    shapes, theta = start()
    chosen = DeepEnsemble(n_steps=25, learning_rate=3e-3)
    ours = train_networks(theta, shapes, X, feasible, objective, chosen)

    leaf = torch.tensor(theta, requires_grad=True)
    optimizer = torch.optim.Adam([leaf], lr=3e-3)
    for _ in range(25):
        optimizer.zero_grad()
        F = torch_outputs(leaf, shapes, torch.as_tensor(X))
        oracle(F, torch.as_tensor(signs(feasible))).backward()
        optimizer.step()
    assert np.abs(ours - theta).max() > 0.03
    np.testing.assert_allclose(ours, leaf.detach().numpy(), atol=1e-10)


def test_blocks_of_adam_do_not_change_its_steps(monkeypatch):
    X, feasible = disc(20)
    shapes, theta = start()
    whole = train_networks(theta, shapes, X, feasible, ELBO, DeepEnsemble(n_steps=5))
    monkeypatch.setattr(adam, "BLOCK", 100)
    parts = train_networks(theta, shapes, X, feasible, ELBO, DeepEnsemble(n_steps=5))
    np.testing.assert_array_equal(whole, parts)


# GPyTorch as the oracle: the released code's variational formulation ------------------------


@pytest.fixture(params=["exact", "approximate"])
def likelihood(request, monkeypatch):
    """GPyTorch's Bernoulli likelihood and its accuracy.

    It approximates log Phi, with an error of up to 2e-3; with the exact function in its place
    what remains is the single precision of its quadrature nodes.
    """
    torch = pytest.importorskip("torch")
    gpytorch = pytest.importorskip("gpytorch")
    if request.param == "exact":
        where = "gpytorch.likelihoods.bernoulli_likelihood.log_normal_cdf"
        monkeypatch.setattr(where, torch.special.log_ndtr)
    return gpytorch.likelihoods.BernoulliLikelihood(), 1e-7 if request.param == "exact" else 1e-4


@pytest.mark.filterwarnings("ignore")  # GPyTorch's own
def test_loss_is_the_expected_log_likelihood_of_gpytorch(likelihood):
    torch = pytest.importorskip("torch")
    gpytorch = pytest.importorskip("gpytorch")
    bernoulli, accuracy = likelihood
    X, feasible = disc(40)
    shapes, theta = start()
    F = outputs(split(theta, shapes), X)
    G = torch.as_tensor(F)
    variance = torch.diag(torch_variance(G) + JITTER)
    q = gpytorch.distributions.MultivariateNormal(G.mean(0), variance)
    labels = torch.as_tensor(feasible, dtype=torch.float64)
    expected = bernoulli.expected_log_prob(labels, q).mean().item()
    assert elbo_loss(F, signs(feasible)) == pytest.approx(-expected, abs=accuracy)


def ensemble_gp(leaf, shapes, X):
    """The released classifier: a GP with the ensemble's mean and its diagonal variance."""
    gpytorch = pytest.importorskip("gpytorch")
    from linear_operator.operators import DiagLinearOperator

    class EnsembleGP(gpytorch.models.ApproximateGP):
        def __init__(self):
            q = gpytorch.variational.CholeskyVariationalDistribution(len(X))
            super().__init__(
                gpytorch.variational.VariationalStrategy(self, X, q, jitter_val=JITTER)
            )

        def forward(self, x):
            F = torch_outputs(leaf, shapes, x)
            covariance = DiagLinearOperator(torch_variance(F))
            return gpytorch.distributions.MultivariateNormal(F.mean(0), covariance)

    return EnsembleGP().double()


@pytest.mark.filterwarnings("ignore")  # GPyTorch's own
def test_variational_inference_leaves_only_this_loss_to_the_weights(likelihood):
    torch = pytest.importorskip("torch")
    gpytorch = pytest.importorskip("gpytorch")
    X, feasible = disc(15)
    y = signs(feasible)
    shapes, theta = start()
    leaf = torch.tensor(theta, requires_grad=True)
    inputs, labels = torch.as_tensor(X), torch.as_tensor(feasible, dtype=torch.float64)
    gp = ensemble_gp(leaf, shapes, inputs)
    gp(inputs)  # GPyTorch initialises the variational parameters here
    torch.manual_seed(0)
    for free in gp.variational_strategy._variational_distribution.parameters():
        free.data += torch.rand_like(free)  # any q(u): it must not matter

    q = gp(inputs)
    F = torch_outputs(leaf, shapes, inputs)
    torch.testing.assert_close(q.mean, F.mean(0))
    torch.testing.assert_close(q.covariance_matrix, torch.diag(torch_variance(F) + JITTER))

    divergence = gp.variational_strategy.kl_divergence()
    assert divergence.item() > 1
    (by_weights,) = torch.autograd.grad(divergence, leaf, retain_graph=True, allow_unused=True)
    assert by_weights is None or not by_weights.any()

    bernoulli, accuracy = likelihood
    elbo = gpytorch.mlls.VariationalELBO(bernoulli, gp, len(X))
    (gradient,) = torch.autograd.grad(-elbo(q, labels), leaf)
    passes = Backpropagation(theta, shapes, X)
    passes.backward(elbo_slope(passes.forward(), y))
    np.testing.assert_allclose(passes.grad, gradient.numpy(), atol=accuracy)


# The loss -----------------------------------------------------------------------------------


def test_loss_and_slope_survive_extreme_outputs():
    F = np.array([[-1e3, 1e3, -40.0, 40.0], [-1.1e3, 1.1e3, -40.0, 40.0]])
    y = np.ones(4)
    assert np.isfinite(elbo_loss(F, y))
    slope = elbo_slope(F, y)
    assert np.isfinite(slope).all()
    assert (slope[:, 2] < -1).all()  # pulled up hard
    np.testing.assert_allclose(slope[:, 3], 0, atol=1e-200)


def test_one_network_has_the_least_latent_variance():
    F = np.array([[0.3, -2.0]])
    z = signs([True, False]) * F[0]
    t = np.random.default_rng(0).standard_normal(200_000)
    by_sampling = -log_ndtr(z + np.sqrt(np.log(2) + JITTER) * t[:, None]).mean()
    np.testing.assert_allclose(elbo_loss(F, signs([True, False])), by_sampling, rtol=1e-2)


# Predictions and their gradients --------------------------------------------------------------


def on_one_piece(layers, X, step):
    """Which points (m,) have no ReLU switching within a step along any axis."""
    d = X.shape[1]
    patterns = [
        [a > 0 for a in module.forward(layers, X + shift)[1:-1]]
        for shift in step * np.concatenate([np.eye(d), -np.eye(d)])
    ]
    return np.all(
        [(a == b).all((0, 1)) for p in patterns for a, b in zip(p, patterns[0], strict=True)],
        axis=0,
    )


def differences(function, X, step):
    """Central differences of each result of `function`: (m, d) each."""
    columns = [
        [
            (up - down) / (2 * step)
            for up, down in zip(function(X + e), function(X - e), strict=True)
        ]
        for e in step * np.eye(X.shape[1])
    ]
    return [np.stack(c, axis=1) for c in zip(*columns, strict=True)]


@pytest.mark.parametrize("training", ["elbo", "mle"])
@pytest.mark.parametrize("d", [1, 2, 5])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_input_gradients_match_finite_differences(training, d, seed):
    rng = np.random.default_rng(seed)
    X, feasible = disc(15, d, seed)
    model = DeepEnsemble(training=training, learning_rate=1e-2, **QUICK).fit(X, feasible, rng)
    points, step = rng.random((20, d)), 1e-6
    points = points[on_one_piece(model.layers, points, step)]
    pairs = [(model.score, model.score_grad)]
    if training == "elbo":
        pairs.append((model.latent, model.latent_grad))
    for plain, with_grad in pairs:
        first, second, *gradients = with_grad(points)
        np.testing.assert_array_equal((first, second), plain(points))
        for exact, estimate in zip(gradients, differences(plain, points, step), strict=True):
            np.testing.assert_allclose(exact, estimate, rtol=1e-5, atol=1e-7)


def test_points_are_predicted_independently_of_their_company():
    X, feasible = disc(20)
    model = DeepEnsemble(**QUICK).fit(X, feasible, np.random.default_rng(0))
    many = np.random.default_rng(1).random((300, 2))
    for together, alone in zip(model.score_grad(many), model.score_grad(many[7:8]), strict=True):
        np.testing.assert_allclose(together[7], alone[0], rtol=1e-9)
    assert model.score_grad(many[:0])[2].shape == (0, 2)


def test_elbo_model_follows_the_papers_formulas():
    X, feasible = disc(20)
    model = DeepEnsemble(**QUICK).fit(X, feasible, np.random.default_rng(0))
    F = outputs(model.layers, X)
    mean, std = model.latent(X)
    np.testing.assert_allclose(mean, F.mean(0))
    np.testing.assert_allclose(std**2, np.log1p(np.exp(F.var(0, ddof=1))) + 1e-4)
    u, w = model.score(X)
    np.testing.assert_allclose(u, mean / np.sqrt(1 + std**2))
    np.testing.assert_allclose(w, (ndtr(mean + std) - ndtr(mean - std)) / 2)


def test_mle_model_follows_the_papers_formulas():
    X, feasible = disc(20)
    model = DeepEnsemble(training="mle", **QUICK).fit(X, feasible, np.random.default_rng(0))
    P = expit(outputs(model.layers, X))
    u, w = model.score(X)
    np.testing.assert_allclose(ndtr(u), P.mean(0))
    np.testing.assert_allclose(w, P.std(0, ddof=1))
    np.testing.assert_allclose(model.interval(X), np.clip([P.mean(0) - w, P.mean(0) + w], 0, 1))


def test_mle_networks_are_trained_alone():
    X, feasible = disc(20)
    chosen = DeepEnsemble(training="mle", **QUICK)
    shapes, theta = start(n_networks=3)
    together = split(train_networks(theta, shapes, X, feasible, MLE, chosen), shapes)
    alone_shapes = [(1, *s[1:]) for s in shapes]
    second = np.concatenate([layer[1].ravel() for layer in split(theta, shapes)])
    alone = split(train_networks(second, alone_shapes, X, feasible, MLE, chosen), alone_shapes)
    for all_networks, one in zip(together, alone, strict=True):
        np.testing.assert_allclose(all_networks[1], one[0], atol=1e-12)


def test_mle_score_keeps_its_slope_in_both_tails():
    F = np.array([[-60.0, 60.0, 0.0, 1e4], [-62.0, 62.0, 0.0, 1e4]])
    J = np.ones((2, 4, 1))
    u, w, du, dw = ensemble_score_grad(F, J)
    np.testing.assert_allclose(u[0], -u[1])
    assert u[0] < -10 and u[2] == 0
    step = 1e-5
    estimate = (ensemble_score(F + step)[0] - ensemble_score(F - step)[0]) / (2 * step)
    np.testing.assert_allclose(du[:3, 0], estimate[:3], rtol=1e-6)
    assert np.isfinite([u[3], w[3], du[3, 0], dw[3, 0]]).all()


# Fitting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("training", ["elbo", "mle"])
def test_fit_separates_a_disc(training):
    X, feasible = disc(60)
    model = DeepEnsemble(training=training).fit(X, feasible, np.random.default_rng(0))
    assert ((model.score(X)[0] > 0) == feasible).mean() > 0.97
    unseen, labels = disc(500, seed=1)
    assert ((model.score(unseen)[0] > 0) == labels).mean() > 0.9


def test_single_precision_moves_predictions_less_than_another_start(monkeypatch):
    X, feasible = disc(30)
    grid = np.random.default_rng(1).random((500, 2))

    def prob(seed):
        return ndtr(DeepEnsemble().fit(X, feasible, np.random.default_rng(seed)).score(grid)[0])

    single, restarted = prob(0), prob(1)
    monkeypatch.setattr(module, "TRAINING_DTYPE", np.float64)
    double = prob(0)
    by_rounding, by_start = np.abs(single - double).mean(), np.abs(single - restarted).mean()
    assert by_rounding < 0.005
    assert by_rounding < by_start / 4


@pytest.mark.parametrize("training", ["elbo", "mle"])
@pytest.mark.parametrize(
    ("X", "feasible"),
    [
        pytest.param(disc(10, 1)[0], disc(10, 1)[1], id="one dimension"),
        pytest.param(disc(10, 3)[0], np.ones(10, bool), id="all feasible"),
        pytest.param(disc(10, 3)[0], np.zeros(10, bool), id="none feasible"),
        pytest.param(np.array([[0.2, 0.7]]), np.array([True]), id="one point"),
        pytest.param(np.full((4, 2), 0.5), np.array([1, 1, 0, 1], bool), id="duplicates"),
    ],
)
@pytest.mark.parametrize("n_networks", [1, 5])
def test_odd_data_give_a_finite_model(training, X, feasible, n_networks):
    chosen = DeepEnsemble(n_networks=n_networks, training=training, learning_rate=1e-2, **QUICK)
    model = chosen.fit(X, feasible, np.random.default_rng(0))
    results = [*model.score_grad(X), *model.interval(X)]
    assert all(np.isfinite(r).all() for r in results)
    assert ((results[0] > 0) == (feasible.mean() > 0.5)).all() or 0 < feasible.mean() < 1
    lower, upper = model.interval(X)
    assert (lower >= 0).all() and (lower <= upper).all() and (upper <= 1).all()


def test_the_generator_alone_decides_the_weights():
    X, feasible = disc(20)
    fits = [DeepEnsemble(**QUICK).fit(X, feasible, np.random.default_rng(s)) for s in (3, 3, 4)]
    np.testing.assert_array_equal(fits[0].score(X), fits[1].score(X))
    assert np.abs(fits[0].score(X)[0] - fits[2].score(X)[0]).max() > 1e-3


@pytest.mark.parametrize(
    ("d", "width"), [(1, 64), (2, 64), (3, 64), (4, 128), (10, 192), (30, 256)]
)
def test_networks_have_the_papers_size_and_torchs_initial_weights(d, width):
    shapes = DeepEnsemble().shapes(d)
    assert shapes == [
        (5, width, d + 1),
        (5, width, width + 1),
        (5, width, width + 1),
        (5, 1, width + 1),
    ]
    layers = split(initial_weights(shapes, np.random.default_rng(0)), shapes)
    for layer in layers:
        bound = 1 / np.sqrt(layer.shape[2] - 1)
        assert 0.9 * bound < np.abs(layer).max() <= bound


@pytest.mark.parametrize("training", ["elbo", "mle"])
def test_training_can_stop_once_the_data_are_separated(training):
    """Released: training ends at 100 % accuracy on the data, not before."""
    X, feasible = disc(20)
    chosen = DeepEnsemble(training=training, learning_rate=3e-3, n_steps=300)
    longer = chosen.fit(X, feasible, np.random.default_rng(0))
    stopping = replace(chosen, stops_early=True)
    model = stopping.fit(X, feasible, np.random.default_rng(0))
    np.testing.assert_array_equal(model.score(X)[0] > 0, feasible)
    assert np.abs(model.score(X)[0]).min() < np.abs(longer.score(X)[0]).min()


@pytest.mark.parametrize("objective", [ELBO, MLE])
def test_training_can_stop_once_the_loss_has_settled(objective):
    """Released: the step is made, then the moving average of the losses is looked at."""
    X, feasible = np.repeat(disc(10)[0], 2, axis=0), np.tile([True, False], 10)  # inseparable
    chosen = DeepEnsemble(learning_rate=3e-2, n_steps=2000, width_factor=8)
    shapes = chosen.shapes(2)
    theta = initial_weights(shapes, np.random.default_rng(0))
    losses = []

    def noted(F, y):
        losses.append(objective.loss(F, y))
        return losses[-1]

    data = X, feasible, objective._replace(loss=noted)
    stopped = train_networks(theta, shapes, *data, replace(chosen, stops_early=True))
    assert 10 < len(losses) < 2000
    assert has_settled(losses) and not has_settled(losses[:-1])
    as_long = train_networks(theta, shapes, *data, replace(chosen, n_steps=len(losses)))
    np.testing.assert_array_equal(stopped, as_long)


@pytest.mark.parametrize("training", ["elbo", "mle"])
def test_believing_trains_again_on_what_is_expected(training):
    X, feasible = disc(20)
    pending = np.array([[0.02, 0.9], [0.45, 0.55]])
    chosen = DeepEnsemble(training=training, learning_rate=3e-3, n_steps=100)
    model = chosen.fit(X, feasible, np.random.default_rng(0))
    before = model.score(pending)[0]
    after = model.believe(pending).score(pending)[0]
    assert np.abs(after - before).min() > 1e-3
    np.testing.assert_array_equal(after > 0, before > 0)
    np.testing.assert_array_equal(after, model.believe(pending).score(pending)[0])
    by_hand = chosen.fit(
        np.concatenate([X, pending]), np.append(feasible, before > 0), np.random.default_rng(0)
    )
    np.testing.assert_array_equal(after, by_hand.score(pending)[0])


def test_nothing_pending_changes_nothing():
    X, feasible = disc(5)
    model = DeepEnsemble(**QUICK).fit(X, feasible, np.random.default_rng(0))
    assert model.believe(X[:0]) is model


def test_each_training_has_its_model():
    X, feasible = disc(5)
    for training, kind in (("elbo", EnsembleModel), ("mle", MLEEnsembleModel)):
        chosen = DeepEnsemble(training=training, **QUICK)
        assert type(chosen.fit(X, feasible, np.random.default_rng(0))) is kind


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_networks": 0},
        {"n_layers": 0},
        {"width_factor": -1},
        {"n_steps": 2.5},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"training": "vi"},
    ],
)
def test_unusable_settings_are_refused_by_name(wrong):
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        DeepEnsemble(**wrong)


@pytest.mark.parametrize(
    ("X", "feasible"),
    [
        (np.zeros((0, 2)), np.zeros(0, bool)),
        (np.zeros((3, 2)), np.zeros(2, bool)),
        (np.zeros(3),) * 2,
    ],
)
def test_unusable_data_are_refused(X, feasible):
    with pytest.raises(InvalidInput, match="shape"):
        DeepEnsemble().fit(X, feasible, np.random.default_rng(0))
