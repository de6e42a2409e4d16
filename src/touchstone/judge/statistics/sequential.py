"""Looking at a run before it has ended: when, and with what confidence, so that looking often does not find by chance.

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


def confidence_at_look(look: int, looks: int, confidence: float) -> float:
    """The confidence of each look so that all looks together err no more often than `confidence` says.

    The last look gets half of the error and the earlier ones share the other half equally (Bonferroni's inequality,
    valid whatever the dependence between looks): most runs that need many rounds are decided at the end.

    Raises:
        ValueError: the look is not one of 1 to `looks`.

    """
    if not 1 <= look <= looks:
        raise ValueError(f"look {look} is none of the {looks} looks")
    error = 1 - confidence
    if looks == 1:
        return confidence
    return 1 - (error / 2 if look == looks else error / 2 / (looks - 1))


def confidence_after(rounds: int, most: int, confidence: float) -> float | None:
    """The confidence for a look after this number of rounds; None if it is not the time to look."""
    looks = look_rounds(most)
    if rounds not in looks:
        return None
    return confidence_at_look(looks.index(rounds) + 1, len(looks), confidence)
