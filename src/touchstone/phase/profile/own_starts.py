"""What is counted in starts of their own: of a program that must be asked at its start, or is slow while it counts."""

from __future__ import annotations

from collections.abc import Callable

from touchstone.failure import TouchstoneError
from touchstone.phase.profile.callgrind import callgrind
from touchstone.phase.profile.heap import bearable_rate, data_size, go_collections, with_gc_trace, without_collector
from touchstone.phase.profile.passes import COUNTED_S, SETTLE_S, ProfilePasses
from touchstone.phase.profile.task import ProfileTask, settled, started
from touchstone.record.evidence.profile import ProfileEvidence, RequestCounts
from touchstone.record.sample import Sample


def trace_heap(task: ProfileTask, sample: Sample, evidence: ProfileEvidence) -> None:
    """What a Go program collects and allocates: in processes of their own, since it must be asked at its start."""
    built, seconds = task.bench.builds[task.contender.name], task.bench.profile.profile_s / 2
    try:
        with settled(task, with_gc_trace(built), sample, task.rate) as (process, passes):
            begin = process.log.stat().st_size
            done = passes.steady(seconds)
            collections = go_collections(process.log.read_bytes()[begin:].decode(errors="replace"))
        heap = RequestCounts(requests=done.requests, rate=task.rate, counts={"collections": len(collections)})
        evidence.heap = heap
        rate = bearable_rate(task.rate, seconds + SETTLE_S, collections, done.requests)
        with settled(task, without_collector(built), sample, rate) as (process, passes):
            held = data_size(process)
            kept = passes.steady(seconds)
            heap.counts["allocated"] = round((data_size(process) - held) / kept.requests * done.requests)
    except TouchstoneError as error:
        evidence.no_heap = error.sentence
    else:
        evidence.no_heap = None


def count_instructions(task: ProfileTask, sample: Sample, evidence: ProfileEvidence) -> None:
    """Instructions outside the kernel, in a process of their own: under callgrind a program is fifty times slower."""
    try:
        with callgrind(task.contender.stack.language) as counter:
            wrapped = counter.wrapped(task.bench.builds[task.contender.name])
            with started(task, wrapped, sample.model_copy(deep=True)) as (contender_running, sequence):

                def counted(carry_out: Callable[[], int]) -> None:
                    counter.since_last(contender_running)
                    requests = carry_out()
                    counts = {"user": counter.since_last(contender_running)}
                    evidence.instructions = RequestCounts(requests=requests, rate=passes.counted_rate, counts=counts)

                with ProfilePasses(task.bench, sequence.load, contender_running, task.rate) as passes:
                    passes.counted(COUNTED_S, counted)
    except TouchstoneError as error:
        evidence.no_instructions = error.sentence
