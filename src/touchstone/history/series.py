"""A history as series: one a figure, contender and load, parted where the machine or the reference changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from touchstone.history.entry import HistoryEntry

Key = tuple[str, str, str | None, str]


class ShownFigure(StrEnum):
    """What of a figure is drawn and searched for changes."""

    RATIO = "ratio to the reference"
    TO_TARE = "ratio to the null server"
    VALUE = "absolute"


@dataclass(frozen=True)
class HistoryBreak:
    """Where two neighbouring entries cannot be compared: never a change of the service."""

    at: int
    """The index of the first entry after it."""
    after: str
    """The last commit before it."""
    until: str
    """The first after it."""
    differences: tuple[str, ...]
    """What changed, in words: `kernel: 6.1.0 to 6.6.2`."""


@dataclass(frozen=True)
class FigureHistory:
    """A figure over commits."""

    entries: tuple[HistoryEntry, ...]
    shown: ShownFigure
    breaks: tuple[HistoryBreak, ...]

    @property
    def first(self) -> HistoryEntry:
        """The oldest entry, which says whose series it is."""
        return self.entries[0]

    @property
    def values(self) -> list[float]:
        """What is drawn, of each entry."""
        return [_shown(entry, self.shown) or 0.0 for entry in self.entries]

    @property
    def segments(self) -> list[tuple[int, int]]:
        """The stretches between breaks: the index of the first entry, and that after the last."""
        ends = [0, *(one.at for one in self.breaks), len(self.entries)]
        return list(pairwise(ends))


def series_of(entries: Sequence[HistoryEntry]) -> list[FigureHistory]:
    """The series of a store's entries, which are in the order of the commits."""
    groups: dict[Key, list[HistoryEntry]] = {}
    for entry in entries:
        groups.setdefault((entry.scenario, entry.contender, entry.load, entry.figure), []).append(entry)
    return [FigureHistory(tuple(group), _best(group), tuple(_breaks(group))) for group in groups.values()]


def _best(group: Sequence[HistoryEntry]) -> ShownFigure:
    """The ratio to what was measured in the same minutes, where every entry has one: it does not know the day."""
    return next(
        (
            shown
            for shown in (ShownFigure.RATIO, ShownFigure.TO_TARE)
            if all(_shown(e, shown) is not None for e in group)
        ),
        ShownFigure.VALUE,
    )


def _shown(entry: HistoryEntry, shown: ShownFigure) -> float | None:
    match shown:
        case ShownFigure.RATIO:
            return entry.ratio
        case ShownFigure.TO_TARE:
            return entry.to_tare
        case ShownFigure.VALUE:
            return entry.value


def _breaks(group: Sequence[HistoryEntry]) -> Iterable[HistoryBreak]:
    for at in range(1, len(group)):
        if found := tuple(differences(group[at - 1], group[at])):
            yield HistoryBreak(at, group[at - 1].commit, group[at].commit, found)


def differences(before: HistoryEntry, after: HistoryEntry) -> list[str]:
    """What keeps two entries of a series from being compared, in words; empty if nothing does."""
    old, new = _facts(before), _facts(after)
    return [
        f"{name}: {old.get(name) or 'none'} to {new.get(name) or 'none'}"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def _facts(entry: HistoryEntry) -> dict[str, str]:
    own = {"scenario's version": str(entry.scenario_version), "reference": entry.reference or ""}
    return entry.machine | own
