"""Packages that `pip install becbo` does not bring, and the extra that brings each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from becbo.errors import BecboError

EXTRAS = {
    "botorch": "botorch",
    "distributed": "dask",
    "fastapi": "lab",
    "jinja2": "lab",
    "joblib": "bench",
    "matplotlib": "bench",
    "openpyxl": "lab",
    "optuna": "optuna",
    "optuna_dashboard": "dashboard",
    "pandas": "pandas",
    "plotly": "lab",
    "psycopg": "postgres",
    "pymysql": "mysql",
    "ray": "ray",
    "rich": "lab",
    "sklearn": "bench",
    "sqlalchemy": "optuna",
    "torch": "botorch",
    "typer": "lab",
    "uvicorn": "lab",
    "yaml": "lab",
}


class MissingExtra(BecboError, ImportError):
    """A package that is not installed; the message has the command that installs it.

    Examples:
        >>> raise MissingExtra("this needs rich, which is not installed: pip install 'becbo[lab]'")
        Traceback (most recent call last):
        becbo.extras.MissingExtra: this needs rich, which is not installed: pip install 'becbo[lab]'
    """


@contextmanager
def needed_extras() -> Iterator[None]:
    """Turns the failed import of an optional package into an error that names the command.

    Raises:
        MissingExtra: if a package that an extra brings is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingExtra(
            f"this needs {package}, which is not installed: pip install 'becbo[{EXTRAS[package]}]'"
        ) from error
