"""What the commands of a campaign print for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from becbo import Outcome
from becbo.campaign.campaign import Campaign
from becbo.campaign.description import Description
from becbo.campaign.formatting import estimate, number, percent, plural, result_text
from becbo.campaign.runs import Run
from becbo.tables.importing import ImportSummary, import_messages


def overview(description: Description) -> Table:
    """A table of everything in a description."""
    table = _columns()
    table.add_row("campaign", f"[bold]{escape(description.name)}[/]", escape(description.note))
    table.add_row("objective", escape(_goal(description)), escape(description.objective_note))
    for described in description.parameters:
        table.add_row(escape(described.name), escape(described.allowed), escape(described.note))
    for text in description.constraints:
        table.add_row("known limit", escape(text))
    table.add_row("budget", "open" if description.budget is None else f"{description.budget}")
    return table


def print_suggestions(
    console: Console, campaign: Campaign, runs: Sequence[Run], options: str
) -> None:
    """Prints each design, why it was chosen, and how to record it."""
    for run in runs:
        _say(console, f"[bold]Run {run.number}[/]")
        console.print(_design(campaign.description, run), highlight=False)
        for line in _beliefs(campaign, run):
            _say(console, escape(line))
        hint(console, "If it works", f"record {run.number} VALUE{options}")
        hint(console, "If it fails", f"record {run.number} --failed --reason WHY{options}")
        console.print()
    status = campaign.status
    if n_others := status.counts[Outcome.PENDING] - len(runs):
        were = "suggestion is" if n_others == 1 else "suggestions are"
        _say(console, f"{n_others} earlier {were} pending: becbo status{options}")
    if status.n_left == 0:
        _say(console, f"The budget of {status.budget} experiments is used up.")


def print_entry(console: Console, campaign: Campaign, run: Run, verb: str, options: str) -> None:
    """Prints a run after a change."""
    result = result_text(run.result, campaign.description.objective.unit)
    _say(console, escape(f"{verb}: run {run.number} is {result}; {_best(campaign)}."))
    _say(console, f"{_progress(campaign)}.")
    hint(console, "Next", f"suggest{options}")


def print_undone(console: Console, campaign: Campaign, runs: Sequence[Run], options: str) -> None:
    """Prints what was undone: one entry, or an import."""
    if len(runs) == 1:
        print_entry(console, campaign, runs[0], "Taken back", options)
        return
    _say(console, f"Taken back: an import of {_named(runs)}; {escape(_best(campaign))}.")
    _say(console, f"{_progress(campaign)}.")


def print_imported(console: Console, done: ImportSummary, options: str) -> None:
    """Prints what an import did, and the commands for what it did not change."""
    _say(console, f"added {_named(done.added)}")
    _say(console, f"recorded {_named(done.recorded)}")
    if done.counts:
        _say(console, f"of these {_outcomes(done)}")
    if done.corrected:
        _say(console, f"filled in the reason or note of {_named(done.corrected)}")
    _say(console, f"{plural(done.n_known - done.n_pending, 'row')} known already")
    if done.n_pending:
        words = "without a result, still pending; write failed where the experiment failed"
        _say(console, f"{plural(done.n_pending, 'row')} {words}")
    for words in import_messages(done.noted, [run.number for run in done.differing]):
        _say(console, escape(words))
    for run in done.differing:
        hint(console, "To change it", f"{_correction(run)}{options}")
    if done.blank:
        hint(console, "If empty cells do not mean failed, undo the import", f"undo{options}")


def _named(runs: Sequence[Run]) -> str:
    which = f": {', '.join(str(run.number) for run in runs)}" if runs else ""
    return f"{plural(len(runs), 'run')}{which}"


def _outcomes(done: ImportSummary) -> str:
    """How many experiments worked and failed, and which failed because a cell was empty."""
    counts = [f"{done.counts[Outcome.OK]} worked", f"{done.counts[Outcome.FAILED]} failed"]
    if done.counts[Outcome.LOST]:
        counts.append(f"{done.counts[Outcome.LOST]} lost")
    words = ", ".join(counts)
    if done.blank:
        words += f"; failed because the cell was empty: {_named(done.blank)}"
    return words


def _correction(run: Run) -> str:
    """The command that would record this run."""
    words = ["correct", str(run.number)]
    words += [f"--{run.outcome.value}"] if run.value is None else [repr(run.value)]
    words += ["--reason", run.reason] if run.reason else []
    words += ["--note", run.note] if run.note else []
    return shlex.join(words)


def print_status(console: Console, campaign: Campaign, everything: bool) -> None:
    """Prints the status of a campaign."""
    status, runs = campaign.status, campaign.runs
    _say(console, f"[bold]{escape(campaign.name)}[/]: {escape(_goal(campaign.description))}")
    _say(console, _progress(campaign))
    if status.best is not None:
        _say(console, f"\n{escape(_sentence(_best(campaign)))}")
        console.print(_design(campaign.description, status.best), highlight=False)
    if status.reasons:
        several = " (one run can count for several reasons)" if status.has_lists else ""
        _say(console, f"\nWhy experiments failed{several}")
        reasons = _columns()
        for reason, count in status.reasons.items():
            reasons.add_row(f"  {escape(reason) or 'no reason given'}", str(count))
        console.print(reasons, highlight=False)
    for title, shown in (("Pending", _pending(runs)), ("All runs", runs if everything else [])):
        if shown:
            _say(console, f"\n{title}")
            console.print(_table(campaign.description, shown), highlight=False)


def hint(console: Console, what: str, command: str) -> None:
    """Prints a command, ready to be copied."""
    _say(console, f"{what}: [bold]becbo {escape(command)}[/]")


def _say(console: Console, markup: str) -> None:
    console.print(markup, highlight=False, soft_wrap=True)


def _pending(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if run.outcome is Outcome.PENDING]


def _goal(description: Description) -> str:
    wish = "as small" if description.direction == "minimize" else "as large"
    return f"{description.objective_heading}, {wish} as possible"


def _design(description: Description, run: Run) -> Table:
    table = _columns()
    for described in description.parameters:
        setting = escape(number(run.params[described.name], described.unit))
        table.add_row(f"  {escape(described.name)}", f"[bold]{setting}[/]", escape(described.note))
    return table


def _beliefs(campaign: Campaign, run: Run) -> list[str]:
    """Why this design was chosen."""
    objective = campaign.description.objective
    lines = [_sentence(f"{run.remark}.")] if run.remark else []
    if run.repeats:
        return [*lines, f"It repeats run {run.repeats[-1]}, which was lost."]
    if run.believed is None:
        n = campaign.description.settings.n_initial
        return [*lines, f"One of the first {n} experiments, which are spread over the whole space."]
    lines.append(f"Chance to work: {percent(run.believed.p_feasible)}")
    if run.believed.mean is not None and run.believed.std is not None:
        expected = estimate(run.believed.mean, run.believed.std, objective.unit)
        lines.append(f"Expected {objective.name} if it works: {expected}; {_best(campaign)}")
    return lines


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _best(campaign: Campaign) -> str:
    best = campaign.status.best
    if best is None:
        return "nothing has worked so far"
    value = number(best.value, campaign.description.objective.unit)
    return f"best so far: {value} (run {best.number})"


def _progress(campaign: Campaign) -> str:
    status = campaign.status
    planned = "" if status.budget is None else f" of {status.budget}"
    worked, failed = status.counts[Outcome.OK], status.counts[Outcome.FAILED]
    counts = [f"{worked} worked", f"{failed} failed"]
    for outcome in (Outcome.LOST, Outcome.PENDING):
        if status.counts[outcome]:
            counts.append(f"{status.counts[outcome]} {outcome.value}")
    return f"{status.n_done}{planned} done: {', '.join(counts)}"


def _table(description: Description, runs: Sequence[Run]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    headings = [described.heading for described in description.parameters]
    for heading in ("run", *headings, description.objective_heading, "note"):
        table.add_column(escape(heading), overflow="fold")
    for run in runs:
        params = [number(run.params[name]) for name in description.space.names]
        table.add_row(str(run.number), *map(escape, (*params, result_text(run.result), run.note)))
    return table


def _columns() -> Table:
    return Table(box=None, show_header=False, padding=(0, 2, 0, 0))
