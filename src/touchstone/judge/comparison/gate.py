"""A gate: whether a later run may pass, compared with an earlier one. It never passes on missing data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from touchstone.judge.comparison.across import ComparisonTerms, MissingFigure
from touchstone.judge.judgement import Comparison
from touchstone.vocabulary.figure import FIGURES, Better
from touchstone.vocabulary.phase import PHASES

SURPRISING = 1.2
"""An improvement of a fifth that nobody planned is a defect more often than a gift: skipped work, an error path, a
cache that should not be there."""


class PairStatus(StrEnum):
    """The overall result of a pair."""

    PASSED = "passed"
    """No figure that was asked about is worse by more than the margin."""
    WORSE = "worse"
    """At least one is really worse, or gone."""
    UNDECIDED = "undecided"
    """At least one may be worse."""
    INVALID = "invalid"
    """One of the two does not build, breaks its contract, or could not be measured; or they have nothing in common."""
    UNRELIABLE = "unreliable"
    """The base and a second copy of it differ, so that no difference of the head means anything."""


class GatePolicy(StrEnum):
    """When a verdict fails the job."""

    REQUIRED = "required"
    ADVISORY = "advisory"
    """The verdict is shown, and the command ends with 0."""
    AUTO = "auto"
    """Advisory until the twins of this kind of machine show that false alarms are rare; then required."""


@dataclass(frozen=True)
class Gate:
    """What the gate found. It is passed if it watched something, and nothing is breached, gone or open."""

    watched: int
    """How many figures it looked at."""
    breached: list[Comparison]
    """Figures that are really worse."""
    gone: list[MissingFigure]
    """Figures, loads or contenders that were there and are not any more."""
    open: list[Comparison]
    """Figures of which nobody can say that they are no worse than the margin."""

    @property
    def standing(self) -> PairStatus:
        """Return the overall result of the pair."""
        if self.breached or self.gone:
            return PairStatus.WORSE
        if not self.watched:
            return PairStatus.INVALID
        return PairStatus.UNDECIDED if self.open else PairStatus.PASSED


def gains(changes: Sequence[Comparison]) -> list[Comparison]:
    """Figures that are better by `SURPRISING` or more."""
    return [c for c in changes if c.better and c.ratio and max(c.ratio, 1 / c.ratio) >= SURPRISING]


def hold_against(changes: Sequence[Comparison], lost: Sequence[MissingFigure], terms: ComparisonTerms) -> Gate:
    """Hold changes against the gate: the figures that were asked for, else those that lead a report's summary."""
    asked = [c for c in changes if _watched(c, terms)]
    return Gate(
        watched=len(asked),
        breached=[c for c in asked if c.worse],
        gone=list(lost),
        open=[c for c in asked if not c.worse and not c.harmless],
    )


def _watched(change: Comparison, terms: ComparisonTerms) -> bool:
    figure = FIGURES[change.figure]
    if terms.figures:
        return True
    return figure.headline and figure.better is not Better.NEITHER and PHASES[change.phase].gated
