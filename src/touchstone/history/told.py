"""What a history says, in words: of each series its state, its changes with the commits between, its breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import computed_field

from touchstone.history.changes import ChangePoint, changes_of
from touchstone.history.entry import Entry
from touchstone.history.series import Series, series_of
from touchstone.judge.comparison.pair import Revision
from touchstone.judge.judgement import Comparison
from touchstone.record.base import Record

Between = Callable[[str, str], Sequence[Revision]]
"""The commits after one and up to another, the newest first; empty where git does not know them."""


class Change(Record):
    """A change point."""

    after: str
    """The last commit that was measured before it."""
    until: str
    """The first that was measured after it."""
    compared: Comparison
    """What is shown, after it against before it."""
    commits: list[Revision]
    """Commits between, one of which caused the change."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def share(self) -> float:
        """The figure's change as a share of its earlier value. Use `compared.ratio`."""
        return (self.compared.ratio or 1.0) - 1

    @computed_field  # type: ignore[prop-decorator]
    @property
    def worse(self) -> bool:
        """True if it is worse since then. Use `compared.outcome`."""
        return self.compared.worse


class Interruption(Record):
    """A break: what was measured before and after it cannot be compared."""

    after: str
    until: str
    differences: list[str]


class Told(Record):
    """A series in words."""

    scenario: str
    contender: str
    load: str | None
    figure: str
    shown: str
    """What is compared over commits: a ratio, or the value."""
    commits: int
    newest: Entry
    changes: list[Change]
    breaks: list[Interruption]


@dataclass(frozen=True)
class Seen:
    """A series with its change points."""

    series: Series
    changes: list[ChangePoint]
    told: Told


def look(entries: Sequence[Entry], magnitude: float, between: Between, *, find_changes: bool = True) -> list[Seen]:
    """Every series of a store, searched for change points. Raises OtavaMissingError."""
    found = []
    for series in series_of(entries):
        changes = changes_of(series, magnitude) if find_changes else []
        found.append(Seen(series, changes, _told(series, changes, between)))
    return found


def _told(series: Series, changes: Sequence[ChangePoint], between: Between) -> Told:
    def pair(at: int) -> tuple[str, str]:
        return series.entries[at - 1].commit, series.entries[at].commit

    def change(one: ChangePoint) -> Change:
        after, until = pair(one.at)
        commits = list(between(after, until)) or [_revision(series.entries[one.at])]
        return Change(after=after, until=until, compared=one.compared, commits=commits)

    first = series.first
    return Told(
        scenario=first.scenario,
        contender=first.contender,
        load=first.load,
        figure=first.figure,
        shown=series.shown,
        commits=len(series.entries),
        newest=series.entries[-1],
        changes=[change(one) for one in changes],
        breaks=[
            Interruption(after=pair(one.at)[0], until=pair(one.at)[1], differences=list(one.differences))
            for one in series.breaks
        ],
    )


def _revision(entry: Entry) -> Revision:
    return Revision(name=entry.commit[:10], commit=entry.commit, subject=entry.subject)
