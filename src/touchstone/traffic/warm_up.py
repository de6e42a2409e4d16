"""Warm means warm: all contenders of a session are loaded until none gets faster, or the profile's time is used up.

A runtime that compiles while it runs gets faster for half a minute and more. A window that begins when the data look
steady would choose its own start by the noise that it is to measure; here the warm-up's slices are thrown away, and the
slices that count come after them, for all contenders alike. When one has stopped getting faster, `warming` says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from touchstone.engine.slices import SlicesSession, Turn, TurnRecord
from touchstone.record.evidence.slices import IDLE_CPUS, WarmUp
from touchstone.traffic.warming import WarmingContender, WarmUpBudget

BUSY_WITHOUT_LOAD = 0.05
"""The share of its own requests' CPU above which a contender that should rest still works."""
SETTLING_LAPS = 8
"""Laps over all contenders at the end, at most, until nobody works in the others' slices."""
REST_S = 0.2
"""A part of a pause for a compiler that has work left. On one CPU it gets half of it next to another contender's load,
and next to nothing of it next to its own service's."""
_PARTS = 10
"""Most checks in a pause."""
_GLANCE_S = 0.05
"""A turn of the null server, in which is seen who works while it should rest."""
_BUSY_CPUS = 0.1
"""CPUs of a contender that still works in a pause; with the null server on its CPU it gets half of one."""
_ALONE_TURNS = 2
"""Turns between two looks at the last contender. Where several are warmed up each rests in every lap, while the others
are on; the last one's rest is time in which nobody is warmed up."""


def cpu_without_load(turns: Sequence[TurnRecord]) -> dict[int, float]:
    """CPU of each contender while it should rest, as a share of its requests' CPU.

    The share is of as much time as it rested, or of all of its own if it rested for longer; 0 where an idle runtime's
    timers explain it. Who was not seen to rest is not in it, nor who gave no correct response: it has no work to put
    off, and is not waited for.
    """
    own: dict[int, float] = {}
    on: dict[int, float] = {}
    for turn in turns:
        if turn.ok and turn.server_cpu_s:
            own[turn.contender] = own.get(turn.contender, 0.0) + turn.server_cpu_s
            on[turn.contender] = on.get(turn.contender, 0.0) + turn.end - turn.begin
    beside, off = dict.fromkeys(own, 0.0), dict.fromkeys(own, 0.0)
    for turn in turns:
        for contender, used in enumerate(turn.others_cpu_s or []):
            if contender in own and contender != turn.contender and used is not None:
                beside[contender] += used
                off[contender] += turn.end - turn.begin
    shares = {one: beside[one] / (own[one] * min(1.0, off[one] / on[one])) for one in own if off[one] > 0}
    return {one: share if beside[one] > IDLE_CPUS * off[one] else 0.0 for one, share in shares.items()}


def at_rest(lap: Sequence[TurnRecord]) -> bool:
    """Whether in a lap over all contenders each rested while the others were on.

    A rate may be flat while a compiler still works off its queue: it goes on in the neighbours' slices.
    """
    return all(share <= BUSY_WITHOUT_LOAD for share in cpu_without_load(lap).values())


def warm_up(
    session: SlicesSession,
    names: Mapping[int, str],
    budgets: Mapping[int, WarmUpBudget],
    slice_s: float,
    tell: Callable[[str], None],
    *,
    null: int | None = None,
) -> tuple[list[TurnRecord], dict[int, WarmUp]]:
    """Load a session's contenders in laps until all are steady or time is up.

    Args:
        session: an open one.
        names: who is warmed up, by their place in the session's job.
        budgets: how long each of them may take.
        slice_s: the length of a turn.
        tell: called with the contenders that are still warming up, and the time.
        null: the null server's place, if it is in the session. It has nothing to warm up: it runs while the last
            contender rests, and in the laps that all have at the end.

    Returns:
        The turns, and how each contender's warm-up ended.

    """
    records: list[TurnRecord] = []
    warming = {index: WarmingContender(budgets[index]) for index in names}
    while open_ := [index for index, one in warming.items() if not one.done]:
        turns = [Turn(index, slice_s) for index in open_]
        if len(open_) == 1 and null is not None and null not in session.fatal:
            turns = turns * _ALONE_TURNS + [Turn(null, _GLANCE_S)]
        fresh = session.turns("warmup", turns)
        records += fresh
        for record in fresh:
            if record.contender in open_:
                warming[record.contender].add(record)
        _look(warming, open_, fresh, session.fatal)
        still = [index for index in open_ if not warming[index].done]
        if still:
            longest = max(warming[index].seconds for index in still)
            tell(f"{', '.join(names[index] for index in still)}, {longest:.0f} s")
        records += _let_rest(session, {index: warming[index] for index in still}, null)
    # After the slowest has had the machine for itself, the others' caches are cold: a lap for all, and more of them
    # while someone still works in the others' slices.
    everyone = [*names] if null is None else [*names, null]
    for _ in range(SETTLING_LAPS):
        lap = session.turns("warmup", [Turn(index, slice_s) for index in everyone])
        records += lap
        if at_rest(lap):
            break
    return records, {index: one.account() for index, one in warming.items()}


def _look(
    warming: Mapping[int, WarmingContender],
    places: Sequence[int],
    turns: Sequence[TurnRecord],
    fatal: Mapping[int, str],
) -> None:
    """Note who has worked while it should have rested, and who has died."""
    shares = cpu_without_load(turns)
    for index in places:
        if index in shares:
            warming[index].busy_without_load = shares[index] > BUSY_WITHOUT_LOAD
        warming[index].dead = index in fatal


def _let_rest(session: SlicesSession, warming: Mapping[int, WarmingContender], null: int | None) -> list[TurnRecord]:
    """Pause in parts without load until none has work left. The null server's turns fill them."""
    records: list[TurnRecord] = []
    tired = {index: one for index, one in warming.items() if one.wants_rest}
    for _ in range(_PARTS):
        if not tired:
            break
        time.sleep(REST_S)
        for one in tired.values():
            one.rests += 1
        if null is None or null in session.fatal:
            break
        glance = session.turns("warmup", [Turn(null, _GLANCE_S)])
        records += glance
        tired = {index: one for index, one in tired.items() if one.wants_rest and _works_in(glance, index)}
    return records


def _works_in(turns: Sequence[TurnRecord], contender: int) -> bool:
    """Whether a contender works while others are on."""
    for turn in turns:
        used = turn.others_cpu_s[contender] if turn.others_cpu_s else None
        if used is not None and used > _BUSY_CPUS * (turn.end - turn.begin):
            return True
    return False
