"""The commands for people who run experiments.

What `--json` prints, for programs, in the shape of the REST interface: a run is

    {number, version, params: {name: value}, outcome: "pending" | "ok" | "failed" | "lost",
     values: {output: value}, reason, note, origin, suggested, recorded, by: who recorded it,
     believed: {outputs: {output: {mean, std}}, p_feasible, band, bad_luck, optimism} | null,
     history: [{outcome, values, reason, note, recorded, by}]}

with times in ISO 8601, and

    record, correct, undo NUMBER, withdraw, add
                 run
    suggest      [run], each with why: a sentence, and p_better: the chance to improve | null
    what-if      {params, believed, p_better, violated: [constraint], nearest: number | null,
                  distance, how_far: a sentence, run: run | null}
    undo         [run]: several, if the last entry was an import
    import       {added: [number], recorded: [number], corrected: [number], blank: [number],
                  differing: [number], n_known, n_pending, noted: [column]},
                 see `becbo.tables.ImportSummary`
    check        {damage: [text], studies: [{name, is_campaign, is_deleted,
                  counts: {outcome: count}, pending: [number], stale: [number]}]}
    status       {name, objectives: [{name, unit, direction, target, reference}],
                  limits: [{name, unit, lower, upper}], recorded: [{name, unit}], budget, n_done,
                  n_left, counts: {pending, ok, failed, lost}, best: run | null, front: [run],
                  pending: [run], reasons: {reason: count},
                  last_entry: {entry, runs: [number], recorded, by} | null},
                 with --all: runs: [run]
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from becbo.cli import campaign_commands as campaign
from becbo.cli import run_commands as run
from becbo.cli import upkeep


class _Command(TyperCommand):
    """Takes -1.5 for a value, where others take it for an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {a}" if _is_negative(a) else a for a in args])


def _is_negative(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return text.startswith("-")


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for command, name, example in (
        (campaign.new, "new", "becbo new coating.yaml"),
        (campaign.change, "change", "becbo change coating.yaml"),
        (campaign.delete, "delete", "becbo delete coating"),
        (campaign.restore, "restore", "becbo restore coating"),
        (run.suggest, "suggest", "becbo suggest -n 3"),
        (run.what_if, "what-if", "becbo what-if temperature=320 gas=argon"),
        (run.record, "record", "becbo record 17 812.5 --note 'slight haze'"),
        (run.correct, "correct", "becbo correct 17 --failed --reason cracked"),
        (run.undo, "undo", "becbo undo 17"),
        (run.withdraw, "withdraw", "becbo withdraw 17"),
        (run.add, "add", "becbo add temperature=320 gas=argon 790"),
        (campaign.import_, "import", "becbo import old_experiments.xlsx"),
        (campaign.export, "export", "becbo export runs.csv"),
        (campaign.status, "status", "becbo status --all"),
        (campaign.report, "report", "becbo report --out coating.html"),
        (upkeep.check, "check", "becbo check"),
        (upkeep.backup, "backup", "becbo backup becbo-monday.db"),
    ):
        app.command(
            name,
            epilog=f"Example: [bold]{example}[/bold]",
            cls=_Command,
            rich_help_panel="Your experiments",
        )(command)
