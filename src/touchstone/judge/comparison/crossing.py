"""Crossing points: from when on one contender has served more in total than another, both counted from exec.

A runtime that starts slowly and runs fast overtakes one that starts fast and runs slowly, or does not within the time
that was watched. Each round is looked at by itself, and the median is taken over rounds that agree on who is ahead at
the end; where they do not, nothing is decided.
"""

from __future__ import annotations

import itertools
import statistics

from touchstone.judge.comparison.estimate import RoundValues
from touchstone.judge.comparison.verdict import worst
from touchstone.judge.judgement import Crossing, Verdict
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.statistics.intervals import median_interval
from touchstone.record.sample import TARE, Sample

FIGURE = "peak_served"


def crossings(case: Case, series: list[RoundValues]) -> list[Crossing]:
    """Return the crossing points of all pairs of contenders that were started under load."""
    measured = [s for s in series if s.estimate.figure == FIGURE and s.estimate.contender != TARE]
    samples = {(s.contender, s.round or 0): s for s in case.run.samples if s.peak is not None}
    return [_crossing(case, a, b, samples) for a, b in itertools.combinations(measured, 2)]


def overtakes(late: list[int], early: list[int]) -> float | None:
    """From which second on `late` has served more in total than `early`, to the end. None if it has not at the end.

    0 means that it was never behind, so that there is nothing to overtake. The lists hold totals by the end of each
    second since exec.
    """
    pairs = list(zip(late, early, strict=False))
    if not pairs or pairs[-1][0] <= pairs[-1][1]:
        return None
    behind = [second for second, (a, b) in enumerate(pairs, start=1) if a < b]
    if not behind:
        return 0.0
    return float(next(s for s, (a, b) in enumerate(pairs, start=1) if s > behind[-1] and a > b))


def _crossing(case: Case, a: RoundValues, b: RoundValues, samples: dict[tuple[str, int], Sample]) -> Crossing:
    names = (a.estimate.contender, b.estimate.contender)
    rounds = sorted(a.by_round.keys() & b.by_round.keys())
    totals = [tuple(_served(samples[name, r]) for name in names) for r in rounds]
    wins = [sum(one[-1] > other[-1] for one, other in totals), sum(other[-1] > one[-1] for one, other in totals)]
    first = 0 if wins[0] >= wins[1] else 1
    contender, other = names[first], names[1 - first]
    by_round = {r: overtakes(pair[first], pair[1 - first]) for r, pair in zip(rounds, totals, strict=True)}
    watched = [sample.peak.within_s for sample in samples.values() if sample.peak]
    crossing = Crossing(contender=contender, other=other, within_s=min(watched, default=0.0), by_round=by_round)
    crossing.verdict = worst(a.estimate.verdict, b.estimate.verdict)
    if crossing.verdict is not Verdict.VALID:
        blamed = next(s.estimate for s in (a, b) if s.estimate.verdict is crossing.verdict)
        crossing.reason = f"{blamed.contender}: {blamed.reason}"
    _decide(crossing, case.confidence)
    crossing.sentence = _sentence(crossing, case.confidence)
    return crossing


def _served(sample: Sample) -> list[int]:
    return sample.peak.served if sample.peak else []


def _decide(crossing: Crossing, confidence: float) -> None:
    """Fill in how it went over the rounds. Nothing is decided while the rounds differ on who is ahead at the end."""
    times = list(crossing.by_round.values())
    reached = [t for t in times if t is not None]
    if crossing.verdict is Verdict.INVALID or not times or len(reached) < len(times):
        return
    middle = statistics.median(reached)
    if middle == 0:
        crossing.outcome = "ahead throughout"
        return
    crossing.outcome, crossing.median_s = "overtakes", middle
    if min(reached) > 0 and (interval := median_interval(reached, confidence)) is not None:
        crossing.low_s, crossing.high_s = interval.low, min(interval.high, crossing.within_s)


def _sentence(c: Crossing, confidence: float) -> str:
    within, rounds = f"{c.within_s:g} s", f"{len(c.by_round)} round{'s' if len(c.by_round) != 1 else ''}"
    if c.verdict is Verdict.INVALID:
        return f"{c.contender} and {c.other} cannot be compared on what they served since exec: {c.reason or 'invalid'}"
    if not c.by_round:
        return f"{c.contender} and {c.other} have no round in common."
    if c.outcome == "overtakes":
        assert c.median_s is not None  # the outcome says so
        span = f"{rounds}"
        if c.low_s is not None and c.high_s is not None:
            span = f"{share(confidence)} interval {number(c.low_s)} s to {number(c.high_s)} s, {rounds}"
        return f"{c.contender} has served more in total than {c.other} after {number(c.median_s)} s ({span})."
    if c.outcome == "ahead throughout":
        return f"{c.other} has not served as much in total as {c.contender} within {within} ({rounds})."
    ahead = sum(t is not None for t in c.by_round.values())
    seen = sorted({t for t in c.by_round.values() if t})
    span = " to ".join(f"{number(t)} s" for t in dict.fromkeys((seen[0], seen[-1]))) if seen else ""
    after = f", after {span} where it was behind at first" if seen else ""
    return (
        f"{c.contender} and {c.other} are undecided on what they served in total within {within}: "
        f"{c.contender} is ahead at the end in {ahead} of {rounds}{after}."
    )
