"""One line of a history: a figure of one commit, set against a pinned reference measured in the same minutes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from touchstone.record.base import Record
from touchstone.vocabulary.figure import FIGURES, Figure

SCHEMA: Literal["touchstone.history/1"] = "touchstone.history/1"


_Value = Annotated[float, Field(gt=-1e100, lt=1e100)]
"""Finite, and such that a plot of it has bounds."""


def _known(figure: str) -> str:
    if figure not in FIGURES:
        raise ValueError(f"there is no figure {figure!r}; a newer touchstone may know it")
    return figure


class HistoryEntry(Record):
    """A figure of a contender at a commit. Values are in the figure's base unit."""

    schema_: Literal["touchstone.history/1"] = Field(default=SCHEMA, alias="schema")
    run: str
    """The id of the run."""
    commit: str
    committed_at: AwareDatetime
    subject: str = ""
    dirty: bool = False
    """True if files had been changed since the commit."""
    measured_at: AwareDatetime
    scenario: str
    scenario_version: int
    contender: str
    load: str | None = None
    figure: Annotated[str, AfterValidator(_known)]
    value: _Value
    low: _Value | None = None
    high: _Value | None = None
    """The interval of the value; None where the run gave none."""
    reference: str | None = None
    """What the ratio is to, pinned: a contender, or a contender at a commit; None for the reference itself."""
    ratio: _Value | None = None
    ratio_low: _Value | None = None
    ratio_high: _Value | None = None
    """The ratio value/reference with its interval, both measured in the same rounds."""
    to_tare: _Value | None = None
    """The value as a ratio to the null server's under the same load, where that has the figure."""
    machine: dict[str, str] = {}
    """What must stay the same for two values to be comparable: CPU, kernel, memory, engine, versions of tools."""

    @property
    def about(self) -> Figure:
        """What is known of the figure."""
        return FIGURES[self.figure]

    @property
    def place(self) -> str:
        """The contender, with the load if there is one."""
        return f"{self.contender}, {self.load}" if self.load else self.contender
