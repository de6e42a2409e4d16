"""The words and marks of verdicts, outcomes and severities: the same in every report."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.report.format import NOTHING
from touchstone.vocabulary.figure import FIGURES, Better, Figure, Unit
from touchstone.vocabulary.phase import PHASES

VERDICT_MARKS = {Verdict.VALID: "", Verdict.SUSPECT: "?", Verdict.INVALID: "✗"}


@dataclass(frozen=True)
class Sign:
    """How a comparison, or a verdict on a claim, is shown."""

    kind: str
    """A style's name."""
    mark: str
    word: str
    """Or a few words."""


INVALID = Sign("invalid", "\N{BALLOT X}", "invalid")


def sign(comparison: Comparison) -> Sign:
    """The sign of a comparison, with the word that fits its figure."""
    if comparison.verdict is Verdict.INVALID:
        return INVALID
    if comparison.ratio is None:
        return Sign("none", NOTHING, "not compared")
    if comparison.outcome is Outcome.EQUIVALENT:
        return Sign("equivalent", "=", "equivalent")
    if comparison.outcome is Outcome.UNDECIDED:
        return Sign("undecided", "~", "undecided")
    word = _word(FIGURES[comparison.figure], comparison.ratio)
    return Sign("better", "▲", word) if comparison.better else Sign("worse", "▼", word)


def _word(figure: Figure, ratio: float) -> str:
    if figure.unit is Unit.BYTES:
        return "larger" if ratio > 1 else "smaller"
    if figure.unit in (Unit.COUNT, Unit.SHARE):
        return "more" if ratio > 1 else "fewer"
    rises = ratio > 1
    if "CPU" in figure.title:
        return "more" if rises else "less"
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
