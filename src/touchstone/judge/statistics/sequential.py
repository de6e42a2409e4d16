"""Sequential checks of a run: when to check, and with what confidence.

A 95 % interval that is looked at after every round excludes the truth at some look far more often than one time in
twenty. So a run that goes on until it is decided looks after few, growing numbers of rounds, and shares its error among
the looks.
"""

from __future__ import annotations

FIRST_LOOK = 5
GROWTH = 1.4


def look_rounds(most: int, first: int = FIRST_LOOK, growth: float = GROWTH) -> list[int]:
    """The numbers of rounds after which to look, up to `most`: 5, 7, 10, 14, 20, ... and `most` itself."""
    looks: list[int] = []
    at = first
    while at < most:
        looks.append(at)
        at = max(at + 1, round(at * growth))
    return [*looks, most]


def confidence_of_look(before: float, now: float, confidence: float) -> float:
    """The confidence of one look that keeps the error of all looks within `confidence`.

    The error is spent as the run's budget is: a look gets the share of the budget that was used since the look before,
    and the last one what is left (an error-spending function over the time that was planned, Lan and DeMets 1983; the
    parts are added up by Bonferroni's inequality, valid whatever the dependence between looks).

    Args:
        before: the share of the budget that was used at the look before, 0 at the first.
        now: the share that is used now; 1 at the last look.
        confidence: of all looks together.

    Raises:
        ValueError: the shares do not rise within 0 to 1.

    """
    if not 0 <= before < now <= 1:
        raise ValueError(f"a look at {now:g} of the budget after one at {before:g}")
    return 1 - (1 - confidence) * (now - before)
