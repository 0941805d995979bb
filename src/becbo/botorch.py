"""For BoTorch users: where designs are likely to work, for an acquisition function of their own.

Points are those of the unit cube that `Space.encode` returns. The extra `becbo[botorch]` brings
BoTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri

from becbo.errors import InvalidInput
from becbo.extras import needed_extras
from becbo.optimizer import Optimizer
from becbo.surrogates.base import FeasibilityModel

with needed_extras():
    import torch
    from botorch.acquisition import AcquisitionFunction
    from botorch.optim import optimize_acqf
    from torch import Tensor


class Feasibility:
    """What an optimizer has learned of feasibility, as differentiable functions of tensors.

    Args:
        optimizer: it must have at least one answer.

    Raises:
        InvalidInput: if no experiment has been answered.

    Examples:
        >>> feasibility = Feasibility(optimizer)
        >>> x = feasibility.maximize(LogExpectedImprovement(model, best_f))
    """

    def __init__(self, optimizer: Optimizer) -> None:
        models = optimizer.models()
        if models is None:
            raise InvalidInput("the optimizer has no answers yet: tell it at least one")
        self.model: FeasibilityModel = models.feasibility
        answered = [t.params for t in optimizer.trials if t.is_feasible]
        self._worked = optimizer.space.encode(answered)
        self._dim = optimizer.space.dim

    def score(self, X: Tensor) -> Tensor:  # (..., d) -> (...)
        """The probit of the chance to be feasible: 0 at 50 %, about 1.28 at 90 %.

        Args:
            X: points (..., d) of the unit cube.

        Returns:
            The scores (...).
        """
        return _Score.apply(X, self.model)

    def log_probability(self, X: Tensor) -> Tensor:  # (..., d) -> (...)
        """The logarithm of the chance to be feasible; add it to the logarithm of an acquisition.

        Args:
            X: points (..., d) of the unit cube.

        Returns:
            The logarithms (...).
        """
        return torch.special.log_ndtr(self.score(X))

    def band(self, probability: float = 0.5) -> Callable[[Tensor], Tensor]:
        """The band C(x) >= probability, as a slack that is at least 0 inside.

        Args:
            probability: the smallest chance to be feasible, between 0 and 1.

        Returns:
            A function (..., d) -> (...), for `nonlinear_inequality_constraints` of
            `botorch.optim.optimize_acqf`, as in `[(feasibility.band(0.5), True)]`.

        Raises:
            InvalidInput: if the probability does not lie between 0 and 1.
        """
        if not 0 < probability < 1:
            raise InvalidInput(f"probability {probability!r} must lie between 0 and 1")
        return lambda X: self.score(X) - float(ndtri(probability))

    def maximize(
        self,
        acquisition: AcquisitionFunction,
        probability: float = 0.5,
        *,
        n_starts: int = 5,
        n_raw: int = 512,
        seed: int = 0,
    ) -> Tensor:
        """The point inside the band with the largest acquisition that BoTorch finds.

        Args:
            acquisition: of points (b, 1, d) in the unit cube.
            probability: the smallest chance to be feasible.
            n_starts: how many ascents.
            n_raw: how many points to choose their starts from, anywhere and around successes.
            seed: draws these points.

        Returns:
            The point (1, d).

        Raises:
            InvalidInput: if no point inside the band was found.
        """
        band = self.band(probability)
        starts = self._starts(acquisition, band, n_starts, n_raw, seed)
        bounds = torch.stack([torch.zeros(self._dim), torch.ones(self._dim)]).double()
        found, _ = optimize_acqf(
            acquisition,
            bounds,
            q=1,
            num_restarts=len(starts),
            batch_initial_conditions=starts,
            nonlinear_inequality_constraints=[(band, True)],
            options={"batch_limit": 1},
        )
        return found

    def _starts(
        self,
        acquisition: AcquisitionFunction,
        band: Callable[[Tensor], Tensor],
        n_starts: int,
        n_raw: int,
        seed: int,
    ) -> Tensor:  # (n_starts, 1, d)
        """The best of random points inside the band: anywhere, and around designs that worked."""
        engine = torch.quasirandom.SobolEngine(self._dim, scramble=True, seed=seed)
        rng = np.random.default_rng(seed)
        centres = np.repeat(self._worked, -(-n_raw // max(1, len(self._worked))), axis=0)
        steps = 10.0 ** rng.uniform(-4, -1, (len(centres), 1)) * rng.normal(size=centres.shape)
        around = torch.from_numpy(np.clip(centres + steps, 0, 1))
        raw = torch.cat([engine.draw(n_raw).double(), around])
        inside = raw[band(raw) >= 0]
        if not len(inside):
            raise InvalidInput(f"none of {len(raw)} points lies in the band; lower the probability")
        with torch.no_grad():
            order = acquisition(inside[:, None]).argsort(descending=True)
        return inside[order[:n_starts], None]


class _Score(torch.autograd.Function):  # type: ignore[misc]
    """The score of a model in NumPy, with its gradient."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, model: FeasibilityModel) -> Tensor:
        points = X.detach().cpu().double().numpy()
        u, _, du, _ = model.score_grad(np.ascontiguousarray(points.reshape(-1, X.shape[-1])))
        ctx.save_for_backward(torch.from_numpy(du.reshape(points.shape)).to(X))
        return torch.from_numpy(u.reshape(points.shape[:-1])).to(X)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (du,) = ctx.saved_tensors
        return grads[0][..., None] * du, None
