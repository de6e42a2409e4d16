"""Every finding: a line for each cause and what to do next, the cases and their evidence folded below it."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.sections.section import PageSection
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """The list, also if it is empty: that nothing was found is a statement too."""
    wrong = {
        group.number: [e for i in group.samples if (s := view.sample(i)) and s.result for e in s.result.first_errors][
            :3
        ]
        for group in view.finding_groups
    }
    yield PageSection("findings", "Findings", "findings.html", {"causes": view.causes, "wrong": wrong})
