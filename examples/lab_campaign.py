"""A lab campaign from Python: the same file serves the command line and the web page.

The command line does all of this without a line of Python: see `becbo new --help`.
"""

import tempfile
from pathlib import Path

import optuna

from becbo import Campaign
from becbo.campaign.errors import Conflict
from becbo.tables import export_table, import_table


def experiment(temperature, time, bias, layers, gas):
    """Stands for the lab: the hardness, or None if the coating peels off."""
    if temperature + 40 * layers - bias / 2 > 560 or (gas == "nitrogen" and time > 12):
        return None
    return 400 + temperature + 30 * layers - bias / 4 + (5 if gas == "nitrogen" else 0)


optuna.logging.set_verbosity(optuna.logging.WARNING)
folder = Path(tempfile.mkdtemp())
campaign = Campaign.create(Path(__file__).with_name("coating.yaml"), folder / "becbo.db")

# What is known from before: rows of a spreadsheet, an empty cell means that it failed.
(folder / "old.csv").write_text(
    "temperature [°C],time [h],bias [V],layers,gas,hardness [HV],reason\n"
    "200,2,-50,2,argon,672.5,\n"
    "440,2,-50,4,argon,,peeled off\n",
    encoding="utf-8",
)
print(f"{len(import_table(campaign, folder / 'old.csv').added)} old experiments imported")


def do(run):
    """The experiment of a run, and what came out of it written down."""
    hardness = experiment(**run.params)
    if hardness is None:
        campaign.record(run.number, failed="peeled off")
    else:
        campaign.record(run.number, hardness)


for _ in range(14):
    do(campaign.suggest()[0])

# The next one is lost to a power cut: it counts for nothing and is suggested again.
lost = campaign.suggest()[0]
campaign.record(lost.number, lost="power cut")
again = campaign.suggest()[0]
print(f"run {again.number} repeats run {again.repeats[-1]}")
do(again)

# A typing error: the run keeps its number, and what was there before stays as history.
corrected = campaign.correct(0, 627.5, note="typed wrongly at first")
print(f"run 0 was {corrected.history[0].result.value}, is {corrected.value}")

# Somebody else opens the same file; whoever looked at an old entry cannot overwrite a new one.
colleague = Campaign.open(folder / "becbo.db")
colleague.correct(0, 672.5)
try:
    campaign.correct(0, 600, version=corrected.version)
except Conflict as conflict:
    print(conflict)

status = campaign.status
print(f"{status.n_done} done, {status.n_left} left of {status.budget}; failed: {status.reasons}")
print(f"best: {status.best.value:g} HV with {status.best.params}")
print(f"expected there: {campaign.optimizer().predict(status.best.params)}")
print(f"to hand over: {export_table(campaign, folder / 'coating.csv')}")
