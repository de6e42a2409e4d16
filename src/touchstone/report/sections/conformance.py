"""Conformance: a short table, and below it, folded, the requirements that somebody breaks with their cases."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.conformance import conformance
from touchstone.report.sections.section import PageSection
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """The section, if any contender was probed."""
    found = conformance(view)
    if found is not None:
        yield PageSection("conformance", f"Conformance to {found.protocol}", "conformance.html", {"found": found})
