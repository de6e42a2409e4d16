"""Takes a difference of CPU per request apart, paired by rounds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from touchstone.attribution.category import Category
from touchstone.judge.statistics.intervals import mean_interval, simultaneous
from touchstone.judge.why.explanation import (
    CountDifference,
    CpuDifference,
    CpuExplanation,
    FunctionDifference,
    Unexplained,
)
from touchstone.judge.why.spending import CpuByCategory, calls_per_request, profiles, spending, why_not
from touchstone.judge.why.waits import waits
from touchstone.record.evidence.profile import ProfileEvidence
from touchstone.record.run import Run
from touchstone.vocabulary.figure_shape import Unit
from touchstone.vocabulary.profile_figures import PROFILE_FIGURES

FUNCTIONS = 10
CALLS = 10
_LEAST_SHARE = 0.005
"""A function that differs by a smaller share of the larger total is not a candidate: it would only widen the family."""
LEAST_CALLS = 0.01

Rounds = Mapping[int, CpuByCategory]


def explain(run: Run, baseline: str, contender: str, load: str, confidence: float) -> CpuExplanation | Unexplained:
    """Explain one contender against another under one load, from the rounds that both were profiled in."""
    found: list[dict[int, tuple[ProfileEvidence, CpuByCategory]]] = []
    for name in (baseline, contender):
        read = {
            number: (sample.profile, spent)
            for number, sample in profiles(run.samples, name, load)
            if sample.profile and (spent := spending(sample.profile))
        }
        if not read:
            reason = why_not(run.samples, name, load)
            return Unexplained(load=load, contender=contender, baseline=baseline, reason=reason)
        found.append(read)
    rounds = sorted(found[0].keys() & found[1].keys())
    if not rounds:
        reason = "there is no round in which both were profiled"
        return Unexplained(load=load, contender=contender, baseline=baseline, reason=reason)
    a, b = ({number: one[number][1] for number in rounds} for one in found)
    evidence = [one[rounds[-1]][0] for one in found]
    total = _part("CPU per request", a, b, lambda s: s.plain, confidence)
    names = [str(c) for c in Category if any(c in s.categories for s in (*a.values(), *b.values()))]
    each = simultaneous(confidence, len(names) + 1)
    waited, no_waits = waits([[one[number][0] for number in rounds] for one in found])
    return CpuExplanation(
        load=load,
        contender=contender,
        baseline=baseline,
        rate=evidence[1].rate,
        rounds=len(rounds),
        total=total,
        parts=[_part(name, a, b, _of_category(name), each) for name in names],
        rest=_part("rest", a, b, lambda s: s.plain - s.subject, each),
        functions=_functions(a, b, confidence),
        calls=_calls([[one[number][0] for number in rounds] for one in found]),
        counted=_counted(run, (baseline, contender), load, rounds),
        waits=waited,
        no_waits=no_waits,
        profilers=[one.profiler or "" for one in evidence],
        unmatched=_unmatched(a, b),
    )


def _of_category(name: str) -> Callable[[CpuByCategory], float]:
    return lambda spent: spent.categories.get(name, 0.0)


def _part(name: str, a: Rounds, b: Rounds, value: Callable[[CpuByCategory], float], confidence: float) -> CpuDifference:
    differences = [value(b[number]) - value(a[number]) for number in a]
    interval = mean_interval(differences, confidence)
    return CpuDifference(
        name=name,
        baseline=statistics.fmean(value(spent) for spent in a.values()),
        contender=statistics.fmean(value(spent) for spent in b.values()),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def _functions(a: Rounds, b: Rounds, confidence: float) -> list[FunctionDifference]:
    names = {name for spent in (*a.values(), *b.values()) for name in spent.functions}
    means = {
        name: tuple(statistics.fmean(s.functions.get(name, 0.0) for s in side.values()) for side in (a, b))
        for name in names
    }
    largest = max(statistics.fmean(s.plain for s in side.values()) for side in (a, b))
    candidates = [name for name, (x, y) in means.items() if abs(y - x) >= _LEAST_SHARE * largest]
    each = simultaneous(confidence, len(candidates))
    categories = {name: c for spent in (*a.values(), *b.values()) for name, c in spent.function_category.items()}

    def made(name: str) -> FunctionDifference:
        part = _part(name, a, b, lambda spent: spent.functions.get(name, 0.0), each)
        return FunctionDifference(**part.model_dump(), category=categories[name])

    parts = [made(name) for name in candidates]
    return sorted(parts, key=lambda part: -abs(part.difference))[:FUNCTIONS]


def _calls(sides: Sequence[Sequence[ProfileEvidence]]) -> list[CountDifference]:
    """Over all rounds together: counts need no interval, and few of them depend on chance."""
    a, b = (calls_per_request(side) for side in sides)
    if not a or not b:
        return []
    found = [CountDifference(name=name, baseline=a.get(name, 0.0), contender=b.get(name, 0.0)) for name in a.keys() | b]
    kept = [call for call in found if max(call.baseline, call.contender) >= LEAST_CALLS]
    return sorted(kept, key=lambda call: (-abs(call.difference), call.name))[:CALLS]


def _counted(run: Run, pair: tuple[str, str], load: str, rounds: Sequence[int]) -> list[CountDifference]:
    """By the figures' titles, as means over rounds. What was counted of one alone is left out."""
    sides = [
        [sample.figures for number, sample in profiles(run.samples, name, load) if number in rounds] for name in pair
    ]
    found = []
    for figure in PROFILE_FIGURES:
        if figure.unit is not Unit.COUNT or figure.name == "syscalls_per_request":
            continue
        values = [[figures[figure.name] for figures in side if figure.name in figures] for side in sides]
        if all(values) and any(map(any, values)):
            a, b = (statistics.fmean(side) for side in values)
            found.append(CountDifference(name=figure.title.removesuffix(" per request"), baseline=a, contender=b))
    return found


def _unmatched(a: Rounds, b: Rounds) -> list[tuple[str, float]]:
    total = sum(spent.subject for spent in (*a.values(), *b.values()))
    sums: dict[str, float] = {}
    for spent in (*a.values(), *b.values()):
        for name, seconds in spent.unmatched.items():
            sums[name] = sums.get(name, 0.0) + seconds / total
    return sorted(sums.items(), key=lambda item: -item[1])[:CALLS]


def profiled_under(run: Run) -> dict[str, list[str]]:
    """By load, the contenders that were profiled under it, in the order of the record."""
    found: dict[str, list[str]] = {}
    for sample in run.samples:
        if sample.phase == "profile" and sample.load is not None and sample.contender not in found.get(sample.load, []):
            found.setdefault(sample.load, []).append(sample.contender)
    return found


def explain_all(run: Run, baseline: str | None, confidence: float) -> list[CpuExplanation | Unexplained]:
    """Every profiled contender against the baseline, load by load: what a report tells."""
    return [
        explain(run, baseline, name, load, confidence)
        for load, names in profiled_under(run).items()
        for name in names
        if baseline in names and name != baseline and baseline is not None
    ]
