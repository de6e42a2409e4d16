"""The words and marks of verdicts, outcomes and severities: the same in every report."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.report.format import NOTHING
from touchstone.vocabulary.figure import FIGURES, Better, Figure, Unit
from touchstone.vocabulary.phase import PHASES

VERDICT_MARKS = {Verdict.VALID: "", Verdict.SUSPECT: "?", Verdict.INVALID: "✗"}


@dataclass(frozen=True)
class Standing:
    """How a comparison is shown: its kind (a style's name), its mark and its word."""

    kind: str
    mark: str
    word: str


INVALID = Standing("invalid", "\N{BALLOT X}", "invalid")


def standing(comparison: Comparison) -> Standing:
    """What a comparison amounts to, in the words that fit its figure."""
    if comparison.verdict is Verdict.INVALID:
        return INVALID
    if comparison.ratio is None:
        return Standing("none", NOTHING, "not compared")
    if comparison.outcome is Outcome.EQUIVALENT:
        return Standing("equivalent", "=", "equivalent")
    if comparison.outcome is Outcome.UNDECIDED:
        return Standing("undecided", "~", "undecided")
    word = _word(FIGURES[comparison.figure], comparison.ratio)
    if comparison.better is None:
        return Standing("different", "≠", word)
    return Standing("better", "▲", word) if comparison.better else Standing("worse", "▼", word)


def _word(figure: Figure, ratio: float) -> str:
    if figure.unit is Unit.BYTES:
        return "larger" if ratio > 1 else "smaller"
    if figure.unit in (Unit.COUNT, Unit.SHARE):
        return "more" if ratio > 1 else "fewer"
    rises = ratio > 1
    return "faster" if rises == (figure.better is Better.HIGHER) else "slower"


def direction(figure: Figure) -> str:
    """Which way is better, in words; empty if neither is."""
    return {Better.LOWER: "lower is better", Better.HIGHER: "higher is better", Better.NEITHER: ""}[figure.better]


def place_title(phase: str, load: str | None, load_title: str | None = None) -> str:
    """The heading of a phase or of a load within it."""
    kind = PHASES.get(phase)
    title = kind.title if kind else phase.capitalize()
    if load is None:
        return title
    if kind and kind.load_alone:
        return load_title or load
    return f"{title}: {load_title or load}"
