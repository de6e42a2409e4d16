"""All figures, also those that are not in the summary tables."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.sections.section import PageSection
from touchstone.report.table import full_tables
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """A table for each place, figures as rows since there are many."""
    tables = full_tables(view)
    if tables:
        yield PageSection("all-figures", "All figures", "figures.html", {"tables": tables})
