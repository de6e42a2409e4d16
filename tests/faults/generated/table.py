"""The outcomes as a table: caught by class and size, and the smallest fault that is caught nine times in ten."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.faults.generated.measure import Outcome

BINS = ((0.0, 0.0002), (0.0002, 0.001), (0.001, 0.01), (0.01, 0.05), (0.05, 1.01))
OFTEN = 0.9
ENOUGH = 5
"""Fewer draws of a size say nothing about nine in ten."""
BEGIN, END = "<!-- generated faults: begin -->", "<!-- generated faults: end -->"


def text(outcomes: Sequence[Outcome]) -> str:
    """Both tables, for each profile that was measured."""
    parts = []
    for profile in sorted({o.profile for o in outcomes}):
        own = [o for o in outcomes if o.profile == profile]
        faults, sound = [o for o in own if o.group != "sound"], [o for o in own if o.group == "sound"]
        if faults:
            parts += [f"Profile {profile}, {len(faults)} faults:", _faults(faults)]
        if sound:
            parts.append(_sound(sound, profile))
    return "\n\n".join(parts)


def _faults(faults: Sequence[Outcome]) -> str:
    head = [
        f"{_percent(low)} to {_percent(min(high, 1.0))}" if low else f"below {_percent(high)}" for low, high in BINS
    ]
    lines = [f"| class | {' | '.join(head)} | caught nine times in ten |", f"|---|{'---:|' * len(BINS)}---|"]
    groups = sorted({o.group for o in faults})
    for group in [*groups, "all"]:
        own = [o for o in faults if group in (o.group, "all")]
        cells = [_cell(_within(own, *bounds)) for bounds in BINS]
        lines.append(f"| {group} | {' | '.join(cells)} | {_smallest(own)} |")
    return "\n".join(lines)


def _within(outcomes: Sequence[Outcome], low: float, high: float) -> list[Outcome]:
    return [o for o in outcomes if low <= o.size < high]


def _cell(outcomes: Sequence[Outcome]) -> str:
    return f"{sum(o.caught for o in outcomes)} of {len(outcomes)}" if outcomes else "-"


def _smallest(outcomes: Sequence[Outcome]) -> str:
    """From which size on nine in ten were caught, in each bin from there on."""
    found = None
    for low, high in reversed(BINS):
        own = _within(outcomes, low, high)
        if own and sum(o.caught for o in own) < OFTEN * len(own):
            break
        if len(own) >= ENOUGH:
            found = low
    if found is None:
        return "-"
    return f"from {_percent(found)} on" if found else "of any size"


def _sound(sound: Sequence[Outcome], profile: str) -> str:
    false = [o for o in sound if o.found]
    noisy = sum(bool(o.noise) for o in sound)
    codes = ", ".join(sorted({code for o in false for code in o.found}))
    return (
        f"Profile {profile}, {len(sound)} sound draws: {len(false)} false alarms{f' ({codes})' if codes else ''}. "
        f"{noisy} more had findings that say that the machine was busy, which it was."
    )


def _percent(share: float) -> str:
    return f"{share * 100:g} %"


def write_between_markers(page: Path, tables: str) -> None:
    """Replace what stands between the markers. Raises ValueError if the page has none."""
    old = page.read_text(encoding="utf-8")
    if BEGIN not in old or END not in old:
        raise ValueError(f"{page} lacks the markers {BEGIN} and {END}")
    before, rest = old.split(BEGIN, 1)
    page.write_text(f"{before}{BEGIN}\n{tables}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")
