"""The result in sentences: one a headline comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.judge.judgement import Verdict
from touchstone.report.sections.section import Section
from touchstone.report.sentence import comparison_sentence
from touchstone.report.view import View
from touchstone.report.words import Standing, standing


@dataclass(frozen=True)
class Line:
    """A comparison in a sentence."""

    standing: Standing
    sentence: str
    colour: int


@dataclass(frozen=True)
class Group:
    """The sentences of a place."""

    title: str
    lines: list[Line]
    invalid: list[Line]


def build(view: View) -> Iterator[Section]:
    """The summary, if anything was compared."""
    groups = [group for group in _groups(view) if group.lines or group.invalid]
    counts: dict[str, int] = {}
    for group in groups:
        for line in group.lines:
            counts[line.standing.kind] = counts.get(line.standing.kind, 0) + 1
    if groups:
        yield Section("summary", "Summary", "summary.html", {"groups": groups, "counts": counts})


def _groups(view: View) -> Iterator[Group]:
    for place in view.places:
        headline = {f.name for f in view.figures(place, headline=True)}
        lines: list[Line] = []
        invalid: list[Line] = []
        for comparison in view.comparisons(place):
            if comparison.figure in headline:
                sentence = comparison_sentence(comparison, view.judgement.confidence)
                line = Line(standing(comparison), sentence, view.colour(comparison.contender))
                (invalid if comparison.verdict is Verdict.INVALID else lines).append(line)
        yield Group(view.title(place), lines, invalid)
