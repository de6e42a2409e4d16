"""Change points of a series by Apache Otava: since which commit a figure is another one."""

from __future__ import annotations

import math
import statistics

from pydantic import computed_field

from touchstone.history.series import FigureHistory, ShownFigure
from touchstone.judge.comparison.pair import Revision
from touchstone.judge.judgement import Comparison, Outcome
from touchstone.judge.statistics.decision import Interval
from touchstone.record.base import Record
from touchstone.record.sample import TARE
from touchstone.toolchain.otava import change_points

P_VALUE = 0.001
"""Otava's own default: a history is looked at every day, and one false alarm in twenty would be one a month."""
MAGNITUDE = 0.01
"""The smallest change to report, as a share; smaller ones are not worth acting upon."""


class HistoryChange(Record):
    """A figure is another one since a commit."""

    at: int
    """The index of the first entry after it, within the series."""
    after: str
    """The last commit that was measured before it."""
    until: str
    """The first that was measured after it."""
    compared: Comparison
    """The means of what is shown, over the stretches before and after. Otava gives no interval."""
    commits: list[Revision] = []
    """Commits between, one of which caused the change."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def share(self) -> float:
        """The figure's change as a share of its earlier value. Use `compared.ratio`."""
        return (self.compared.ratio or 0.0) - 1

    @computed_field  # type: ignore[prop-decorator]
    @property
    def worse(self) -> bool:
        """True if it is worse since then. Use `compared.outcome`."""
        return self.compared.worse


def changes_of(series: FigureHistory, magnitude: float = MAGNITUDE) -> list[HistoryChange]:
    """The change points between breaks. Raises OtavaMissingError."""
    found = []
    for begin, end in series.segments:
        points = [begin + index for index in change_points(series.values[begin:end], P_VALUE, magnitude)]
        edges = [begin, *points, end]
        for left, at, right in zip(edges, points, edges[2:], strict=False):
            found.append(_change(series, left, at, right))
    return found


def _change(series: FigureHistory, left: int, at: int, right: int) -> HistoryChange:
    before, after = (statistics.fmean(series.values[slice(*stretch)]) for stretch in ((left, at), (at, right)))
    first, ratio = series.first, after / before if before else math.inf
    references = {ShownFigure.RATIO: series.entries[at].reference, ShownFigure.TO_TARE: TARE, ShownFigure.VALUE: None}
    compared = Comparison(
        phase=first.about.phase,
        contender=first.contender,
        baseline=first.contender,
        load=first.load,
        figure=first.figure,
        before=before,
        after=after,
        relative_to=references[series.shown],
        ratio=ratio,
        outcome=Outcome.of(Interval(ratio, ratio, ratio), first.figure, 0.0),
    )
    return HistoryChange(at=at, after=series.entries[at - 1].commit, until=series.entries[at].commit, compared=compared)
