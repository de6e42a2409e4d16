"""The result in sentences: one a headline comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.judge.judgement import Verdict
from touchstone.record.figure import FIGURES
from touchstone.report.sections.section import Section
from touchstone.report.sentence import comparison_sentence
from touchstone.report.view import View
from touchstone.report.words import Standing, standing


@dataclass(frozen=True)
class Line:
    """A comparison in a sentence."""

    standing: Standing
    sentence: str


@dataclass(frozen=True)
class Struck:
    """A contender whose comparisons are invalid for one reason: told once, with the figures that it strikes out."""

    contender: str
    reason: str
    figures: list[str]


@dataclass(frozen=True)
class Group:
    """The sentences of a place."""

    title: str
    lines: list[Line]
    invalid: list[Struck]


def build(view: View) -> Iterator[Section]:
    """The summary, if anything was compared."""
    groups = [group for group in _groups(view) if group.lines or group.invalid]
    if groups:
        yield Section("summary", "Summary", "summary.html", {"groups": groups})


def _groups(view: View) -> Iterator[Group]:
    for place in view.places:
        headline = {f.name for f in view.figures(place, headline=True)}
        lines: list[Line] = []
        struck: dict[tuple[str, str], list[str]] = {}
        for comparison in view.comparisons(place):
            if comparison.figure not in headline:
                continue
            if comparison.verdict is Verdict.INVALID:
                reason = comparison.reason or "no valid pair of samples"
                struck.setdefault((comparison.contender, reason), []).append(FIGURES[comparison.figure].title)
            else:
                sentence = comparison_sentence(comparison, view.judgement.confidence)
                lines.append(Line(standing(comparison), sentence))
        invalid = [Struck(contender, reason, figures) for (contender, reason), figures in struck.items()]
        yield Group(view.title(place), lines, invalid)
