"""What contenders write to others than their clients and their dependencies, in bytes per response."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.laps import by_lap
from touchstone.judge.reading.neighbours import neighbours
from touchstone.judge.reading.outside_helper import RARE
from touchstone.judge.reading.traffic import answered_in_all
from touchstone.record.evidence.slices import Slice
from touchstone.record.process import Written
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

START_BYTES = 32 << 10
"""What a framework may write at its start and its end."""
_PAGES_BYTES = 1 << 20
"""What counters in a mapped file may dirty: the kernel counts a page again each time it has been written to disk."""
_TCP_HEADER, _UDP_HEADER = 52, 28
"""Bytes of the headers of IPv4 and TCP with time stamps, and of IPv4 and UDP."""
_ALL_RESPONSES = 0.95
"""A server that has written this share of its responses' bytes by `write` has answered by it, and not by `send`."""
_WAKES = 8
"""Bytes of a write that wakes another thread (eventfd(2))."""


def written_elsewhere(case: Case) -> dict[str, dict[str, float]]:
    """Bytes per response beyond responses, dependencies and known logs, by contender and way.

    Without contenders of which it is not known. Ways are those of `Written`, and `network`.
    """
    groups: dict[str, list[SampleGroup]] = {}
    for group in case.groups_of("load"):
        groups.setdefault(group.contender, []).append(group)
    found = {}
    for name, own in groups.items():
        samples = [sample for group in own for sample in group.samples]
        if any(sample.process.written is not None for sample in samples):
            found[name] = _by_process(samples) | {"network": _over_network(samples, case.run)}
    return found


def _by_process(samples: Sequence[Sample]) -> dict[str, float]:
    """Bytes per response by way, over all processes: loads of one process have the same counts."""
    processes: dict[str, list[Sample]] = {}
    for sample in samples:
        if sample.result is not None and sample.process.written is not None:
            processes.setdefault(sample.process.id, []).append(sample)
    sums: dict[str, float] = {}
    answered = 0
    for served in processes.values():
        answered += sum(answered_in_all(sample.result) for sample in served if sample.result is not None)
        for way, count in _beyond(served).items():
            sums[way] = sums.get(way, 0.0) + count
    return {way: count / answered for way, count in sums.items()} if answered else {}


def _beyond(served: Sequence[Sample]) -> dict[str, float]:
    """Bytes that one process wrote elsewhere, by way. Its system calls are not known where it has dependencies, whose
    queries go the same way, or TLS, whose records are longer than what is in them.
    """
    process = served[0].process
    written = process.written or Written()
    known = (process.log_bytes or 0) + process.log_file_bytes
    found: dict[str, float] = {"mapped": written.mapped - START_BYTES, "piped": written.piped - known - START_BYTES}
    if not any(sample.dependencies or sample.spec.tls for sample in served):
        responses = sum(_received(sample) for sample in served)
        answers = responses if written.calls >= _ALL_RESPONSES * responses else 0.0
        found["calls"] = written.calls - answers - _WAKES * written.writes - known - START_BYTES
        found["dirtied"] = written.dirtied - known - _PAGES_BYTES
    return {way: max(0.0, count) for way, count in found.items()}


def _received(sample: Sample) -> float:
    """Bytes of all responses of a load, from those of its window."""
    result = sample.result
    if result is None or not result.counts.completed:
        return 0.0
    return result.bytes.received / result.counts.completed * answered_in_all(result)


def _over_network(samples: Sequence[Sample], run: Run) -> float:
    """Bytes per response to sockets of others, the median over laps; 0 if chance explains it.

    The kernel counts for the whole machine, so that what the null server's slices have is taken off, or without one
    what the quietest contender's have.
    """
    own, quiet, each = [], [], []
    for sample in samples:
        around = {other.contender: _per_second(other) for other in neighbours(sample, run)}
        calm = [around[TARE]] if TARE in around else list(around.values())
        for lap, (here, rate) in _per_second(sample).items():
            if others := [turns[lap][0] for turns in calm if lap in turns]:
                own.append(here)
                quiet.append(min(others))
                each.append((here - min(others)) / rate)
    more = statistics.median(each) if each else 0.0
    return more if more >= 1 and _differ(own, quiet) else 0.0


def _differ(more: Sequence[float], less: Sequence[float]) -> bool:
    """Whether chance does not explain that some values are larger than others (Mann and Whitney 1947)."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415  # loads for a second, and hardly any service sends elsewhere

    return bool(mannwhitneyu(more, less, alternative="greater").pvalue < RARE)


def _per_second(sample: Sample) -> dict[int, tuple[float, float]]:
    """Return, by lap, bytes per second that did not go to clients, and responses per second.

    With dependencies only datagrams count, at their least length.
    """
    result = sample.result
    if result is None or sample.spec.tls or not result.counts.completed:
        return {}
    each = (result.bytes.sent + result.bytes.received) / result.counts.completed
    found = {}
    for lap, one in by_lap(sample).items():
        seconds = one.end - one.begin
        if one.network is not None and one.completed and seconds > 0:
            found[lap] = (_elsewhere(one, each, bool(sample.dependencies)) / seconds, one.completed / seconds)
    return found


def _elsewhere(one: Slice, each: float, only_datagrams: bool) -> float:
    sent = one.network
    assert sent is not None
    if only_datagrams:
        return float(sent.datagrams * _UDP_HEADER)
    return sent.octets - _TCP_HEADER * sent.segments - each * one.completed
