"""Our feasibility inside BoTorch, against our own numbers and proposals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_ndtr

from becbo import Failures, InvalidInput, Optimizer, Real, Space

torch = pytest.importorskip("torch")
pytest.importorskip("botorch")

from botorch.acquisition import AcquisitionFunction  # noqa: E402

from becbo.band import MinimumProbability  # noqa: E402
from becbo.botorch import Feasibility  # noqa: E402
from becbo.data import dataset  # noqa: E402
from becbo.methods import build  # noqa: E402
from becbo.outputs import Outputs  # noqa: E402
from becbo.proposers.boundary import banded_goal  # noqa: E402
from becbo.settings import Settings  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # BoTorch's and GPyTorch's own


def fails(x: float, y: float) -> bool:
    return x + y > 1.1 or x < 0.1


CERTAIN = Failures(chance=0.0)  # no repeats of failures, to find out about luck


def half_done(n: int = 25) -> Optimizer:
    space = Space([Real("x", 0, 1), Real("y", 0, 1)])
    optimizer = Optimizer(space, "maximize", seed=0, failures=CERTAIN)
    for _ in range(n):
        trial = optimizer.ask()
        x, y = trial.params.values()
        if fails(x, y):
            optimizer.fail(trial)
        else:
            optimizer.tell(trial, float(np.sin(3 * x) + y))
    return optimizer


@pytest.fixture(scope="module")
def optimizer() -> Optimizer:
    return half_done()


def test_scores_are_ours(optimizer: Optimizer) -> None:
    X = np.random.default_rng(0).random((7, 1, 2))
    feasibility = Feasibility(optimizer)
    ours = feasibility.model.score(X[:, 0])[0]
    found = feasibility.score(torch.from_numpy(X))
    assert found.shape == (7, 1)
    np.testing.assert_allclose(found[:, 0].numpy(), ours)
    logs = feasibility.log_probability(torch.from_numpy(X))[:, 0].numpy()
    np.testing.assert_allclose(logs, log_ndtr(ours))


def test_gradients(optimizer: Optimizer) -> None:
    X = torch.rand(5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    feasibility = Feasibility(optimizer)
    near = X[(feasibility.score(X).abs() < 6)].requires_grad_()
    assert len(near)
    assert torch.autograd.gradcheck(feasibility.score, near, eps=1e-6, rtol=1e-3, atol=1e-4)


class Ours(AcquisitionFunction):
    """Our acquisition as one of BoTorch, so that only the search differs."""

    def __init__(self, values_grad) -> None:
        super().__init__(model=None)
        self.values_grad = values_grad

    def forward(self, X):
        points = X.detach()[:, 0].numpy()
        a, _, da, _ = self.values_grad(points)
        value, slope = torch.from_numpy(a), torch.from_numpy(da)
        return value + ((X[:, 0] - X[:, 0].detach()) * slope).sum(-1)


def test_botorch_finds_what_we_propose(optimizer: Optimizer) -> None:
    """The same models, band and acquisition: both searches end at the same value."""
    proposer = build(Settings(seed=0, failures=CERTAIN), Outputs.of("maximize"))
    data = dataset(optimizer.trials, optimizer.space, optimizer.outputs)
    models = optimizer.models()
    rng = np.random.default_rng(0)
    acquisition = proposer.improvement.over(data, models, np.empty((0, 2)), 2, rng)
    goal = banded_goal(acquisition, MinimumProbability(0.5), models.feasibility)
    found = Feasibility(optimizer).maximize(Ours(goal.values_grad), 0.5).numpy()
    ours = Optimizer(
        optimizer.space,
        "maximize",
        seed=0,
        method=replace(proposer, band=MinimumProbability(0.5)),
        trials=optimizer.trials,
    )
    proposed = ours.space.encode([ours.ask().params])
    (theirs, _), (mine, _) = goal.values(found), goal.values(proposed)
    assert Feasibility(optimizer).band(0.5)(torch.from_numpy(found)) >= -1e-6
    assert abs(theirs[0] - mine[0]) < 0.5  # of log EI; it spans tens over the band
    assert np.abs(found - proposed).max() < 0.05


def test_a_constraint_of_their_own_acquisition(optimizer: Optimizer) -> None:
    from botorch.acquisition.analytic import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    worked = [t for t in optimizer.trials if t.is_feasible]
    X = torch.from_numpy(optimizer.space.encode([t.params for t in worked]))
    Y = torch.tensor([[t.value] for t in worked], dtype=torch.float64)
    model = SingleTaskGP(X, Y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    feasibility = Feasibility(optimizer)
    x = feasibility.maximize(LogExpectedImprovement(model, best_f=Y.max()), 0.5)
    assert x.shape == (1, 2)
    assert feasibility.band(0.5)(x) >= -1e-6


def test_refusals(optimizer: Optimizer) -> None:
    with pytest.raises(InvalidInput, match="no answers yet"):
        Feasibility(Optimizer(optimizer.space, "minimize"))
    with pytest.raises(InvalidInput, match="probability 1 must lie between"):
        Feasibility(optimizer).band(1)
