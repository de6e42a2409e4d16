"""Contenders that could not be measured, and why."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.sections.section import PageSection
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """Missing tools, and phases that failed."""
    failures = [s for s in view.run.samples if s.failure is not None]
    if view.not_measured or failures:
        data = {"contenders": view.not_measured, "failures": failures}
        yield PageSection("not-measured", "Not measured", "absent.html", data)
