"""The result in sentences, one a headline comparison, for every exporter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.judge.judgement import Verdict
from touchstone.report.view import PhaseAndLoad, View
from touchstone.report.words import INVALID, VERDICT_MARKS, Sign, sign
from touchstone.vocabulary.figure import FIGURES


@dataclass(frozen=True)
class ComparisonSentence:
    """A comparison in a sentence."""

    sign: Sign
    sentence: str
    doubtful: bool
    """True if a finding makes one of the two figures suspect."""
    lead: bool
    """True for the figures that a reader asks for first; a page may fold the others."""


@dataclass(frozen=True)
class InvalidContender:
    """A contender with invalid comparisons: the reason, and the figures that it removes."""

    contender: str
    reason: str
    figures: list[str]


@dataclass(frozen=True)
class SummaryGroup:
    """The sentences of a place."""

    title: str
    lines: list[ComparisonSentence]
    struck: list[InvalidContender]

    @property
    def leading(self) -> list[ComparisonSentence]:
        """The lines that are always shown: all of them where none leads."""
        return [line for line in self.lines if line.lead] or self.lines

    @property
    def further(self) -> list[ComparisonSentence]:
        """The lines that may be folded."""
        return [line for line in self.lines if line not in self.leading]

    @property
    def tally(self) -> str:
        """What the folded lines say, in words."""
        counts = Counter(line.sign.kind for line in self.further)
        return ", ".join(f"{count} {kind if kind != 'none' else 'not compared'}" for kind, count in counts.items())


def summary(view: View) -> list[SummaryGroup]:
    """The groups that have something to say, in the order of the plan."""
    groups = [_group(view, place) for place in view.places]
    return [group for group in groups if group.lines or group.struck]


def struck_sentence(struck: InvalidContender) -> str:
    """An invalid contender in a sentence."""
    figures = ", ".join(struck.figures)
    return f"{struck.contender} is invalid and not compared: {struck.reason.rstrip('.')} ({figures})."


def _group(view: View, place: PhaseAndLoad) -> SummaryGroup:
    headline = {f.name for f in view.figures(place, headline=True)}
    lines: list[ComparisonSentence] = []
    struck: dict[tuple[str, str], list[str]] = {}
    for comparison in view.comparisons(place):
        if comparison.figure not in headline:
            continue
        if comparison.verdict is Verdict.INVALID:
            reason = comparison.reason or "no valid pair of samples"
            struck.setdefault((comparison.contender, reason), []).append(FIGURES[comparison.figure].title)
        else:
            sentence = comparison.sentence
            lines.append(
                ComparisonSentence(
                    sign(comparison),
                    sentence,
                    comparison.verdict is Verdict.SUSPECT,
                    FIGURES[comparison.figure].leads,
                )
            )
    invalid = [InvalidContender(contender, reason, figures) for (contender, reason), figures in struck.items()]
    return SummaryGroup(view.title(place), lines, invalid)


def sentences(view: View, *, leading: bool) -> Iterator[tuple[str, Sign, str]]:
    """The summary's lines: a place's title with its first, empty with the others."""
    for group in summary(view):
        lines = [(line.sign, marked(line)) for line in (group.leading if leading else group.lines)]
        lines += [(INVALID, struck_sentence(struck)) for struck in group.struck]
        for number, (how, sentence) in enumerate(lines):
            yield group.title if number == 0 else "", how, sentence


def marked(line: ComparisonSentence) -> str:
    """A comparison's sentence, with the mark of a doubtful figure; the findings say why."""
    return f"{line.sentence} {VERDICT_MARKS[Verdict.SUSPECT]}" if line.doubtful else line.sentence
