"""Takes one contender's CPU per request apart, where there is nothing to compare it with."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable

from touchstone.attribution.category import Category
from touchstone.judge.statistics.intervals import mean_interval, simultaneous
from touchstone.judge.why.explain import CALLS, FUNCTIONS, LEAST_CALLS
from touchstone.judge.why.explanation import CpuBreakdown, CpuPart, EventCount, Unexplained
from touchstone.judge.why.spending import CpuByCategory, calls_per_request, profiles, spending, why_not
from touchstone.judge.why.waits import waits_of
from touchstone.record.run import Run


def break_down_cpu(run: Run, contender: str, load: str, confidence: float) -> CpuBreakdown | Unexplained:
    """Break one contender's CPU per request under one load into categories, functions, system calls and waits."""
    found = [sample.profile for _, sample in profiles(run.samples, contender, load) if sample.profile]
    read = [(one, costs) for one in found if (costs := spending(one))]
    if not read:
        return Unexplained(load=load, contender=contender, reason=why_not(run.samples, contender, load))
    evidence = [one for one, _ in read]
    spent = [costs for _, costs in read]
    categories = [str(c) for c in Category if any(c in one.categories for one in spent)]
    each = simultaneous(confidence, len(categories) + 1)
    waiting, no_waits = waits_of(evidence)
    calls = sorted(calls_per_request(evidence).items(), key=lambda item: (-item[1], item[0]))
    return CpuBreakdown(
        load=load,
        contender=contender,
        rate=evidence[-1].rate,
        rounds=len(read),
        total=_cost("CPU per request", spent, lambda one: one.plain, confidence),
        parts=_largest(_cost(name, spent, _of(name, "categories"), each) for name in categories),
        rest=_cost("rest", spent, lambda one: one.plain - one.subject, each),
        functions=_functions(spent, confidence),
        calls=[EventCount(name=name, each=value) for name, value in calls[:CALLS] if value >= LEAST_CALLS],
        waits=[EventCount(name=name, each=value) for name, value in sorted(waiting.items(), key=lambda item: -item[1])],
        no_waits=no_waits,
        profiler=evidence[-1].profiler or "",
    )


def _of(name: str, kind: str) -> Callable[[CpuByCategory], float]:
    return lambda one: float(getattr(one, kind).get(name, 0.0))


def _cost(name: str, spent: list[CpuByCategory], value: Callable[[CpuByCategory], float], confidence: float) -> CpuPart:
    values = [value(one) for one in spent]
    interval = mean_interval(values, confidence)
    return CpuPart(
        name=name,
        seconds=statistics.fmean(values),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def _functions(spent: list[CpuByCategory], confidence: float) -> list[CpuPart]:
    sums: Counter[str] = Counter()
    for one in spent:
        sums.update(one.functions)
    names = [name for name, _ in sums.most_common(FUNCTIONS)]
    each = simultaneous(confidence, len(names))
    return [_cost(name, spent, _of(name, "functions"), each) for name in names]


def _largest(costs: Iterable[CpuPart]) -> list[CpuPart]:
    return sorted(costs, key=lambda cost: -cost.seconds)
