"""A comparison in plain words: what, by how much, how sure, and what would make it surer."""

from __future__ import annotations

from touchstone.judge.figures import EXACT
from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.judge.quantity import share
from touchstone.record.figure import FIGURES, Better, Figure

_LESS_MORE = {
    "throughput": ("answers", "requests a second", "fewer", "more"),
    "drain_rate": ("drains", "messages a second", "fewer", "more"),
    "hold_connections": ("holds", "connections", "fewer", "more"),
    "peak_served": ("serves", "requests in the whole time since exec", "fewer", "more"),
    "peak_served_1s": ("serves", "requests in the first second", "fewer", "more"),
    "peak_served_10s": ("serves", "requests in the first 10 s", "fewer", "more"),
    "probe_right": ("gets", "conformance cases right", "fewer", "more"),
    "knee_rate": ("keeps its objective up to", "rate", "a lower", "a higher"),
}


_PHRASES = {
    "build_cold": "the time of a cold build",
    "build_warm": "the time of a warm build",
    "build_cpu": "the CPU time of a build",
    "artifact_bytes": "the artifact's size",
    "boot_first_response": "the time from exec to the first response",
    "boot_port_open": "the time from exec to an open port",
    "boot_first_response_cold": "the time from exec to the first response with a cold cache",
    "boot_cpu": "CPU time to the first response",
    "peak_rate": "the rate at the peak",
    "peak_time": "the time to peak",
    "latency_mean": "mean latency",
    "latency_max": "the longest latency",
    "rss_peak": "peak RSS under load",
    "pss_peak": "peak PSS under load",
    "anon_peak": "peak anonymous memory under load",
    "cgroup_peak": "peak cgroup memory under load",
    "cpu_per_request": "CPU time a request",
    "error_share": "the share of errors",
}
"""Where the figure's title does not read within a sentence."""


def comparison_sentence(c: Comparison, margin: float, confidence: float) -> str:
    """The result in a sentence, with its interval and rounds; why not, where there is none."""
    figure = FIGURES[c.figure]
    what = _PHRASES.get(figure.name) or (
        figure.title if _is_acronym(figure.title) else figure.title[0].lower() + figure.title[1:]
    )
    if c.verdict is Verdict.INVALID:
        return f"{c.contender} and {c.baseline} cannot be compared on {what}: {_ended(c.reason or 'invalid')}"
    if c.ratio is None:
        if c.outcome is Outcome.EQUIVALENT:
            return f"{c.contender} and {c.baseline} are equal on {what}: 0 in every round."
        return f"{c.contender} and {c.baseline} cannot be compared on {what}: {_ended(c.reason or 'no common round')}"
    care = " Read with care: " + _ended(c.reason or "") if c.verdict is Verdict.SUSPECT else ""
    match c.outcome:
        case Outcome.EQUIVALENT:
            core = f"{c.contender} and {c.baseline} are equivalent on {what} within {share(margin)}"
        case Outcome.UNDECIDED:
            core = f"{c.contender} against {c.baseline} on {what} is undecided"
        case _:
            core = _difference(c, figure, what)
    if core.startswith("the "):
        core = core[0].upper() + core[1:]
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
        factor = max(ratio, 1 / ratio)
        return f"{factor:,.0f} times" if factor >= 10 else f"{factor:.2g} times"
    return share(abs(ratio - 1))


def _digits(ratio: float) -> str:
    """Three decimals near 1, where a margin of some percent is read; fewer where they mean nothing."""
    if ratio >= 100:
        return f"{ratio:,.0f}"
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.3f}"


def _interval(c: Comparison, confidence: float) -> str:
    assert c.ratio is not None
    rounds = f"{c.rounds} round{'s' if c.rounds != 1 else ''}"
    if c.low is None or c.high is None:
        return f"ratio {_digits(c.ratio)}, no interval" + (f", {rounds}" if c.rounds > 1 else "")
    interval = f"{share(confidence)} interval {_digits(c.low)} to {_digits(c.high)}"
    if c.rounds == 1 and c.low != c.high:
        return f"ratio {_digits(c.ratio)}, {interval} over single starts"
    if c.low == c.high:
        return f"ratio {_digits(c.ratio)}, " + ("counted exactly" if c.figure in EXACT else f"the same in {rounds}")
    return f"ratio {_digits(c.ratio)}, {interval}, {rounds}"


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
