"""The figures of a profile: arithmetic on its passes and counts, no judgement."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.record.evidence.profile import ProfileEvidence, ProfilePass, RequestCounts

_OF_THE_KERNEL = {
    "voluntary_switches_per_request": "voluntary_switches",
    "involuntary_switches_per_request": "involuntary_switches",
    "minor_faults_per_request": "minor_faults",
    "major_faults_per_request": "major_faults",
    "read_per_request": "bytes_read",
    "written_per_request": "bytes_written",
}
_OF_THE_HEAP = {"collections_per_request": "collections", "allocated_per_request": "allocated"}


def profile_figures(evidence: ProfileEvidence) -> tuple[dict[str, float], dict[str, str]]:
    """Figures in base units, and for each that could not be measured the reason."""
    figures: dict[str, float] = {}
    missing: dict[str, str] = {}
    for figure, value, reason in (*_of_cpu(evidence), *_of_counts(evidence)):
        if value is None:
            missing[figure] = reason
        else:
            figures[figure] = value
    return figures, missing


Measured = tuple[str, float | None, str]
"""A figure, its value, and why there is none."""


def _of_cpu(evidence: ProfileEvidence) -> Iterator[Measured]:
    plain = _cpu(evidence.plain)
    subject = _cpu(evidence.copy_plain) if evidence.copy_plain else plain
    profiled = _cpu(evidence.profiled)
    yield "profile_cpu", plain, "the process tree's CPU was not read"
    cost = profiled / subject - 1 if subject and profiled is not None else None
    yield "profiler_cost", cost, evidence.not_profiled or "no profiler ran"
    if plain and evidence.copy_plain and subject is not None:
        yield "profile_copy_cost", subject / plain - 1, ""


def _of_counts(evidence: ProfileEvidence) -> Iterator[Measured]:
    calls = evidence.syscalls.counts.values() if evidence.syscalls else ()
    reason = evidence.not_counted or "nothing was answered while they were counted"
    yield "syscalls_per_request", _each(evidence.syscalls, sum(calls)), reason
    waits = evidence.waits
    delay = waits.run_delay_s / waits.seconds / evidence.rate if waits and waits.run_delay_s is not None else None
    yield "cpu_wait_per_request", delay, evidence.no_waits or "the kernel does not tell it"
    for counted, figures, reason in (
        (
            evidence.instructions,
            {"user_instructions_per_request": "user"},
            evidence.no_instructions or "nothing was answered under callgrind",
        ),
        (evidence.process, _OF_THE_KERNEL, "the kernel does not tell it"),
        (evidence.heap, _OF_THE_HEAP, evidence.no_heap or "too little was allocated for a log in whole MiB"),
    ):
        for figure, name in figures.items():
            yield figure, _each(counted, counted.counts.get(name) if counted else None), reason


def _each(counted: RequestCounts | None, count: int | None) -> float | None:
    """A count per request; None where nothing was counted, or nothing answered."""
    return count / counted.requests if counted and counted.requests and count is not None else None


def _cpu(one: ProfilePass | None) -> float | None:
    return one.cpu_per_request if one else None
