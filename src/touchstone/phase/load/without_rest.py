"""Load without a pause: detects contenders that are fast only after a pause."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from touchstone.engine.slices import SlicesSession, Turn, TurnRecord
from touchstone.record.evidence.slices import Slice, part_rate
from touchstone.traffic.warming import fell_silent

_PART_S = 0.5
"""The stretch is made of turns without a gap, so that it can be seen whether the contender slows down or catches up."""
_USUAL = 4
"""Number of turns of the warm-up whose median is the usual pace."""
KEPT = 0.8
"""The share of their pace at which all are clear of doubt."""


def load_without_rest(
    session: SlicesSession, slice_s: Mapping[int, float], seconds: float, before: Mapping[int, Sequence[Slice]]
) -> list[TurnRecord]:
    """Load each contender without a pause, and return the slices.

    One in doubt has a second stretch right after it, which counts in place of the first. A machine that others use
    slows one stretch down, as does a compiler that begins again after the contract's requests; hardly both of two,
    while what needs rests is slower still.

    Args:
        session: the load's.
        slice_s: by contender, the length of a slice that holds whole generations.
        seconds: how long a stretch lasts at least.
        before: by contender, its turns of the warm-up.

    """
    records: list[TurnRecord] = []
    for index, length in slice_s.items():
        first = _stretch(session, index, max(length, _PART_S), seconds)
        second = _stretch(session, index, max(length, _PART_S), seconds) if _in_doubt(first, before[index]) else []
        for record in second or first:
            record.unbroken = True
        records += first + second
    return records


def _stretch(session: SlicesSession, index: int, part_s: float, seconds: float) -> list[TurnRecord]:
    """Load one contender in consecutive slices. Ends early if it stops responding."""
    records: list[TurnRecord] = []
    for _ in range(math.ceil(seconds / part_s - 1e-6)):
        if not fell_silent(records):
            records += session.turns("warmup", [Turn(index, part_s)])
    return records


def _in_doubt(stretch: Sequence[Slice], before: Iterable[Slice]) -> bool:
    """Whether a contender responded much less, or much later, than in its warm-up."""
    usual = [*before][-_USUAL:]
    if not usual or not stretch:
        return False
    late = stretch[len(stretch) // 2 :]
    if stretch[0].offered is None:
        rate = statistics.median(part_rate(one) for one in late)
        return rate < KEPT * statistics.median(part_rate(one) for one in usual)
    lost = sum(one.sent + one.unsent - one.ok for one in late) > (1 - KEPT) * sum(one.sent for one in late)
    return lost or _median_latency(late) > _median_latency(usual) / KEPT


def _median_latency(slices: Sequence[Slice]) -> float:
    known = [one.latency.p50 for one in slices if one.latency is not None and one.latency.p50]
    return statistics.median(known) if known else 0.0
