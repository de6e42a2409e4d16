"""What is going on, for the person who waits."""

from __future__ import annotations

import sys


def progress(text: str) -> None:
    """Writes one line to standard error at once."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
