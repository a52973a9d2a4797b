"""The command that is running, as it was typed."""

import shlex
import sys
from pathlib import Path


def command_line() -> str | None:
    """Return the running command; None if another program asked."""
    program, *rest = sys.argv
    return shlex.join(["knoll", *rest]) if Path(program).stem in ("knoll", "main") else None
