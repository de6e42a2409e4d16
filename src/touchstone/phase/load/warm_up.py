"""Warm means warm: which contenders still rise, and for how long they may.

A runtime that compiles while it runs gets faster for half a minute and more. So each contender is loaded until its
rate has stopped rising, or until the profile's time is used up; the record says which. A window that begins when the
data look steady would choose its own start by the noise that it is to measure; here the warm-up's slices are thrown
away, and the slices that count come after them, for all contenders alike.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.engine.slices import SlicesSession, Turn, TurnRecord
from touchstone.record.evidence.slices import WarmUp

RISING = 0.03
"""A rate that grew by less from one stretch to the next has stopped rising. Below it, growth goes under in the noise of
an ordinary machine; what is left of it within the slices that count is what `still-rising` looks for."""
RESTLESS = 0.05
"""The share of its own requests' CPU above which a contender that should rest still works."""
SETTLING_LAPS = 8
"""Who has not come to rest after so many works in the background for good: `works-while-off` says so."""
_SILENT_TURNS = 2
_SHORTEST_S = 0.5
_LONGEST_S = 6.0
_PATIENCE_S = 10.0
_LOOKS = 2
"""So many looks in a row must find a rate flat: one alone may be luck."""


@dataclass(frozen=True)
class Budget:
    """How long a contender may be warmed up, in seconds of load of its own."""

    least_s: float
    most_s: float
    least_requests: int = 20_000
    """A compiler that counts calls begins its last stage after some ten thousand of a method. Before so many requests a
    rate may be flat because that stage is still to come; a service so slow that they take longer than `_PATIENCE_S` is
    looked at all the same."""


@dataclass
class WarmingContender:
    """One contender's warm-up so far."""

    budget: Budget
    records: list[TurnRecord] = field(default_factory=list)
    _flat_looks: int = 0
    dead: bool = False

    @property
    def seconds(self) -> float:
        """Load of its own until now."""
        return sum(record.sending_end - record.begin for record in self.records)

    @property
    def took_s(self) -> float:
        """With the waits for what was under way when a turn's time was over."""
        return sum(record.end - record.begin for record in self.records)

    @property
    def requests(self) -> int:
        """Responses until now."""
        return sum(record.completed for record in self.records)

    def add(self, record: TurnRecord) -> None:
        """Take a further slice, and look whether it still rises."""
        self.records.append(record)
        growth = self.growth
        self._flat_looks = self._flat_looks + 1 if growth is not None and growth < RISING else 0

    @property
    def growth(self) -> float | None:
        """The last stretch's rate over the one before, less 1; None while there are too few slices to say.

        A stretch is half of the time until now, from half a second up to six: a young process shows its rise in a
        second, an old one creeps.
        """
        rates = [(r.sending_end - r.begin, turn_rate(r)) for r in self.records]
        stretch = min(_LONGEST_S, max(_SHORTEST_S, self.seconds / 2))
        last, before = _tail(rates, stretch), _tail(rates[: len(rates) - len(_tail(rates, stretch))], stretch)
        if len(last) < 2 or len(before) < 2:
            return None
        earlier = statistics.median(before)
        return statistics.median(last) / earlier - 1 if earlier > 0 else None

    @property
    def done(self) -> bool:
        """Whether it needs no more: it is flat, its time is used up, it is dead, or it has fallen silent."""
        if self.dead or fell_silent(self.records) or self.took_s >= self.budget.most_s:
            return True
        used = self.requests >= self.budget.least_requests or self.seconds >= _PATIENCE_S
        return used and self.seconds >= self.budget.least_s and self._flat_looks >= _LOOKS

    def account(self) -> WarmUp:
        """How it ended."""
        flat = self._flat_looks >= _LOOKS
        return WarmUp(
            ended="died" if self.dead or fell_silent(self.records) else "flat" if flat else "budget",
            seconds=self.seconds,
            requests=self.requests,
            growth=self.growth,
        )


def fell_silent(records: Sequence[TurnRecord]) -> bool:
    """Whether a contender gave no correct response in its last turns, one of which may be bad luck.

    Each such turn lasts until its requests have timed out, so that there must not be many of them.
    """
    last = records[-_SILENT_TURNS:]
    return len(last) == _SILENT_TURNS and all(record.sent > 0 and record.ok == 0 for record in last)


def at_rest(lap: Sequence[TurnRecord]) -> bool:
    """Whether in a lap over all contenders each rested while the others were on.

    A rate may be flat while a compiler still works off its queue: it goes on in the neighbours' slices. Who gave no
    correct response has no work to put off, and is not waited for.
    """
    own = {record.contender: record.server_cpu_s or 0.0 for record in lap if record.ok}
    beside = dict.fromkeys(own, 0.0)
    for record in lap:
        for contender, used in enumerate(record.others_cpu_s or []):
            if contender in beside:
                beside[contender] += used or 0.0
    return all(beside[contender] <= RESTLESS * own[contender] for contender in own if own[contender] > 0)


def warm_up(
    session: SlicesSession,
    names: Mapping[int, str],
    budget: Budget,
    slice_s: float,
    tell: Callable[[str], None],
) -> tuple[list[TurnRecord], dict[int, WarmUp]]:
    """Laps over the contenders of a session, until every one's rate has stopped rising or its time is used up.

    Args:
        session: an open one.
        names: who is warmed up, by their place in the session's job.
        budget: how long each may take.
        slice_s: the length of a turn.
        tell: told who is still warming up, and for how long.

    Returns:
        The turns, and how each contender's warm-up ended.

    """
    records: list[TurnRecord] = []
    warming = {index: WarmingContender(budget) for index in names}
    while open_ := [index for index, one in warming.items() if not one.done]:
        turns = [Turn(index, slice_s) for _ in range(2) for index in open_]
        for record in session.turns("warmup", turns):
            one = warming[record.contender]
            one.add(record)
            one.dead = record.contender in session.fatal
            records.append(record)
        still = [names[index] for index in open_ if not warming[index].done]
        if still:
            tell(f"{', '.join(still)}, {max(warming[index].seconds for index in open_):.0f} s")
    # After the slowest has had the machine for itself, the others' caches are cold: a lap for all, and more of them
    # while someone still works in the others' slices.
    for _ in range(SETTLING_LAPS):
        lap = session.turns("warmup", [Turn(index, slice_s) for index in names])
        records += lap
        if at_rest(lap):
            break
    return records, {index: one.account() for index, one in warming.items()}


def turn_rate(record: TurnRecord) -> float:
    """Right responses per second; of a slice without whole generations, over the whole slice."""
    if record.rate is not None:
        return record.rate
    return record.ok / max(record.end - record.begin, 1e-9)


def _tail(rates: Sequence[tuple[float, float]], seconds: float) -> list[float]:
    """The rates of the last slices that make up so many seconds, at least."""
    found: list[float] = []
    total = 0.0
    for length, rate in reversed(rates):
        if total >= seconds - 1e-6:
            break
        found.append(rate)
        total += length
    return found
