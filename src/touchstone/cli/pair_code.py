"""The exit code of a command that puts two contenders side by side."""

from __future__ import annotations

from touchstone.failure import ExitCode
from touchstone.judge.comparison.pair import PairJudgement, PairStanding


def pair_code(said: PairJudgement, *, allow_undecided: bool) -> int:
    """What the shell is told."""
    if said.interrupted:
        return ExitCode.INTERRUPTED
    match said.standing:
        case PairStanding.PASSED:
            return ExitCode.OK
        case PairStanding.WORSE:
            return ExitCode.GATE
        case PairStanding.UNDECIDED:
            return ExitCode.OK if allow_undecided else ExitCode.UNDECIDED
        case PairStanding.INVALID:
            return ExitCode.INVALID
