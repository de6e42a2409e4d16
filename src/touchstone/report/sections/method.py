"""How the numbers came about, and how to trace one."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.sections.section import PageSection
from touchstone.report.sentence import method, trace
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """The method in a paragraph."""
    yield PageSection("method", "Method", "method.html", {"text": method(view), "trace": trace(view)})
