"""Why one contender needs more CPU per request than the baseline: a waterfall, functions, calls and a flame graph."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.why.explanation import CpuExplanation
from touchstone.judge.why.tree import tree
from touchstone.report.sections.section import PageSection
from touchstone.report.view import View
from touchstone.report.why import words
from touchstone.report.why.flame import flame
from touchstone.report.why.waterfall import waterfall

_FINE = 0.24
"""Over the points that a line may have: the least share of a frame that is drawn."""


def build(view: View) -> Iterator[PageSection]:
    """One section for all loads and contenders that were profiled."""
    if not view.explanations:
        return
    parts = []
    for number, found in enumerate(view.explanations):
        if isinstance(found, CpuExplanation):
            root = tree(view.run, found.baseline, found.contender, found.load)
            drawn = flame(root, _FINE / view.budget.points)
            parts.append({"found": found, "fall": waterfall(found), "flame": drawn, "id": f"flame-{number}"})
        else:
            parts.append({"found": found, "fall": None, "flame": None, "id": f"flame-{number}"})
    yield PageSection("why", "Why: CPU per request in parts", "why.html", {"parts": parts, "words": words})
