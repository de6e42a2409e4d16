"""The figures of a profile: arithmetic on its passes and counts, no judgement."""

from __future__ import annotations

from touchstone.record.evidence.profile import ProfileEvidence, ProfilePass

_PER_REQUEST = {
    "voluntary_switches_per_request": "voluntary_switches",
    "involuntary_switches_per_request": "involuntary_switches",
    "minor_faults_per_request": "minor_faults",
    "major_faults_per_request": "major_faults",
    "read_per_request": "bytes_read",
    "written_per_request": "bytes_written",
    "collections_per_request": "collections",
}


def profile_figures(evidence: ProfileEvidence) -> tuple[dict[str, float], dict[str, str]]:
    """Figures in base units, and for each that could not be measured the reason."""
    figures: dict[str, float] = {}
    missing: dict[str, str] = {}
    plain = _cpu(evidence.plain)
    subject = _cpu(evidence.copy_plain) if evidence.copy_plain else plain
    profiled = _cpu(evidence.profiled)
    if plain is None:
        missing["profile_cpu"] = "the process tree's CPU was not read"
    else:
        figures["profile_cpu"] = plain
    if subject and profiled is not None:
        figures["profiler_cost"] = profiled / subject - 1
    else:
        missing["profiler_cost"] = evidence.not_profiled or "no profiler ran"
    if plain and evidence.copy_plain and subject is not None:
        figures["profile_copy_cost"] = subject / plain - 1
    if evidence.syscalls and evidence.syscalls.requests:
        figures["syscalls_per_request"] = sum(evidence.syscalls.counts.values()) / evidence.syscalls.requests
    else:
        missing["syscalls_per_request"] = evidence.not_counted or "nothing was answered while they were counted"
    if evidence.instructions and evidence.instructions.requests:
        figures["user_instructions_per_request"] = evidence.instructions.counts["user"] / evidence.instructions.requests
    else:
        missing["user_instructions_per_request"] = evidence.no_instructions or "nothing was answered under callgrind"
    for figure, name in _PER_REQUEST.items():
        counted = evidence.process
        if counted and counted.requests and name in counted.counts:
            figures[figure] = counted.counts[name] / counted.requests
        else:
            missing[figure] = f"{'the runtime' if name == 'collections' else 'the kernel'} does not tell it"
    return figures, missing


def _cpu(one: ProfilePass | None) -> float | None:
    return one.cpu_per_request if one else None
