"""A figure next to what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """One row of the table. `note` tells how the figure came about, such as its spread."""

    what: str
    value: float
    bound: float
    unit: str
    at_least: bool = False
    note: str = ""

    @property
    def reached(self) -> bool:
        """Whether the value is on the right side of its bound."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def line(self) -> str:
        """The row as text: verdict, value, what was asked, note."""
        word = "at least" if self.at_least else "at most"
        verdict = "reached" if self.reached else "MISSED "
        asked = f"{word} {self.bound:g}"
        note = f"  ({self.note})" if self.note else ""
        return f"{verdict}  {self.what:<54} {self.value:>9.3f} {self.unit:<10} {asked:<16}{note}"
