"""A comparison of two revisions as workflow commands of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.comparison.gate import gains
from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.judgement import Severity
from touchstone.report.changes import gone_words, row
from touchstone.report.view import View

MOST = 10
"""GitHub shows ten warnings and ten errors of a step."""


def annotation_lines(judged: PairJudgement, view: View, *, blocks: bool = True) -> Iterator[str]:
    """An error for what is worse, missing or failed. A warning for what is undecided.

    Where the verdict does not block, figures that are worse or missing are warnings.
    """
    asked = {change.figure for change in judged.changes}
    errors = [(f"{failed.contender} failed", "\n".join([failed.reason, *failed.details])) for failed in judged.failed]
    if judged.twin is not None:
        errors += [
            (f"{row(one).figure} of a copy of the base differs", row(one).ratio) for one in judged.twin.different
        ]
    warnings: list[tuple[str, str]] = []
    verdict = errors if blocks else warnings
    verdict += [("gone", gone_words(one)) for one in judged.gone]
    for change in judged.changes:
        words = row(change)
        detail = f"{words.place}: {words.before} before, {words.after} after, {words.ratio}, margin {words.margin}"
        if change.worse:
            verdict.append((f"{words.figure} is worse", detail))
        elif not change.harmless:
            warnings.append((f"{words.figure} is undecided", detail))
    warnings += [(f"explain the improvement of {row(one).figure}", row(one).ratio) for one in gains(judged.changes)]
    for group in view.finding_groups:
        concerns = not asked or group.first.figures is None or not asked.isdisjoint(group.first.figures)
        if concerns and group.first.severity is not Severity.NOTE:
            where = ", ".join(part for part in (group.first.contender, group.first.load) if part)
            warnings.append((group.first.code, f"{where or 'the run'}: {group.first.statement}"))
    for level, found in (("error", errors), ("warning", warnings)):
        for title, message in found[:MOST]:
            yield f"::{level} title={_property(f'touchstone: {title}')}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
