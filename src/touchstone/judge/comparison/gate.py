"""A gate: whether a later run may pass, by an earlier one. It never passes on what it does not know."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.judge.comparison.across import Change, Gone, Terms
from touchstone.vocabulary.figure import FIGURES, Better

_PHASES = {"load", "boot", "drain", "hold", "probe", "footprint", "profile"}
"""What a service's users and its operators notice. Builds are slow by chance, and a gate on them would cry wolf."""


@dataclass(frozen=True)
class Gate:
    """What the gate found. It is passed if nothing is breached, gone or open."""

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
        breached=[c for c in asked if c.worse],
        gone=lost,
        open=[c for c in asked if not c.worse and not c.harmless],
    )


def _watched(change: Change, terms: Terms) -> bool:
    figure = FIGURES[change.figure]
    if terms.figures:
        return True
    return figure.headline and figure.better is not Better.NEITHER and change.phase in _PHASES
