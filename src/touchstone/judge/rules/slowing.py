"""Rules on slowing: requests that cost more the more there have been."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.pace import pace_of
from touchstone.judge.reading.traffic import loop
from touchstone.judge.rule import Fired, on_run
from touchstone.judge.statistics.trend import Rise, rise
from touchstone.record.evidence.slices import Slice
from touchstone.record.sample import Sample

Series = list[tuple[float, float]]
_Rises = dict[str, tuple[Sample, Rise]]
"""By the sample's id."""
_SLOWS_WITH_WORK_FIRST = 1 / 3
"""The share of the turns, at the beginning, in which caches fill and a compiler has not done its work."""
LEAST_ANSWERED = 500
"""Requests in all turns of a sample. With fewer, a turn has so few that those in flight at its ends move its value."""


@on_run(
    "slows-with-work",
    Severity.SUSPECT,
    title="Each request cost more than the ones before",
    threshold=(
        f"a load in slices has at least {LEAST_ANSWERED} responses in a round. Over the last two thirds of the "
        "contender's slices (with the warm-up), CPU per request rises with the number of requests (Theil-Sen). The "
        "lower end of the rise's 95 % interval, minus the rise of the median contender, is above the margin. This "
        "holds in at least half of the rounds with enough slices, and in at least two rounds if there are two or "
        "more. In a closed loop the same limit applies to the time per request in the measured slices, relative to "
        "the median contender or the null server. It also applies to the median latency of all slices, if the "
        "latency of the measured slices rises too"
    ),
    threshold_reason=(
        "a busy machine changes CPU per request by a few percent, for all contenders equally. For a hundred healthy "
        "contenders on such a machine the lower end was never above 1.5 %. With fewer than 500 responses, slices "
        "have too few requests to show a trend"
    ),
    next_step=(
        "Look for things that grow with the number of requests: tables without an index, lists, caches, logs. "
        "Measure longer to see where the growth ends."
    ),
)
def slows_with_work(case: Case) -> Iterator[Fired]:
    """The service becomes slower with each request.

    Possible causes are a table without an index, a growing list, or a log that is read back. In a short window the rate
    does not show it, because other processes change the rate too. So this rule uses CPU per request. If a service waits
    longer and longer without using CPU, its time per request grows compared with the other contenders.
    """
    loaded = [sample for sample in case.run.samples if sample.phase == "load"]
    measures = [(measure, _rises(loaded, measure.read)) for measure in _measures(case)]
    for group in case.groups_of("load"):
        fired = (found for one, rises in measures if (found := _of(group, one, rises, case)) is not None)
        yield from islice(fired, 1)


def _of(group: SampleGroup, measure: _Measure, rises: _Rises, case: Case) -> Fired | None:
    seen = [rises[sample.id] for sample in group.samples if sample.id in rises]
    hits = {
        sample.id: found.share
        for sample, found in seen
        if found.low - max(0.0, _usual(sample, rises)) > case.margin and measure.goes_on(sample)
    }
    if not hits or len(hits) < max(min(2, len(group.samples)), len(seen) / 2):
        return None
    most = max(hits.values())
    return Fired(
        f"{measure.what} rose by {share(statistics.median(hits.values()))} over the last two thirds of its slices, "
        f"in {len(hits)} of {len(seen)} round(s)",
        contender=group.contender,
        load=group.load,
        figures=[*SPEED, *CPU],
        doubt=PossibleBias(faster=1 + most, slower=None, reason="the rise continues with each further request"),
        evidence={"rises": hits},
    )


@dataclass(frozen=True)
class _Measure:
    """What may rise with the work, and how it is read of a sample."""

    what: str
    read: Callable[[Sample], Series]
    goes_on: Callable[[Sample], bool] = lambda _sample: True
    """Whether a rise that was found is one of the slices that count, too."""


def _measures(case: Case) -> list[_Measure]:
    """The surest first."""
    return [
        _Measure("CPU per request", _cpu_per_request),
        _Measure("time per request", partial(_time_per_request, case=case)),
        _Measure("the median latency", _median_latency, _latency_still_rises),
    ]


def _rises(samples: Iterable[Sample], read: Callable[[Sample], Series]) -> _Rises:
    """By sample, the rise over its later turns. Samples with too few turns or responses are left out."""
    found: dict[str, tuple[Sample, Rise]] = {}
    for sample in samples:
        series = read(sample)
        if not series or series[-1][0] < LEAST_ANSWERED:
            continue
        risen = rise(series[int(len(series) * _SLOWS_WITH_WORK_FIRST) :])
        if risen is not None:
            found[sample.id] = (sample, risen)
    return found


def _cpu_per_request(sample: Sample) -> Series:
    """By the requests that had been answered; nothing where nobody watched the process."""
    return [(done, one.server_cpu_s / one.completed) for done, one in _turns(sample) if one.server_cpu_s]


def _time_per_request(sample: Sample, case: Case) -> Series:
    """By the requests that had been answered, on a machine of one speed. Nothing but in a closed loop."""
    pace = pace_of(sample, case.run, case.core_slopes) if loop(sample) == "closed" else {}
    return [(done, pace[one.lap] / one.rate) for done, one in _turns(sample) if one.rate and one.lap in pace]


def _median_latency(sample: Sample) -> Series:
    """By the requests that had been answered, in a closed loop: a burst of other work moves a turn's rate, not it."""
    return [(done, p50) for done, _, p50 in _latencies(sample)]


def _latency_still_rises(sample: Sample) -> bool:
    """Whether latency still rises. A contender that warms up alone responds sooner than among others."""
    counted = rise([(done, p50) for done, one, p50 in _latencies(sample) if one.lap is not None])
    return counted is not None and counted.low > 0


def _latencies(sample: Sample) -> Iterator[tuple[float, Slice, float]]:
    turns = _turns(sample) if loop(sample) == "closed" else ()
    return ((done, one, one.latency.p50) for done, one in turns if one.latency and one.latency.p50)


def _turns(sample: Sample) -> Iterator[tuple[float, Slice]]:
    """Each turn with answers, and how many there had been when it ended."""
    turns = sample.slices.slices if sample.slices else []
    answered = accumulate(turn.completed for turn in turns)
    return ((float(done), turn) for done, turn in zip(answered, turns, strict=True) if turn.completed)


def _usual(sample: Sample, rises: _Rises) -> float:
    """The rise of the contender in the middle, under the same load in the same round: what the machine did to all."""
    others = [
        found.share
        for other, found in rises.values()
        if (other.load, other.round) == (sample.load, sample.round) and other.id != sample.id
    ]
    return statistics.median(others) if others else 0.0
