"""The token of a user's servers: made once, and kept in a file that only the user can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from becbo.errors import InvalidInput
from becbo.files import write_file

MIN_TOKEN = 12  # characters


def token_file() -> Path:
    """Where the token is kept."""
    folder = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(folder).expanduser() / "becbo" / "token"


def remembered_token() -> str:
    """The token of the last start; the first start makes it.

    Raises:
        InvalidInput: The file cannot be used, or others can read it.
    """
    path = token_file()
    remedy = "repair or remove it, or give a token with --token"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            write_file(path, f"{secrets.token_urlsafe(24)}\n".encode(), permissions=0o600)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise InvalidInput(f"others can read the token in {path}; {remedy}")
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot use the token in {path}: {error}; {remedy}") from error
    if len(token) < MIN_TOKEN:
        raise InvalidInput(f"the token in {path} is too short; {remedy}")
    return token
