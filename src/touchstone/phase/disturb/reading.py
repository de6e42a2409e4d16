"""The evidence of a load with faults, from the engine's result and the timetable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from touchstone.engine.protocol import Step
from touchstone.manifest.load import Load
from touchstone.phase.disturb.timetable import DoneFault, Timetable
from touchstone.record.engine import LoadResult, LoadStep
from touchstone.record.evidence.disturb import DisturbEvidence, FaultEvidence, Meanwhile, RelayCounts
from touchstone.traffic.recovery import recovery

INTERVAL_S = 0.05
LAST_S = 1.0
"""The end of the load, in which a service that has not recovered shows how it fails."""
_SLACK = 2.0
_LEAST_BOUND_S = 0.05
"""After a fault, answers are in time again if they take at most twice as long as the slowest before it, and always
within 50 ms: a calm load has few intervals, and the machine has pauses."""


def steps_of(load: Load) -> list[Step]:
    """The load's rate in parts: before, within and after each fault, and the end."""
    assert load.rate is not None and load.seconds is not None  # the manifest's own validation
    ends = sorted({time for one in load.disturb for time in (one.at_s, one.end_s)})
    ends += [load.seconds - LAST_S, load.seconds]
    begins = [0.0, *ends[:-1]]
    return [{"rate": load.rate, "seconds": end - begin} for begin, end in zip(begins, ends, strict=True)]


@dataclass(frozen=True)
class DisturbedLoad:
    """A load whose steps were those of `steps_of`: its result, and what was known and done around it."""

    load: Load
    result: LoadResult
    timetable: Timetable
    needs: Mapping[str, list[str]] | None
    died: str | None

    def evidence(self) -> DisturbEvidence:
        """All that it says."""
        evidence = DisturbEvidence(
            result=self.result, needs=None if self.needs is None else dict(self.needs), died=self.died
        )
        for name in dict.fromkeys(one.dependency for one in self.load.disturb):
            needing = self._needing(name)
            evidence.calm_needing[name] = meanwhile(self.result.steps[0], needing)
            evidence.calm_others[name] = meanwhile(self.result.steps[0], self._all - needing)
            evidence.end_needing[name] = meanwhile(self.result.steps[-1], needing)
            self._note_calm_rates(name, evidence)
        evidence.faults = [self._fault(number, done) for number, done in enumerate(self.timetable.done)]
        evidence.threads = self._threads()
        return evidence

    @property
    def _all(self) -> set[str]:
        return {request.name for request in self.load.requests}

    @property
    def _first_s(self) -> float:
        """When the first fault began, in seconds from the start of the series."""
        return self.result.window.warmup_s + min(one.at_s for one in self.load.disturb)

    def _needing(self, dependency: str) -> set[str]:
        """The requests that need a dependency; all if that is not known."""
        if self.needs is None:
            return self._all
        return {name for name, needed in self.needs.items() if dependency in needed}

    def _note_calm_rates(self, name: str, evidence: DisturbEvidence) -> None:
        """Note how often the service turned to a dependency before the first fault, and its connections."""
        done = next((done for done in self.timetable.done if done.planned.dependency == name), None)
        if done is None or done.before is None or name not in self.timetable.at_begin:
            return
        if done is self.timetable.done[0]:
            begin, seconds = self.timetable.at_begin[name], done.planned.at_s
            evidence.calm_turns_per_s[name] = (done.before.turns - begin.turns) / seconds
            evidence.calm_connects_per_s[name] = (done.before.accepted - begin.accepted) / seconds
        if name in self.timetable.at_end:
            evidence.sessions[name] = done.before.open, self.timetable.at_end[name].open

    def _threads(self) -> tuple[int, int] | None:
        """The most threads before the first fault, and those at the end. None where they were not seen."""
        series = self.result.watch.series if self.result.watch else []
        threads = [(point.t, point.threads) for point in series if point.threads]
        before = [count for t, count in threads if t < self._first_s]
        return (max(before), threads[-1][1]) if before and not self.died else None

    def _fault(self, number: int, done: DoneFault) -> FaultEvidence:
        window, planned = self.result.window, done.planned
        begin_s = window.start_unix_s + window.warmup_s
        step, needing = self.result.steps[2 * number + 1], self._needing(planned.dependency)
        before, after = done.before or RelayCounts(), done.after or RelayCounts()
        return FaultEvidence(
            dependency=planned.dependency,
            act=planned.act,
            in_words=planned.in_words,
            at_s=planned.at_s,
            for_s=planned.for_s,
            began_s=done.began_unix_s - begin_s,
            ended_s=done.ended_unix_s - begin_s,
            needing=meanwhile(step, needing),
            others=meanwhile(step, self._all - needing),
            recovery_s=None if self.died else self._recovery_s(number, done.ended_unix_s - begin_s),
            turns_per_s=(after.turns - before.turns) / planned.for_s if done.after else None,
            connects_per_s=(after.accepted - before.accepted) / planned.for_s if done.after else None,
        )

    def _recovery_s(self, number: int, ended_s: float) -> float | None:
        """Seconds from the end of a fault until requests are answered as before. None if the next fault came first."""
        warmup_s, series, later = self.result.window.warmup_s, self.result.series, self.timetable.done[number + 1 :]
        calm = [p.p99 for p in series if p.phase == "load" and p.t <= self._first_s and p.p99 is not None]
        bound_s = max(_LEAST_BOUND_S, _SLACK * max(calm, default=0.0))
        if later:
            series = [point for point in series if point.t <= warmup_s + later[0].planned.at_s]
        return recovery(series, warmup_s + ended_s, bound_s, INTERVAL_S)


def meanwhile(step: LoadStep, names: Collection[str]) -> Meanwhile:
    """The requests of these names that were due in a step."""
    own = [request for request in step.requests if request.name in names]
    known = [request.latency for request in own if request.latency.count]
    return Meanwhile(
        names=[request.name for request in own],
        sent=sum(request.sent for request in own),
        errors=sum(request.errors for request in own),
        p90=highest(latency.p90 for latency in known),
        p99=highest(latency.p99 for latency in known),
        max=highest(latency.max for latency in known),
    )


def highest(values: Iterable[float | None]) -> float | None:
    """The highest of the values that are known; None if none is."""
    return max((value for value in values if value is not None), default=None)
