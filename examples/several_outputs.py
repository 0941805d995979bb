"""A steel box beam that should be light and stiff, with a stress limit that is measured.

Thin walls wrinkle under load. Such a test ends without a deflection, but the strain gauge has
measured the stress. Nobody tells becbo which walls wrinkle; it learns that from the failures.
"""

import becbo
from becbo import Limit, Objective, Optimizer, Real, Space

LOAD, LENGTH = 12e3, 1.5  # N at the tip of a cantilever, m
STIFFNESS, DENSITY = 210e9, 7850  # of steel: Pa, kg/m3

space = Space(
    [
        Real("width", 40, 160, step=5),  # mm
        Real("height", 40, 240, step=5),
        Real("wall", 1.5, 10, step=0.5),
    ]
)
outputs = [
    Objective("mass", "minimize", unit="kg"),
    Objective("deflection", "minimize", unit="mm"),
    Limit("stress", upper=160, unit="MPa"),
]


def bend(params):
    """Mass (kg), deflection (mm) and largest stress (MPa) of a beam."""
    width, height, wall = (params[name] / 1000 for name in space.names)
    inner_width, inner_height = width - 2 * wall, height - 2 * wall
    inertia = (width * height**3 - inner_width * inner_height**3) / 12
    return {
        "mass": DENSITY * LENGTH * (width * height - inner_width * inner_height),
        "deflection": 1e3 * LOAD * LENGTH**3 / (3 * STIFFNESS * inertia),
        "stress": 1e-6 * LOAD * LENGTH * height / 2 / inertia,
    }


optimizer = Optimizer(space, outputs, seed=0)
for _ in range(40):
    trial = optimizer.ask()
    measured = bend(trial.params)
    if trial.params["height"] > 40 * trial.params["wall"]:
        known = {name: measured[name] for name in ("mass", "stress")}
        optimizer.fail(trial, reason="the wall wrinkled", measured=known)
    else:
        optimizer.tell(trial, measured)

front = sorted(optimizer.front, key=lambda trial: trial.values["mass"])
print(" run  width height  wall   mass  deflection  stress")
for trial in front:
    design = "{width:6.0f} {height:6.0f} {wall:5.1f}".format(**trial.params)
    print(
        f"{trial.number:4} {design}",
        "{mass:6.1f} {deflection:11.2f} {stress:7.0f}".format(**trial.values),
    )

n_failed = sum(trial.outcome is becbo.Outcome.FAILED for trial in optimizer.trials)
print(f"{len(front)} of {len(optimizer.trials)} designs are on the front, {n_failed} wrinkled")
guess = optimizer.predict({"width": 100, "height": 180, "wall": 5})
for name, estimate in guess.outputs.items():
    print(f"100 x 180 x 5: {name} {estimate.mean:.2f} +- {estimate.std:.2f}")
print(f"100 x 180 x 5: works and keeps the limit with {guess.p_feasible:.0%}")
