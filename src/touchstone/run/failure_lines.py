"""Lines that the terminal shows for a failure: the error, the end of the log, and the advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from touchstone.isolation.process import tail
from touchstone.record.sample import Failure, Sample
from touchstone.record.secret import shown_text

_SHOWN = 15
"""Lines of the log: enough for a compiler's last error or a stack trace's head, and no more than half a screen."""

_CHECKS = 3
"""Checks of a contract that are shown at once; the report has all."""


def failure_lines(contender: str, phase: str, failure: Failure) -> Iterator[str]:
    """The lines."""
    where = f"{failure.where}: " if failure.where else ""
    yield f"  {contender}: {phase} failed: {where}{failure.what}"
    yield from _end_of_log(failure.tail)
    if failure.fix:
        yield f"  do: {failure.fix}"


def broken_lines(sample: Sample, folder: Path) -> Iterator[str]:
    """Return how the sample's service broke its contract, and the end of its log.

    `folder` is the run's. Nothing of one that kept its contract.
    """
    broken = [check for check in sample.checks if not check.passed]
    for check in broken[:_CHECKS]:
        first = check.broken[0]
        yield (
            f"  {sample.contender} breaks its contract: {check.says}: {first.request}: "
            f"expected {first.expected}; received {first.received}"
        )
    log = sample.process.log
    if broken and log:
        log_lines = tail(folder / log, _SHOWN)
        yield from _end_of_log(log_lines)
        yield f"  its log: {folder / log}{'' if log_lines else ' (it wrote nothing)'}"


class EndedServices:
    """Services that ended while they were measured, each shown once: one process serves several loads of a round."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the run's."""
        self._folder = folder
        self._shown: set[str] = set()

    def lines(self, sample: Sample) -> Iterator[str]:
        """Return how the sample's service ended, with the end of its log. Empty if it lives or was shown before."""
        log = sample.process.log
        process = sample.process.id
        if sample.process.server_exit is None or sample.failure is not None or process in self._shown:
            return
        self._shown.add(process)
        yield f"  {sample.contender}: the server {sample.process.server_exit} while it was measured ({sample.phase})"
        yield from _end_of_log(tail(self._folder / log, _SHOWN) if log else [])


def _end_of_log(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "  the end of its log:"
        yield from (f"    | {shown_text(line)}" for line in lines[-_SHOWN:])
