"""Overtaking: the time from which a contender has served more in total since exec than another."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.sections.section import PageSection
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """Every pair that was started under load; those that cross first."""
    if view.crossings:
        yield PageSection("crossings", "Served in total since exec", "crossings.html", {"crossings": view.crossings})
