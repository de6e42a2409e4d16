"""The relations that a claim may state: each takes its test and the evidence, and gives measurements with verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise

from touchstone.judge.claims.bounds import allowance, log_bound, rounds_needed, ruling_of_interval
from touchstone.judge.claims.evidence import MAY_HAVE_MOVED, Evidence, Measurand, MissingReading, Reading
from touchstone.judge.claims.ruling import Measurement, Ruling
from touchstone.judge.claims.warmth import NOT_DECIDED
from touchstone.judge.comparison.possible_bias import PossibleBiases, widened
from touchstone.judge.statistics.decision import UNWIDENED, Interval, Widening
from touchstone.judge.statistics.intervals import log_effects, mean_interval, ratio_interval, unpaired_ratio_interval
from touchstone.manifest.claim import (
    UNITS,
    DifferenceTest,
    EqualityTest,
    EventTest,
    OrderTest,
    RatioTest,
    Term,
    ValueTest,
)

FLOORS = {"dies": "floor_lives", "lives": "floor_lives", "keeps-rate": "floor_passes", "fills": "floor_lives"}
"""The figure of the floor search that has what an event asks for."""
FULL = 0.95
"""A contender that uses this share of a limit fills it."""


@dataclass(frozen=True)
class ClaimTest:
    """A claim's or an explanation's test, with what its terms leave out."""

    scenario: str
    figure: str | None
    load: str | None
    evidence: Evidence
    confidence: float

    def place(self, term: Term, figure: str | None = None) -> Measurand:
        """The place of a term; phases that are put under no load have none."""
        name = figure or term.figure or self.figure or ""
        place = Measurand(self.scenario, term.contender, None, name)
        loaded = place.phase in ("load", "hold", "drain")
        return Measurand(self.scenario, term.contender, (term.load or self.load) if loaded else None, name)


@singledispatch
def measure(test: object, question: ClaimTest) -> list[Measurement]:
    """Hold a test against the evidence."""
    raise TypeError(f"no relation {type(test).__name__} for {question.scenario}")


@measure.register
def _(test: RatioTest, question: ClaimTest) -> list[Measurement]:
    return [_ratio(question, question.place(test.of), question.place(test.to), test.at_least, test.at_most)]


@measure.register
def _(test: EqualityTest, question: ClaimTest) -> list[Measurement]:
    bound = 1 + test.margin
    return [_ratio(question, question.place(test.of), question.place(test.to), 1 / bound, bound)]


@measure.register
def _(test: OrderTest, question: ClaimTest) -> list[Measurement]:
    places = [question.place(term) for term in test.of]
    # Strictly lower: the least number below the bound stands for "less than".
    bound = math.nextafter(1 / (1 + test.margin), 0.0)
    return [_ratio(question, lower, higher, None, bound) for lower, higher in pairwise(places)]


@measure.register
def _(test: ValueTest, question: ClaimTest) -> list[Measurement]:
    factor = UNITS[test.unit][1]
    at_least = None if test.at_least is None else test.at_least * factor
    at_most = None if test.at_most is None else test.at_most * factor
    return [_value(question, question.place(term), at_least, at_most) for term in test.of]


@measure.register
def _(test: DifferenceTest, question: ClaimTest) -> list[Measurement]:
    of, to = question.place(test.of), question.place(test.to)
    factor = UNITS[test.unit][1]
    made = _blank(_pair(of, to, "-"), [of, to], UNITS[test.unit][0])
    made.at_least = None if test.at_least is None else test.at_least * factor
    made.at_most = None if test.at_most is None else test.at_most * factor
    readings = question.evidence.together([of, to])
    if isinstance(readings, MissingReading):
        return [_absent(made, readings)]
    a, b = readings
    _carry(made, readings)
    if [a.doubts, b.doubts] != [PossibleBiases(), PossibleBiases()]:
        made.suspect = made.suspect or MAY_HAVE_MOVED
    common = sorted(a.by_round.keys() & b.by_round.keys())
    values = [a.by_round[r] - b.by_round[r] for r in common] if a.runs == b.runs else []
    exact = a.exact and b.exact
    interval = Interval(*[a.point - b.point] * 3) if exact else mean_interval(values, question.confidence)
    made.value, made.rounds = (interval.point if interval else a.point - b.point), len(values)
    once = allowance(made.value, of.phase) if a.once and b.once else None
    return [_ruled(made, interval, values, question, log=False, once=once)]


@measure.register
def _(test: EventTest, question: ClaimTest) -> list[Measurement]:
    if test.event == "finding":
        return [_finding(question, term, test) for term in test.of]
    assert test.limit is not None and test.unit is not None  # the manifest has seen to it
    limit = test.limit * UNITS[test.unit][1]
    figure = FLOORS[test.event]
    bounds = (math.nextafter(limit, math.inf), None) if test.event == "dies" else (None, limit)
    if test.event == "fills":
        made = [_fills(question, term, limit) for term in test.of]
    else:
        made = [_value(question, question.place(term, figure), *bounds) for term in test.of]
    for measurement in made:
        if measurement.ruling in (Ruling.HOLDS, Ruling.CONTRADICTED):
            measurement.happened = measurement.ruling is Ruling.HOLDS
    return made


def _fills(question: ClaimTest, term: Term, limit: float) -> Measurement:
    """Memory used under the smallest sufficient limit tried with any heap setting, or without a limit.

    Without a limit it uses at least as much as with one. If that would not fill the limit, nothing does.
    """
    place = question.place(term, FLOORS["fills"])
    made = _blank(term.contender, [place], "share")
    made.figure, made.at_least = "the share of the limit that was used", FULL
    reading = question.evidence.one(place)
    if isinstance(reading, MissingReading):
        return _absent(made, reading)
    _carry(made, [reading])
    floors = [
        sample.floor
        for judged in question.evidence.judged
        for sample in judged.run.samples
        if sample.floor is not None and f"{judged.run.plan.run_id}/{sample.id}" in made.samples
    ]
    tries = [one for floor in floors for one in floor.tries if one.peak is not None and one.limit >= limit]
    unlimited = max((floor.unlimited_peak or 0 for floor in floors), default=0)
    if tries:
        nearest = min(one.limit for one in tries)
        made.value = max(one.peak / nearest for one in tries if one.limit == nearest and one.peak is not None)
        made.reason = f"by the limit of {nearest / 2**20:.0f} MiB"
    elif 0 < unlimited < FULL * limit:
        made.value = unlimited / limit
        made.reason = f"without a limit it took {unlimited / 2**20:.0f} MiB at most"
    else:
        return _absent(
            made, MissingReading(f"no limit from {limit / 2**20:.0f} MiB on was lived under, or nobody watched")
        )
    return _if_sound(made, Ruling.HOLDS if made.value >= FULL else Ruling.CONTRADICTED)


def _finding(question: ClaimTest, term: Term, test: EventTest) -> Measurement:
    load = term.load or question.load
    made = Measurement(label=term.contender, contenders=[term.contender], figure="finding", load=load, unit="event")
    for judged in question.evidence.judged:
        plan = judged.run.plan
        seen = [
            s
            for s in judged.run.samples
            if s.contender == term.contender and s.failure is None and load in (None, s.load)
            and s.phase not in ("build", "footprint")
        ]  # fmt: skip
        if plan.scenario != question.scenario or not seen:
            continue
        ids = {s.id for s in seen}
        fired = [
            f
            for f in judged.judgement.findings
            if f.code in test.findings
            and (f.sample in ids or (f.sample is None and f.contender == term.contender and f.load in (None, load)))
        ]
        made.runs, made.rounds = [plan.run_id], len(seen)
        named = [f.sample for f in fired if f.sample] or sorted(ids)
        made.samples = [f"{plan.run_id}/{sample}" for sample in named]
        made.happened = bool(fired)
        made.ruling = Ruling.HOLDS if made.happened is test.occurs else Ruling.CONTRADICTED
        made.reason = fired[0].statement if fired else f"no finding {' or '.join(test.findings)} in {len(seen)} samples"
        return made
    return _absent(made, MissingReading(f"no run has samples of {term.contender} ({question.scenario})"))


def _value(question: ClaimTest, place: Measurand, at_least: float | None, at_most: float | None) -> Measurement:
    made = _blank(place.contender, [place], place.quantity.unit)
    made.at_least, made.at_most = at_least, at_most
    reading = question.evidence.one(place)
    if isinstance(reading, MissingReading):
        return _absent(made, reading)
    _carry(made, [reading], widens=True)
    made.value, made.rounds = reading.point, 0 if reading.once else len(reading.values)
    positive = all(v > 0 for v in reading.values)
    values = [math.log(v) for v in reading.values] if positive else []
    once = _widened(allowance(made.value, place.phase), reading, None) if reading.once else None
    interval = _doubted(made, reading.interval(question.confidence), reading, None)
    return _ruled(made, interval, values, question, log=True, once=once)


def _ratio(
    question: ClaimTest, of: Measurand, to: Measurand, at_least: float | None, at_most: float | None
) -> Measurement:
    made = _blank(_pair(of, to, "/"), [of, to], "ratio")
    made.at_least, made.at_most = at_least, at_most
    readings = question.evidence.together([of, to])
    if isinstance(readings, MissingReading):
        return _absent(made, readings)
    a, b = readings
    _carry(made, readings, widens=True)
    if min(*a.values, *b.values) <= 0:
        return _absent(made, MissingReading("a ratio to nothing means nothing: one of the two is 0"))
    made.value = a.point / b.point
    interval, effects = _ratio_interval(a, b, question.confidence)
    once = _widened(allowance(made.value, of.phase), a, b) if a.once or b.once else None
    interval = _doubted(made, interval, a, b)
    if interval is not None:
        made.value = interval.point
    made.rounds = len(effects)
    return _ruled(made, interval, effects, question, log=True, once=once)


def _ratio_interval(a: Reading, b: Reading, confidence: float) -> tuple[Interval | None, list[float]]:
    """By rounds where both were measured in the same ones. Else by Welch's t, as for figures of two runs."""
    if a.exact and b.exact:
        ratio = a.point / b.point
        return Interval(ratio, ratio, ratio), []
    effects = log_effects(a.by_round, b.by_round) if a.runs == b.runs and not (a.once or b.once) else []
    if effects:
        return ratio_interval(effects, confidence), effects
    return unpaired_ratio_interval(a.values, b.values, confidence), []


def _doubted(made: Measurement, interval: Interval | None, of: Reading, to: Reading | None) -> Interval | None:
    """The interval widened by what may have moved either side; the measurement keeps both."""
    if interval is None:
        return None
    wider = _widened(interval, of, to)
    if wider is not interval:
        made.sampled_low, made.sampled_high = interval.low, interval.high
    return wider


def _widened(interval: Interval, of: Reading, to: Reading | None) -> Interval:
    """An interval widened by what may have moved either side; the same where nothing may.

    If both share a disturbance, only the difference counts where they were measured in neighbouring slices. Two
    different figures may each have moved as far as their own doubts say, whatever the other did.
    """
    figure, theirs = of.place.quantity.moved_as, to.doubts if to is not None else PossibleBiases()
    if [of.doubts, theirs] == [PossibleBiases(), PossibleBiases()]:
        return interval
    if figure is not None and (to is None or to.place.quantity.moved_as == figure):
        return widened(interval, of.doubts, theirs, figure, paired=to is not None and _next_to(of, to))
    # What moves as no known figure has no doubts: it is suspect by itself.
    if figure is not None:
        interval = widened(interval, of.doubts, PossibleBiases(), figure, paired=False)
    if to is not None and (other := to.place.quantity.moved_as) is not None:
        interval = widened(interval, PossibleBiases(), theirs, other, paired=False)
    return interval


def _next_to(a: Reading, b: Reading) -> bool:
    """Whether two contenders were measured in neighbouring slices."""
    separate = a.runs != b.runs or a.place.load != b.place.load or a.place.contender == b.place.contender
    return a.sliced and b.sliced and not separate


def _ruled(
    made: Measurement,
    interval: Interval | None,
    values: Sequence[float],
    question: ClaimTest,
    *,
    log: bool,
    once: Interval | None,
) -> Measurement:
    """Fill in the verdict from the interval, or from the allowance for a single measurement."""
    assert made.value is not None
    if interval is not None:
        made.low, made.high = interval.low, interval.high
        ruling = ruling_of_interval(interval.low, interval.high, made.at_least, made.at_most)
        if ruling is Ruling.UNDECIDED:
            made.reason = "the interval reaches across a bound" + _without_doubt(made)
    elif once is not None:
        ruling = ruling_of_interval(once.low, once.high, made.at_least, made.at_most)
        made.reason = "measured once, so without an interval" + (
            "; it clears the bound by a wide factor"
            if ruling is not Ruling.UNDECIDED
            else ", and too near to the bound"
        )
    else:
        ruling = Ruling.UNDECIDED
        made.reason = "too few rounds for an interval"
    if ruling is Ruling.UNDECIDED and once is None:
        bounds = [log_bound(b) if log else b for b in (made.at_least, made.at_most)]
        made.more_rounds = rounds_needed(
            values, bounds[0], bounds[1], question.confidence, widening=_widening(made, interval)
        )
    return _if_sound(made, ruling)


def _if_sound(made: Measurement, ruling: Ruling) -> Measurement:
    """The ruling, unless a measurement behind it was cold or is suspect."""
    made.ruling = ruling
    if made.cold is not None:
        made.ruling, made.reason, made.more_rounds = Ruling.UNDECIDED, f"{NOT_DECIDED} ({made.cold})", None
    elif made.suspect is not None:
        made.leaning, made.ruling = (ruling if ruling is not Ruling.UNDECIDED else None), Ruling.UNDECIDED
        made.reason = f"the measurement is suspect: {made.suspect}"
    return made


def _widening(made: Measurement, interval: Interval | None) -> Widening:
    if interval is None or made.sampled_low is None or made.sampled_high is None:
        return UNWIDENED
    return interval.widening_of(Interval(interval.point, made.sampled_low, made.sampled_high))


def _without_doubt(made: Measurement) -> str:
    """Whether it is the doubt that leaves a claim open: then quiet helps more than rounds do."""
    if made.sampled_low is None or made.sampled_high is None:
        return ""
    if ruling_of_interval(made.sampled_low, made.sampled_high, made.at_least, made.at_most) is Ruling.UNDECIDED:
        return ""
    return " once it is widened by what may have moved it; without that it would not"


def _pair(of: Measurand, to: Measurand, sign: str) -> str:
    shared = f"{of.contender}: " if of.contender == to.contender else ""
    return f"{shared}{_label(of, to)} {sign} {_label(to, of)}"


def _label(place: Measurand, other: Measurand) -> str:
    """A place by what tells it from the other: its contender, its load, its quantity."""
    parts = [place.contender] if place.contender != other.contender else []
    parts += [place.load] if place.load and place.load != other.load else []
    parts += [place.quantity.title] if place.figure != other.figure else []
    return ", ".join(parts) or place.contender


def _blank(label: str, places: Sequence[Measurand], unit: str) -> Measurement:
    first = places[0]
    names = list(dict.fromkeys(p.contender for p in places))
    return Measurement(label=label, contenders=names, figure=first.figure, load=first.load, unit=unit)


def _carry(made: Measurement, readings: Sequence[Reading], *, widens: bool = False) -> None:
    """Where it comes from, and what speaks against it. Who widens an interval takes memory that climbs as a bound."""
    made.runs = list(dict.fromkeys(run for r in readings for run in r.runs))
    made.samples = list(dict.fromkeys(sample for r in readings for sample in r.samples))
    made.suspect = next((r.suspect for r in readings if r.suspect), None)
    made.cold = next((r.cold for r in readings if r.cold and not (widens and r.climbs)), None)


def _absent(made: Measurement, absent: MissingReading) -> Measurement:
    made.ruling, made.reason = Ruling.NOT_MEASURED, absent.reason
    return made
