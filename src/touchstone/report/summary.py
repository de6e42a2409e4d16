"""The result in sentences, one a headline comparison, for every exporter."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.judge.judgement import Verdict
from touchstone.record.figure import FIGURES
from touchstone.report.sentence import comparison_sentence
from touchstone.report.view import Place, View
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
    struck: list[Struck]


def summary(view: View) -> list[Group]:
    """The groups that have something to say, in the order of the plan."""
    groups = [_group(view, place) for place in view.places]
    return [group for group in groups if group.lines or group.struck]


def struck_sentence(struck: Struck) -> str:
    """An invalid contender in a sentence."""
    figures = ", ".join(struck.figures)
    return f"{struck.contender} is invalid and not compared: {struck.reason.rstrip('.')} ({figures})."


def _group(view: View, place: Place) -> Group:
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
    return Group(view.title(place), lines, invalid)
