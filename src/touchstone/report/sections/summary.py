"""The result in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.sections.section import PageSection
from touchstone.report.summary import summary
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """The summary, if anything was compared."""
    groups = summary(view)
    if groups:
        yield PageSection("summary", "Comparisons", "summary.html", {"groups": groups})
