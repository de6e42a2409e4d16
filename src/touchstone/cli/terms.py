"""The terms on which two runs or revisions are compared: margins, figures, and the exit code of a gate."""

from __future__ import annotations

import re
from collections.abc import Iterable

from touchstone.failure import ExitCode, UsageError, did_you_mean
from touchstone.judge.comparison.gate import PairStatus
from touchstone.vocabulary.figure import FIGURES


def read_share(text: str) -> float:
    """A margin as a share. Raises UsageError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    value = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0 < value < 1:
        raise UsageError(f"{text!r} is not a margin", fix="give a share between 0 and 1, such as 5% or 0.05")
    return value


def read_figures(words: Iterable[str]) -> dict[str, float | None]:
    """Figures by name, each with a margin of its own if it has one: `throughput`, `throughput=3%`.

    Raises UsageError for a figure that does not exist.
    """
    named: dict[str, float | None] = {}
    for word in words:
        name, _, own = word.partition("=")
        if name not in FIGURES:
            hint = did_you_mean(name, FIGURES)
            raise UsageError(f"there is no figure {name!r}", fix=f"{hint}docs/figures.md lists them")
        named[name] = read_share(own) if own else None
    return named


def gate_code(standing: PairStatus, *, allow_undecided: bool) -> ExitCode:
    """The exit code of a gate that found this."""
    match standing:
        case PairStatus.PASSED:
            return ExitCode.OK
        case PairStatus.WORSE:
            return ExitCode.GATE
        case PairStatus.UNDECIDED:
            return ExitCode.OK if allow_undecided else ExitCode.UNDECIDED
        case PairStatus.INVALID:
            return ExitCode.INVALID
        case PairStatus.UNRELIABLE:
            return ExitCode.UNDECIDED
