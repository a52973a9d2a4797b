"""The command that is running, as it was typed; reports show it."""

import shlex
import sys
from pathlib import Path

from knoll.privacy.errors import masked


def command_line() -> str | None:
    """Return the running command, without passwords; None if another program asked."""
    program, *rest = sys.argv
    return shlex.join(["knoll", *map(_shown, rest)]) if Path(program).stem in ("knoll", "main") else None


def _shown(typed: str) -> str:
    """Return what was typed, without what a URI may hold of credentials: these may have blanks and quotes in them."""
    start, mark, rest = typed.partition("://")
    if not mark:
        return typed
    _, at, place = rest.rpartition("@")
    return masked(f"{start}{mark}{'...@' if at else ''}{place}")
