"""Descriptions for hypothesis, with the texts that files get wrong."""

from typing import Any

from hypothesis import strategies as st

from becbo.campaign.names import RESERVED_COLUMNS

_SIGNS = "abnosyZ019 _-+=@'\"#:,;{}()*&!|>%?./\\~<°µé漢😀"  # of YAML, CSV, formulas and people
texts = st.text(_SIGNS, max_size=9).map(str.strip)
words = st.text(_SIGNS, min_size=1, max_size=9).map(lambda text: text.strip() or "on")
_RESERVED = dict.fromkeys(RESERVED_COLUMNS, "no")
names = words.map(lambda text: _RESERVED.get(text.lower(), text))
finite = st.floats(-1e6, 1e6)


@st.composite
def ranges(draw: st.DrawFn) -> dict[str, Any]:
    low, kind = draw(st.floats(-1e3, 1e3)), draw(st.integers(0, 4))
    high = low + draw(st.floats(1, 1e3))
    if kind == 0:
        choice = st.one_of(words, st.integers(2, 9), st.booleans(), st.floats(10.5, 99))
        return {"choices": draw(st.lists(choice, min_size=2, max_size=4, unique_by=str))}
    if kind == 1:
        return {"low": abs(low) + 0.1, "high": abs(low) + 99.0, "log": True}
    if kind == 2:
        return {"low": low, "high": high, "step": (high - low) / draw(st.integers(1, 9))}
    if kind == 3:
        return {"low": int(low), "high": int(low) + 9, "integer": True, "step": 3}
    return {"low": low, "high": high}


_parameters = st.tuples(ranges(), texts, texts).map(
    lambda given: {**given[0], "unit": given[1], "note": given[2]}
)
_settings = {
    "budget": st.integers(1, 99),
    "risk": st.floats(0.01, 0.5),
    "failures": st.fixed_dictionaries({}, optional={"chance": st.floats(0, 0.5)}),
    "noisy": st.booleans(),
    "n_initial": st.integers(1, 20),
    "seed": st.integers(0, 2**32),
    "note": texts,
}


@st.composite
def _outputs(draw: st.DrawFn, objective: str) -> dict[str, Any]:
    """One objective, or several outputs of all kinds."""
    wish = draw(st.sampled_from(["minimize", "maximize"]))
    if draw(st.booleans()):
        return {"objective": {"name": objective, "unit": draw(texts), "direction": wish}}
    more = draw(st.lists(names, min_size=3, max_size=3, unique=True))
    second, limit, recorded = (f"{name} {i}" for i, name in enumerate(more))
    return {
        "objectives": {
            objective: {"direction": wish, "unit": draw(texts), "note": draw(texts)},
            second: {"target": draw(finite)},
        },
        "limits": {limit: {"upper": draw(finite), "unit": draw(texts)}},
        "recorded": {recorded: {"unit": draw(texts)}},
    }


@st.composite
def contents(draw: st.DrawFn) -> dict[str, Any]:
    """What `describe` takes."""
    objective, *others = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    return {
        "name": draw(names),
        **draw(_outputs(objective)),
        "parameters": {name: draw(_parameters) for name in others},
        **draw(st.fixed_dictionaries({}, optional=_settings)),
    }
