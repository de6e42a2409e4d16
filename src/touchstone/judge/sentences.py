"""A comparison in plain words: what, by how much, how sure, and what would make it surer."""

from __future__ import annotations

from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.judge.quantity import share
from touchstone.record.figure import FIGURES, Better, Figure

_LESS_MORE = {
    "throughput": ("answers", "requests a second", "fewer", "more"),
    "drain_rate": ("drains", "messages a second", "fewer", "more"),
    "hold_connections": ("holds", "connections", "fewer", "more"),
    "probe_right": ("gets", "conformance cases right", "fewer", "more"),
    "knee_rate": ("keeps its objective up to", "rate", "a lower", "a higher"),
}


def comparison_sentence(c: Comparison, margin: float, confidence: float) -> str:
    """The result in a sentence, with its interval and rounds; why not, where there is none."""
    figure = FIGURES[c.figure]
    what = figure.title[0].lower() + figure.title[1:] if not _is_acronym(figure.title) else figure.title
    if c.verdict is Verdict.INVALID:
        return f"{c.contender} and {c.baseline} cannot be compared on {what}: {_ended(c.reason or 'invalid')}"
    if c.ratio is None:
        return f"{c.contender} and {c.baseline} cannot be compared on {what}: no common round."
    care = " Read with care: " + _ended(c.reason or "") if c.verdict is Verdict.SUSPECT else ""
    match c.outcome:
        case Outcome.EQUIVALENT:
            core = f"{c.contender} and {c.baseline} are equivalent on {what} within {share(margin)}"
        case Outcome.UNDECIDED:
            core = f"{c.contender} against {c.baseline} on {what} is undecided"
        case _:
            core = _difference(c, figure, what)
    return f"{core} ({_interval(c, confidence)}).{_more(c)}{care}"


def _difference(c: Comparison, figure: Figure, what: str) -> str:
    assert c.ratio is not None
    if figure.name in _LESS_MORE:
        verb, things, less, more = _LESS_MORE[figure.name]
        direction = more if c.ratio > 1 else less
        return f"{c.contender} {verb} {_by(c.ratio)} {direction} {things} than {c.baseline}"
    direction = "higher" if c.ratio > 1 else "lower"
    good = "better" if c.better else "worse"
    quality = "" if figure.better is Better.NEITHER else f", which is {good}"
    return f"{what} of {c.contender} is {_by(c.ratio)} {direction} than that of {c.baseline}{quality}"


def _by(ratio: float) -> str:
    """A change in percent while that reads well, otherwise as a factor."""
    if ratio >= 2 or ratio <= 0.5:
        return f"{max(ratio, 1 / ratio):.2g} times"
    return share(abs(ratio - 1))


def _interval(c: Comparison, confidence: float) -> str:
    assert c.ratio is not None
    rounds = f"{c.rounds} round{'s' if c.rounds != 1 else ''}"
    if c.low is None or c.high is None:
        return f"ratio {c.ratio:.3f}, no interval, {rounds}"
    if c.low == c.high:
        return f"ratio {c.ratio:.3f}, counted exactly"
    return f"ratio {c.ratio:.3f}, {confidence:.0%} interval {c.low:.3f} to {c.high:.3f}, {rounds}"


def _more(c: Comparison) -> str:
    if c.outcome is not Outcome.UNDECIDED:
        return ""
    if c.more_rounds is not None:
        return f" About {c.more_rounds} more round{'s' if c.more_rounds != 1 else ''} would decide it."
    if c.verdict is Verdict.VALID and c.reason:
        return f" {c.reason[0].upper()}{_ended(c.reason[1:])}"
    return ""


def _is_acronym(title: str) -> bool:
    word = title.split(",", maxsplit=1)[0].split(maxsplit=1)[0].rstrip(",")
    return (len(word) > 1 and word[:2].isupper()) or word == "VmPeak"


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."
