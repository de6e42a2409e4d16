"""Bars by percentile of slow requests, and a time line of a window, for the page."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.why.explanation import Unexplained
from touchstone.report.sections.section import PageSection
from touchstone.report.view import View
from touchstone.report.why import latency as words
from touchstone.report.why.latency_page import bars, lanes, legend


def build(view: View) -> Iterator[PageSection]:
    """One section for all loads and contenders whose slow requests were kept."""
    articles = []
    for found in view.latency_explanations:
        if isinstance(found, Unexplained):
            articles.append({"found": found, "explained": False, "drawn": []})
            continue
        drawn = []
        for one in (found.contender, found.baseline):
            if one is None:
                continue
            windows = [s.tail for s in view.run.samples if (s.contender, s.load) == (one.contender, found.load)]
            last = next((window for window in reversed(windows) if window is not None), None)
            drawn.append(
                {
                    "name": one.contender,
                    "bars": bars(one),
                    "legend": legend(one),
                    "lanes": lanes(last) if last is not None else [],
                }
            )
        articles.append({"found": found, "explained": True, "drawn": drawn})
    if articles:
        yield PageSection(
            "why-p99", "Why p99: slow requests in parts", "latency.html", {"all": articles, "words": words}
        )
