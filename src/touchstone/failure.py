"""Errors that reach the user, and the exit code of each: the only place where exit codes are set."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """What `touchstone` tells the shell."""

    OK = 0
    FAILED = 1
    USAGE = 2
    GATE = 3
    INVALID = 4
    UNDECIDED = 5
    INTERRUPTED = 130
    UNREAD = 141
    """The reader of the output has ended: 128 plus the number of SIGPIPE, as in a shell."""


class TouchstoneError(Exception):
    """Something a person has to know: what happened, where, and what to do about it."""

    exit_code: ExitCode = ExitCode.FAILED

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n  do: {self.fix}" if self.fix else ""
        return f"{place}{self.what}{advice}"

    @property
    def sentence(self) -> str:
        """What happened, and what to do where that is known: in a line, for a record."""
        return f"{self.what}; {self.fix}" if self.fix else self.what


class UsageError(TouchstoneError):
    """The command line or a manifest asks for something that does not exist."""

    exit_code = ExitCode.USAGE


class InvalidRunError(TouchstoneError):
    """The run cannot carry a valid number."""

    exit_code = ExitCode.INVALID


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that one most likely meant; none if no name is near."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest of the known names, for the beginning of an advice: `did you mean 'go'? `; empty if none is near."""
    near = nearest(name, known)
    return f"did you mean {near!r}? " if near else ""
