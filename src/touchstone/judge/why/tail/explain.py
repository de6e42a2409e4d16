"""Explains p99: a contender's against a baseline's, paired by rounds, or against its own median."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from touchstone.judge.statistics.intervals import mean_interval, simultaneous
from touchstone.judge.why.explanation import Unexplained
from touchstone.judge.why.tail.bands import BANDS, MEDIAN, TAIL, bands
from touchstone.judge.why.tail.explanation import (
    ContenderLatency,
    LatencyBand,
    LatencyExplanation,
    PartOfLatency,
)
from touchstone.judge.why.tail.parts import WHEN_UNEXPLAINED, LatencyPart
from touchstone.record.evidence.tail import TailEvidence
from touchstone.record.run import Run

LEAST_EXPLAINED = 0.7
"""A verdict needs named parts that explain this share of the difference."""
_LEAST_NAMED = 0.2
"""A part is named as a cause from this share of the difference on."""
_LEAST_SHARE = 0.05
"""A part that is a smaller share of the difference is not a candidate."""
_LEAST_S = 0.001
_LEAST_RATIO = 1.3
"""Smaller differences are left without a cause: looks are a millisecond apart."""

Divided = Mapping[str, tuple[int, Mapping[str, float]]]


def latency_under(run: Run) -> dict[str, list[str]]:
    """By load, the contenders whose slow requests were kept, in the order of the record."""
    found: dict[str, list[str]] = {}
    for sample in run.samples:
        if sample.phase == "tail" and sample.load is not None and sample.contender not in found.get(sample.load, []):
            found.setdefault(sample.load, []).append(sample.contender)
    return found


def explain_latency(
    run: Run, baseline: str | None, contender: str, load: str, confidence: float
) -> LatencyExplanation | Unexplained:
    """Explain a contender's p99 against the baseline's; against its own median if there is no baseline."""
    sides: list[Mapping[int, tuple[TailEvidence, Divided]]] = []
    for name in [contender, *([baseline] if baseline else [])]:
        divided = {
            sample.round or 0: (sample.tail, bands(sample.tail))
            for sample in run.samples
            if (sample.phase, sample.contender, sample.load) == ("tail", name, load) and sample.tail
        }
        divided = {number: one for number, one in divided.items() if TAIL in one[1] and MEDIAN in one[1]}
        if not divided:
            return Unexplained(load=load, contender=contender, baseline=baseline, reason=_why_not(run, name, load))
        sides.append(divided)
    rounds = sorted(set.intersection(*(set(side) for side in sides)))
    if not rounds:
        reason = "there is no round in which slow requests of both were kept"
        return Unexplained(load=load, contender=contender, baseline=baseline, reason=reason)
    tails = [sides[0][number][1][TAIL][1] for number in rounds]
    against = [(sides[1][number][1][TAIL] if baseline else sides[0][number][1][MEDIAN])[1] for number in rounds]
    names = sorted({part for one in (*tails, *against) for part in one})
    differences = {n: [t.get(n, 0.0) - a.get(n, 0.0) for t, a in zip(tails, against, strict=True)] for n in names}
    means = {name: statistics.fmean(values) for name, values in differences.items()}
    # Parts that are too small to be a cause would only widen the family.
    family = sum(abs(mean) >= _LEAST_SHARE * abs(sum(means.values())) for mean in means.values())
    each = simultaneous(confidence, family)
    total = _part("p99", [sum(t.values()) - sum(a.values()) for t, a in zip(tails, against, strict=True)], confidence)
    parts = sorted(
        (_part(name, values, each) for name, values in differences.items()), key=lambda part: -abs(part.seconds)
    )
    floor = statistics.fmean(sum(a.values()) for a in against)
    explained, main, verdict = _verdict(total, parts, _dependencies(differences, each), floor)
    described = [
        _described(name, [side[number] for number in rounds], confidence)
        for name, side in zip([contender, baseline or ""], sides, strict=False)
    ]
    return LatencyExplanation(
        load=load,
        contender=described[0],
        baseline=described[1] if baseline else None,
        total=total,
        parts=parts,
        explained=explained,
        main=main,
        verdict=verdict,
    )


def explain_every_latency(run: Run, baseline: str | None, confidence: float) -> list[LatencyExplanation | Unexplained]:
    """Each contender against the baseline, load by load; one that is alone against its own median."""
    return [
        explain_latency(run, first, name, load, confidence)
        for load, names in latency_under(run).items()
        for first, name in against_baseline(names, baseline)
    ]


def against_baseline(names: Sequence[str], baseline: str | None) -> list[tuple[str | None, str]]:
    """Pairs of baseline and contender; without a baseline among them, each contender by itself."""
    if baseline not in names or len(names) == 1:
        return [(None, name) for name in names]
    return [(baseline, name) for name in names if name != baseline]


def _dependencies(differences: Mapping[str, Sequence[float]], confidence: float) -> list[PartOfLatency]:
    """Each dependency whose time is divided into parts, as a whole."""
    parts: dict[str, list[Sequence[float]]] = defaultdict(list)
    for name, values in differences.items():
        whole, divided, _ = name.partition(": ")
        if divided:
            parts[whole].append(values)
    return [
        _part(name, [sum(of_round) for of_round in zip(*one, strict=True)], confidence) for name, one in parts.items()
    ]


def _verdict(
    total: PartOfLatency, parts: Sequence[PartOfLatency], dependencies: Sequence[PartOfLatency], floor: float
) -> tuple[float | None, list[str], str]:
    """The explained share, the causes, and a sentence; `floor` is the lower of the two."""
    if abs(total.seconds) < max(_LEAST_S, (_LEAST_RATIO - 1) * floor) or (total.low is not None and not total.sure):
        return None, [], "There is no difference large and certain enough to explain."
    named = [part for part in parts if part.name != LatencyPart.REST]
    explained = sum(part.seconds for part in named) / total.seconds
    if explained < LEAST_EXPLAINED:
        return explained, [], f"Unexplained: named parts make up {explained:.0%} of it. {WHEN_UNEXPLAINED}"
    main = causes(named, dependencies, total.seconds)
    if not main:
        return explained, [], f"Unexplained: no single part is certain. {WHEN_UNEXPLAINED}"
    return explained, main, f"Explained to {min(explained, 1.0):.0%}; the cause: {' and '.join(main)}."


def causes(parts: Sequence[PartOfLatency], dependencies: Sequence[PartOfLatency], total: float) -> list[str]:
    """Parts that are large and certain enough. A dependency is named as a whole if no single part of it is."""

    def large(of: Sequence[PartOfLatency]) -> list[str]:
        return [one.name for one in of if one.seconds / total >= _LEAST_NAMED and (one.low is None or one.sure)]

    single = large(parts)
    return single + [
        whole for whole in large(dependencies) if not any(name.startswith(f"{whole}: ") for name in single)
    ]


def _part(name: str, values: Sequence[float], confidence: float) -> PartOfLatency:
    interval = mean_interval(values, confidence)
    return PartOfLatency(
        name=name,
        seconds=statistics.fmean(values),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def _described(name: str, rounds: Sequence[tuple[TailEvidence, Divided]], confidence: float) -> ContenderLatency:
    found = []
    for band in BANDS:
        there = [divided[band] for _, divided in rounds if band in divided]
        if not there:
            continue
        names = sorted({part for _, parts in there for part in parts})
        parts = [_part(n, [one.get(n, 0.0) for _, one in there], confidence) for n in names]
        found.append(
            LatencyBand(
                name=band,
                requests=sum(count for count, _ in there),
                total=_part(band, [sum(one.values()) for _, one in there], confidence),
                parts=sorted(parts, key=lambda part: -part.seconds),
            )
        )
    pauses: Counter[str] = Counter()
    unseen: dict[str, None] = {}
    costs = []
    for evidence, _ in rounds:
        looks = evidence.tail.timeline.looks
        for pause in evidence.pauses:
            if pause.stops and looks and pause.end > looks[0][0] and pause.begin < looks[-1][0]:
                pauses[pause.name] += pause.end - pause.begin
        unseen |= dict.fromkeys([*evidence.tail.timeline.unseen, *([evidence.no_pauses] if evidence.no_pauses else [])])
        plain = evidence.plain.cpu_per_request if evidence.plain else None
        if plain and evidence.with_stamps.cpu_per_request is not None:
            costs.append(evidence.with_stamps.cpu_per_request / plain - 1)
    within = mean_interval(costs, confidence)
    return ContenderLatency(
        contender=name,
        rounds=len(rounds),
        requests=sum(evidence.tail.requests for evidence, _ in rounds),
        bands=found,
        pauses={n: micros / 1e6 for n, micros in pauses.most_common(5)},
        unseen=list(unseen),
        cost=statistics.fmean(costs) if costs else None,
        cost_low=within.low if within else None,
        cost_high=within.high if within else None,
    )


def _why_not(run: Run, contender: str, load: str) -> str:
    for sample in run.samples:
        if (sample.phase, sample.contender, sample.load) == ("tail", contender, load) and sample.failure:
            return f"{contender}: {sample.failure.what}"
    return f"{contender}: too few requests were kept under {load}: run the phase `tail`"
