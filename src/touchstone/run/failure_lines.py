"""A failure as the terminal shows it at once: what, the end of the log, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.record.sample import Failure

_SHOWN = 15
"""Lines of the log: enough for a compiler's last error or a stack trace's head, and no more than half a screen."""


def failure_lines(contender: str, phase: str, failure: Failure) -> Iterator[str]:
    """The lines."""
    where = f"{failure.where}: " if failure.where else ""
    yield f"  {contender}: {phase} failed: {where}{failure.what}"
    if failure.tail:
        yield "  the end of its log:"
        yield from (f"    | {line}" for line in failure.tail[-_SHOWN:])
    if failure.fix:
        yield f"  do: {failure.fix}"
