"""A failure as the terminal shows it at once: what, the end of the log, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from touchstone.isolation.process import tail
from touchstone.record.sample import Failure, Sample
from touchstone.record.secret import shown_text

_SHOWN = 15
"""Lines of the log: enough for a compiler's last error or a stack trace's head, and no more than half a screen."""


def failure_lines(contender: str, phase: str, failure: Failure) -> Iterator[str]:
    """The lines."""
    where = f"{failure.where}: " if failure.where else ""
    yield f"  {contender}: {phase} failed: {where}{failure.what}"
    yield from _end_of_log(failure.tail)
    if failure.fix:
        yield f"  do: {failure.fix}"


def death_lines(sample: Sample, folder: Path) -> Iterator[str]:
    """Of a service that ended while it was measured: how, and the end of its log. Nothing of one that lived."""
    if sample.server_exit is None or sample.failure is not None:
        return
    yield f"  {sample.contender}: the server {sample.server_exit} while it was measured ({sample.phase})"
    log = sample.files.get("log")
    yield from _end_of_log(tail(folder / log, _SHOWN) if log else [])


def _end_of_log(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "  the end of its log:"
        yield from (f"    | {shown_text(line)}" for line in lines[-_SHOWN:])
