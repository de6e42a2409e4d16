"""What a declaration of a figure says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """The base unit of a figure."""

    SECONDS = "s"
    BYTES = "B"
    PER_SECOND = "1/s"
    SHARE = "share"
    COUNT = "count"


class Better(StrEnum):
    """Which direction is the better one."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class FigureGroup(StrEnum):
    """What makes figures untrustworthy together."""

    LATENCY = "latency"
    """Latencies and service times under load."""
    TAIL = "tail"
    """The latencies that a few late requests decide."""
    PEAK = "peak"
    """What was served from exec on, and the peak that it led to."""
    SPEED = "speed"
    """What a bottleneck elsewhere falsifies."""
    CPU = "cpu"
    MEMORY = "memory"
    """The server's memory under load."""
    BOOT_TIME = "boot time"
    EXACT = "exact"
    """Counted and not sampled: the same input gives the same value, so one measurement is enough."""


@dataclass(frozen=True)
class CountWords:
    """The words for a figure that a sentence tells as a number of things: "a answers 5 % more requests than b"."""

    verb: str
    things: str
    less: str
    more: str


@dataclass(frozen=True)
class Figure:
    """A quantity that a phase measures: all that any room knows of it."""

    name: str
    title: str
    unit: Unit
    better: Better
    phase: str
    headline: bool = False
    """True if it stands in the summary table."""
    leads: bool = False
    """True if its comparisons lead the summary: one figure for each question that a reader comes with. It is a headline
    figure, too."""
    scored: bool = False
    """True if it is a column of the scoreboard that a report opens with."""
    phrase: str = ""
    """Its name within a sentence, where the title does not read there."""
    counted: CountWords | None = None
    groups: frozenset[FigureGroup] = frozenset()

    @property
    def in_sentence(self) -> str:
        """Its name within a sentence."""
        if self.phrase:
            return self.phrase
        word = self.title.split(",", maxsplit=1)[0].split(maxsplit=1)[0]
        acronym = (len(word) > 1 and word[:2].isupper()) or word == "VmPeak"
        return self.title if acronym else self.title[0].lower() + self.title[1:]
