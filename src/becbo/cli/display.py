"""What the commands of a campaign print for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from becbo import Outcome, Outlook, Stop
from becbo.campaign.campaign import Campaign
from becbo.campaign.description import Description
from becbo.campaign.formatting import (
    chance_text,
    expected_text,
    number,
    percent,
    plural,
    result_text,
    sentence,
    values_text,
)
from becbo.campaign.runs import Run
from becbo.campaign.status import Status
from becbo.failures import DEFAULT
from becbo.insight.forecasts import outlook_table
from becbo.insight.standing import Standing
from becbo.insight.suggestions import Suggestion
from becbo.insight.whatif import Answer
from becbo.outputs import Outputs

if TYPE_CHECKING:
    from becbo.tables.importing import ImportSummary

_ANY_WIDTH = 1_000_000  # characters, more than any table has


def overview(description: Description) -> Table:
    """A table of everything in a description."""
    table = _columns()
    table.add_row("campaign", f"[bold]{escape(description.name)}[/]", escape(description.note))
    for name, wish in zip(description.outputs.names, description.wishes, strict=True):
        table.add_row("measured", escape(wish), escape(description.output_notes.get(name, "")))
    for described in description.parameters:
        table.add_row(escape(described.name), escape(described.allowed), escape(described.note))
    for text in description.constraints:
        table.add_row("known limit", escape(text))
    table.add_row("budget", "open" if description.budget is None else f"{description.budget}")
    if description.settings.noisy:
        table.add_row("noisy", "the same settings, measured twice, give different values")
    if description.settings.risk is not None:
        table.add_row("risk", f"at most {percent(description.settings.risk)} of proposals may fail")
    if (failures := description.settings.failures) != DEFAULT:
        table.add_row("failures", str(failures))
    return table


def print_suggestions(
    console: Console, campaign: Campaign, suggestions: Sequence[Suggestion], options: str
) -> None:
    """Prints each design, why it was chosen, and how to record it."""
    for each in suggestions:
        _say(console, f"[bold]Run {each.number}[/]")
        console.print(_design(campaign.description, each.params), highlight=False)
        if each.remark:
            _say(console, escape(sentence(each.remark)))
        _say(console, escape(each.why))
        _say_how(console, campaign.description, each.number, options)
        console.print()
    status = campaign.status
    if n_others := status.counts[Outcome.PENDING] - len(suggestions):
        were = "suggestion is" if n_others == 1 else "suggestions are"
        _say(console, f"{n_others} earlier {were} pending: becbo status{options}")
    if status.budget is not None and status.n_left == 0:
        _say(console, f"The budget of {plural(status.budget, 'experiment')} is used up.")


def print_answer(console: Console, description: Description, found: Answer) -> None:
    """Prints what is known about a design of one's own."""
    console.print(_design(description, found.params), highlight=False)
    for text in found.violated:
        _say(console, f"[yellow]It violates a known limit: {escape(text)}[/]")
    if found.prediction is None:
        _say(console, "Nothing can be predicted before the first result.")
        return
    _say(
        console,
        f"{_capital(chance_text(description.outputs))}: {percent(found.prediction.p_feasible)}",
    )
    if found.prediction.outputs:
        expected = expected_text(found.prediction.outputs, description.outputs)
        _say(console, escape(f"Expected if it works: {expected}"))
    if found.p_better is not None and found.prediction.outputs:
        is_single = len(description.outputs.objectives) == 1
        what = "beat the best" if is_single else "improve the front"
        _say(console, f"Chance to {what}: {percent(found.p_better)}")
    _say(console, escape(found.how_far))


def print_planned(console: Console, description: Description, run: Run, options: str) -> None:
    """Prints that a design of one's own is the next run, and how to record it."""
    _say(console, f"[bold]Run {run.number}[/] is pending.")
    _say_how(console, description, run.number, options)


def _say_how(console: Console, description: Description, number: int | None, options: str) -> None:
    """How to record a run."""
    values = _placeholder(description.outputs)
    hint(console, "If it works", f"record {number} {values}{options}")
    hint(console, "If it fails", f"record {number} --failed --reason WHY{options}")


def print_entry(console: Console, campaign: Campaign, run: Run, verb: str, options: str) -> None:
    """Prints a run after a change."""
    result = result_text(run.result, campaign.description.outputs)
    _say(console, escape(f"{verb}: run {run.number} is {result}; {_so_far(campaign)}."))
    _say(console, f"{_progress(campaign)}.")
    hint(console, "Next", f"suggest{options}")


def print_left_out(console: Console, description: Description, run: Run) -> None:
    """Names what was measured before the last change of a run and is missing now."""
    before = run.before.result.values
    missing = {name: value for name, value in before.items() if run.values.get(name) is None}
    if words := values_text(missing, description.outputs):
        _say(console, f"[yellow]Measured before and left out now: {escape(words)}.[/]")


def print_undone(console: Console, campaign: Campaign, runs: Sequence[Run], options: str) -> None:
    """Prints what was undone: one entry, or an import."""
    if len(runs) == 1:
        print_entry(console, campaign, runs[0], "Taken back", options)
        return
    _say(console, f"Taken back: an import of {_named(runs)}; {escape(_so_far(campaign))}.")
    _say(console, f"{_progress(campaign)}.")


def print_imported(console: Console, done: ImportSummary, options: str) -> None:
    """Prints what an import did, and the commands for what it did not change."""
    from becbo.tables.importing import import_messages

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
    for run, known in done.doubtful:
        which = f"Run {run.number} has the settings of run {known.number}, but not its result"
        _say(console, f"{which}: it counts as another experiment.")
        command = f"{_correction(replace(run, number=known.number))}{options}"
        hint(console, f"If it corrects run {known.number}, undo the import, then", command)
    if done.blank:
        hint(console, "If that does not mean failed, undo the import", f"undo{options}")


def _named(runs: Sequence[Run]) -> str:
    which = f": {', '.join(str(run.number) for run in runs)}" if runs else ""
    return f"{plural(len(runs), 'run')}{which}"


def _outcomes(done: ImportSummary) -> str:
    """How many experiments worked and failed, and which failed only for want of a value."""
    counts = [f"{done.counts[Outcome.OK]} worked", f"{done.counts[Outcome.FAILED]} failed"]
    if done.counts[Outcome.LOST]:
        counts.append(f"{done.counts[Outcome.LOST]} lost")
    words = ", ".join(counts)
    if done.blank:
        words += f"; failed because no objective has a value: {_named(done.blank)}"
    return words


def _correction(run: Run) -> str:
    """The command that would record this run."""
    words = ["correct", str(run.number)]
    measured = {name: value for name, value in run.values.items() if value is not None}
    words += [f"--{run.outcome.value}"] if run.outcome is not Outcome.OK else []
    has_names = len(run.values) > 1
    words += [f"{name}={v!r}" if has_names else repr(v) for name, v in measured.items()]
    words += ["--reason", run.reason] if run.reason else []
    words += ["--note", run.note] if run.note else []
    return shlex.join(words)


def repetition(found: Sequence[Standing]) -> str:
    """The command that repeats the best run, if that was measured only once."""
    if len(found) != 1 or found[0].is_confirmed:
        return ""
    settings = (f"{name}={value}" for name, value in found[0].run.params.items())
    return shlex.join(["what-if", *settings, "--add"])


def print_outlook(console: Console, seen: Outlook, rule: Stop) -> None:
    """Prints what more experiments may bring, what failures have cost, and the advice."""
    found = outlook_table(seen, rule)
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading in found.headings:
        table.add_column(escape(heading))
    for row in found.rows:
        table.add_row(*row)
    _say(console, "\nOutlook")
    console.print(table, highlight=False)
    _say(console, found.cost)
    _say(console, escape(found.advice))


def print_status(
    console: Console, campaign: Campaign, status: Status, remark: str, everything: bool
) -> None:
    """Prints the status of a campaign, with a remark about its best run."""
    description, runs = campaign.description, campaign.runs
    wishes = ", ".join(description.wishes)
    _say(console, f"[bold]{escape(campaign.name)}[/]: {escape(wishes)}")
    _say(console, _progress(campaign))
    if status.best is not None:
        _say(console, f"\n{escape(_capital(_best(status, description.outputs)))}")
        console.print(_design(description, status.best.params), highlight=False)
    elif status.front:
        _say(console, "\nThe front: no other run is better in every objective")
        _print_runs(console, description, status.front)
    if remark:
        _say(console, escape(remark))
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
            _print_runs(console, description, shown)


def hint(console: Console, what: str, command: str) -> None:
    """Prints a command, ready to be copied."""
    _say(console, f"{what}: [bold]becbo {escape(command)}[/]")


def _say(console: Console, markup: str) -> None:
    console.print(markup, highlight=False, soft_wrap=True)


def _pending(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if run.outcome is Outcome.PENDING]


def _placeholder(outputs: Outputs) -> str:
    """The values in a command that is still to be filled in."""
    if len(outputs.names) == 1:
        return "VALUE"
    return " ".join(f"{shlex.quote(name)}=VALUE" for name in outputs.names)


def _design(description: Description, params: Mapping[str, Any]) -> Table:
    table = _columns()
    for described in description.parameters:
        setting = escape(number(params[described.name], described.unit))
        table.add_row(f"  {escape(described.name)}", f"[bold]{setting}[/]", escape(described.note))
    return table


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _so_far(campaign: Campaign) -> str:
    return _best(campaign.status, campaign.description.outputs)


def _best(status: Status, outputs: Outputs) -> str:
    if status.best is not None:
        value = result_text(status.best.result, outputs)
        return f"{status.best_title}: {value} (run {status.best.number})"
    if status.front:
        runs = ", ".join(str(run.number) for run in status.front)
        return f"on the front: run{'s' * (len(status.front) > 1)} {runs}"
    is_broken = status.counts[Outcome.OK] > 0
    return "nothing is acceptable so far" if is_broken else "nothing has worked so far"


def _progress(campaign: Campaign) -> str:
    status = campaign.status
    planned = "" if status.budget is None else f" of {status.budget}"
    worked, failed = status.counts[Outcome.OK], status.counts[Outcome.FAILED]
    counts = [f"{worked} worked", f"{failed} failed"]
    for outcome in (Outcome.LOST, Outcome.PENDING):
        if status.counts[outcome]:
            counts.append(f"{status.counts[outcome]} {outcome.value}")
    return f"{status.n_done}{planned} done: {', '.join(counts)}"


def _print_runs(console: Console, description: Description, runs: Sequence[Run]) -> None:
    """Prints runs as a table if it fits into the width, otherwise one below the other."""
    table = _table(description, runs)
    unbounded = console.options.update_width(_ANY_WIDTH)
    if console.measure(table, options=unbounded).minimum <= console.width:
        console.print(table, highlight=False)
        return
    units = {described.name: described.unit for described in description.parameters}
    for run in runs:
        result = result_text(run.result, description.outputs)
        more = [f"by {run.by}"] * bool(run.by) + [run.note] * bool(run.note)
        said = escape("; ".join([result, *more]))
        console.print(f"[bold]Run {run.number}[/]: {said}", highlight=False)
        settings = (f"{name} {number(run.params[name], unit)}" for name, unit in units.items())
        console.print(
            Padding(escape(", ".join(settings)), (0, 0, 0, 2), expand=False), highlight=False
        )


def _table(description: Description, runs: Sequence[Run]) -> Table:
    """A row for each run: no number is broken, and columns without any content are left out."""
    rigid = [("run", [str(run.number) for run in runs])]
    for described in description.parameters:
        rigid.append((described.heading, [number(run.params[described.name]) for run in runs]))
    for name, heading in description.headings.items():
        measured = [run.values.get(name) for run in runs]
        rigid.append((heading, ["" if v is None else number(v) for v in measured]))
    words = [
        ("outcome", [_ended(run) for run in runs]),
        ("note", [run.note for run in runs]),
        ("by", [run.by for run in runs]),
    ]
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading, cells in rigid:
        lines = heading.replace(" [", "\n[")  # the unit below the name
        width = max(map(cell_len, [*lines.splitlines(), *cells]))
        if any(cells):
            table.add_column(escape(lines), no_wrap=True, min_width=width)
    for heading, cells in words:
        if any(cells):
            table.add_column(heading, overflow="fold")
    shown = [cells for _, cells in rigid + words if any(cells)]
    for row in zip(*shown, strict=True):
        table.add_row(*map(escape, row))
    return table


def _ended(run: Run) -> str:
    """How a run ended and why, unless it worked."""
    if run.outcome is Outcome.OK:
        return ""
    return f"{run.outcome.value} ({run.reason})" if run.reason else run.outcome.value


def _columns() -> Table:
    return Table(box=None, show_header=False, padding=(0, 2, 0, 0))
