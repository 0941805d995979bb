"""The commands for single experiments: translate, call the campaign, translate back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from becbo.cli.options import (
    FILE,
    ByOption,
    FileOption,
    JsonOption,
    NameOption,
    opened_campaign,
    print_json,
    repeated_options,
)
from becbo.errors import BecboError, InvalidInput

if TYPE_CHECKING:
    from becbo.campaign.campaign import Campaign
    from becbo.campaign.description import Description
    from becbo.campaign.runs import Run
    from becbo.outputs import Outputs

NumberArgument = Annotated[str, typer.Argument(help="The number of the run.", show_default=False)]
ValuesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[VALUE | NAME=VALUE...]",
        help="What was measured; with several outputs, by name. What was not is left out.",
        show_default=False,
    ),
]
FailedOption = Annotated[bool, typer.Option("--failed", help="This design does not work.")]
LostOption = Annotated[bool, typer.Option("--lost", help="Power cut, broken sensor: says nothing.")]
ReasonOption = Annotated[
    str,
    typer.Option(
        help="Why it failed (all reasons, separated by commas) or was lost.", show_default=False
    ),
]
NoteOption = Annotated[str | None, typer.Option(help="Anything worth keeping.", show_default=False)]


def suggest(
    count: Annotated[int, typer.Option("-n", min=1, help="How many at once.")] = 1,
    file: FileOption = FILE,
    campaign: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Suggest the next experiment.

    It is pending until you record its result. Several can be pending at once;
    their designs differ. `becbo withdraw` takes back a suggestion that nobody
    will carry out.
    """
    with opened_campaign(file, campaign) as opened:
        from becbo.campaign.serialization import run_to_dict
        from becbo.cli.display import print_suggestions
        from becbo.insight.suggestions import explain_runs

        runs: list[Run] = []
        is_stopped, refusal = False, None
        try:
            with Console(stderr=True).status("computing suggestions") as shown:
                while len(runs) < count:
                    shown.update(f"computing suggestions: {len(runs)} of {count}")
                    runs += opened.suggest()
        except KeyboardInterrupt:
            is_stopped = True
        except BecboError as error:
            if not runs:
                raise
            refusal = error
        explained = explain_runs(opened.description, opened.runs, [run.number for run in runs])
        if as_json:
            print_json(
                [
                    run_to_dict(run) | {"why": said.why, "p_better": said.p_better}
                    for run, said in zip(runs, explained, strict=True)
                ]
            )
        elif runs:
            print_suggestions(Console(), opened, explained, repeated_options(file, campaign))
        made = f"{len(runs)} of {count} suggestions were made"
        if is_stopped:
            # One more may be pending already, written just before.
            message = f"stopped: {made}; `becbo status` shows all that are pending"
            typer.echo(message, err=True)
            raise typer.Exit(130)
        if refusal is not None:
            raise BecboError(f"{made}: {refusal}") from refusal


def record(
    number: NumberArgument,
    values: ValuesArgument = None,
    failed: FailedOption = False,
    lost: LostOption = False,
    reason: ReasonOption = "",
    note: NoteOption = None,
    by: ByOption = None,
    file: FileOption = FILE,
    campaign: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record the result of a suggested experiment.

    Give the value if it worked, --failed if this design does not work, or
    --lost if the experiment says nothing about the design, which is then
    suggested again. Of several outputs, give those that were measured, as in
    yield=72,4 viscosity=118; a failed experiment may have some too.
    """
    with opened_campaign(file, campaign, by) as opened:
        entry = _entry(opened.description.outputs, values or [], failed, lost, reason)
        run = opened.record(_number(number), **entry, note=note)
        _answer(opened, run, "Recorded", as_json, repeated_options(file, campaign))


def correct(
    number: NumberArgument,
    values: ValuesArgument = None,
    failed: FailedOption = False,
    lost: LostOption = False,
    reason: ReasonOption = "",
    note: NoteOption = None,
    by: ByOption = None,
    file: FileOption = FILE,
    campaign: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replace the result of a recorded experiment; the old entry stays in its history.

    Give all outputs again: one that is left out counts as not measured.
    """
    with opened_campaign(file, campaign, by) as opened:
        from becbo.cli.display import print_left_out

        entry = _entry(opened.description.outputs, values or [], failed, lost, reason)
        run = opened.correct(_number(number), **entry, note=note)
        _answer(opened, run, "Corrected", as_json, repeated_options(file, campaign))
        if not as_json:
            print_left_out(Console(), opened.description, run)


def undo(
    number: Annotated[
        str | None,
        typer.Argument(
            help="The number of the run; without it, the last entry or import.", show_default=False
        ),
    ] = None,
    file: FileOption = FILE,
    campaign: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take back the last entry: the run returns to its previous state.

    Repeated without a number, it walks back through all entries; an import
    is one entry. With a number, a second undo in a row restores the entry.
    """
    with opened_campaign(file, campaign) as opened:
        from becbo.campaign.serialization import run_to_dict
        from becbo.cli.display import print_undone

        options = repeated_options(file, campaign)
        if number is not None:
            before = opened.run(_number(number)).entry
            run = opened.undo(_number(number))
            is_back = run.entry is not None and (before is None or run.entry.trial > before.trial)
            _answer(opened, run, "Brought back" if is_back else "Taken back", as_json, options)
            return
        with Console(stderr=True).status("undoing"):
            runs = opened.undo_last()
        if as_json:
            print_json([run_to_dict(run) for run in runs])
        else:
            print_undone(Console(), opened, runs, options)


def withdraw(
    number: NumberArgument,
    by: ByOption = None,
    file: FileOption = FILE,
    campaign: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take back a suggestion that nobody will carry out.

    Unlike a lost run it is not repeated, but the models may suggest the same
    design again later; while it is pending they avoid it.
    """
    with opened_campaign(file, campaign, by) as opened:
        run = opened.withdraw(_number(number))
        _answer(opened, run, "Withdrawn", as_json, repeated_options(file, campaign))


def add(
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE... [VALUE]",
            help="All parameters, then the result; several outputs as NAME=VALUE too.",
            show_default=False,
        ),
    ],
    failed: FailedOption = False,
    reason: ReasonOption = "",
    note: Annotated[str, typer.Option(help="Anything worth keeping.", show_default=False)] = "",
    by: ByOption = None,
    file: FileOption = FILE,
    campaign: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record an experiment that was not suggested here."""
    with opened_campaign(file, campaign, by) as opened:
        params, values = _settings(settings, opened.description)
        entry = _entry(opened.description.outputs, values, failed, False, reason)
        run = opened.add(params, **entry, note=note)
        _answer(opened, run, "Added", as_json, repeated_options(file, campaign))


def what_if(
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE...",
            help="A design of your own: all parameters.",
            show_default=False,
        ),
    ],
    plan: Annotated[bool, typer.Option("--add", help="Make it the next run.")] = False,
    note: Annotated[str, typer.Option(help="With --add: anything worth keeping.")] = "",
    file: FileOption = FILE,
    campaign: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask about a design of your own: its chance, its values, and how new it is.

    Nothing is changed, unless --add makes it a pending run, which you record
    as if it had been suggested.
    """
    with opened_campaign(file, campaign) as opened:
        from becbo.campaign.serialization import run_to_dict
        from becbo.cli.display import print_answer, print_planned
        from becbo.insight.whatif import what_if as ask

        params, values = _settings(settings, opened.description)
        if values:
            raise InvalidInput(f"{values[0]!r} is not NAME=VALUE of a parameter")
        if note and not plan:
            raise InvalidInput(f"--note {note!r} goes with --add")
        with Console(stderr=True).status("fitting the models"):
            found = ask(opened, params)
        run = opened.plan(params, note) if plan else None
        if as_json:
            print_json(found.to_dict() | {"run": None if run is None else run_to_dict(run)})
            return
        print_answer(Console(), opened.description, found)
        if run is not None:
            print_planned(Console(), opened.description, run, repeated_options(file, campaign))


def _entry(
    outputs: Outputs, values: Sequence[str], failed: bool, lost: bool, reason: str
) -> dict[str, Any]:
    """The result, as arguments of `Campaign.record`."""
    is_single = len(outputs.names) == 1
    if failed + lost > 1 or (values and (lost or (failed and is_single))):
        given = [*values, *["--failed"] * failed, *["--lost"] * lost]
        raise InvalidInput(
            f"got {' and '.join(given)}; give exactly one of VALUE, --failed and --lost"
        )
    if not values and not failed and not lost:
        what = "VALUE" if is_single else f"values such as {outputs.names[0]}=VALUE"
        raise InvalidInput(f"got no result; give exactly one of {what}, --failed and --lost")
    if reason and not failed and not lost:
        raise InvalidInput(f"--reason {reason!r} goes with --failed or --lost; use --note instead")
    if lost:
        return {"lost": reason or True}
    measured = _values(values, outputs)
    if failed:
        return {"failed": reason or True, "measured": measured}
    return {"value": measured}


def _values(texts: Sequence[str], outputs: Outputs) -> dict[str, float]:
    """`yield=72,4 % viscosity=118` by name; a single output needs no name."""
    from becbo.tables.parsing import parse_number

    found: dict[str, float] = {}
    for text in _with_units(texts, [output.unit for output in outputs]):
        output = next((o for o in outputs if text.startswith(f"{o.name}=")), None)
        if output is None and len(outputs.names) > 1:
            wanted = " ".join(f"{name}=VALUE" for name in outputs.names)
            raise InvalidInput(f"{text!r}: say which output it is, as in {wanted}")
        if output is None:
            output = next(iter(outputs))
        if output.name in found:
            raise InvalidInput(f"{text!r}: {output.name} is given twice")
        typed = text.removeprefix(f"{output.name}=").strip()
        try:
            found[output.name] = parse_number(typed, output.name, output.unit)
        except InvalidInput as error:
            raise InvalidInput(f"{error}; use --failed if the experiment failed") from None
    return found


def _with_units(texts: Sequence[str], units: Sequence[str]) -> list[str]:
    """`72,4 %`, which a shell takes for two words, as one."""
    from becbo.tables.parsing import normalized_unit

    known = {normalized_unit(unit) for unit in units if unit}
    joined: list[str] = []
    for text in map(str.strip, texts):
        if joined and normalized_unit(text) in known:
            joined[-1] += f" {text}"
        else:
            joined.append(text)
    return joined


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(
            f"{text!r} is not the number of a run; `becbo status --all` lists them"
        ) from None


def _settings(texts: Sequence[str], description: Description) -> tuple[dict[str, Any], list[str]]:
    """`temperature=320 gas=argon 790` as params and the result."""
    from becbo.tables.parsing import parameter_value

    described = {parameter.name: parameter for parameter in description.parameters}
    params: dict[str, Any] = {}
    values = []
    units = [p.unit for p in description.parameters] + [o.unit for o in description.outputs]
    for text in _with_units(texts, units):
        name = next((name for name in described if text.startswith(f"{name}=")), None)
        is_output = any(text.startswith(f"{name}=") for name in description.outputs.names)
        if name is None and "=" in text and not is_output:
            names = ", ".join([*described, *description.outputs.names])
            raise InvalidInput(f"{text!r}: there are {names}")
        if name is None:
            values.append(text)
        elif name in params:
            raise InvalidInput(f"{text!r}: {name} is given twice")
        else:
            known, typed = described[name], text.removeprefix(f"{name}=")
            params[name] = parameter_value(known.parameter, typed, known.unit)
    if missing := [name for name in described if name not in params]:
        needed = " ".join(f"{name}=VALUE" for name in missing)
        raise InvalidInput(f"{missing[0]} is missing: add {needed}")
    return params, values


def _answer(campaign: Campaign, run: Run, verb: str, as_json: bool, options: str) -> None:
    """Prints a run after a change."""
    from becbo.campaign.serialization import run_to_dict
    from becbo.cli.display import print_entry

    if as_json:
        print_json(run_to_dict(run))
    else:
        print_entry(Console(), campaign, run, verb, options)
