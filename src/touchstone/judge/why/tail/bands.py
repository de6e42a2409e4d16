"""Requests around each percentile, and their latency in parts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from touchstone.judge.why.tail.divide import divide, own_exchange
from touchstone.judge.why.tail.moments import Moments
from touchstone.judge.why.tail.parts import LatencyPart
from touchstone.record.evidence.tail import TailEvidence
from touchstone.record.tail import Stamps

BANDS = {"p50": (0.40, 0.60), "p90": (0.85, 0.95), "p99": (0.985, 0.995), "p99.9": (0.9985, 0.9995)}
"""By name, the ranks between which requests belong to a percentile."""
MEDIAN, TAIL = "p50", "p99"
_MOST = 300
"""Requests of a band that are divided: more do not change its mean."""


def ranked(evidence: TailEvidence) -> Iterator[tuple[float, Stamps]]:
    """Kept requests with their rank from 0 to 1, the fastest first.

    All of the slowest are known; each random one below them stands for as many as were not kept.
    """
    tail = evidence.tail
    slowest = sorted(tail.slowest, key=lambda one: one.latency)
    least = slowest[0].latency if slowest else 0
    others = sorted((one for one in tail.sampled if one.latency <= least), key=lambda one: one.latency)
    total = max(tail.requests, len(slowest))
    weight = (total - len(slowest)) / len(others) if others else 0.0
    rank = 0.0 if others else float(total - len(slowest))
    for one in others:
        yield (rank + weight / 2) / total, one
        rank += weight
    for one in slowest:
        yield (rank + 0.5) / total, one
        rank += 1


def bands(evidence: TailEvidence) -> dict[str, tuple[int, dict[str, float]]]:
    """By band, the number of requests that were divided, and the mean seconds of each part."""
    moments = Moments(evidence)
    by_band: dict[str, list[Stamps]] = defaultdict(list)
    for rank, one in ranked(evidence):
        for name, (low, high) in BANDS.items():
            if low <= rank <= high:
                by_band[name].append(one)
    found = {}
    for name, members in by_band.items():
        step = -(-len(members) // _MOST)
        chosen = members[::step]
        sums: dict[str, float] = defaultdict(float)
        for one in chosen:
            for part, micros in divide(one, moments).items():
                sums[part] += micros / 1e6 / len(chosen)
        found[name] = (len(chosen), _by_state(sums, chosen, moments))
    return found


def _by_state(sums: dict[str, float], chosen: Sequence[Stamps], moments: Moments) -> dict[str, float]:
    """The parts; those of dependencies that were asked are divided by what they reported meanwhile."""
    states: dict[str, Counter[str]] = defaultdict(Counter)
    for one in chosen if moments.evidence.waits else ():
        exchange = own_exchange(one, moments)
        if exchange is not None:
            states[f"{LatencyPart.DEPENDENCY} {exchange[2]}"] += moments.states(exchange)
    found = dict(sums)
    for part, counts in states.items():
        if counts and part in found:
            whole = found.pop(part)
            found |= {f"{part}: {state}": whole * count / counts.total() for state, count in counts.items()}
    return found
