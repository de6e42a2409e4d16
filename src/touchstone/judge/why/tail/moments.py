"""A timeline as questions about an interval: how much of it a quota, a pause or another process took."""

from __future__ import annotations

import bisect
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import TypeVar

from touchstone.record.evidence.tail import TailEvidence
from touchstone.record.tail import FIRST_DEPENDENCY, GENERATOR, SENT, SERVER, Place

Span = tuple[int, int]
Exchange = tuple[int, int, str, int]
"""A dependency's answer to a request of the server: begin, end, its name, the server's port."""
AnySpan = TypeVar("AnySpan", Span, Exchange)
_RUNTIME_THREADS = re.compile(
    r"^(C1|C2) Compiler|^(G1|GC|ZGC|ZWorker|ZDirector|ZDriver|Shenandoah|VM Thread|Concurrent Mark|V8Worker|"
    r"\.NET (Server )?GC|\.NET BGC|\.NET Tiered)"
)
"""Threads that a runtime has for itself: compilers and collectors."""
_CLOSE = 2000
"""µs between two looks that are close: they are meant to be a millisecond apart."""
_IDLE = 0.5
"""Share of the time between two looks. Where threads ran or waited for a CPU for less of it, the server slept."""
_LEAST_ASLEEP = 0.2
"""Share of a request's time. Where the server slept for less of it, the request waited for a CPU."""
_RECLAIM = re.compile(
    r"shrink|reclaim|mem_cgroup|swap|balance_pgdat|do_anonymous|filemap_fault|folio_lock_or_retry|"
    r"page fault"
)


class Spans:
    """Intervals that may overlap, joined; in order."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.joined: list[Span] = []
        for begin, end in sorted(spans):
            if self.joined and begin <= self.joined[-1][1]:
                self.joined[-1] = (self.joined[-1][0], max(end, self.joined[-1][1]))
            else:
                self.joined.append((begin, end))
        self._ends = [end for _, end in self.joined]

    def within(self, begin: int, end: int) -> int:
        """Microseconds of the interval that they cover."""
        covered = 0
        for at in range(bisect.bisect_right(self._ends, begin), len(self.joined)):
            first, last = self.joined[at]
            if first >= end:
                break
            covered += min(last, end) - max(first, begin)
        return covered

    def last_end(self, until: int) -> int:
        """Where the last of them ended by then; the first moment there is, if none did."""
        before = bisect.bisect_right(self._ends, until)
        return self._ends[before - 1] if before else -sys.maxsize


class Moments:
    """One window of one contender."""

    def __init__(self, evidence: TailEvidence) -> None:
        self.evidence = evidence
        self.timeline = timeline = evidence.tail.timeline
        self.looks = [look[0] for look in timeline.looks]
        self.quota = Spans(timeline.throttled)
        self.stopped = Spans((p.begin, p.end) for p in evidence.pauses if p.stops)
        self.collecting = Spans((p.begin, p.end) for p in evidence.pauses if not p.stops)
        self.server_waits = Spans((b, e) for b, e, process in timeline.cpu_waits if process == SERVER)
        self.generator_waits = Spans((b, e) for b, e, process in timeline.cpu_waits if process == GENERATOR)
        kinds = [bool(_RUNTIME_THREADS.search(kind)) for kind in timeline.kinds]
        self._runtime: dict[int, int] = defaultdict(int)
        for at, kind, micros in timeline.runs:
            if kinds[kind]:
                self._runtime[at] += micros
        reclaims = {place for place, name in enumerate(timeline.places) if _RECLAIM.search(name)}
        asleep = [(b, e, place in reclaims) for b, e, process, place in timeline.sleeps if process == SERVER]
        self.disk = sorted((b, e) for b, e, reclaim in asleep if not reclaim)
        self.reclaim = sorted((b, e) for b, e, reclaim in asleep if reclaim)
        names = evidence.addresses
        self.exchanges: list[Exchange] = sorted(
            (b, e, names[address], port) for b, e, address, port in timeline.exchanges
        )
        self._states: dict[tuple[str, int], list[tuple[int, str]]] = defaultdict(list)
        for wait in evidence.waits:
            self._states[wait.dependency, wait.port].append((wait.at, wait.state))
        asked = {name for name, _ in self._states}
        self.dependencies = {
            name: DependencyMoments(evidence, name)
            for name in dict.fromkeys(evidence.dependencies)
            if name not in asked
        }
        self._sockets: dict[int, list[tuple[int, int, Place]]] = defaultdict(list)
        for begin, end, port, place in sorted(timeline.sockets):
            self._sockets[port].append((begin, end, place))

    def cells(self, begin: int, end: int) -> Iterable[tuple[int, Span]]:
        """The interval cut at looks: each piece with the number of the look that ends it."""
        at = bisect.bisect_right(self.looks, begin)
        while at < len(self.looks) and begin < end:
            till = min(end, self.looks[at])
            if till > begin:
                yield at, (begin, till)
            begin, at = till, at + 1

    def used(self, at: int) -> float:
        """How many CPUs the server used just before a look."""
        if at == 0:
            return 0.0
        length = self.looks[at] - self.looks[at - 1]
        used = self.timeline.looks[at][1] - self.timeline.looks[at - 1][1]
        return min(float(self.evidence.cpus), max(0.0, used / length)) if length > 0 else 0.0

    def waited(self, at: int) -> float:
        """The share of time before a look in which the server waited for a CPU."""
        if at == 0:
            return 0.0
        begin, end = self.looks[at - 1], self.looks[at]
        return self.server_waits.within(begin, end) / max(end - begin, 1)

    def taken(self, at: int) -> float:
        """The share of time before a look in which others had the server's CPUs.

        Its threads waited for a CPU, and it did not use its CPUs itself.
        """
        return max(0.0, self.waited(at) - self.used(at) / self.evidence.cpus)

    def asleep(self, begin: int, end: int) -> Span | None:
        """The part of an interval between the moments at which the server slept.

        None of its threads ran or waited for a CPU then. None where there are few such moments.
        """
        idle = [(b, e) for at, (b, e) in self.cells(begin, end) if self.waited(at) + self.used(at) <= _IDLE]
        if sum(e - b for b, e in idle) < _LEAST_ASLEEP * (end - begin):
            return None
        return idle[0][0], idle[-1][1]

    @cached_property
    def usual(self) -> float:
        """How many CPUs the server used on average."""
        if len(self.looks) < 2:
            return 0.0
        first, last = self.timeline.looks[0], self.timeline.looks[-1]
        return min(float(self.evidence.cpus), (last[1] - first[1]) / max(last[0] - first[0], 1))

    def runtime_share(self, at: int) -> float:
        """The runtime's own threads' share of the server's CPU before a look."""
        used = self.timeline.looks[at][1] - self.timeline.looks[at - 1][1] if at else 0
        return min(1.0, self._runtime.get(self.looks[at], 0) / used) if used > 0 else 0.0

    def places(self, port: int, begin: int, end: int) -> list[tuple[int, int, Place]]:
        """Where a request was: intervals with places, in order."""
        found = [span for span in self._sockets.get(port, []) if span[0] < end and span[1] > begin]
        if found and found[-1][1] < end:
            # The last look was up to one interval before the response.
            found[-1] = (found[-1][0], end, found[-1][2])
        return found

    def answered_from(self, port: int, begin: int, end: int) -> int:
        """The earliest moment at which the server can be known to have answered a request.

        That is after it was last seen with the request, and after its threads last waited for a CPU. Between looks
        that are far apart nothing is known: the answer counts from the later one on.
        """
        found = (span for span in self._sockets.get(port, []) if span[0] < end and span[1] > begin)
        held = max((min(last, end) for _, last, place in found if place != SENT), default=begin)
        after = bisect.bisect_right(self.looks, held)
        look = self.looks[after] if after < len(self.looks) else end
        return max(held, min(look, end) - _CLOSE, self.server_waits.last_end(end))

    def states(self, exchange: Exchange) -> Counter[str]:
        """How often a dependency that was asked reported each state while an exchange was under way."""
        begin, end, name, port = exchange
        return Counter(state for at, state in self._states.get((name, port), []) if begin <= at <= end)

    @staticmethod
    def longest_within(spans: Sequence[AnySpan], begin: int, end: int) -> AnySpan | None:
        """The longest of the intervals that lie within another; they are in order."""
        first = bisect.bisect_left(spans, begin, key=itemgetter(0))
        last = bisect.bisect_right(spans, end, key=itemgetter(0))
        inside = (span for span in spans[first:last] if span[1] <= end)
        return max(inside, key=lambda span: span[1] - span[0], default=None)


class DependencyMoments:
    """What the processes of one dependency did."""

    def __init__(self, evidence: TailEvidence, name: str) -> None:
        timeline = evidence.tail.timeline
        places = [place for place, one in enumerate(evidence.dependencies) if one == name]
        self._columns = [2 + place for place in places]
        self._looks = timeline.looks
        processes = {FIRST_DEPENDENCY + place for place in places}
        self._waits = Spans((b, e) for b, e, process in timeline.cpu_waits if process in processes)
        self._sleeps = Spans((b, e) for b, e, process, _ in timeline.sleeps if process in processes)

    def during(self, at: int, begin: int, end: int) -> dict[str, float]:
        """All microseconds of an interval, by the dependency's work. The interval ends with a look or before it."""
        length = float(end - begin)
        disk = float(self._sleeps.within(begin, end))
        waiting = min(float(self._waits.within(begin, end)), length - disk)
        own = min((length - disk - waiting), length * self._busy(at))
        return {
            "disk or file": disk,
            "waiting for a CPU": waiting,
            "its own CPU": own,
            "lock, queue or timer": length - disk - waiting - own,
        }

    def _busy(self, at: int) -> float:
        """The CPUs that it used just before a look."""
        if at == 0 or len(self._looks[at]) <= max(self._columns):
            return 0.0
        before, now = self._looks[at - 1], self._looks[at]
        used = sum(now[column] - before[column] for column in self._columns)
        return used / max(now[0] - before[0], 1)
