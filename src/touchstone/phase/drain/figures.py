"""Figures and evidence of a drain, from what the downstream's log proves: arithmetic only, no judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from touchstone.phase.drain.arrival_order import ArrivalProof
from touchstone.record.evidence.drain import DrainEvidence, DrainPoint

_PROGRESS_POINTS = 200
"""As many points of the progress are kept: a plot shows no more."""
_STOOD = 10.0
_STOOD_S = 0.05
_FIGURES = ("drain_rate", "drain_time", "drain_first_from_exec", "drain_last_from_exec")


def drain_figures(proof: ArrivalProof, exec_s: float) -> tuple[dict[str, float], dict[str, str]]:
    """The figures of a complete drain. For any other, the reason why there are none."""
    if proof.lost:
        return {}, dict.fromkeys(_FIGURES, f"{proof.lost} messages never reached the downstream")
    if len(proof.first) < 2:
        return {}, dict.fromkeys(_FIGURES, "a rate needs at least two messages")
    first, last = min(proof.first), max(proof.first)
    figures = {
        "drain_rate": (len(proof.first) - 1) / (last - first),
        "drain_time": last - first,
        "drain_first_from_exec": first - exec_s,
        "drain_last_from_exec": last - exec_s,
    }
    return figures, {}


def drain_evidence(produced: Mapping[int, int], proof: ArrivalProof, exec_s: float, ready_s: float) -> DrainEvidence:
    """What came of it. `exec_s` and `ready_s` are on the clock of the arrivals; the record counts from them."""
    times = sorted(proof.first)
    return DrainEvidence(
        produced={str(partition): count for partition, count in produced.items()},
        consumed={str(partition): count for partition, count in proof.consumed.items()},
        lost=proof.lost,
        doubled=proof.doubled,
        out_of_order=proof.out_of_order,
        unknown=proof.unknown,
        stood_still={str(partition): share for partition, share in standstill(proof).items()},
        progress=progress(times, exec_s),
        ready_s=ready_s - exec_s,
        first_from_ready_s=times[0] - ready_s if times else None,
        last_from_ready_s=times[-1] - ready_s if times else None,
    )


def standstill(proof: ArrivalProof) -> dict[int, float]:
    """By partition, the share of its time without progress, from first to last message.

    A gap counts, less a usual one, if it is ten times as long as is usual in this drain, and at least 50 ms.
    """
    begin = min(proof.first, default=0.0)
    gaps = {
        partition: [later - earlier for earlier, later in pairwise((begin, *times))]
        for partition, times in proof.by_partition.items()
    }
    every = [gap for found in gaps.values() for gap in found]
    if not every:
        return {}
    usual = median(every)
    least = max(_STOOD * usual, _STOOD_S)
    return {
        partition: sum(gap - usual for gap in found if gap >= least) / sum(found)
        for partition, found in gaps.items()
        if sum(found) > 0
    }


def progress(times: Sequence[float], exec_s: float) -> list[DrainPoint]:
    """At most some 200 points: how many messages had come, and when."""
    step = max(1, len(times) // _PROGRESS_POINTS)
    kept = sorted({*range(0, len(times), step), len(times) - 1}) if times else []
    return [DrainPoint(t=times[index] - exec_s, done=index + 1) for index in kept]
