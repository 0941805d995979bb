"""Numbers and results for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from becbo.outputs import Limit, Outputs
from becbo.trial import Estimate, Outcome, Result
from becbo.wording import percent as percent

_PLAIN = 1e-4, 1e6  # between these, numbers are written without an exponent
_FINEST = 1e-6  # standard deviation down to which all digits are written


def number(value: Any, unit: str = "") -> str:
    """A value with its unit; what is not a float is written as it is."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"{text} {unit}" if unit else text


def result_text(result: Result, outputs: Outputs) -> str:
    """A result in a few words: `600 HV`, `yield 72 %, viscosity 118` or `failed (cracked)`."""
    values = values_text(result.values, outputs)
    if result.outcome is Outcome.OK:
        return values
    remarks = "; ".join(filter(None, (result.reason, values)))
    return f"{result.outcome.value} ({remarks})" if remarks else result.outcome.value


def values_text(values: Mapping[str, float | None], outputs: Outputs) -> str:
    """The outputs that were measured, by name unless there is only one output."""
    has_names = len(outputs.names) > 1
    return ", ".join(
        f"{output.name} {number(value, output.unit)}" if has_names else number(value, output.unit)
        for output in outputs
        if (value := values.get(output.name)) is not None
    )


def estimate(mean: float, std: float, unit: str = "") -> str:
    """A mean and its standard deviation, with as many digits as the latter justifies."""
    size = max(abs(mean), std)
    if std > _FINEST and _PLAIN[0] <= size < _PLAIN[1]:
        decimals = max(1 - math.floor(math.log10(std)), 0)
        text = f"{mean:.{decimals}f} ± {std:.{decimals}f}"
    else:
        text = f"{mean:.6g} ± {std:.2g}"
    return f"{text} {unit}" if unit else text


def expected_text(estimates: Mapping[str, Estimate], outputs: Outputs) -> str:
    """The expected outputs, by name unless there is only one: `72 ± 3 kPa`."""
    has_names = len(outputs.names) > 1
    return ", ".join(
        (f"{output.name} " if has_names else "") + estimate(known.mean, known.std, output.unit)
        for output in outputs
        if (known := estimates.get(output.name)) is not None
    )


def chance_text(outputs: Outputs) -> str:
    """What a predicted chance of a design is called: it counts limits that are measured, too."""
    return "chance to work and keep every limit" if outputs.limits else "chance to work"


def margin_text(limit: Limit, value: float) -> str:
    """How far a value is from its limit: `82 inside`, `140 beyond`."""
    margin = limit.margin(value)
    return f"{abs(margin):.3g} {'inside' if margin >= 0 else 'beyond'}"


def plural(count: int, what: str) -> str:
    """`1 experiment`, `2 experiments`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def sentence(text: str) -> str:
    """The text with a capital at the beginning and a full stop at the end."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def tight(text: str) -> str:
    """The text with non-breaking spaces inside its numbers."""
    return text.replace(" %", "\u00a0%").replace(" ± ", "\u00a0±\u00a0")
