"""A gate: whether a later run may pass, by an earlier one. It never passes on what it does not know."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.judge.comparison.across import Change, Gone, Terms
from touchstone.vocabulary.figure import FIGURES, Better
from touchstone.vocabulary.phase import PHASES


@dataclass(frozen=True)
class Gate:
    """What the gate found. It is passed if it watched something, and nothing is breached, gone or open."""

    watched: int
    """How many figures it looked at."""
    breached: list[Change]
    """Figures that are really worse."""
    gone: list[Gone]
    """Figures, loads or contenders that were there and are not any more."""
    open: list[Change]
    """Figures of which nobody can say that they are no worse than the margin."""


def hold_against(changes: list[Change], lost: list[Gone], terms: Terms) -> Gate:
    """Hold changes against the gate: the figures that were asked for, else those that lead a report's summary."""
    asked = [c for c in changes if _watched(c, terms)]
    return Gate(
        watched=len(asked),
        breached=[c for c in asked if c.worse],
        gone=lost,
        open=[c for c in asked if not c.worse and not c.harmless],
    )


def _watched(change: Change, terms: Terms) -> bool:
    figure = FIGURES[change.figure]
    if terms.figures:
        return True
    return figure.headline and figure.better is not Better.NEITHER and PHASES[change.phase].gated
