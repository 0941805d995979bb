"""Records made by hand."""

from collections.abc import Sequence

from becbo.bench.plan import Run
from becbo.bench.records import Record, Searches


def make_run(
    problem: str = "lsq", label: str = "edge", seed: int = 0, budget: int = 12, **changes: object
) -> Run:
    settings = {"method": label, "options": {}, "protocol": "authors", **changes}
    return Run(problem=problem, label=label, seed=seed, budget=budget, **settings)


def make_record(
    run: Run, y: Sequence[float | None] = (None, 2.0, 1.0), n_initial: int = 1
) -> Record:
    n_proposed = len(y) - n_initial
    return Record(
        run,
        "lit",
        redraws=3,
        x=tuple((0.1 * i, i) for i in range(len(y))),
        y=tuple(y),
        seconds=(0.25,) * n_proposed,
        parts={"search": (0.2,) * n_proposed},
        searches=Searches(("space",), (0,) * n_proposed, (2,), ((2, "nowhere to go"),)),
        seconds_total=1.5,
        versions={"becbo": "0"},
    )
