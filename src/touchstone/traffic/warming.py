"""One contender that is warmed up: whether it still gets faster, and for how long it may.

A rate says little about that on a machine that others use: from one second to the next it moves by 10 to 50 % with
what they take. CPU per request moves much less, and it falls while a runtime compiles, whose compiler's own work is in
it. But where a compiler's queue is long and the load leaves it no CPU, both stand still for seconds, at half of what is
to come. That is seen by letting the contender rest: one that is warm then does nothing, and a short stretch says enough
(docs/methodology.md; `python -m benchmarks.calibration.warm` replays recorded warm-ups).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from touchstone.engine.slices import TurnRecord
from touchstone.record.evidence.slices import Slice, WarmUp, part_rate

RISING = 0.03
"""CPU per request that fell by less from one stretch to the next has stopped falling: smaller savings are
indistinguishable from noise. What is left of the fall within the slices that count is what `still-rising` looks for.
The same share of a rate, where nobody knows the CPU."""
RATE_RISING = 0.10
"""Where the CPU is known, a rate that grows by more than that still rises: caches and pools fill without CPU."""
RESTS, MOST_RESTS = 20, 60
"""Parts of pauses. Who still works after the first number of them, and gets no faster, works in the background for
good, as does who still works after the second: `works-while-off` says so."""
COMPILES = 2.5
"""A contender whose first slices cost this many times its steady CPU per request has a JIT compiler: 14 to 40 times
with JVMs, 6 with Node, and at most 1.7 with Go, Rust and Python."""
_LOOKS = 2
"""Number of looks in a row that must find it flat: one alone may be chance."""
_SILENT_TURNS = 2
_SHORTEST_S = 0.5
_RESTED_S = 2.0
_LONGEST_S = 6.0
_PATIENCE_S = 10.0


@dataclass(frozen=True)
class WarmUpBudget:
    """How long a contender may be warmed up, in seconds of load of its own."""

    least_s: float
    most_s: float
    least_requests: int = 20_000
    """A compiler that counts calls begins its last stage after some ten thousand of a method. With fewer requests a
    rate may be flat because that stage is still to come; a service so slow that they take longer than `_PATIENCE_S` is
    looked at all the same."""

    def after(self, first: WarmUp) -> WarmUpBudget:
        """Budget of the same process under a further load, depending on its first warm-up.

        A compiler starts counting again for code that only the next load calls, such as the paths of an idle server at
        an open loop's rate. A JVM used 1.5 to 5 times its CPU per request after 5,000 of them.
        """
        compiles = first.first_cpu_ratio is not None and first.first_cpu_ratio >= COMPILES
        return WarmUpBudget(
            self.least_s / 2, self.most_s / 3, least_requests=self.least_requests // 2 if compiles else 0
        )


@dataclass
class WarmingContender:
    """One contender's warm-up so far."""

    budget: WarmUpBudget
    records: list[TurnRecord] = field(default_factory=list)
    busy_without_load: bool | None = None
    """Whether it still used CPU in its last pause; None if it had no pause."""
    rests: int = 0
    """Parts of pauses that it was given, so that a compiler could work off its queue."""
    dead: bool = False
    _flat_looks: int = 0

    @property
    def seconds(self) -> float:
        """Load of its own until now."""
        return sum(record.sending_end - record.begin for record in self.records)

    @property
    def took_s(self) -> float:
        """With the waits for requests in flight when the time of a slice was over."""
        return sum(record.end - record.begin for record in self.records)

    @property
    def requests(self) -> int:
        """Responses until now."""
        return sum(record.completed for record in self.records)

    def add(self, record: TurnRecord) -> None:
        """Take a further slice, and look whether it still gets faster."""
        self.records.append(record)
        self._flat_looks = self._flat_looks + 1 if self._stands_still else 0

    @property
    def growth(self) -> float | None:
        """The last stretch's rate over the one before, less 1. None while there are too few slices to say.

        A stretch is half of the time until now, from half a second up to two, or up to six while it is not known to be
        at rest: a young process shows its rise in a second, an old one creeps.
        """
        return self._change(part_rate)

    @property
    def cpu_saved(self) -> float | None:
        """The share by which CPU per request fell from the stretch before to the last.

        None if unknown.

        A core that others let run faster saves CPU, too. So it is counted in that of the work of reference, where every
        slice knows it.
        """
        known = all(record.reference_s for record in self.records)
        change = self._change(_work_per_request if known else _cpu_per_request)
        return None if change is None else -change

    def _change(self, value: Callable[[Slice], float | None]) -> float | None:
        known = [(r.sending_end - r.begin, v) for r in self.records if (v := value(r)) is not None]
        longest = _RESTED_S if self.busy_without_load is False else _LONGEST_S
        stretch = min(longest, max(_SHORTEST_S, self.seconds / 2))
        last, before = _tail(known, stretch), _tail(known[: len(known) - len(_tail(known, stretch))], stretch)
        if len(last) < 2 or len(before) < 2:
            return None
        earlier = statistics.median(before)
        return statistics.median(last) / earlier - 1 if earlier > 0 else None

    @property
    def first_cpu_ratio(self) -> float | None:
        """CPU per request of its first slice, divided by the present one. None if unknown."""
        known = [(r.sending_end - r.begin, v) for r in self.records if (v := _cpu_per_request(r)) is not None]
        now = _tail(known, _SHORTEST_S)
        return known[0][1] / statistics.median(now) if len(known) > len(now) else None

    @property
    def _stands_still(self) -> bool:
        growth, cpu_saved = self.growth, self.cpu_saved
        if growth is None:
            return False
        return growth < RISING if cpu_saved is None else cpu_saved < RISING and growth < RATE_RISING

    @property
    def wants_rest(self) -> bool:
        """Whether it still works while it rests, and not for good."""
        return self.busy_without_load is True and self.rests < (RESTS if self._stands_still else MOST_RESTS)

    @property
    def _flat(self) -> bool:
        return self._flat_looks >= _LOOKS and not self.wants_rest

    @property
    def done(self) -> bool:
        """Whether it needs no more: it is flat and at rest, its time is used up, it is dead, or has fallen silent."""
        if self.dead or fell_silent(self.records) or self.took_s >= self.budget.most_s:
            return True
        used = self.requests >= self.budget.least_requests or self.seconds >= _PATIENCE_S
        return used and self.seconds >= self.budget.least_s and self._flat

    def account(self) -> WarmUp:
        """How it ended."""
        return WarmUp(
            ended="died" if self.dead or fell_silent(self.records) else "flat" if self._flat else "budget",
            seconds=self.seconds,
            requests=self.requests,
            growth=self.growth,
            cpu_saved=self.cpu_saved,
            busy_without_load=self.busy_without_load,
            first_cpu_ratio=self.first_cpu_ratio,
        )


def fell_silent(records: Sequence[TurnRecord]) -> bool:
    """Whether a contender gave no correct response in its last turns. One may be bad luck.

    Each such turn lasts until its requests have timed out, so that there must not be many of them.
    """
    last = records[-_SILENT_TURNS:]
    return len(last) == _SILENT_TURNS and all(record.sent > 0 and record.ok == 0 for record in last)


def _cpu_per_request(record: Slice) -> float | None:
    """Seconds; None where nobody watched, or nothing was answered."""
    return record.server_cpu_s / record.completed if record.server_cpu_s and record.completed else None


def _work_per_request(record: Slice) -> float | None:
    """CPU per request as a multiple of what the work of reference took meanwhile. None where it is not known."""
    cpu_s = _cpu_per_request(record)
    return cpu_s / record.reference_s if cpu_s and record.reference_s else None


def _tail(values: Sequence[tuple[float, float]], seconds: float) -> list[float]:
    """The values of the last slices that cover at least these seconds."""
    found: list[float] = []
    total = 0.0
    for length, value in reversed(values):
        if total >= seconds - 1e-6:
            break
        found.append(value)
        total += length
    return found
