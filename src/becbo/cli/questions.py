"""The questions of `becbo new`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape

from becbo.campaign.campaign import Campaign
from becbo.campaign.describing import describe
from becbo.campaign.description import Description
from becbo.campaign.formulas import constraint_examples
from becbo.campaign.names import check_column, check_name, check_unit_and_note
from becbo.campaign.store import campaign_names
from becbo.cli.display import overview
from becbo.errors import InvalidInput
from becbo.failures import Failures
from becbo.optuna.storage import without_password
from becbo.outputs import Limit
from becbo.tables.parsing import parse_number

T = TypeVar("T")

_KINDS = {"n": "number", "w": "whole number", "c": "choice"}
_WISHES = {
    "s": "minimize",
    "l": "maximize",
    "t": "target",
    "k": "limit",
    "r": "recorded",
}
_THE_REST = (
    "The kinds of the parameters cannot be changed later. Ranges, choices, constraints, the budget "
    "and settings without a question here, such as the risk, can, with `becbo change`."
)


def ask(file: str, console: Console) -> tuple[Campaign, Path] | None:
    """Asks the questions, and creates the campaign and the file that describes it.

    Args:
        file: Where the campaign is kept.
        console: Where to ask.

    Returns:
        The campaign and the path of its description; None if the last answer was no.
    """
    prompt = _Prompt(console)
    console.print("A few questions; Ctrl-C leaves without creating anything.\n")
    name = prompt.until("Name of the campaign:", lambda text: _new_name(text, file))
    content: dict[str, Any] = {"name": name, **_outputs(prompt)}
    content["parameters"] = _parameters(prompt, content)
    _ask_constraints(prompt, content)
    described = prompt.until(
        "How many experiments do you plan (empty: not decided)?",
        lambda text: describe({**content, "budget": _whole(text) if text else None}),
    )
    is_noisy = prompt.until(
        "Do the same settings, measured twice, give different values (yes or no)?", _yes
    )
    settings = replace(described.settings, noisy=is_noisy, failures=_failures(prompt))
    described = replace(described, settings=settings)
    console.print("\nThe campaign:\n")
    console.print(overview(described), highlight=False)
    console.print(f"\n{_THE_REST}", highlight=False)
    if not prompt.until("\nCreate it (yes or no)?", _yes):
        return None
    return _create(described, file), yaml_path(name, file)


def yaml_path(name: str, file: str) -> Path:
    """The path of the description of a new campaign: beside its database."""
    folder = Path() if "://" in file else Path(file).parent
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")
    return folder / f"{plain or 'campaign'}.yaml"


def _create(described: Description, file: str) -> Campaign:
    """Writes the file first, because it can be deleted again."""
    path = yaml_path(described.name, file)
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(described.to_yaml())
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}; nothing was created") from error
    try:
        return Campaign.create(described, file)
    except BaseException:
        path.unlink()
        raise


class _Prompt:
    """Repeats a question until the answer can be used."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def until(self, question: str, understand: Callable[[str], T]) -> T:
        while True:
            try:
                text = self._console.input(f"{escape(question)} ").strip()
            except EOFError:
                raise InvalidInput(
                    f"the answers ended at {question.strip()!r}; nothing was created"
                ) from None
            try:
                return understand(text)
            except InvalidInput as error:
                self.complain(error)

    def complain(self, error: InvalidInput) -> None:
        self._console.print(f"  [red]{escape(str(error))}[/]", highlight=False, soft_wrap=True)


def _new_name(text: str, file: str) -> str:
    check_name("name", text)
    if text in campaign_names(file):
        shown = without_password(file)
        raise InvalidInput(f"{shown} has a campaign {text!r} already; choose another name")
    if (path := yaml_path(text, file)).exists():
        raise InvalidInput(
            f"{path} exists already; choose another name, or leave with Ctrl-C and run "
            f"`becbo new {path}`"
        )
    return text


def _outputs(prompt: _Prompt) -> dict[str, Any]:
    """Asks what is measured, one output after the other."""
    found: dict[str, Any] = {"objectives": {}, "limits": {}, "recorded": {}}
    taken: set[str] = set()
    while True:
        question = "What do you measure?" if not taken else "What else (empty: nothing)?"
        name = prompt.until(question, lambda text: _new_output(text, taken))
        if not name and found["objectives"]:
            return {section: entries for section, entries in found.items() if entries}
        section, entry = _output(prompt, name, is_first=not taken)
        found[section][name] = entry
        taken.add(name)


def _new_output(text: str, taken: Collection[str]) -> str:
    if text in taken:
        raise InvalidInput(f"{text!r} exists already; choose another name")
    if text or not taken:
        check_column("output", text)
    return text


def _output(prompt: _Prompt, name: str, is_first: bool) -> tuple[str, dict[str, Any]]:
    """The section of the description that an output belongs to, and its entry."""
    unit = {"unit": prompt.until("  Its unit (empty: none):", _unit)}
    number = _number_in(unit["unit"])
    question = "  Should it be small or large (s or l), hit a target (t)"
    others = "?" if is_first else ", keep a limit (k), or just be recorded (r)?"
    wishes = {k: w for k, w in _WISHES.items() if not is_first or k in "slt"}
    wish = prompt.until(question + others, _one_of(wishes))
    if wish == "target":
        return "objectives", unit | {"target": prompt.until("  Which value?", number)}
    if wish == "limit":
        return "limits", unit | _bounds(prompt, name, _optional(number))
    if wish == "recorded":
        return "recorded", unit
    return "objectives", unit | {"direction": wish}


def _bounds(
    prompt: _Prompt, name: str, number: Callable[[str], float | None]
) -> dict[str, float | None]:
    lower = prompt.until("  At least (empty: no lower limit):", number)

    def understand(text: str) -> float | None:
        upper = number(text)
        Limit(name, lower, upper)
        return upper

    return {"lower": lower, "upper": prompt.until("  At most (empty: no upper limit):", understand)}


def _number_in(unit: str) -> Callable[[str], float]:
    """Reads a number with or without its unit."""
    return lambda text: parse_number(text, unit=unit)


def _optional(read: Callable[[str], float]) -> Callable[[str], float | None]:
    return lambda text: read(text) if text else None


def _unit(text: str) -> str:
    check_unit_and_note("output", text)
    return text


def _parameters(prompt: _Prompt, content: Mapping[str, Any]) -> dict[str, Any]:
    """Asks for parameters one by one; an invalid one is asked for again."""
    found: dict[str, Any] = {}
    while True:
        end = " (empty: no more)" if found else ""
        name = prompt.until(
            f"Parameter {len(found) + 1}, something you can set. Its name{end}:",
            lambda text: _new_parameter(text, found),
        )
        if not name:
            return found
        given = _range(prompt)
        try:
            describe({**content, "parameters": {**found, name: given}})
        except InvalidInput as error:
            prompt.complain(error)
        else:
            found[name] = given


def _new_parameter(text: str, found: Mapping[str, Any]) -> str:
    if text in found:
        raise InvalidInput(f"{text!r} exists already; choose another name")
    if text or not found:
        check_name("a parameter", text)
    return text


def _range(prompt: _Prompt) -> dict[str, Any]:
    kind = prompt.until("  Number, whole number or choice (n, w or c)?", _one_of(_KINDS))
    if kind == "choice":
        return {"choices": prompt.until("  The choices, with commas between:", _choices)}
    unit = prompt.until("  Its unit (empty: none):", str)
    number = _number_in(unit)
    low = prompt.until("  Smallest value:", number)
    high = prompt.until("  Largest value:", number)
    given = {"low": low, "high": high, "unit": unit}
    if kind == "whole number":
        return {**given, "integer": True}
    return {**given, **_scale(prompt, low, _optional(number))}


def _scale(prompt: _Prompt, low: float, number: Callable[[str], float | None]) -> dict[str, Any]:
    """Asks for a step or a logarithmic scale."""
    step = prompt.until("  In steps of (empty: any value):", number)
    if step is not None or low <= 0:
        return {"step": step}
    question = "  Do factors matter rather than differences, as for a dilution (yes or no)?"
    return {"log": prompt.until(question, _yes)}


def _ask_constraints(prompt: _Prompt, content: dict[str, Any]) -> None:
    """Asks for constraints that are known in advance."""

    def understand(text: str) -> str:
        if text:
            describe({**content, "constraints": [*content["constraints"], text]})
        return text

    content["constraints"] = []
    numbers = [name for name, given in content["parameters"].items() if "choices" not in given]
    if not numbers:
        return
    examples = constraint_examples(numbers)
    question = f"A known constraint, such as {examples} (empty: none):"
    while text := prompt.until(question, understand):
        content["constraints"].append(text)
        question = "Another one (empty: none):"


def _failures(prompt: _Prompt) -> Failures:
    """Asks how often failures are bad luck, what one costs and how many may be."""
    by_chance = "How many of 100 good experiments fail by bad luck, in % (empty: becbo finds out)?"
    chance = prompt.until(by_chance, lambda text: Failures(chance=_share(text) if text else None))
    cost = "What does a failure cost besides the experiment, in experiments (empty: nothing)?"
    price = prompt.until(cost, lambda text: Failures(price=parse_number(text) if text else 0.0))
    at_most = "How many experiments may fail in all (empty: any number)?"
    budget = prompt.until(at_most, lambda text: Failures(budget=_whole(text) if text else None))
    return Failures(chance.chance, price.price, budget.budget)


def _share(text: str) -> float:
    share = parse_number(text, unit="%") / 100
    if not 0 <= share < 1:
        raise InvalidInput(f"{text!r} must be from 0 to below 100 %, such as 5")
    return share


def _choices(text: str) -> list[str]:
    return [choice.strip() for choice in text.split(",") if choice.strip()]


def _one_of(answers: Mapping[str, str]) -> Callable[[str], str]:
    """Accepts a letter, or a word that begins with it."""

    def understand(text: str) -> str:
        if (letter := text[:1].lower()) not in answers:
            raise InvalidInput(f"{text!r}: answer {' or '.join(answers)}")
        return answers[letter]

    return understand


def _yes(text: str) -> bool:
    return _one_of({"y": "yes", "n": "no"})(text) == "yes"


def _whole(text: str) -> int:
    number = parse_number(text)
    if not number.is_integer():
        raise InvalidInput(f"{text!r} is not a whole number")
    return int(number)
