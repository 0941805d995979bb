"""Files of names and values: reads YAML, TOML and JSON, writes YAML."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import yaml

from becbo.campaign.bounds import MAX_BRACKETS, MAX_DESCRIPTION

# PyYAML follows YAML 1.1, where `on`, `no` and `12:30` are not strings and 1e-5 is not a number.
# People and most other programs expect YAML 1.2.
_TAGS = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9]+", list("-+0123456789")),
    "float": (
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+0123456789."),
    ),
}


def parse(suffix: str, text: str) -> Any:
    """Reads the content of a file.

    Args:
        suffix: The kind of file, one of `PARSERS`.
        text: The content of the file.

    Returns:
        Plain data.

    Raises:
        ValueError: The content is not of that kind, or too long.
    """
    if len(text) > MAX_DESCRIPTION or text.count("[") + text.count("{") > MAX_BRACKETS:
        raise ValueError(
            f"it is too long; use at most {MAX_DESCRIPTION} characters and {MAX_BRACKETS} brackets"
        )
    return PARSERS[suffix](text)


def to_yaml(content: Any) -> str:
    """Plain data as YAML, in the order given."""
    written: str = yaml.dump(content, Dumper=_dumper(), sort_keys=False, allow_unicode=True)
    return written


def _parse_yaml(text: str) -> Any:
    try:
        return yaml.load(text, _loader())
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from error


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except RecursionError as error:
        raise ValueError(str(error)) from error


PARSERS: dict[str, Callable[[str], Any]] = {
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
    ".toml": tomllib.loads,
    ".json": _parse_json,
}


def _without_repeats(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """A dict; a repeated name is an error instead of replacing the first one."""
    found: dict[Any, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} appears twice")
        found[name] = value
    return found


@cache
def _loader() -> type[yaml.SafeLoader]:
    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, Any] = {}

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            names = [self.construct_object(key, deep=True) for key, _ in node.value]
            if unfit := [name for name in names if isinstance(name, list | dict)]:
                raise ValueError(f"{unfit[0]!r} cannot be a name")
            _without_repeats((name, None) for name in names)
            return super().construct_mapping(node, deep)

        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):  # a few lines of them fill the memory
                raise ValueError(
                    "YAML aliases are not supported; write the values out, and put a string that "
                    "begins with * in quotes"
                )
            return super().compose_node(parent, index)

    # 010 is ten.
    Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))
    for tag, (pattern, first) in _TAGS.items():
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", _whole(pattern), first)
    return Loader


@cache
def _dumper() -> type[yaml.SafeDumper]:
    """Quotes strings that YAML 1.1 or YAML 1.2 would read as something else."""

    class Dumper(yaml.SafeDumper):
        pass

    for tag, (pattern, first) in _TAGS.items():
        Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", _whole(pattern), first)
    return Dumper


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:{pattern})$")
