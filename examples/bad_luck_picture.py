"""Draw what one failure by bad luck does to the map, before and after a repeat tells.

python examples/bad_luck_picture.py --out docs/images/bad_luck.png
"""

import argparse

import numpy as np

from becbo import Optimizer, Real, Space
from becbo.plots.landscape import Landscape, landscape_figure

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", default="bad_luck.png")
parser.add_argument("--grid", type=int, default=81, help="points per side")

SPACE = Space([Real("temperature", 0, 1), Real("pressure", 0, 1)])


def slack(X):
    """At least 0 where a design works."""
    return 0.75 - X[:, 0] - 0.4 * (X[:, 1] - 0.4) ** 2


def history(optimizer):
    """Thirty experiments, one of which fails far from the edge; returns that design."""
    X = np.random.default_rng(5).random((30, 2)).round(3)
    unlucky = np.argmin(np.abs(X - [0.35, 0.5]).max(axis=1))
    for i, (x, works) in enumerate(zip(X.tolist(), slack(X) >= 0, strict=True)):
        params = dict(zip(SPACE.names, x, strict=True))
        if works and i != unlucky:
            optimizer.add(params, sum(x))
        else:
            optimizer.add(params, failed=True)
    return dict(zip(SPACE.names, X[unlucky].tolist(), strict=True))


def draw(optimizer, title, n_grid):
    """What the model believes now, next to the truth."""
    axis = np.linspace(0, 1, n_grid)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    model = optimizer.predict([dict(zip(SPACE.names, row, strict=True)) for row in X.tolist()])
    return Landscape(
        x=axis,
        y=axis,
        p_feasible=np.reshape([m.p_feasible for m in model], (n_grid, n_grid)),
        slack=slack(X).reshape(n_grid, n_grid),
        points=np.array([list(t.params.values()) for t in optimizer.trials]),
        worked=np.array([t.is_feasible for t in optimizer.trials]),
        title=title,
    )


def main():
    options = parser.parse_args()
    optimizer = Optimizer(SPACE, seed=0)
    unlucky = history(optimizer)
    before = optimizer.predict(unlucky).p_feasible
    panels = [draw(optimizer, f"one failure by bad luck\nstated there: {before:.0%}", options.grid)]

    trial = optimizer.ask()
    print(f"{trial.origin}: {trial.note}")
    optimizer.tell(trial, sum(trial.params.values()))
    after = optimizer.predict(unlucky)
    said = f"its repeat worked\nstated there: {after.p_feasible:.0%}, bad luck {after.bad_luck:.0%}"
    panels.append(draw(optimizer, said, options.grid))

    x_label, y_label = SPACE.names
    landscape_figure(panels, x_label=x_label, y_label=y_label).savefig(options.out, dpi=110)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
