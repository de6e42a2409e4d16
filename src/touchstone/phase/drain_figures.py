"""Figures and record of a drain, from what the downstream's log proves: arithmetic only, no judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from touchstone.phase.arrival_order import ArrivalProof

_PROGRESS_POINTS = 200
"""As many points of the progress are kept: a plot shows no more."""
_STOOD = 10.0
_STOOD_S = 0.05
_FIGURES = ("drain_rate", "drain_time", "drain_first_from_exec", "drain_last_from_exec")


def drain_figures(proof: ArrivalProof, exec_s: float) -> tuple[dict[str, float], dict[str, str]]:
    """The figures of a drain that came to its end; of any other, the reason why there are none."""
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


def drain_record(produced: Mapping[int, int], proof: ArrivalProof) -> dict[str, Any]:
    """What came of it, as `detail["drain"]` keeps it."""
    return {
        "produced": {str(partition): count for partition, count in produced.items()},
        "consumed": {str(partition): count for partition, count in proof.consumed.items()},
        "lost": proof.lost,
        "doubled": proof.doubled,
        "out_of_order": proof.out_of_order,
        "unknown": proof.unknown,
        "stood_still": {str(partition): share for partition, share in standstill(proof).items()},
    }


def standstill(proof: ArrivalProof) -> dict[int, float]:
    """For each partition, the share of its time in which nothing was done, from the first message to its last.

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


def timeline(proof: ArrivalProof, exec_s: float, ready_s: float) -> dict[str, Any]:
    """Messages done over time since exec, and when the first and the last came, counted from the first right answer."""
    times = sorted(proof.first)
    found: dict[str, Any] = {"progress": progress(times, exec_s), "ready_s": ready_s - exec_s}
    if times:
        found |= {"first_from_ready_s": times[0] - ready_s, "last_from_ready_s": times[-1] - ready_s}
    return found


def progress(times: Sequence[float], exec_s: float) -> list[dict[str, float | int]]:
    """At most some 200 points: how many messages had come, and when."""
    step = max(1, len(times) // _PROGRESS_POINTS)
    kept = sorted({*range(0, len(times), step), len(times) - 1}) if times else []
    return [{"t": times[index] - exec_s, "done": index + 1} for index in kept]
