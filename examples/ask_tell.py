"""The loop in one's own hands: ask for designs, run them, say what happened."""

import random

from becbo import Categorical, Integer, Optimizer, Real, Space

space = Space(
    [
        Real("pressure", 1, 200, log=True),
        Integer("coils", 2, 15),
        Categorical("alloy", ["A", "B", "C"]),
    ]
)
strength = {"A": 60.0, "B": 90.0, "C": 150.0}
cost = {"A": 0.5, "B": 0.8, "C": 1.75}
dice = random.Random(0)

optimizer = Optimizer(space, "maximize", seed=0)
optimizer.add({"pressure": 30.0, "coils": 6, "alloy": "B"}, 1.2)  # done before
optimizer.add({"pressure": 150.0, "coils": 3, "alloy": "A"}, failed=True)

for _ in range(10):
    for trial in optimizer.ask(3):  # three experiments side by side
        pressure, coils, alloy = (trial.params[name] for name in space.names)
        if dice.random() < 0.05:
            optimizer.lose(trial)  # a power cut: says nothing about the design
        elif pressure > strength[alloy] * coils / 10:
            optimizer.fail(trial, reason="it burst")  # the design does not work
        else:
            optimizer.tell(trial, pressure - cost[alloy] * coils**2)  # what it earned

for trial in optimizer.trials[-3:]:
    print(trial.number, trial.params, trial.outcome.value, trial.value, trial.reason)
print("best:", optimizer.best.params, f"value {optimizer.best.value:.3f}")

guess = optimizer.predict({"pressure": 60.0, "coils": 8, "alloy": "B"})
print(f"60 bar, 8 coils, alloy B: works with a chance of {guess.p_feasible:.0%},")
print(f"and then earns {guess.mean:.1f} +- {guess.std:.1f}")
