"""Draw a run in two dimensions: where the model puts the edge, and where the designs go.

python examples/edge_picture.py --out docs/images/edge_run.png
"""

import argparse
from dataclasses import replace

import numpy as np

from becbo import Infeasible, Optimizer
from becbo.plots.landscape import Landscape, landscape_figure
from becbo.problems import get

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", default="edge_run.png")
parser.add_argument("--problem", default="lsq", help="a problem with two parameters")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--stages", type=int, nargs="+", default=[10, 40], help="experiments")
parser.add_argument("--grid", type=int, default=101, help="points per side")


def grow(optimizer, problem, n):
    """Run experiments until there are n."""
    while len(optimizer.trials) < n:
        trial = optimizer.ask()
        try:
            optimizer.tell(trial, problem(trial.params))
        except Infeasible as failure:
            optimizer.fail(trial, failure.reason)


def draw(optimizer, problem, low, high, n_grid):
    """What the model believes now, next to the truth, between two corners."""
    names = problem.space.names
    x, y = np.linspace(low, high, n_grid).T
    X = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    model = optimizer.predict([dict(zip(names, row, strict=True)) for row in X.tolist()])
    on_grid = (n_grid, n_grid)
    best = optimizer.best
    return Landscape(
        x=x,
        y=y,
        p_feasible=np.reshape([m.p_feasible for m in model], on_grid),
        objective=None if best is None else np.reshape([m.mean for m in model], on_grid),
        slack=problem.slacks(X).min(axis=1).reshape(on_grid),
        points=np.array([[t.params[name] for name in names] for t in optimizer.trials]),
        worked=np.array([t.is_feasible for t in optimizer.trials]),
        best=None if best is None else np.array([best.params[name] for name in names]),
        optima=np.array(problem.optimizers),
        title=title(optimizer, problem),
    )


def title(optimizer, problem):
    n, n_failed = len(optimizer.trials), sum(not t.is_feasible for t in optimizer.trials)
    best = "none" if optimizer.best is None else f"{optimizer.best.value:.4f}"
    return f"{n} experiments, {n_failed} failed\nbest {best}, best possible {problem.optimum:.4f}"


def main():
    options = parser.parse_args()
    problem = get(options.problem)
    optimizer = Optimizer(problem.space, seed=options.seed)
    low, high = np.array([(p.low, p.high) for p in problem.space.parameters]).T
    panels = []
    for n in options.stages:
        grow(optimizer, problem, n)
        panels.append(draw(optimizer, problem, low, high, options.grid))

    if optimizer.best is not None:  # the end of the run once more, close to the best
        reach = 0.05 * (high - low)
        frame = np.clip([panels[-1].best - reach, panels[-1].best + reach], low, high)
        enlarged = draw(optimizer, problem, *frame, options.grid)
        panels[-1] = replace(panels[-1], frame=frame)
        panels.append(replace(enlarged, title="the small square, enlarged"))

    x_label, y_label = problem.space.names
    landscape_figure(panels, x_label=x_label, y_label=y_label).savefig(options.out, dpi=130)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
