"""Results in plain words: a comparison (what, by how much, how sure, and what would make it surer), a broken check.

Why a figure is doubtful is said once, by the finding, and not again with every comparison.
"""

from __future__ import annotations

import math

from touchstone.judge.figures import is_exact
from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.judge.language.quantity import share
from touchstone.record.sample import CheckOutcome
from touchstone.vocabulary.figure import FIGURES, Figure


def comparison_sentence(c: Comparison, margin: float, confidence: float) -> str:
    """The result in a sentence, with its interval and rounds; why not, where there is none."""
    figure = FIGURES[c.figure]
    what = figure.in_sentence
    if c.verdict is Verdict.INVALID:
        return f"{c.contender} and {c.baseline} cannot be compared on {what}: {_ended(c.reason or 'invalid')}"
    if c.ratio is None:
        if c.outcome is Outcome.EQUIVALENT:
            return f"{c.contender} and {c.baseline} are equal on {what}: 0 in every round."
        return f"{c.contender} and {c.baseline} cannot be compared on {what}: {_ended(c.reason or 'no common round')}"
    match c.outcome:
        case Outcome.EQUIVALENT:
            core = f"{c.contender} and {c.baseline} are equivalent on {what} within {share(margin)}"
        case Outcome.UNDECIDED:
            core = f"it is undecided whether {c.contender} and {c.baseline} differ on {what}"
        case _:
            core = _difference(c, figure, what)
    if core.startswith(("the ", "it ")):
        core = core[0].upper() + core[1:]
    return f"{core} ({_interval(c, confidence)}).{_more(c)}"


def how_broken(check: CheckOutcome) -> str:
    """The first request that broke a check, as the end of a sentence. Empty where the record has none."""
    first = check.broken[0] if check.broken else None
    if first is None:
        return ""
    tried = f" ({check.tries} tries; meanwhile {', '.join(check.ran) or 'nothing else'} ran)" if check.tries > 1 else ""
    return f": {first.request}: expected {first.expected}, received {first.received}{tried}"


def _difference(c: Comparison, figure: Figure, what: str) -> str:
    assert c.ratio is not None
    if words := figure.counted:
        direction = words.more if c.ratio > 1 else words.less
        return f"{c.contender} {words.verb} {_by(c.ratio)} {direction} {words.things} than {c.baseline}"
    direction = "higher" if c.ratio > 1 else "lower"
    return f"{what} of {c.contender} is {_by(c.ratio)} {direction} than that of {c.baseline}, which is {c.outcome}"


def _by(ratio: float) -> str:
    """A change in percent while that reads well, otherwise as a factor."""
    if ratio >= 2 or ratio <= 0.5:
        factor = max(ratio, 1 / ratio)
        return f"{factor:,.0f} times" if factor >= 10 else f"{factor:.2g} times"
    return share(abs(ratio - 1))


def _digits(ratio: float) -> str:
    """Three decimals near 1, where a margin of some percent is read. Fewer where they mean nothing."""
    if ratio >= 100:
        return f"{ratio:,.0f}"
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.3f}"


def _range(low: float, high: float) -> str:
    """The interval in words. A side that a possible bias leaves open has no number."""
    if math.isinf(high):
        return f"at least {_digits(low)}" if low > 0 else "any ratio"
    return f"{_digits(low)} to {_digits(high)}" if low > 0 else f"at most {_digits(high)}"


def _interval(c: Comparison, confidence: float) -> str:
    assert c.ratio is not None
    rounds = f"{c.rounds} round{'s' if c.rounds != 1 else ''}"
    if c.low is None or c.high is None:
        return f"ratio {_digits(c.ratio)}, no interval" + (f", {rounds}" if c.rounds > 1 else "")
    interval = f"{share(confidence)} interval {_range(c.low, c.high)}"
    if c.sampled_low is not None and c.sampled_high is not None:
        interval += f" with possible biases, {_range(c.sampled_low, c.sampled_high)} without"
    if c.rounds == 1 and c.low != c.high and not c.starts:
        return f"ratio {_digits(c.ratio)}, {interval} over single starts"
    if c.low == c.high:
        return f"ratio {_digits(c.ratio)}, " + ("counted exactly" if is_exact(c.figure) else f"the same in {rounds}")
    within = f" with {c.laps} laps" if c.laps else f" with {c.starts} starts" if c.starts else ""
    return f"ratio {_digits(c.ratio)}, {interval}, {rounds}{within}"


def _more(c: Comparison) -> str:
    if c.outcome is not Outcome.UNDECIDED:
        return ""
    if c.more_rounds is not None:
        return f" About {c.more_rounds} more round{'s' if c.more_rounds != 1 else ''} would decide it."
    if c.verdict is Verdict.VALID and c.reason:
        return f" {c.reason[0].upper()}{_ended(c.reason[1:])}"
    return ""


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."
