"""A figure of a contender over rounds: the median with its interval, from the samples that are not invalid."""

from __future__ import annotations

from dataclasses import dataclass, field

from touchstone.judge.comparison.possible_bias import SUSPECT_SHARE, PossibleBiases, combine, over_rounds
from touchstone.judge.comparison.verdict import FindingsIndex, WeighedFindings, worst
from touchstone.judge.judgement import Estimate, Verdict
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.starts import start_values
from touchstone.judge.reading.traffic import loop
from touchstone.judge.statistics.intervals import MIN_ROUNDS, median_interval
from touchstone.record.sample import Sample

LEFT_OUT_SHARE = 0.5
"""An estimate is invalid once this share of its samples is: what is left is a choice, not a sample."""


@dataclass
class RoundValues:
    """The values of a figure by round, and those of repetitions within a single sample."""

    estimate: Estimate
    by_round: dict[int, float] = field(default_factory=dict)
    repeats: list[float] = field(default_factory=list)
    samples: dict[int, Sample] = field(default_factory=dict)
    """The sample of each round."""
    doubts: PossibleBiases = field(default_factory=PossibleBiases)
    """What may have moved the figure, over all rounds."""


def measure(case: Case, scales: FindingsIndex) -> list[RoundValues]:
    """Return estimates of all figures of contenders and null server, in the order of the record."""
    return [_series(group, figure, scales, case) for group in case.groups for figure in case.figure_names(group)]


def _series(group: SampleGroup, figure: str, scales: FindingsIndex, case: Case) -> RoundValues:
    estimate = Estimate(phase=group.phase, contender=group.contender, load=group.load, figure=figure)
    series = RoundValues(estimate)
    suspects, in_turn = 0, False
    doubts: list[PossibleBiases] = []
    wider = scales.on_series(group.contender, group.load, figure)
    reasons: list[str] = []
    measured: list[tuple[Sample, WeighedFindings]] = []
    for sample in group.samples:
        if figure not in case.figures(sample):
            continue
        weight = scales.on_figure(sample, figure)
        if weight.reason and (weight.verdict is Verdict.INVALID or not reasons):
            reasons.append(weight.reason)
        if weight.verdict is Verdict.INVALID:
            estimate.left_out.append(sample.id)
        else:
            measured.append((sample, weight))
    for sample, weight in _enough(measured):
        suspects += weight.verdict is Verdict.SUSPECT
        value = case.figures(sample)[figure]
        estimate.values.append(value)
        estimate.samples.append(sample.id)
        # A figure measured twice in a round counts once, by its later value: rounds are the unit of repetition.
        series.by_round[sample.round or 0] = value
        series.samples[sample.round or 0] = sample
        if figure != "throughput" or loop(sample) != "open":
            # In an open loop the rate is the schedule's: a disturbance makes responses late, and not fewer.
            doubts.append(combine([*weight.doubts, *wider.doubts], figure))
        single = start_values(sample, figure)
        # Starts in turn are spread over the rounds; those of one contender in a row are a sample of a moment.
        started_in_turn = sample.boot is not None and sample.boot.in_turn
        series.repeats = [*series.repeats, *single] if started_in_turn else single
        in_turn = in_turn or started_in_turn
    if (len(estimate.values) == 1 or in_turn) and len(series.repeats) > 1:
        estimate.repeats = series.repeats
    _fill(estimate, estimate.repeats or estimate.values, case.confidence)
    series.doubts = over_rounds(doubts, figure)
    estimate.doubt = series.doubts.as_doubt()
    own = _verdict(len(estimate.left_out), suspects, len(estimate.values))
    once = set(series.by_round) == {0}
    estimate.verdict = worst(own, wider.verdict)
    if estimate.verdict is not Verdict.VALID:
        estimate.reason = wider.reason if wider.verdict is estimate.verdict else reasons[-1]
    elif estimate.doubt is not None and (estimate.is_bound or once):
        estimate.reason = next((w.doubted for w in [*(w for _, w in measured), wider] if w.doubted), None)
        if once:
            # There is no interval to widen, and the number would stand there as if nothing had been found.
            estimate.verdict = Verdict.SUSPECT
    return series


def _enough(measured: list[tuple[Sample, WeighedFindings]]) -> list[tuple[Sample, WeighedFindings]]:
    """The rounds without those that disagree, if most remain and allow an interval."""
    telling = [one for one in measured if not any(doubt.this_round for doubt in one[1].doubts)]
    return telling if len(telling) >= MIN_ROUNDS and len(telling) > len(measured) / 2 else measured


def _fill(estimate: Estimate, values: list[float], confidence: float) -> None:
    if not values:
        return
    ordered = sorted(values)
    middle = len(ordered) // 2
    estimate.median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    interval = median_interval(values, confidence)
    if interval is not None:
        estimate.low, estimate.high = interval.low, interval.high


def _verdict(left_out: int, suspects: int, kept: int) -> Verdict:
    total = left_out + kept
    if left_out and left_out >= LEFT_OUT_SHARE * total:
        return Verdict.INVALID
    if left_out or suspects > SUSPECT_SHARE * total:
        return Verdict.SUSPECT
    return Verdict.VALID
