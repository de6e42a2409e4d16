"""Boards of imported results: one for a figure under a test of another benchmark."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from touchstone.judge.judgement import Estimate, Verdict
from touchstone.judge.statistics.intervals import median_interval
from touchstone.record.published import PublishedFigure, PublishedFigures
from touchstone.site.board import Board, BoardRow, ranked_rows
from touchstone.vocabulary.figure import FIGURES

_CONFIDENCE = 0.95
_ORDER = ("throughput", "latency_p99", "cpu_per_request")


def published_source(published: PublishedFigures) -> dict[str, str]:
    """What the page says of imported results, in the place of a run."""
    return {
        "id": f"imported: {', '.join(published.files[:3])}{', …' if len(published.files) > 3 else ''}",
        "scenario": published.benchmark,
        "date": f"{published.measured_at:%Y-%m-%d %H:%M}" if published.measured_at else "",
        "machine": published.machine or "not stated",
        "verdict": "",
        "report": "",
    }


def published_boards(all_published: Sequence[PublishedFigures], first: int) -> list[Board]:
    """The boards; the results at place n are named as run `first` + n."""
    rows: dict[tuple[str, str, str], list[BoardRow]] = {}
    for number, published in enumerate(all_published, first):
        held: dict[tuple[str, str], list[PublishedFigure]] = {}
        for one in sorted(published.figures, key=lambda one: _ORDER.index(one.figure)):
            held.setdefault((one.test, one.figure), []).append(one)
        for (test, figure), figures in held.items():
            estimates = [_estimate(one) for one in figures]
            key = published.benchmark, test, figure
            rows.setdefault(key, []).extend(ranked_rows(number, estimates, (), figure))
    return [Board(name, test, FIGURES[figure], held) for (name, test, figure), held in rows.items()]


def _estimate(one: PublishedFigure) -> Estimate:
    estimate = Estimate(phase="load", contender=one.entry, load=one.test, figure=one.figure, values=one.values)
    estimate.verdict = Verdict(one.verdict)
    interval = median_interval(one.values, _CONFIDENCE)
    if interval is not None:
        estimate.median, estimate.low, estimate.high = interval.point, interval.low, interval.high
    else:
        estimate.median = statistics.median(one.values)
    return estimate
